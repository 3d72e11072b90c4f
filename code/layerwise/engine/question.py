"""Claims as questions: where a number must lie if a claim is right, and the word that answers.

A question is asked of every model that the numbers are about. One interval decides it, fixed by how
the data came about; beside it stand other readings of the claim, among them what the papers did.
What a source has no number for is no answer: over print it needs the weights. Below stand the
answers as documents, those about one model, and what these are held against: noise and random
weights.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from layerwise.engine.answer_words import NO, NO_CATEGORIES, NO_SPREAD, TOO_FEW, UNDECIDED, YES
from layerwise.engine.answers import (
    PART,
    Answer,
    AnswerRecord,
    Interval,
    answers_by,
    shared_word,
)
from layerwise.engine.derivation import Document, Function, all_of, any_of
from layerwise.engine.evidence import Evidence
from layerwise.engine.published import DECIDES, PUBLISHED
from layerwise.errors import LayerwiseError
from layerwise.files import JsonObject
from layerwise.statistics.estimates import LEVEL, ONE_SIDED, Estimate, family_level
from layerwise.statistics.noise import FEWEST_DRAWS, band, draws_p


@dataclass(frozen=True)
class Range:
    """An open range in which a number may lie."""

    above: float = -math.inf
    below: float = math.inf

    def __contains__(self, value: float) -> bool:
        return self.above < value < self.below

    def holds(self, ends: tuple[float, float]) -> bool:
        """Return whether an interval lies inside."""
        return self.above < ends[0] and ends[1] < self.below

    def overlaps(self, other: "Range") -> bool:
        """Return whether some number lies in both."""
        return max(self.above, other.above) < min(self.below, other.below)


@dataclass(frozen=True)
class FamilyOfTests:
    """The tests among which a question stands, and so by how many its error is divided.

    Attributes:
        yes, no: the number of tests, of a yes and of a no (Bonferroni). A claim on all of N models
            is wrongly confirmed no more often than one test's, and wrongly refuted by any of N: 1
            and N. A claim that some of N does, N and 1; at least k of N, or the one that the result
            picked out of N: N and N.
        because: the reason, in words.
    """

    yes: int = 1
    no: int = 1
    because: str = "one question of one model"


ALONE = FamilyOfTests()


@dataclass(frozen=True)
class Question:
    """A central claim in the form in which numbers answer it.

    Attributes:
        number: what the estimate is, the estimand.
        unit: what was sampled, so what varies; its n counts it.
        models: what the rules read, by model, of those that the numbers are about; one entry,
            `OVER_MODELS`, where the question is about several at once.
        readings: {reading: rule}; the one that decides (`DECIDES`) first. A rule gives an
            `Estimate`; or a table of further rules, one per part that is left out.
        within: where the number lies if the claim is right.
        against: where it lies if the claim is wrong, apart from `within`; by default all the rest.
        family: the tests among which it stands, of the papers' models.
        says_of_readers: the claim on the statements of a reader, where it is another.
        fewest: how many units it takes for some numbers to answer yes, where the method gives an
            interval to fewer; with fewer the word is `TOO_FEW`.

    Raises:
        LayerwiseError: if a number may lie in both ranges, or no reading decides.
    """

    name: str
    paper: int
    says: str
    number: str
    unit: str
    models: Callable[[Evidence], Mapping[str, Any]]
    readings: Mapping[str, Function]
    within: Range
    against: Range | None = None
    family: FamilyOfTests = ALONE
    fewest: int = 0
    says_of_readers: str = ""

    def __post_init__(self) -> None:
        if self.against is not None and self.within.overlaps(self.against):
            raise LayerwiseError(
                f"{self.name}: no number may lie in the range of a claim and in the range of its "
                f"opposite, found {self.within} and {self.against}; part them"
            )
        if DECIDES not in self.readings:
            raise LayerwiseError(
                f"{self.name}: a question must have a reading {DECIDES!r}, found "
                f"{', '.join(self.readings)}; name the one whose interval decides"
            )

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

    @property
    def outside(self) -> Sequence[Range]:
        """The ranges in one of which the number lies if the claim is wrong."""
        if self.against is not None:
            return [self.against]
        # a border belongs to the outside
        return [
            Range(below=math.nextafter(self.above, math.inf)),
            Range(above=math.nextafter(self.below, -math.inf)),
        ]

    @property
    def outside_of_one_end(self) -> Range:
        """The range outside; nowhere where the range inside has two ends."""
        if math.isinf(self.above) == math.isinf(self.below):
            return Range(math.inf, math.inf)
        return Range(self.below, self.above)

    @property
    def levels(self) -> tuple[float, float]:
        """The levels of the intervals that a yes and a no ask for.

        That a number lies between two bounds is shown by two one-sided tests at 5%, each at its
        bound, so by the 90% interval (Schuirmann 1987).
        """
        of_yes = ONE_SIDED if self.is_equivalence else LEVEL
        return family_level(self.family.yes, of_yes), family_level(self.family.no)

    def word(self, estimate: Estimate) -> str:
        """Return the word of an estimate: its interval must lie on one side, a value never does."""
        if estimate.n < 2:
            return NO_SPREAD
        if estimate.n < max(self.fewest, estimate.fewest):
            return TOO_FEW
        if estimate.uncategorised:
            return NO_CATEGORIES
        of_yes, of_no = self.levels
        if not estimate.has_interval:
            if estimate.p is None:
                return UNDECIDED
            if estimate.value in self.within:
                return YES if estimate.p < 1 - of_yes else UNDECIDED
            return NO if estimate.p < 1 - of_no else UNDECIDED
        if self.within.holds(estimate.ends(of_yes)) and _is_clear(estimate.p, of_yes):
            return YES
        ends = estimate.ends(of_no)
        is_out = any_of(range_.holds(ends) for range_ in self.outside)
        return NO if is_out and _is_clear(estimate.p, of_no) else UNDECIDED

    def answer(self, estimate: Estimate) -> Answer:
        """Return the answer that an estimate gives."""
        word = self.word(estimate)
        of_yes, of_no = self.levels
        level = {YES: of_yes, NO: of_no}.get(word, max(of_yes, of_no))
        known = estimate.has_interval
        decides = known and (word in (YES, NO) or self.word(replace(estimate, p=None)) == word)
        return Answer(
            value=float(estimate.value),
            word=word,
            ends=_interval(estimate.ends(LEVEL)) if known else None,
            deciding=_interval(estimate.ends(level)) if decides else None,
            level=level if decides else None,
            p=None if estimate.p is None else float(estimate.p),
            n=int(estimate.n),
            unit=estimate.unit,
            family=(self.family.yes, self.family.no),
            method=estimate.method,
            where=estimate.where,
            fewest=max(self.fewest, estimate.fewest),
        )

    def rules(self, entry: Any) -> dict[str, "Asked"]:
        """Return the rules that answer the question of one model, by reading.

        What a paper did it did for one test: its own reading stands in no family.
        """
        return {
            name: Asked(self.alone() if name == PUBLISHED else self, name, partial(rule, entry))
            for name, rule in self.readings.items()
        }

    def alone(self) -> "Question":
        """Return the question as it is asked of one model by itself."""
        return replace(self, says=self.says_of_readers or self.says, family=ALONE)


def _is_clear(p: float | None, level: float) -> bool:
    """Return whether a p that counts beside an interval is small enough, where there is one."""
    return p is None or p < 1 - level


def _interval(ends: tuple[float, float]) -> Interval:
    return Interval(float(ends[0]), float(ends[1]))


@dataclass(frozen=True)
class Asked:
    """A rule of a question, bound to what it is asked of: gives an answer, or a table of further
    ones, one per part that is left out.
    """

    question: Question
    reading: str
    rule: Callable[[], Any]

    @property
    def says(self) -> str:
        """Describe the estimate in words: only what decides is the number of the question."""
        if self.reading == DECIDES:
            return self.question.number
        by = "as the paper takes it" if self.reading == PUBLISHED else f"by `{self.reading}`"
        return f"the number that is asked for, {by}"

    def __call__(self, _: Any = None) -> "AnswerRecord | dict[str, Asked]":
        value = self.rule()
        if isinstance(value, Estimate):
            return self.question.answer(value).record()
        return {part: Asked(self.question, self.reading, rule) for part, rule in value.items()}


# --- answers as documents ---


def documents_of_questions(
    questions: Mapping[str, Question], evidence: Evidence
) -> dict[str, Document]:
    """Return a document per question: `models/MODEL/READING[/PART]` is an answer."""
    return {name: document(question, evidence) for name, question in questions.items()}


def document(question: Question, evidence: Evidence) -> Document:
    """Return the document of one question's answers."""
    rules: dict[str, Function] = {
        f"models/{model}/{reading}": asked
        for model, entry in question.models(evidence).items()
        for reading, asked in question.rules(entry).items()
    }
    return Document(None, {"": rules})


