"""Entropies of the next token, nats, in the readings of Paper 3's notebooks, and head-mean maps.

They differ in where they round and in what keeps the logarithm finite; each has its own name.
"""

import numpy as np
from jaxtyping import Float32, Float64
from scipy import special

TINY = 1e-10  # smallest probability, or what is added to each before a logarithm


def head_mean(maps: Float32[np.ndarray, "head token token"]) -> Float32[np.ndarray, "token token"]:
    return maps.mean(axis=0, dtype=np.float64).astype(np.float32)


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

    The twins and GPT-2.
    """
    p = np.clip(softmax(logits).astype(np.float32).astype(np.float64), TINY, None)
    p /= p.sum()
    return float(-np.sum(p * np.log(p)))
