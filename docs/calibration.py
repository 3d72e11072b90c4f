#!/usr/bin/env python3
"""Write docs/calibration.md: how often a mark is wrong, from what the bench recorded.

python docs/calibration.py (or `make docs`)
"""

from pathlib import Path

from layerwise.papers.across.questions import QUESTIONS
from layerwise.present.error_rates import Row, percent, read_record, rows_by_question, worst_of

ROOT = Path(__file__).resolve().parent.parent
READINGS = {"all_pairs": "The reading of Paper 2's questions by r over all pairs."}
HEAD = """# How often a mark is wrong

<!-- Written by `make docs` from code/layerwise/present/calibration.json; do not edit. -->

For a statistician who asks what the intervals of this repository are worth. Sets of data are made,
so that the truth is known. The functions that answer the questions answer these too, each asked of
one model, so that no family of tests widens its interval. Where the truth lies on the border of
what is claimed, yes and no are both wrong, and the aim is at most 2.5% each (5% for the yes of an
equivalence); where it lies beyond, one of them is, and the share of the right word is the power.
The 95% interval should hold the true number in 93% or more. A rate misses its aim if it lies more
than three Monte-Carlo errors beyond it (of 2,000 sets 1.0 points of 2.5%, of 1,000 sets 1.5).
Such rates are in bold, and [listed below](#where-the-aim-is-not-met).

"SD" is that of r between the categories, on Fisher's z; "ICC" the part of the variance that lies
between categories. Without other sizes there are six categories of 30, 20, 50, 50, 50 and 30 pairs
at nine layers, whose noise correlates by 0.9 from one to the next. Rows that name a model take its
stored states and preferences. {sets} sets went the whole way, from values of pairs through the
stages to the answers: all {words:,} words were the same.

`python benchmarks/calibration.py` makes the table again, from seed {seed}, in some 15 minutes.
Three questions are in no table, as no data of their published shape can answer them: `trace`,
`peak_shift` and `tuning_never` have too few models, or no interval.

## The worst of each question

Without the data on which the aim is out of reach; power from the lowest of the question's rows to
the highest.

| question | wrong yes, at most | wrong no, at most | interval holds the truth, at least | power |
|---|---|---|---|---|
{rows}
"""
TABLE = """
| data | right | yes | no | interval holds the truth | sets |
|---|---|---|---|---|---|
"""


def worst_row(name: str, rows: list[Row]) -> str:
    """A row of the first table."""
    worst = worst_of(rows)
    power = "–" if worst.power is None else " to ".join(dict.fromkeys(map(percent, worst.power)))
    shares = map(percent, (worst.wrong_yes, worst.wrong_no, worst.coverage))
    return f"| {' | '.join((f'[{name}](#{name})', *shares, power))} |"


def table_row(row: Row) -> str:
    """A row of a question's table."""
    shares = [percent(row.yes / row.sets), percent(row.no / row.sets), percent(row.coverage)]
    if not row.is_met:
        shares = [f"**{share}**" for share in shares]
    right = {"border": "neither"}.get(row.truth, row.truth)
    return f"| {' | '.join((told(row), right, *shares, f'{row.sets:,}'))} |"


def told(row: Row) -> str:
    """The data of a row in words."""
    return (f"{row.model}: {row.data}" if row.model else row.data).replace("|", "\\|")


def page() -> str:
    """The text of docs/calibration.md."""
    record, by_question = read_record(), rows_by_question()
    rows = "\n".join(worst_row(name, found) for name, found in by_question.items())
    parts = [HEAD.format(rows=rows, seed=record["seed"], **record["path"])]
    paper = 0
    for name, found in by_question.items():
        of = QUESTIONS[name].paper if name in QUESTIONS else 0
        if of != paper:
            parts += [f"\n## {f'Paper {of}' if of else 'Readings'}\n"]
            paper = of
        says = QUESTIONS[name].says if of else READINGS[name]
        parts += [f"\n### {name}\n\n{says}\n{TABLE}", *(f"{table_row(row)}\n" for row in found)]
    parts += ["\n## Where the aim is not met\n\n"]
    missed = [row for found in by_question.values() for row in found if not row.is_met]
    parts += [
        f"- [{row.question}](#{row.question}), {told(row)}: yes {percent(row.yes / row.sets)}, "
        f"no {percent(row.no / row.sets)}, held {percent(row.coverage)}. "
        f"{row.why[:1].upper()}{row.why[1:] or 'Not explained'}.\n"
        for row in missed
    ]
    return "".join(parts)


if __name__ == "__main__":
    (ROOT / "docs" / "calibration.md").write_text(page(), encoding="utf-8")
