"""Whole-sequence norms of four models, one text, bfloat16 under autocast.

Paper 3's four-model notebook. The first norm is that of the embedding module's output, which for
Gemma is not yet scaled: its initial gain holds a factor sqrt(3072).
"""

from __future__ import annotations

from typing import Any

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.lookup import CAPITAL, published_name, text
from layerwise.experiments.streams import summary, without_first_token
from layerwise.inputs.published import pointer
from layerwise.measures.residual_gain import gain_definitions
from layerwise.measures.stream_norms import sequence_norms

FILE = "paper3/Results/4model_validation_results.json"
BEYOND = "beyond/fourmodel"
NAMES = {
    "pythia-6p9b": "pythia-6.9b",
    "gemma-7b": "gemma-7b",
    "apertus-8b": "apertus-8b",
    "llama-3p1-8b": "llama3.1-8b",
}
INVERSION = ("apertus-8b", 28)  # gain of the block of Paper 2's inversion, for this model only
# The LLaMA tests typed these last gains with two decimals; Gemma-7B's stands for Gemma-2-9B.
HYPOTHESES = "paper3/Results/llama_anomaly_hypothesis_tests.json"
TYPED = {"llama-3p1-8b": "llama3.1-8b", "gemma-7b": "gemma2-9b"}


def fragments(subject: Subject) -> Fragments:
    """This model's stream, and its last gain where another notebook typed it."""
    name = published_name(subject, NAMES)
    trace = subject.trace(text(subject, CAPITAL), autocast=True)
    stream = summary(sequence_norms(trace))
    found: Fragments = {
        FILE: {
            pointer("results", name): {
                "n_layers": trace.n_layers,
                **stream,
                **_inversion(subject.model.slug, stream["gains"]),
            },
            pointer("cumulative_energy", name): {"final_cumulative": stream["final_cumulative"]},
        },
        BEYOND: {
            pointer(subject.model.slug): {
                "last_gains": gain_definitions(trace),
                "gains_without_first_token": without_first_token(trace),
            }
        },
    }
    if subject.model.slug in TYPED:
        found[HYPOTHESES] = typed_gain(TYPED[subject.model.slug], stream["last_gain"])
    return found


def typed_gain(name: str, last_gain: float) -> dict[str, float]:
    """A last gain as the LLaMA tests typed it, at its place in their file."""
    key = pointer("hypothesis_1_titanium_projector", "results", name, "last_gain")
    return {key: round(last_gain, 2)}


def _inversion(slug: str, gains: list[float]) -> dict[str, Any]:
    model, block = INVERSION
    if slug != model:
        return {"paper2_inversion_layer": None, "paper2_inversion_gain": None}
    return {"paper2_inversion_layer": block, "paper2_inversion_gain": gains[block]}