# --- the answers about one model ---


Results = Mapping[str, JsonObject]  # the result documents of one model, by analysis
Printed = Mapping[str, Mapping[str, Answer]]  # by question, then by the papers' model


@dataclass(frozen=True)
class ModelAnswers:
    """A question on one model.

    Attributes:
        asked: the answer that decides; `others`: by other readings.
        printed: the answers of the papers' models, by model.
    """

    question: Question
    asked: Answer
    others: Mapping[str, Answer]
    printed: Mapping[str, Answer]

    @property
    def words(self) -> dict[str, str]:
        """The word by every other reading; the same number with the same interval is none.

        Leaving units out is one reading.
        """
        names = dict.fromkeys(name.partition(PART)[0] for name in self.others)
        by_reading = {name: answers_by(self.others, name) for name in names}
        return {
            name: shared_word(given)
            for name, given in by_reading.items()
            if not all_of(map(self.asked.is_same, given))
        }

    @property
    def n_same(self) -> int:
        """The number of these that are the same as the answer."""
        return [*self.words.values()].count(self.asked.word)


# --- the same of replicates, and of random weights ---


@dataclass(frozen=True)
class Replicated:
    """An answer, taken again of replicates with rounding noise.

    Attributes:
        n: how many there are; `same`: how many of them give the same word.
        band: how far rounding moves the number.
    """

    n: int
    same: int
    band: float


