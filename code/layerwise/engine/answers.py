"""The answer to a question: one record, with one reader and one writer.

A rule gives an estimate, a question makes an answer of it, and documents hold it as JSON; marks,
sentences, figures, pages and tables read it here. What an answer shows is what decided it: the
interval whose place in the range is the word, or the p.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple, NotRequired

from pydantic import AfterValidator, Field
from typing_extensions import TypeIs

from layerwise.engine.answer_words import NO, UNDECIDED, WORDS, YES
from layerwise.shapes import Loose, converted

PART = "/"  # between a reading and the part that is left out


class Interval(NamedTuple):
    """The ends of an interval: `f"{interval:+.2f}"` is "-0.42 to -0.18"."""

    low: float
    high: float

    def __format__(self, form: str) -> str:
        return f"{self.low:{form}} to {self.high:{form}}"

    def includes(self, value: float) -> bool:
        """Return whether a value lies strictly between the ends."""
        return self.low < value < self.high


def number_text(value: float, decimals: int, *, sign: bool) -> str:
    """Return a number at so many decimals, or at more where these would show zero.

    Arguments:
        sign: whether a plus stands before what is positive.
    """
    if value and float(f"{value:.{decimals}f}") == 0:
        decimals = -math.floor(math.log10(abs(value)))
    return f"{value:{'+' if sign else ''}.{decimals}f}"


def _known(word: str) -> str:
    if word not in WORDS:
        raise ValueError(f"must be one of {', '.join(WORDS)}, found {word!r:.80}")
    return word


class AnswerRecord(Loose):
    """An answer as documents hold it."""

    value: float
    word: Annotated[str, AfterValidator(_known)]
    ends: Annotated[list[float], Field(min_length=2, max_length=2)] | None
    deciding: Annotated[list[float], Field(min_length=2, max_length=2)] | None
    level: float | None
    p: float | None
    n: int
    unit: str
    family: Annotated[list[int], Field(min_length=2, max_length=2)]
    method: str
    where: str
    fewest: int


@dataclass(frozen=True)
class Answer:
    """The answer to a question about one model, by one reading.

    Attributes:
        value: the number that the question is about.
        word: a word of `engine.answer_words`.
        ends: its 95% interval; None where the units give none.
        deciding: the interval whose place in the range is the word: at the level that a yes asks
            for, or a no; at the wider one while the answer is open. `level`: of it. None without
            one, or where a p leaves open what the interval would answer.
        p: a two-sided p, which counts beside the interval or in its place; None without any.
        n, unit: the units that the number rests on, and what they are.
        family: by how many the error of a yes, and of a no, is divided.
        method: what gives the interval or the p; empty where there is neither.
        where: what it is about more closely, say a layer.
        fewest: how many units an answer takes at least.
    """

    value: float
    word: str
    ends: Interval | None
    deciding: Interval | None
    level: float | None
    p: float | None
    n: int
    unit: str
    family: tuple[int, int] = (1, 1)
    method: str = ""
    where: str = ""
    fewest: int = 0

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

    def is_same(self, other: "Answer") -> bool:
        """Return whether another reading gives the same number with the same interval."""
        return (self.value, self.ends, self.p) == (other.value, other.ends, other.p)

    def record(self) -> AnswerRecord:
        """Return the answer as documents hold it."""
        return AnswerRecord(
            value=self.value,
            word=self.word,
            ends=None if self.ends is None else [*self.ends],
            deciding=None if self.deciding is None else [*self.deciding],
            level=self.level,
            p=self.p,
            n=self.n,
            unit=self.unit,
            family=[*self.family],
            method=self.method,
            where=self.where,
            fewest=self.fewest,
        )


def answer_of(record: AnswerRecord) -> Answer:
    """Return the answer that a document holds."""
    yes, no = record["family"]
    return Answer(
        value=record["value"],
        word=record["word"],
        ends=None if record["ends"] is None else Interval(*record["ends"]),
        deciding=None if record["deciding"] is None else Interval(*record["deciding"]),
        level=record["level"],
        p=record["p"],
        n=record["n"],
        unit=record["unit"],
        family=(yes, no),
        method=record["method"],
        where=record["where"],
        fewest=record["fewest"],
    )


# --- the answers of a source ----------------------------------------------------------------------

ByReading = Mapping[str, Answer]  # a reading, or `reading/part` where a part is left out
ByModel = Mapping[str, ByReading]
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
    return {model: dict(_by_reading(readings)) for model, readings in models.items()}


def get_answer(answers: Answers, question: str, model: str, reading: str) -> Answer | None:
    """Return an answer; None where the source has none."""
    return answers.get(question, {}).get(model, {}).get(reading)


def answers_by(by_reading: ByReading, reading: str) -> list[Answer]:
    """Return the answers by a reading: one, or one for each part that it leaves out."""
    return [answer for name, answer in by_reading.items() if name.partition(PART)[0] == reading]


def shared_word(answers: Sequence[Answer]) -> str:
    """Return the word of all answers of a reading, which leaves units out; else undecided."""
    words = {answer.word for answer in answers}
    return words.pop() if len(words) == 1 else UNDECIDED


def is_answer(given: AnswerRecord | dict[str, AnswerRecord]) -> TypeIs[AnswerRecord]:
    """Return whether what stands below a reading is an answer, and not a table of parts."""
    return "word" in given


def _by_reading(
    readings: Mapping[str, AnswerRecord | dict[str, AnswerRecord]],
) -> Iterator[tuple[str, Answer]]:
    """Yield each reading with its answer; of a reading that leaves parts out, each part."""
    for reading, given in readings.items():
        if is_answer(given):
            yield reading, answer_of(given)
        else:
            for part, record in given.items():
                yield f"{reading}{PART}{part}", answer_of(record)


# --- the answers of a reader's model --------------------------------------------------------------


class AnswerRow(AnswerRecord):
    """An answer in `sensitivity.json`."""

    question: str
    reading: str


def rows_of(question: str, by_reading: ByReading) -> Iterator[AnswerRow]:
    """Yield the answers to a question as `sensitivity.json` holds them."""
    for reading, answer in by_reading.items():
        yield AnswerRow(question=question, reading=reading, **answer.record())


RowsByQuestion = Mapping[str, Mapping[str, Answer]]  # {question: {reading: answer}}


def read_answer_rows(rows: object, again: str) -> RowsByQuestion:
    """Return the answers in `sensitivity.json`, {question: {reading: answer}}.

    Raises:
        LayerwiseError: for rows of another shape, of another version say; `again` is the fix.
    """
    given: list[AnswerRow] = converted("sensitivity.json: rows", list[AnswerRow], rows, again)
    answers: dict[str, dict[str, Answer]] = {}
    for row in given:
        answers.setdefault(row["question"], {})[row["reading"]] = answer_of(row)
    return answers
