"""Beside the answers of a model: the same after rounding noise, and those of random weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from layerwise.engine.questions.answers import Answer
from layerwise.engine.questions.question import NEVER, TOO_FEW
from layerwise.statistics.noise import band


@dataclass(frozen=True)
class Again:
    """An answer, taken again some times: of replicates, or of draws of random weights.

    Attributes:
        n: how often.
        same: how often with the same word.
        band: how far rounding moves the number, of replicates; None of draws.
    """

    n: int
    same: int
    band: float | None = None


def replicated(answers: Sequence[Answer], again: Sequence[Sequence[Answer]]) -> dict[str, Any]:
    """The document of replicates: by question, band and words; empty where none was measured."""
    found = {
        one.question.name: {
            "value": one.estimate.value,
            "band": band(one.estimate.value, [of.estimate.value for of in others]),
            **_words(one, others, again),
        }
        for one, others in _by_question(answers, again)
        if len(others) == len(again)
    }
    return {"n": len(again), "answers": found} if again else {}


def controlled(answers: Sequence[Answer], draws: Sequence[Sequence[Answer]]) -> dict[str, Any]:
    """The document of random weights: by question, what each draw answers."""
    found = {
        one.question.name: {
            "value": one.estimate.value,
            "drawn": [of.estimate.value for of in others],
            **_words(one, others, draws),
        }
        for one, others in _by_question(answers, draws)
    }
    return {"n": len(draws), "answers": found} if draws else {}


def again(document: Mapping[str, Any], question: str) -> Again | None:
    """What one of these documents says of a question; None where it says nothing."""
    of = document.get("answers", {}).get(question)
    return None if of is None else Again(document["n"], of["same"], of.get("band"))


def share(document: Mapping[str, Any]) -> tuple[int, int]:
    """Of how many questions all draws answer as the model does, and how many were asked.

    Those are left out that the model's own few units cannot answer.
    """
    of = [one for one in document["answers"].values() if one["word"] not in (TOO_FEW, NEVER)]
    return sum(one["same"] == document["n"] for one in of), len(of)


def _words(
    one: Answer, others: Sequence[Answer], again: Sequence[Sequence[Answer]]
) -> dict[str, Any]:
    words = [of.word for of in others] + ["-"] * (len(again) - len(others))
    return {"word": one.word, "words": words, "same": sum(word == one.word for word in words)}


def _by_question(
    answers: Sequence[Answer], again: Sequence[Sequence[Answer]]
) -> list[tuple[Answer, list[Answer]]]:
    """Every answer with those to the same question; one that was not measured again is left out."""
    found = []
    for one in answers:
        others = [of for some in again for of in some if of.question.name == one.question.name]
        if others:
            found.append((one, others))
    return found
