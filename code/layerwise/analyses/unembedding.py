"""Unembedding norms: the Mistral investigation and the LLaMA hypothesis tests (Paper 3)."""

from __future__ import annotations

import math

from layerwise.analyses.documents import Draws, Replay
from layerwise.analyses.series import R
from layerwise.inputs.published import Published, pointer

MISTRAL = R + "mistral_paradox_investigation_results.json"
HYPOTHESES = R + "llama_anomaly_hypothesis_tests.json"
TESTS = "hypothesis_1_titanium_projector"
PROJECTOR = pointer(TESTS, "results")
MODEL = "mistral-7b"


def derive(work: Replay, draws: Draws) -> None:
    """Normalised norms and amplifications, the ratio to the embedding, the effective vocabulary."""
    published = work.published
    for model in published.document(HYPOTHESES)[TESTS]["results"]:
        key = PROJECTOR + pointer(model)
        work.start(model, {}, {"": (HYPOTHESES, key)})
        work.derive(model, "/effective_amplification", amplification, published, key)
        work.derive(model, "/spectral_per_sqrt_vocab", per_root_vocabulary, published, key)
    key, entropy = pointer("unembedding_analysis", MODEL), pointer("entropy_analysis", MODEL)
    work.start("mistral", {}, {"/matrices": (MISTRAL, key), "/output": (MISTRAL, entropy)})
    work.derive("mistral", "/matrices/wu_we_ratio", ratio_to_embedding, published, key)
    work.derive("mistral", "/output/effective_vocab", effective_vocabulary, published, entropy)


def amplification(published: Published, key: str) -> float:
    """Spectral norm times the last gain, which the notebook typed."""
    norm, gain = (
        published.number(HYPOTHESES, f"{key}/{q}") for q in ("spectral_norm", "last_gain")
    )
    return norm * gain


def per_root_vocabulary(published: Published, key: str) -> float:
    """Spectral norm over the root of the vocabulary size."""
    norm, size = (
        published.number(HYPOTHESES, f"{key}/{q}") for q in ("spectral_norm", "vocab_size")
    )
    return norm / math.sqrt(size)


def ratio_to_embedding(published: Published, key: str) -> float:
    """Frobenius norm of the unembedding over that of the embedding."""
    out, into = (
        published.number(MISTRAL, f"{key}/{q}/frobenius_norm") for q in ("unembedding", "embedding")
    )
    return out / into


def effective_vocabulary(published: Published, key: str) -> float:
    """exp of the entropy in nats."""
    return math.exp(published.number(MISTRAL, f"{key}/entropy"))
