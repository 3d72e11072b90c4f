"""Claims as questions: where a number must lie if a claim is right, and the word that answers.

A question is asked of every model that the numbers are about, as its paper asked it and under
every other choice; each cell (question, model, choice) is an estimate with an interval, and a word.
What a source has no number for is no cell: over print it needs the weights. Below stand the answers
as documents, those about one model, and what these are held against: noise and random weights.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from layerwise.engine.answer_words import NO, NO_SPREAD, TOO_FEW, UNDECIDED, YES
from layerwise.engine.answers import ALPHA, Answer, AnswerRecord, ByModel, Interval
from layerwise.engine.derivation import Document, Function
from layerwise.engine.evidence import Evidence
from layerwise.statistics.estimates import Estimate
from layerwise.statistics.noise import band

OF_R, OF_MEAN = "r", "mean"  # what an effect is: see `Question`


@dataclass(frozen=True)
class Range:
    """The open range in which a number lies if the claim is right."""

    above: float = -math.inf
    below: float = math.inf

    def __contains__(self, value: float) -> bool:
        return self.above < value < self.below


def word(
    estimate: Estimate, within: Range, *, fewest: int = 0, against: Range | None = None
) -> str:
    """Return one of `WORDS`: an interval that lies in the range says yes, a value never does.

    Arguments:
        fewest: units with which some numbers could answer, where the method gives an interval to
            fewer; what needs more for any interval says so itself.
        against: where the 95% interval lies if the claim is wrong, also where it lies in the range
            too; wherever it is not in the range, if left out.
    """
    if estimate.n < 2:
        return NO_SPREAD
    if estimate.n < max(fewest, estimate.fewest):
        return TOO_FEW
    if estimate.p is not None and estimate.p >= ALPHA:
        return UNDECIDED
    if not estimate.has_interval:
        if estimate.p is None:
            return UNDECIDED
        return YES if estimate.value in within else NO
    if estimate.opposite is not None:  # a p: evidence for one side or the other, never of nothing
        if estimate.high < within.below:
            return YES
        return NO if estimate.opposite < ALPHA else UNDECIDED
    if against is not None and estimate.low in against and estimate.high in against:
        return NO
    low, high = (estimate.low, estimate.high) if estimate.narrow is None else estimate.narrow
    if within.above < low and high < within.below:
        return YES
    outside = high <= within.above or low >= within.below
    return NO if against is None and outside else UNDECIDED


@dataclass(frozen=True)
class Question:
    """A central claim in the form in which numbers answer it.

    Attributes:
        number: what the estimate is.
        unit: what varies, and what its n counts.
        models: what the rules read, by model, of those that the numbers are about; one entry,
            `OVER_MODELS`, where the question is about several at once.
        choices: {choice: rule}, as the papers did (`PUBLISHED`) first. A rule gives an `Estimate`;
            or a table of further rules, one per part that is left out.
        within: where the number lies if the claim is right.
        effect: of what kind the number is, where its power can be told: an r, or a mean with a
            standard error; nothing of what counts models.
        fewest: how many units it takes for some numbers to answer yes, where the method gives an
            interval to fewer; with fewer the word is `TOO_FEW`.
        against: where the number lies if the claim is wrong, of what is said not to be there; by
            default wherever it is not `within`.
    """

    name: str
    paper: int
    says: str
    number: str
    unit: str
    models: Callable[[Evidence], Mapping[str, Any]]
    choices: Mapping[str, Function]
    within: Range
    effect: str = ""
    fewest: int = 0
    against: Range | None = None

    @property
    def above(self) -> float:
        return self.within.above

    @property
    def below(self) -> float:
        return self.within.below

    @property
    def is_equivalence(self) -> bool:
        """True where the claim is that a number shows no effect: it lies between two bounds."""
        return math.isfinite(self.above) and math.isfinite(self.below)

    def word(self, estimate: Estimate) -> str:
        """Return the word of an estimate on this question."""
        return word(estimate, self.within, fewest=self.fewest, against=self.against)

    def answer(self, estimate: Estimate) -> Answer:
        """Return the answer that an estimate gives."""
        narrow, groups = estimate.narrow, estimate.groups or ()
        return Answer(
            value=float(estimate.value),
            word=self.word(estimate),
            ends=Interval(float(estimate.low), float(estimate.high))
            if estimate.has_interval
            else None,
            narrow=None if narrow is None else Interval(*map(float, narrow)),
            p=None if estimate.p is None else float(estimate.p),
            n=int(estimate.n),
            unit=estimate.unit,
            method=estimate.method,
            where=estimate.where,
            in_range=estimate.value in self.within,
            fewest=max(self.fewest, estimate.fewest),
            groups=tuple((int(counted), int(n)) for counted, n in groups),
        )

    def rules(self, entry: Any) -> dict[str, "Asked"]:
        """Return the rules that answer the question of one model, by choice."""
        return {choice: Asked(self, partial(rule, entry)) for choice, rule in self.choices.items()}


@dataclass(frozen=True)
class Asked:
    """A rule of a question, bound to what it is asked of: gives an answer, or a table of further
    ones, one per part that is left out.
    """

    question: Question
    rule: Callable[[], Any]

    @property
    def says(self) -> str:
        """Describe the estimate in words."""
        return self.question.number

    def __call__(self, _: Any = None) -> "AnswerRecord | dict[str, Asked]":
        value = self.rule()
        if isinstance(value, Estimate):
            return self.question.answer(value).record()
        return {part: Asked(self.question, rule) for part, rule in value.items()}


# --- answers as documents ---


def documents_of_questions(
    questions: Mapping[str, Question], evidence: Evidence
) -> dict[str, Document]:
    """Return a document per question: `models/MODEL/CHOICE` is an answer, or `.../CHOICE/PART`."""
    return {name: document(question, evidence) for name, question in questions.items()}


def document(question: Question, evidence: Evidence) -> Document:
    """Return the document of one question's answers."""
    rules: dict[str, Function] = {
        f"models/{model}/{choice}": asked
        for model, entry in question.models(evidence).items()
        for choice, asked in question.rules(entry).items()
    }
    return Document(None, {"": rules})


