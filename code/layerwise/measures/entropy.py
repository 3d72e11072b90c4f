"""Entropies of attention maps and of the next token, nats, in the readings of Paper 3's notebooks.

They differ in where they round and in what keeps the logarithm finite; each has its own name. A
row of a map holds the weights with which a token looks at all tokens and sums to 1. Half-precision
maps can hold NaN: then a row's entropy is NaN, and a comparison with NaN is false.
"""

import numpy as np
from jaxtyping import Float32, Float64
from scipy import special

TINY = 1e-10  # smallest probability, or what is added to each before a logarithm
SPARSE = 0.01  # a weight under it counts as none


def head_mean(maps: Float32[np.ndarray, "head token token"]) -> Float32[np.ndarray, "token token"]:
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


# --- of the next token ---


def softmax(logits: Float32[np.ndarray, " vocabulary"]) -> Float64[np.ndarray, " vocabulary"]:
    """exp(l) / sum exp(l), in float64."""
    return special.softmax(logits.astype(np.float64))


def half_entropy(logits: Float32[np.ndarray, " vocabulary"]) -> np.float32:
    """Entropy of a softmax stored in float16, as scipy.stats.entropy gives it (benchmark).

    scipy divides the float16 probabilities by their float16 sum, and adds up -p ln p in float32.
    Probabilities under 3e-8 are gone.
    """
    p16 = softmax(logits).astype(np.float16)
    p = (p16 / np.sum(p16)).astype(np.float32)
    p = p[p > 0]
    entropy: np.float32 = np.sum(-p * np.log(p), dtype=np.float32)
    return entropy


def clipped_entropy(logits: Float32[np.ndarray, " vocabulary"]) -> float:
    """-sum p ln p, p a float32 softmax clipped from below at 1e-10 and made to sum to 1 in float64.

    The twins, GPT-2 and GPT-J.
    """
    p = np.clip(softmax(logits).astype(np.float32).astype(np.float64), TINY, None)
    p /= p.sum()
    return float(-np.sum(p * np.log(p)))


def shifted_entropy(logits: Float32[np.ndarray, " vocabulary"]) -> float:
    """-sum p ln(p + 1e-10) over a float32 softmax (Mistral investigation)."""
    p = softmax(logits).astype(np.float32)
    return float(-np.sum(p * np.log(p + np.float32(TINY)), dtype=np.float32))
