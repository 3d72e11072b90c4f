#!/usr/bin/env python3
"""Write docs/calibration.{md,csv}: how often a mark is wrong, from what the bench recorded.

python docs/calibration.py (or `make docs`)
"""

from pathlib import Path

from layerwise.csv_rows import format_csv
from layerwise.files import write_text
from layerwise.papers.across.questions import QUESTIONS
from layerwise.present.error_rates import (
    Row,
    percent,
    read_error_rates,
    read_record,
    rows_by_question,
    worst_of,
)

DOCS = Path(__file__).resolve().parent
READINGS = {"all_pairs": "The reading of Paper 2's questions by r over all pairs."}
RIGHT = {"border": "neither"}
HEAD = """# How often a mark is wrong

<!-- Written by `make docs` from code/layerwise/present/calibration.json; do not edit. -->

For a statistician who asks what the intervals of this repository are worth. Sets of data are made,
so that the truth is known. The functions that answer the questions answer these too, each asked of
one model, so that no family of tests widens its interval. Where the truth lies on the border of
what is claimed, yes and no are both wrong, and the aim is at most 2.5% each (5% for the yes of an
equivalence); where it lies beyond, one of them is, and the share of the right word is the power.
The 95% interval should hold the true number in 93% or more. A rate misses its aim if it lies more
than three Monte-Carlo errors beyond it (of 2,000 sets 1.0 points of 2.5%, of 1,000 sets 1.5).
Such rates are [listed below](#where-the-aim-is-not-met).

"SD" is that of r between the categories, on Fisher's z; "ICC" the part of the variance that lies
between categories. Without other sizes there are six categories of 30, 20, 50, 50, 50 and 30 pairs
at nine layers, whose noise correlates by 0.9 from one to the next. Rows that name a model take its
stored states and preferences. {sets} sets went the whole way, from values of pairs through the
stages to the answers: all {words:,} words were the same.

`python benchmarks/calibration.py` makes the table again, from seed {seed}, in some 15 minutes.
Three questions are in no table, as no data of their published shape can answer them: `trace`,
`peak_shift` and `tuning_never` have too few models, or no interval.

## The worst of each question

Over all of its data but those on which the aim is out of reach; power from its lowest to its
highest. [calibration.csv](calibration.csv) has the {n} rows behind this table: what the data are,
what is right of them, and how many sets are answered yes and no.

| question | says | wrong yes | wrong no | interval holds the truth | power | rows |
|---|---|--:|--:|--:|--:|--:|
{rows}

## Where the aim is not met

| question | data | yes | no | interval holds the truth | why |
|---|---|--:|--:|--:|---|
{missed}
"""
COLUMNS = ("question", "data", "model", "right", "sets", "yes", "no", "covered", "met", "why")


def worst_row(name: str, rows: list[Row]) -> str:
    """A row of the first table."""
    worst = worst_of(rows)
    power = "–" if worst.power is None else " to ".join(dict.fromkeys(map(percent, worst.power)))
    shares = map(percent, (worst.wrong_yes, worst.wrong_no, worst.coverage))
    asks = QUESTIONS[name].says if name in QUESTIONS else READINGS[name]
    cells = (f'<a id="{name}"></a>`{name}`', asks, *shares, power, str(len(rows)))
    return f"| {' | '.join(cells)} |"


def missed_row(row: Row) -> str:
    """A row of the second table."""
    data = (f"{row.model}: {row.data}" if row.model else row.data).replace("|", "\\|")
    shares = map(percent, (row.yes / row.sets, row.no / row.sets, row.coverage))
    return f"| {' | '.join((f'`{row.question}`', data, *shares, row.why or 'not explained'))} |"


def page() -> str:
    """The text of docs/calibration.md."""
    record, by_question = read_record(), rows_by_question()
    missed = [row for rows in by_question.values() for row in rows if not row.is_met]
    return HEAD.format(
        rows="\n".join(worst_row(name, rows) for name, rows in by_question.items()),
        missed="\n".join(map(missed_row, missed)),
        n=len(record["rows"]),
        seed=record["seed"],
        **record["path"],
    )


def rows() -> str:
    """The text of docs/calibration.csv; `covered` is empty where there is no true number."""

    def cells(row: Row) -> tuple[object, ...]:
        right, met = RIGHT.get(row.truth, row.truth), "yes" if row.is_met else "no"
        counts = (row.sets, row.yes, row.no, row.covered)
        return (row.question, row.data, row.model, right, *counts, met, row.why)

    return format_csv(COLUMNS, map(cells, read_error_rates()))


if __name__ == "__main__":
    write_text(DOCS / "calibration.md", page())
    write_text(DOCS / "calibration.csv", rows())
