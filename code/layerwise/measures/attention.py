"""Attention maps: entropy and sparsity, in the readings of Paper 3's notebooks.

A row holds the weights with which a token looks at all tokens and sums to 1. Half-precision maps
can hold NaN: then a row's entropy is NaN, and a comparison with NaN is false.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float32, Float64

TINY = 1e-10  # added to weights before a logarithm
SPARSE = 0.01  # a weight under it counts as none


def head_mean(
    maps: Float32[np.ndarray, "head token token"],
) -> Float32[np.ndarray, "token token"]:
    return maps.mean(axis=0, dtype=np.float64).astype(np.float32)


def row_entropies(
    attention: Float32[np.ndarray, "*head row token"],
) -> Float64[np.ndarray, "*head row"]:
    """-sum a ln(a + 1e-10) of every row, nats (OPT anomaly)."""
    a = attention.astype(np.float64)
    return -np.sum(a * np.log(a + TINY), axis=-1)


def shifted_row_entropies(
    attention: Float32[np.ndarray, "*head row token"],
) -> Float64[np.ndarray, "*head row"]:
    """-sum p ln p of every row, p = a + 1e-10 made to sum to 1 (restriction maps)."""
    p = attention.astype(np.float64) + TINY
    p /= p.sum(axis=-1, keepdims=True)
    return -np.sum(p * np.log(p), axis=-1)


def sparsity(attention: Float32[np.ndarray, "*head row token"], limit: float = SPARSE) -> float:
    """Share of entries under the limit, the causal zeros included: at least (n-1) / 2n.

    NaN is not under the limit (OPT anomaly).
    """
    return float(np.mean(attention < limit))
