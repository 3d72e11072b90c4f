"""Llama-3.1-8B before and after instruction tuning: whole-sequence norms, bfloat16, autocast.

Paper 3's RLHF brake test, whose measure and text are those of `fourmodel`. The result file is not
among the transcribed tables, so the numbers stand under `beyond/`.
"""

from __future__ import annotations

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.lookup import CAPITAL, text
from layerwise.experiments.streams import pick, summary, without_first_token
from layerwise.inputs.published import pointer
from layerwise.measures.residual_gain import gain_definitions
from layerwise.measures.stream_norms import sequence_norms

FILE = "beyond/rlhf"
TUNED = frozenset({"llama-3p1-8b-instruct"})


def fragments(subject: Subject) -> Fragments:
    """This model's entry, with the keys that the published file has for it."""
    trace = subject.trace(text(subject, CAPITAL), autocast=True)
    stream = summary(sequence_norms(trace))
    entry = {
        "rlhf": subject.model.slug in TUNED,
        **pick(stream, "initial_gain", "last_gain", "last_expands"),
        "cumulative_energy": stream["final_cumulative"],
        **pick(stream, "gains", "norms"),
        "last_gains": gain_definitions(trace),
        "gains_without_first_token": without_first_token(trace),
    }
    return {FILE: {pointer(subject.model.slug): entry}}
