"""Effect size."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from layerwise.errors import LayerwiseError

OFFSET = 1e-10  # added to the standard deviation, as published


def cohens_d(values: Float[np.ndarray, " n"], null_value: float = 0.0) -> float:
    """(mean - null) / (population SD + 1e-10) (Paper 1, notebook 003).

    Raises:
        LayerwiseError: for no values or a value that is not finite.
    """
    if len(values) == 0 or not np.all(np.isfinite(values)):
        raise LayerwiseError(
            f"an effect size needs finite values, found {values}; check what they came from"
        )
    return float((np.mean(values) - null_value) / (np.std(values) + OFFSET))
