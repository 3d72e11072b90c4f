"""The answers to a question about one model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from layerwise.engine.questions.question import Question
from layerwise.statistics.estimates import Estimate

Results = Mapping[str, Mapping[str, Any]]  # the result documents of one model, by analysis
Printed = Mapping[str, Mapping[str, float]]  # by question, then by the papers' model


@dataclass(frozen=True)
class Answer:
    """A question on one model: the papers' way, the other choices, the papers' models."""

    question: Question
    estimate: Estimate
    others: Mapping[str, Estimate]
    published: Mapping[str, float]
    words: Mapping[str, str]  # of the other choices
    word: str  # of the papers' way
