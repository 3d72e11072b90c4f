"""The rule that marks a central claim: three-valued logic over the answers to its questions.

A part is a question asked of one model. An ask is a quantifier over parts, and the claim is the
conjunction of its asks. No printed word, sign or bound decides: the interval of a number does, so a
sign that lies inside its own interval concludes nothing. Other readings of the claim, which its
paper allows, run through the same logic; they never raise a mark.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Required

from layerwise.engine.answer_words import (
    MEANINGS,
    NEEDS_WEIGHTS,
    NO,
    OPEN_WORDS,
    OPPOSITE,
    YES,
    Word,
)
from layerwise.engine.answers import PART, Answers, ByReading, answers_by, shared_word
from layerwise.engine.published import DECIDES, OVER_MODELS, PUBLISHED
from layerwise.shapes import Strict

HOLDS, IN_PART, FAILS, OPEN = "holds", "in part", "fails", "open"
DEPENDS = "depends on the reading"
MARKS = {
    HOLDS: "every question that the claim asks is answered yes",
    IN_PART: "of several models that the claim names some answer yes, and too few; it can still "
    "hold",
    FAILS: "a question that it asks is answered no",
    OPEN: "it neither holds nor fails yet; the reason stands beside the mark",
}
OPENNESS = {word: MEANINGS[word] for word in OPEN_WORDS} | {
    DEPENDS: "another reading that the paper allows answers the opposite"
}


class FamilyEntry(Strict):
    """By how many the error of a yes and of a no is divided, and why."""

    yes: int
    no: int
    because: str


class Ask(Strict, total=False):
    """A question that a claim asks, of which models, and how many of them must answer.

    of: models; all that are asked, if left out.
    at_least: how many of them must answer as the claim says; all, if left out.
    answer: what the claim says; yes, if left out.
    estimand, range, against, unit, family: those of the question, in words.
    parts: what is one part: a model, or the whole statement.
    power: what an answer can be expected to show.
    prints: by model the claim that prints its estimate.
    """

    question: Required[str]
    of: list[str]
    at_least: int
    answer: Literal["yes", "no"]
    estimand: Required[str]
    range: Required[str]
    against: str
    unit: Required[str]
    family: Required[FamilyEntry]
    parts: Required[str]
    power: Required[str]
    prints: dict[str, str]


@dataclass(frozen=True)
class QuestionPart:
    """A question asked of one model, and its word as the claim has it."""

    question: str
    model: str
    word: Word


class Counts(Strict):
    """The number of parts that answer yes and no, and that are open."""

    yes: int
    no: int
    open: int


def quantified(words: Sequence[str], need: int) -> str:
    """Return yes where as many parts answer it as are needed, no where too few still could.

    Else the reason that lies deepest (Kleene's logic, with the open words in the third place).
    """
    if words.count(YES) >= need:
        return YES
    if len(words) - words.count(NO) < need:
        return NO
    return next(word for word in OPEN_WORDS if word in words)


def mark(
    asked: Sequence[tuple[Sequence[str], int]], readings: Iterable[str] = ()
) -> tuple[str, str]:
    """Return the mark of a claim, and why it is open; else "".

    Arguments:
        asked: of every ask the words of its parts, and how many of them must be yes.
        readings: the word of the whole claim by each other reading.
    """
    words = [quantified(parts, need) for parts, need in asked]
    claim = quantified(words, len(words))
    if claim == NO:
        return FAILS, ""
    statements = [word for word, (parts, _) in zip(words, asked, strict=True) if len(parts) == 1]
    some = any(len(parts) > 1 and YES in parts for parts, _ in asked)
    is_in_part = some and all(word == YES for word in statements)
    if claim != YES and not is_in_part:
        return OPEN, claim
    if NO in readings:
        return OPEN, DEPENDS
    return (HOLDS if claim == YES else IN_PART), ""


# --- the answers of a source ----------------------------------------------------------------------


@dataclass(frozen=True)
class Weighed:
    """The questions of a claim together, and the mark that they give.

    Attributes:
        parts: of each ask, its parts as they decide.
        words: of each ask; `word`: of the claim.
        readings: the word of the whole claim by each other reading that says something else than
            what decides.
        mark, why: see `mark`.
    """

    parts: Sequence[Sequence[QuestionPart]]
    words: Sequence[str]
    word: str
    readings: Mapping[str, str]
    mark: str
    why: str

    @property
    def counts(self) -> Counts:
        """How its parts answer."""
        words = Counter(part.word for parts in self.parts for part in parts)
        n_open = sum(words[word] for word in OPEN_WORDS)
        return Counts(yes=words[YES], no=words[NO], open=n_open)


def weigh(asks: Sequence[Ask], answers: Answers) -> Weighed:
    """Weigh the questions of a claim by the answers of a source."""
    parts = [parts_of(ask, answers) for ask in asks]
    words = [word_of_ask(ask, of_ask) for ask, of_ask in zip(asks, parts, strict=True)]
    readings = words_by_reading(asks, answers)
    # what is said of all models, and names none, is one statement
    asked = [
        ([part.word for part in of_ask], _need(ask, of_ask)) if "of" in ask else ([word], 1)
        for ask, of_ask, word in zip(asks, parts, words, strict=True)
    ]
    return Weighed(
        parts,
        words,
        quantified(words, len(words)),
        readings,
        *mark(asked, readings.values()),
    )


def word_of_ask(ask: Ask, parts: Sequence[QuestionPart]) -> str:
    """Return the word that the parts of an ask give together."""
    return quantified([part.word for part in parts], _need(ask, parts))


def _need(ask: Ask, parts: Sequence[QuestionPart]) -> int:
    return ask.get("at_least", len(parts))


def mark_text(mark: str, why: str) -> str:
    """Return a mark as text, with the reason where it is open: "open (too few)"."""
    return f"{mark} ({why})" if why else mark


def parts_of(ask: Ask, answers: Answers, reading: str = DECIDES) -> list[QuestionPart]:
    """Return the parts of an ask by a reading; one that lacks it keeps the word that decides.

    What nobody measured needs the weights.
    """
    by_model = answers.get(ask["question"], {})
    models = ask.get("of", [*by_model]) or [OVER_MODELS]
    return [
        QuestionPart(ask["question"], model, _word(ask, by_model.get(model, {}), reading))
        for model in models
    ]


def _word(ask: Ask, by_reading: ByReading, reading: str) -> str:
    """Return the word of a model by a reading, turned where the claim says no."""
    answered = answers_by(by_reading, reading) or answers_by(by_reading, DECIDES)
    word = shared_word(answered) if answered else NEEDS_WEIGHTS
    return word if ask.get("answer", YES) == YES else OPPOSITE.get(word, word)


def words_by_reading(asks: Sequence[Ask], answers: Answers) -> dict[str, str]:
    """Return the word of a claim by every other reading of its questions.

    A reading that gives the same numbers as the one that decides is none. What the papers did is
    shown and not counted: the error rate of their intervals is another.
    """
    names: dict[str, None] = {}
    for ask in asks:
        by_model = answers.get(ask["question"], {})
        for model in ask.get("of", [*by_model]):
            by_reading = by_model.get(model, {})
            decided = by_reading.get(DECIDES)
            for name in by_reading:
                reading = name.partition(PART)[0]
                given = answers_by(by_reading, reading)
                if reading in (DECIDES, PUBLISHED):
                    continue
                if decided is None or not all(map(decided.is_same, given)):
                    names[reading] = None
    words = {}
    for reading in names:
        of_asks = [word_of_ask(ask, parts_of(ask, answers, reading)) for ask in asks]
        words[reading] = quantified(of_asks, len(of_asks))
    return words
