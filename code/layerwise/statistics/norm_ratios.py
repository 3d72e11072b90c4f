"""Gains of a residual stream: ratios of successive norms over the layers (Paper 3)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from layerwise.errors import LayerwiseError

OFFSET = 1e-10  # added to a gain before its logarithm, as published


def norm_ratios(norms: Float[np.ndarray, " layer"]) -> Float[np.ndarray, " gain"]:
    """Each norm over the one before it: one gain fewer than norms.

    Raises:
        LayerwiseError: for fewer than two norms, or one that is not positive and finite.
    """
    if len(norms) < 2 or not np.all(np.isfinite(norms)) or not np.all(norms > 0):
        raise LayerwiseError(
            f"gains need at least two norms, all positive and finite, found {norms}; "
            "check the hidden states they came from"
        )
    return norms[1:] / norms[:-1]


def contracting_percent(gains: Float[np.ndarray, " gain"]) -> float:
    """Share of gains under 1, in percent."""
    return float(np.sum(gains < 1) / len(gains) * 100)


def cumulative_gain(gains: Float[np.ndarray, " gain"]) -> float:
    """Product of all gains, as the exponential of the summed logarithms."""
    return float(np.exp(np.cumsum(np.log(gains + OFFSET))[-1]))
