"""Size of the residual stream, layer by layer: of the whole sequence, or of its mean token.

A massive first token rules the norm of the whole sequence; the mean over tokens weighs it less.
Norms are summed in float64 and, `frobenius_norm` aside, rounded to float32, as a float32 kernel
would give them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from jaxtyping import Float32, Float64

from layerwise.errors import LayerwiseError
from layerwise.measures.traces import Trace

ROWS = 8192  # read at a time: a vocabulary of 256,000 in float64 would take gigabytes


def token_norms(states: Float32[np.ndarray, "token width"]) -> Float32[np.ndarray, " token"]:
    """Norm of every token."""
    return np.sqrt(np.sum(np.square(states, dtype=np.float64), axis=1)).astype(np.float32)


def last_token_norm(states: Float32[np.ndarray, "token width"]) -> float:
    """Norm of the last token."""
    return float(token_norms(states[-1:])[0])


def mean_token_norm(states: Float32[np.ndarray, "token width"]) -> float:
    """Mean over the tokens of their norms."""
    return float(token_norms(states).mean(dtype=np.float64))


def frobenius_norm(states: Float32[np.ndarray, "token width"]) -> float:
    """Norm of all tokens together, not rounded."""
    return float(np.sqrt(np.sum(np.square(states, dtype=np.float64))))


def matrix_norm(matrix: Float32[np.ndarray, "row width"]) -> float:
    """Frobenius norm of a matrix of any size, a few rows at a time in float64.

    Raises:
        LayerwiseError: for an entry that is not finite.
    """
    parts = range(0, len(matrix), ROWS)
    norm = float(np.linalg.norm([frobenius_norm(matrix[row : row + ROWS]) for row in parts]))
    if not np.isfinite(norm):
        raise LayerwiseError(
            "a token matrix must be finite, found a NaN or an infinity; read it in a wider dtype"
        )
    return norm


def sequence_norms(trace: Trace, *, embedding: bool = True) -> Float64[np.ndarray, " output"]:
    """Frobenius norms over all tokens of what the embedding module and each block put out.

    Gemma's embeddings count before their scaling by sqrt(hidden), the last block's output before
    the final norm. Without `embedding` the series begins with block 0 (Mistral investigation).
    """
    outputs = (trace.embedding, *trace.block_outputs) if embedding else trace.block_outputs
    return _single(frobenius_norm(out) for out in outputs)


def mean_token_norms(trace: Trace) -> Float64[np.ndarray, " layer"]:
    """Mean token norm at layers 0..n, the last one behind the final norm (LLaMA 2 and 3.1)."""
    return _single(mean_token_norm(states) for states in trace.states)


def _single(values: Iterable[float]) -> np.ndarray:
    return np.array([np.float32(value) for value in values], dtype=np.float64)