@dataclass(frozen=True)
class DrawnNumbers:
    """The number of a question in draws of random weights; `value` is the model's own."""

    value: float
    numbers: tuple[float, ...]

    @property
    def p(self) -> float | None:
        """How rare the model's number is among them: see `draws_p`; None of too few draws."""
        return draws_p(self.value, self.numbers) if len(self.numbers) >= FEWEST_DRAWS else None


def compare_replicates(
    answers: Sequence[ModelAnswers], replicates: Sequence[Sequence[ModelAnswers]]
) -> JsonObject:
    """Compare answers with those of replicates: band and words by question, empty without any."""
    compared = {}
    for answer, others in _pair_by_question(answers, replicates):
        if len(others) == len(replicates):
            words = [other.asked.word for other in others]
            compared[answer.question.name] = {
                "value": answer.asked.value,
                "band": band(answer.asked.value, [other.asked.value for other in others]),
                "word": answer.asked.word,
                "words": words,
                "same": words.count(answer.asked.word),
            }
    return {"n": len(replicates), "answers": compared} if replicates else {}


def numbers_of_draws(
    answers: Sequence[ModelAnswers], draws: Sequence[Sequence[ModelAnswers]]
) -> JsonObject:
    """Return the number of each question in draws of random weights, empty without any."""
    by_question = {
        answer.question.name: {"drawn": [other.asked.value for other in others]}
        for answer, others in _pair_by_question(answers, draws)
    }
    return {"n": len(draws), "answers": by_question} if draws else {}


def find_replicated(document: JsonObject, question: str) -> Replicated | None:
    """Return what the document of replicates says of a question; None where it says nothing."""
    row = document.get("answers", {}).get(question)
    return None if row is None else Replicated(document["n"], row["same"], row["band"])


def find_drawn(document: JsonObject, question: str, value: float) -> DrawnNumbers | None:
    """Return what the document of random weights says of a question; None without anything.

    Arguments:
        value: the number of the model itself.
    """
    row = document.get("answers", {}).get(question)
    return None if row is None else DrawnNumbers(value, tuple(row["drawn"]))


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
