"""Llama-3.1-8B on five kinds of text: last whole-sequence gain and output entropy.

Paper 3's input-dependency notebook, float16. The entropy is that of a softmax stored in float16.
The correlation over the texts is derived by `replay`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float32

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.lookup import named_texts, published_slug
from layerwise.experiments.streams import pick, summary, without_first_token
from layerwise.inputs.published import pointer
from layerwise.measures.entropy import entropy, half_entropy, softmax
from layerwise.measures.residual_gain import gain_definitions
from layerwise.measures.stream_norms import sequence_norms
from layerwise.measures.traces import Trace

FILE = "paper3/Results/input_dependency_thermodynamics.json"
BEYOND = "beyond/inputdep"
MODELS = ("llama-3p1-8b",)
N_TOP = 5


def fragments(subject: Subject) -> Fragments:
    """The entry of every text."""
    place = pointer(published_slug(subject, MODELS))
    found: Fragments = {FILE: {}, BEYOND: {place: {}}}
    for name, text in named_texts(subject, "input_dependency").items():
        trace = subject.trace(text)
        found[FILE][pointer("results", name)] = _entry(trace)
        found[BEYOND][place][name] = {
            "entropy": entropy(trace.logits),
            "last_gains": gain_definitions(trace),
            "gains_without_first_token": without_first_token(trace),
        }
    return found


def _entry(trace: Trace) -> dict[str, Any]:
    stream = summary(sequence_norms(trace))
    return {
        "last_gain": stream["last_gain"],
        "entropy": float(half_entropy(trace.logits)),
        "expands": stream["last_expands"],
        **pick(stream, "gains", "norms"),
        "top_tokens": _top(trace.logits),
    }


def _top(logits: Float32[np.ndarray, " vocabulary"]) -> list[dict[str, float]]:
    """Probabilities of the likeliest tokens; the file has the tokens' texts before them."""
    likeliest = np.sort(softmax(logits).astype(np.float16))[::-1][:N_TOP]
    return [{"1": float(probability)} for probability in likeliest]