def count_words(answers: ByModel) -> dict[str, Counter[str]]:
    """Count the words that answer a question, by choice, whatever part is left out."""
    counts: dict[str, Counter[str]] = {}
    for by_choice in answers.values():
        for choice, answer in by_choice.items():
            counts.setdefault(base(choice), Counter())[answer.word] += 1
    return counts


def base(choice: str) -> str:
    """Return the choice without the part that is left out."""
    return choice.partition("/")[0]


# --- the answers about one model ---


Results = Mapping[str, Mapping[str, Any]]  # the result documents of one model, by analysis
Printed = Mapping[str, Mapping[str, float]]  # by question, then by the papers' model


@dataclass(frozen=True)
class ModelAnswers:
    """A question on one model.

    Attributes:
        asked: the answer as the papers asked; `others`: under other choices.
        printed: the number of the papers' models, by model.
    """

    question: Question
    asked: Answer
    others: Mapping[str, Answer]
    printed: Mapping[str, float]

    @property
    def n_same(self) -> int:
        """The number of other choices that answer with the same word."""
        return sum(other.word == self.asked.word for other in self.others.values())


# --- the same of replicates, and of random weights ---


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
    answers: Sequence[ModelAnswers], replicates: Sequence[Sequence[ModelAnswers]]
) -> dict[str, Any]:
    """Compare answers with those of replicates: band and words by question, empty without any."""
    compared = {
        answer.question.name: {
            "value": answer.asked.value,
            "band": band(answer.asked.value, [other.asked.value for other in others]),
            **_words(answer, others, len(replicates)),
        }
        for answer, others in _pair_by_question(answers, replicates)
        if len(others) == len(replicates)
    }
    return {"n": len(replicates), "answers": compared} if replicates else {}


def compare_draws(
    answers: Sequence[ModelAnswers], draws: Sequence[Sequence[ModelAnswers]]
) -> dict[str, Any]:
    """Compare answers with those of random weights: the number and the word of each draw."""
    compared = {
        answer.question.name: {
            "value": answer.asked.value,
            "drawn": [other.asked.value for other in others],
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


def _words(answer: ModelAnswers, others: Sequence[ModelAnswers], n: int) -> dict[str, Any]:
    """Return the word of an answer, those of n runs, and how many of these are the same."""
    given = answer.asked.word
    words = [other.asked.word for other in others] + ["-"] * (n - len(others))
    return {"word": given, "words": words, "same": words.count(given)}


def _pair_by_question(
    answers: Sequence[ModelAnswers], runs: Sequence[Sequence[ModelAnswers]]
) -> list[tuple[ModelAnswers, list[ModelAnswers]]]:
    """Pair every answer with those to the same question; leave out one without any."""
    pairs = []
    for answer in answers:
        others = [
            other for run in runs for other in run if other.question.name == answer.question.name
        ]
        if others:
            pairs.append((answer, others))
    return pairs
