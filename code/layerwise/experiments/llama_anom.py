"""Unembedding norms and rotary base of three models: the tests on the LLaMA anomaly.

Paper 3's hypothesis tests: unembedding in float16, cast to float32. The amplification is the
spectral norm times a last gain that the notebook typed; those gains are measured by `fourmodel`
and `mistral`, which put them in their places.
"""

from __future__ import annotations

from typing import Any

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.lookup import published_name
from layerwise.inputs.published import pointer
from layerwise.measures.unembedding import MatrixNorms, matrix_norms

FILE = "paper3/Results/llama_anomaly_hypothesis_tests.json"
NAMES = {"llama-3p1-8b": "llama3.1-8b", "mistral-7b": "mistral-7b", "gemma-2-9b": "gemma2-9b"}
PROJECTOR = "hypothesis_1_titanium_projector"
ROPE = "hypothesis_2_rope"


def fragments(subject: Subject) -> Fragments:
    """This model's norms, key by key: its entry has one number more, the typed gain."""
    name = published_name(subject, NAMES)
    norms = matrix_norms(subject.weights.unembedding())
    found = {
        pointer(PROJECTOR, "results", name, key): value
        for key, value in {
            **projector(norms),
            "std_row_norm": norms.std_row,
            "spectral_per_sqrt_vocab": norms.spectral_per_root_vocabulary,
        }.items()
    }
    theta = pointer(ROPE, "results", name, "rope_theta")
    return {FILE: {**found, theta: subject.weights.rope_theta}}


def projector(norms: MatrixNorms) -> dict[str, Any]:
    """What both LLaMA notebooks save of an unembedding."""
    return {
        "shape": [norms.vocabulary, norms.width],
        "vocab_size": norms.vocabulary,
        "hidden_dim": norms.width,
        "frobenius_norm": norms.frobenius,
        "spectral_norm": norms.spectral,
        "mean_row_norm": norms.mean_row,
    }
