"""Two independent samples: the t test with pooled variance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import special

from layerwise.errors import LayerwiseError


class TTest(NamedTuple):
    """Student's t and its two-sided p-value."""

    t: float
    p_value: float


def pooled_t(first: Float[np.ndarray, " m"], second: Float[np.ndarray, " n"]) -> TTest:
    """Student's t of two samples, first minus second, with pooled variance (neutral control).

    Means and population variances have the precision of the samples, the rest is float64: of
    float32 samples that is what scipy gave under numpy 1.

    Raises:
        LayerwiseError: for a sample under two values, a value that is not finite, or no variance.
    """
    m, n = len(first), len(second)
    if min(m, n) < 2 or not all(np.all(np.isfinite(x)) for x in (first, second)):
        raise LayerwiseError(
            f"a t test needs two samples of at least two finite values, found {m} and {n} values; "
            "check what they came from"
        )
    squares = m * float(np.var(first)) + n * float(np.var(second))
    if squares == 0:
        raise LayerwiseError("a t test needs values that vary, both samples are constant; add data")
    freedom = m + n - 2
    error = np.sqrt(squares / freedom * (1 / m + 1 / n))
    t = (float(np.mean(first)) - float(np.mean(second))) / error
    return TTest(float(t), float(2 * special.stdtr(freedom, -abs(t))))


def control_verdict(p_value: float, ratio: float) -> str:
    """CONFIRMED where p < 0.05 and the effect ratio exceeds 1.5, else INCONCLUSIVE."""
    return "CONFIRMED" if p_value < 0.05 and ratio > 1.5 else "INCONCLUSIVE"
