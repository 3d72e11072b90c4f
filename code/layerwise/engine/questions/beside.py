"""Beside the answers of a model: the same after rounding noise, and those of random weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from layerwise.engine.questions.answers import Answer
from layerwise.engine.questions.words import NO, UNDECIDED, YES
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
    """Count a model's answers that every draw of random weights gives too: (shared, asked).

    Attributes:
        decided: answers yes or no.
        undecided: questions that the model leaves open.
    """

    decided: tuple[int, int]
    undecided: tuple[int, int]


def compare_replicates(
    answers: Sequence[Answer], replicates: Sequence[Sequence[Answer]]
) -> dict[str, Any]:
    """Compare answers with those of replicates: band and words by question, empty without any."""
    compared = {
        answer.question.name: {
            "value": answer.estimate.value,
            "band": band(answer.estimate.value, [other.estimate.value for other in others]),
            **_words(answer, others, len(replicates)),
        }
        for answer, others in _pair_by_question(answers, replicates)
        if len(others) == len(replicates)
    }
    return {"n": len(replicates), "answers": compared} if replicates else {}


def compare_draws(answers: Sequence[Answer], draws: Sequence[Sequence[Answer]]) -> dict[str, Any]:
    """Compare answers with those of random weights: the number and the word of each draw."""
    compared = {
        answer.question.name: {
            "value": answer.estimate.value,
            "drawn": [other.estimate.value for other in others],
            **_words(answer, others, len(draws)),
        }
        for answer, others in _pair_by_question(answers, draws)
    }
    return {"n": len(draws), "answers": compared} if draws else {}


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


def _words(answer: Answer, others: Sequence[Answer], n: int) -> dict[str, Any]:
    """Return the word of an answer, those of n runs, and how many of these are the same."""
    words = [other.word for other in others] + ["-"] * (n - len(others))
    return {"word": answer.word, "words": words, "same": sum(word == answer.word for word in words)}


def _pair_by_question(
    answers: Sequence[Answer], runs: Sequence[Sequence[Answer]]
) -> list[tuple[Answer, list[Answer]]]:
    """Pair every answer with those to the same question; leave out one without any."""
    pairs = []
    for answer in answers:
        others = [
            other for run in runs for other in run if other.question.name == answer.question.name
        ]
        if others:
            pairs.append((answer, others))
    return pairs
