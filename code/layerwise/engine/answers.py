"""The answer to a question: one record, with one reader and one writer.

A rule gives an estimate, a question makes an answer of it, and documents hold it as JSON; marks,
sentences, figures, pages and tables read it here. What an answer shows is what decided it: the
interval whose place in the range is the word, or the p.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, NotRequired

from pydantic import AfterValidator, Field
from typing_extensions import TypeIs

from layerwise.engine.answer_words import NO, UNDECIDED, WORDS, YES
from layerwise.shapes import Loose, converted

ALPHA = 0.05  # a p that is not below says neither yes nor no
LEVEL, ONE_SIDED = 0.95, 0.90  # of an interval; of two one-sided tests at 5%
PART = "/"  # between a choice and the part that is left out


@dataclass(frozen=True)
class Interval:
    """The ends of an interval: `f"{interval:+.2f}"` is "-0.42 to -0.18"."""

    low: float
    high: float

    def __format__(self, form: str) -> str:
        return f"{self.low:{form}} to {self.high:{form}}"

    def includes(self, value: float) -> bool:
        """Return whether a value lies strictly between the ends."""
        return self.low < value < self.high


def _known(word: str) -> str:
    if word not in WORDS:
        raise ValueError(f"must be one of {', '.join(WORDS)}, found {word!r:.80}")
    return word


class AnswerRecord(Loose):
    """An answer as documents hold it."""

    value: float
    low: float | None
    high: float | None
    n: int
    unit: str
    where: str
    in_range: bool
    word: Annotated[str, AfterValidator(_known)]
    fewest: int
    method: str
    p: float | None
    narrow: Annotated[list[float], Field(min_length=2, max_length=2)] | None
    groups: NotRequired[list[Annotated[list[int], Field(min_length=2, max_length=2)]]]


@dataclass(frozen=True)
class Answer:
    """The answer to a question about one model, under one choice.

    Attributes:
        value: the number that the question is about.
        word: a word of `engine.answer_words`.
        ends: its 95% interval; None where the units give none.
        narrow: its 90% interval, which decides where a number is said to show no effect.
        p: a two-sided p, which counts beside the interval or in its place; None without any.
        n, unit: the units that the number rests on, and what they are.
        method: what gives the interval or the p; empty where there is neither.
        where: what it is about more closely, say a layer.
        in_range: whether the number lies where the claim says, which alone answers nothing.
        fewest: how many units an answer takes at least.
        groups: of two groups compared by their shares, of each (counted, units).
    """

    value: float
    word: str
    ends: Interval | None
    narrow: Interval | None
    p: float | None
    n: int
    unit: str
    method: str = ""
    where: str = ""
    in_range: bool = False
    fewest: int = 0
    groups: tuple[tuple[int, int], ...] = ()

    @property
    def deciding(self) -> Interval | None:
        """The interval that decides; None where a p does, or nothing can."""
        if self.undecided and self.p is not None and self.p >= ALPHA:
            return None
        return self.ends if self.narrow is None else self.narrow

    @property
    def level(self) -> float:
        """The level of the interval that decides."""
        return LEVEL if self.narrow is None else ONE_SIDED

    @property
    def deciding_p(self) -> float | None:
        """The p that decides in the place of an interval."""
        return self.p if self.deciding is None else None

    @property
    def yes(self) -> bool:
        """True where the number is shown to lie where the claim says."""
        return self.word == YES

    @property
    def no(self) -> bool:
        """True where the number is shown to lie where the claim says that it does not."""
        return self.word == NO

    @property
    def undecided(self) -> bool:
        """True where the interval reaches over the border."""
        return self.word == UNDECIDED

    @property
    def reason(self) -> str:
        """The word that says why the answer is open; empty for yes and no."""
        return "" if self.yes or self.no else self.word

    def record(self) -> AnswerRecord:
        """Return the answer as documents hold it."""
        ends, narrow = self.ends, self.narrow
        record = AnswerRecord(
            value=self.value,
            low=None if ends is None else ends.low,
            high=None if ends is None else ends.high,
            n=self.n,
            unit=self.unit,
            where=self.where,
            in_range=self.in_range,
            word=self.word,
            fewest=self.fewest,
            method=self.method,
            p=self.p,
            narrow=None if narrow is None else [narrow.low, narrow.high],
        )
        if self.groups:
            record["groups"] = [[*group] for group in self.groups]
        return record


def answer_of(record: AnswerRecord) -> Answer:
    """Return the answer that a document holds."""
    low, high, narrow = record["low"], record["high"], record["narrow"]
    return Answer(
        value=record["value"],
        word=record["word"],
        ends=None if low is None or high is None else Interval(low, high),
        narrow=None if narrow is None else Interval(*narrow),
        p=record["p"],
        n=record["n"],
        unit=record["unit"],
        method=record["method"],
        where=record["where"],
        in_range=record["in_range"],
        fewest=record["fewest"],
        groups=tuple((counted, n) for counted, n in record.get("groups", [])),
    )


# --- the answers of a source ----------------------------------------------------------------------

ByChoice = Mapping[str, Answer]  # a choice, or `choice/part` where a part is left out
ByModel = Mapping[str, ByChoice]
Answers = Mapping[str, ByModel]  # by question


class _QuestionDocument(Loose):
    models: NotRequired[dict[str, dict[str, AnswerRecord | dict[str, AnswerRecord]]]]


def read_answers(documents: Mapping[str, object]) -> Answers:
    """Return the answers that the statistics of a source hold.

    Arguments:
        documents: {analysis: {document: result}}.

    Raises:
        LayerwiseError: for an answer of another shape, of another version say.
    """
    given = documents.get("questions", {})
    questions: dict[str, _QuestionDocument] = converted(
        "statistics of the questions", dict[str, _QuestionDocument], given, "analyse again"
    )
    return {name: answers_in(document) for name, document in questions.items()}


def answers_in(document: _QuestionDocument) -> ByModel:
    """Return the answers that the document of a question holds."""
    models = document.get("models", {})
    return {model: dict(_by_choice(choices)) for model, choices in models.items()}


def get_answer(answers: Answers, question: str, model: str, choice: str) -> Answer | None:
    """Return an answer; None where the source has none."""
    return answers.get(question, {}).get(model, {}).get(choice)


def is_answer(given: AnswerRecord | dict[str, AnswerRecord]) -> TypeIs[AnswerRecord]:
    """Return whether what stands below a choice is an answer, and not a table of parts."""
    return "word" in given


def _by_choice(
    choices: Mapping[str, AnswerRecord | dict[str, AnswerRecord]],
) -> Iterator[tuple[str, Answer]]:
    """Yield each choice with its answer; of a choice that leaves parts out, each part."""
    for choice, given in choices.items():
        if is_answer(given):
            yield choice, answer_of(given)
        else:
            for part, record in given.items():
                yield f"{choice}{PART}{part}", answer_of(record)


# --- the answers of a reader's model --------------------------------------------------------------


class AnswerRow(AnswerRecord):
    """An answer in `sensitivity.json`."""

    question: str
    choice: str


def rows_of(question: str, by_choice: ByChoice) -> Iterator[AnswerRow]:
    """Yield the answers to a question as `sensitivity.json` holds them."""
    for choice, answer in by_choice.items():
        yield AnswerRow(question=question, choice=choice, **answer.record())


def read_rows(rows: object, again: str) -> dict[str, dict[str, Answer]]:
    """Return the answers in `sensitivity.json`, {question: {choice: answer}}.

    Raises:
        LayerwiseError: for rows of another shape, of another version say; `again` is the fix.
    """
    given: list[AnswerRow] = converted("sensitivity.json: rows", list[AnswerRow], rows, again)
    answers: dict[str, dict[str, Answer]] = {}
    for row in given:
        answers.setdefault(row["question"], {})[row["choice"]] = answer_of(row)
    return answers
