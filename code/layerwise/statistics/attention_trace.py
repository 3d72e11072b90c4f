"""Closed forms of the trace of the attention sheaf Laplacian (Paper 3, section 5)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float


def softmax_rows(scores: Float[np.ndarray, "token token"]) -> Float[np.ndarray, "token token"]:
    """Causal attention: the softmax of each row over the tokens up to its own."""
    visible = np.tril(np.ones(scores.shape, dtype=bool))
    weights = np.where(visible, np.exp(scores - scores.max()), 0.0)
    return weights / weights.sum(axis=1, keepdims=True)


def printed_trace(
    attention: Float[np.ndarray, "token token"], value: Float[np.ndarray, "out hidden"]
) -> float:
    """Equation 4: (sum of the attention - tokens) times the squared Frobenius norm."""
    return float((attention.sum() - len(attention)) * np.sum(value**2))


def coded_trace(
    attention: Float[np.ndarray, "token token"], value: Float[np.ndarray, "out hidden"]
) -> float:
    """What the code sums: the attention off the diagonal times the squared Frobenius norm."""
    return float((attention.sum() - np.trace(attention)) * np.sum(value**2))


def trace_word(trace: float, scale: float) -> str:
    """`nonzero trace`, or `zero trace` where it is rounding against the scale."""
    return "nonzero trace" if abs(trace) > 1e-9 * abs(scale) else "zero trace"
