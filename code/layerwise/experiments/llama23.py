"""LLaMA 2 against LLaMA 3.1: mean token norms with the final norm, unembedding, rotary base.

Paper 3's long-context test, float16, one text. Its gain is neither the four-model one (Frobenius
norm of the sequence, before the final norm) nor any other of the five.
"""

from __future__ import annotations

from typing import Any

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.llama_anom import projector
from layerwise.experiments.lookup import PANGRAM, published_name, text
from layerwise.experiments.streams import pick, summary, without_first_token
from layerwise.inputs.published import pointer
from layerwise.measures.residual_gain import gain_definitions
from layerwise.measures.stream_norms import mean_token_norms
from layerwise.measures.traces import Trace
from layerwise.measures.unembedding import matrix_norms

FILE = "paper3/Results/llama2_vs_llama31_hypothesis_test.json"
BEYOND = "beyond/llama23"
NAMES = {"llama-2-7b": "llama2-7b", "llama-3p1-8b": "llama3.1-8b"}


def fragments(subject: Subject) -> Fragments:
    """This model's entry."""
    name = published_name(subject, NAMES)
    trace = subject.trace(text(subject, PANGRAM))
    entry = {
        "num_layers": trace.n_layers,
        "residual": _residual(trace),
        "w_u": projector(matrix_norms(subject.weights.unembedding())),
        "rope": {"rope_theta": subject.weights.rope_theta},
    }
    beyond = {
        "last_gains": gain_definitions(trace),
        "gains_without_first_token": without_first_token(trace),
    }
    return {
        FILE: {pointer("models", name): entry},
        BEYOND: {pointer(subject.model.slug): beyond},
    }


def _residual(trace: Trace) -> dict[str, Any]:
    stream = summary(mean_token_norms(trace))
    contracting = sum(gain < 1 for gain in stream["gains"])
    return {
        **pick(stream, "norms", "gains"),
        "embedding_norm": stream["norms"][0],
        "final_norm": stream["norms"][-1],
        **pick(stream, "initial_gain", "last_gain", "last_expands"),
        "cumulative_energy": stream["final_cumulative"],
        "num_layers": trace.n_layers,
        "contracting_layers": contracting,
        "expanding_layers": trace.n_layers - contracting,
    }
