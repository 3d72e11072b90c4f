"""Size of the residual stream, layer by layer: of the whole sequence, or of its mean token.

A massive first token rules the norm of the whole sequence; the mean over tokens weighs it less.
Norms are summed in float64 and, `sequence_norm` aside, rounded to float32, as a float32 kernel
would give them; `round_to` rounds to the dtype of a model.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float32, Float64

from layerwise.errors import LayerwiseError
from layerwise.measures.traces import Trace


def token_norms(states: Float32[np.ndarray, "token width"]) -> Float32[np.ndarray, " token"]:
    return np.sqrt(np.sum(np.square(states, dtype=np.float64), axis=1)).astype(np.float32)


def last_token_norm(states: Float32[np.ndarray, "token width"]) -> float:
    return float(token_norms(states[-1:])[0])


def mean_token_norm(states: Float32[np.ndarray, "token width"]) -> float:
    return float(token_norms(states).mean(dtype=np.float64))


def sequence_norm(states: Float32[np.ndarray, "token width"]) -> float:
    """Frobenius norm of all tokens together, not rounded."""
    return float(np.sqrt(np.sum(np.square(states, dtype=np.float64))))


def sequence_norms(trace: Trace, *, embedding: bool = True) -> Float64[np.ndarray, " output"]:
    """Frobenius norms over all tokens of what the embedding module and each block put out.

    Gemma's embeddings count before their scaling by sqrt(hidden), the last block's output before
    the final norm. Without `embedding` the series begins with block 0 (Mistral investigation).
    """
    outputs = (trace.embedding, *trace.block_outputs) if embedding else trace.block_outputs
    return _single([sequence_norm(out) for out in outputs])


def mean_token_norms(trace: Trace) -> Float64[np.ndarray, " layer"]:
    """Mean token norm at layers 0..n, the last one behind the final norm (LLaMA 2 and 3.1)."""
    return _single([mean_token_norm(states) for states in trace.states])


def _single(values: list[float]) -> np.ndarray:
    return np.array(values, dtype=np.float32).astype(np.float64)


def round_to(values: Float32[np.ndarray, "*shape"], dtype: str) -> Float32[np.ndarray, "*shape"]:
    """The values rounded to `dtype` (ties to even) and held in float32 again.

    bfloat16 is the upper half of a float32. What float16 cannot hold becomes infinite.

    Raises:
        LayerwiseError: for another dtype than float32, float16 and bfloat16.
    """
    if dtype == "float32":
        return values
    if dtype == "float16":
        with np.errstate(over="ignore"):
            return values.astype(np.float16).astype(np.float32)
    if dtype != "bfloat16":
        raise LayerwiseError(f"dtype must be float32, float16 or bfloat16, found {dtype!r}")
    bits = values.view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    upper = (bits + np.uint32(0x7FFF) + odd) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(values), values, upper.view(np.float32))
