"""The strip: each central claim in ten words, with the estimates that decide it.

`claims/strip.yaml` names these estimates and may add sentences, each printed only while its
condition holds. Marks, texts and pictures of the strip are made in `layerwise.present.strip`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Required

from layerwise.engine.conditions import Sentence, fill_sentences
from layerwise.engine.headlines import GRADES, OPPOSITE, PUBLISHED, YES, Headline, Word
from layerwise.engine.published import answers_by_model
from layerwise.engine.sentences import Entry, Record, name_entry_in_errors, read_entries, values_of
from layerwise.errors import LayerwiseError
from layerwise.shapes import Flag, Paper, Strict

if TYPE_CHECKING:  # at run time it would bring NumPy to who only reads the rows
    from layerwise.engine.questions.question import Question


class Shown(Strict, total=False):
    """Estimates of a question that decide a claim.

    of: models; all that have an answer, if left out.
    label: what an estimate is called, `{model}` if left out; it may name its `{n}` units.
    largest: of these models only so many, those with the largest estimates.
    choice: how the question is asked; as the papers did, if left out.
    answer: what the claim says; yes, if left out.
    """

    question: Required[str]
    of: list[str]
    label: str
    largest: int
    choice: str
    answer: Literal["yes", "no"]


class Asked(Entry, total=False):
    """An entry of strip.yaml.

    claim: the claim in ten words; `number`: what the estimates are.
    decimals: of the estimates.
    figure: the figure that shows the evidence.
    front: whether README shows the row.
    """

    claim: Required[str]
    number: Required[str]
    shows: Required[list[Shown]]
    values: dict[str, str]
    sentences: list[Sentence]
    decimals: int
    figure: str
    front: bool


@dataclass(frozen=True)
class Point:
    """An estimate with its interval, and where it lies if the claim is right.

    Attributes:
        model: what it is about.
        low, high: the ends of the interval, of 90% where the claim is that a number lies between
            two bounds (two one-sided tests at 5%); None where too few units give none.
        word: whether it lies where the claim says, a word of `engine.questions`.
        above, below: the ends of the range that the claim names; None where there is no end.
    """

    model: str
    value: float
    low: float | None
    high: float | None
    word: Word
    above: float | None
    below: float | None


@dataclass(frozen=True)
class Row:
    """A central claim on the strip.

    Attributes:
        id, paper, source, grade: those of the headline.
        claim: the claim in ten words.
        number: what the points are.
        points: the estimates that decide; none where the source has none.
        text: the sentences whose conditions hold.
    """

    id: str
    paper: Paper
    source: Literal["paper", "notebooks"]
    grade: Literal[tuple(GRADES)]  # type: ignore[valid-type]
    claim: str
    number: str
    decimals: int
    points: list[Point]
    text: str
    figure: str
    front: Flag


def read_strip(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of `strip.yaml` of the ledger's folder; none without such a file."""
    return read_entries(folder / "strip.yaml", Asked, optional=True)


def strip_rows(
    graded: Sequence[Headline],
    records: Sequence[Record],
    documents: Mapping[str, Any],
    questions: Mapping[str, "Question"],
    entries: Sequence[Mapping[str, Any]],
) -> list[Row]:
    """Return a row for every headline, in the order of the headlines.

    Arguments:
        graded: the graded headlines.
        records: judged claims.
        documents: the statistics of the same source, {analysis: {document: result}}.
        questions: the papers' questions by name.
        entries: `read_strip`.

    Raises:
        LayerwiseError: for a headline without an entry, and an entry without a headline.
    """
    by_id = {entry["id"]: entry for entry in entries}
    ids = [headline.id for headline in graded]
    if lacking := [name for name in ids if name not in by_id]:
        raise LayerwiseError(
            f"strip.yaml: every headline needs an entry, {lacking[0]} has none; add one"
        )
    if left := [name for name in by_id if name not in ids]:
        raise LayerwiseError(
            f"strip.yaml: every entry needs a headline, {left[0]} is none; remove the entry"
        )
    known = {record["id"]: record for record in records}
    rows = []
    for headline in graded:
        entry = by_id[headline.id]
        with name_entry_in_errors("row", entry, "strip"):
            values = values_of(entry, known, documents)
            points = [
                point for shown in entry["shows"] for point in _points(shown, documents, questions)
            ]
            rows.append(
                Row(
                    id=headline.id,
                    paper=headline.paper,
                    source=headline.source,
                    grade=headline.grade,
                    claim=entry["claim"],
                    number=entry["number"],
                    decimals=entry.get("decimals", 2),
                    points=points,
                    text=fill_sentences(entry.get("sentences", []), values),
                    figure=entry.get("figure", ""),
                    front=entry.get("front", False),
                )
            )
    return rows


def _points(
    shown: Mapping[str, Any], documents: Mapping[str, Any], questions: Mapping[str, "Question"]
) -> Iterator[Point]:
    """Yield the estimates of a question that a row shows, without those that the source lacks."""
    name = shown["question"]
    if name not in questions:
        raise LayerwiseError(f"there is no question {name!r}")
    answers = answers_by_model(documents, name)
    choice = shown.get("choice", PUBLISHED)
    answers_of_choice = {
        model: answers[model][choice]
        for model in shown.get("of", answers)
        if choice in answers.get(model, {})
    }
    order = sorted(answers_of_choice, key=lambda model: -answers_of_choice[model]["value"])
    kept = order[: shown["largest"]] if "largest" in shown else list(answers_of_choice)
    agrees = shown.get("answer", YES) == YES
    above, below = questions[name].above, questions[name].below
    if not agrees:  # the claim is what lies outside: a range too, where the question's has one end
        has_one_end = math.isinf(above) != math.isinf(below)
        above, below = (below, above) if has_one_end else (math.inf, math.inf)
    for model in kept:
        answer = answers_of_choice[model]
        word = answer["word"]
        low, high = answer["narrow"] or (answer["low"], answer["high"])
        yield Point(
            model=shown.get("label", "{model}").format(model=model, n=answer["n"]),
            value=answer["value"],
            low=low,
            high=high,
            word=word if agrees else OPPOSITE.get(word, word),
            above=above if math.isfinite(above) else None,
            below=below if math.isfinite(below) else None,
        )
