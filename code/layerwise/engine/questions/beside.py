"""Beside the answers of a model: the same after rounding noise, and those of random weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from layerwise.engine.questions.answers import Answer
from layerwise.engine.questions.question import NO, UNDECIDED, YES
from layerwise.statistics.noise import band


@dataclass(frozen=True)
class Again:
    """An answer, taken again some times: of replicates, or of draws of random weights.

    Attributes:
        n: how often.
        same: how often with the same word.
        band: how far rounding moves the number, of replicates; None of draws.
        drawn: the number in each draw of random weights.
    """

    n: int
    same: int
    band: float | None = None
    drawn: tuple[float, ...] = ()


@dataclass(frozen=True)
class Shared:
    """How many of a model's answers every draw of random weights gives too: (shared, asked).

    Attributes:
        decided: answers yes or no.
        undecided: questions that the model leaves open.
    """

    decided: tuple[int, int]
    undecided: tuple[int, int]


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


def find_again(document: Mapping[str, Any], question: str) -> Again | None:
    """Return what one of these documents says of a question; None where it says nothing."""
    row = document.get("answers", {}).get(question)
    if row is None:
        return None
    return Again(document["n"], row["same"], row.get("band"), tuple(row.get("drawn", ())))


def shared_answers(document: Mapping[str, Any]) -> Shared:
    """Return how many answers all draws share, yes and no apart from what stays undecided.

    Questions that the model's own few units cannot answer are left out.
    """

    def count(*words: str) -> tuple[int, int]:
        rows = [row for row in document["answers"].values() if row["word"] in words]
        return sum(row["same"] == document["n"] for row in rows), len(rows)

    return Shared(count(YES, NO), count(UNDECIDED))


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
