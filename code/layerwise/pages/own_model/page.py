"""A reader's own models as one HTML page, LaTeX tables, figures and CSV files."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from layerwise.analyses.questions.answers import Answer
from layerwise.analyses.questions.beside import CONTROL, REPLICATES, again, share
from layerwise.analyses.questions.choices import text
from layerwise.analyses.questions.question import MEANINGS, NO, TOO_FEW, UNDECIDED, WORDS, YES
from layerwise.figures.printed import Printed
from layerwise.files import write_text
from layerwise.pages import latex
from layerwise.pages.html import fill, inlined, policy
from layerwise.pages.own_model import HTML, LATEX, ROOT, STYLES
from layerwise.pages.own_model.figures import display_name
from layerwise.pages.own_model.sections import Section
from layerwise.pages.pictures import Picture
from layerwise.pages.tables import Table, Value, significant
from layerwise.statistics.estimates import Estimate

LONGEST_FLOAT = 40  # rows: more do not fit on one page
LISTED = 4  # models named beside a claim; of more, the range
STRIP = (190, 26)  # width and height of a claim's drawing


@dataclass(frozen=True)
class Own:
    """All that the page and the files beside it say.

    settings: what was measured and how, as (name, value); absent: {analysis: why it is not there}.
    """

    display: str
    settings: Sequence[tuple[str, str]]
    cautions: Sequence[str]
    absent: Mapping[str, str]
    sections: Mapping[Section, Sequence[Table]]
    answers: Sequence[Answer] = ()
    beside: Mapping[str, Any] = field(default_factory=dict)  # of replicates and random weights
    matrix: Table | None = None  # the claims by model, of several
    further: Sequence[Table] = field(default=())  # as CSV files only
    random_weights: bool = False
    lead: str = (
        "The analyses of the three papers on the dynamics of transformers, measured on one model. "
        "What is grey are the papers’ models, from the numbers published with them."
    )

    @property
    def tables(self) -> list[Table]:
        """Of the page, and those beside it."""
        of_page = [table for tables in self.sections.values() for table in tables]
        asked = [claims(self.answers)] if self.answers else []
        asked += [self.matrix] if self.matrix else []
        return [*asked, *of_page, *self.further]


def write(own: Own, figures: Iterable[Printed], folder: Path, part: Path, index: str) -> None:
    """The page, its figures and its tables, into `folder`.

    Arguments:
        part: the folder of figures and tables below it, itself perhaps.
        index: name of the page's file.

    Raises:
        LayerwiseError: for a broken template.
    """
    pictures = []
    for one in figures:
        if one.svg:
            one.save(folder / part / "figures")
            pictures.append(Picture(one.name, one.analysis, one.caption, one.svg))
    for table in own.tables:
        write_text(folder / part / "tables" / f"{table.name}.csv", table.csv)
    write_text(folder / part / "tables.tex", tex(own))
    write_text(folder / index, html(own, pictures, part.as_posix()))


def html(own: Own, pictures: Sequence[Picture], part: str = ".", root: Path = ROOT) -> str:
    """The page: one text that opens from disk and asks for nothing.

    Raises:
        LayerwiseError: for a broken template, or a figure that is not a whole SVG.
    """
    css = "\n".join(inlined(root / name) for name in STYLES)
    context = {
        "own": own,
        "answer": answer(own.answers),
        "answers": [view(one, own.beside) for one in own.answers],
        "drawn": of_random(own.beside),
        "meanings": MEANINGS,
        "pictures": pictures,
        "at": "" if part == "." else f"{part}/",
        "style": Markup(css),
        "policy": policy(css),
    }
    return fill([root / "report/own_model", root / "report/templates"], HTML, context)


def tex(own: Own, root: Path = ROOT) -> str:
    """Tables to be read into a document with `\\input`.

    Raises:
        LayerwiseError: for a broken template.
    """
    context = {
        "own": own,
        "label": re.sub(r"[^a-z0-9]+", "-", own.display.lower()).strip("-") or "model",
        "longest": LONGEST_FLOAT,
        "claims": [],  # of the papers: none is quoted
    }
    return latex.render(root / "paper/own_model", LATEX, context)


# --- what came out ------------------------------------------------------------------------------


def answer(answers: Sequence[Answer]) -> str:
    """How the questions are answered, in one sentence."""
    counts = Counter(one.word for one in answers)
    said = {
        TOO_FEW: "too few units for {}",
        UNDECIDED: "{} undecided",
        NO: "no to {}",
        YES: "yes to {}",
    }
    parts = [said[word].format(counts[word]) for word in WORDS if counts[word]]
    n = f"{len(answers)} question{'s' if len(answers) != 1 else ''}"
    return f"Of {n} that the papers' claims ask: {', '.join(parts)}." if parts else ""


def view(one: Answer, beside: Mapping[str, Any]) -> dict[str, Any]:
    """An answer as the page shows it, beside what it says itself."""
    noise, random = (again(beside.get(of, {}), one.question.name) for of in (REPLICATES, CONTROL))
    words = one.words
    same = sum(word == one.word for word in words.values())
    grade = {
        YES: "stands" if same == len(words) else "depends-on-a-choice",
        NO: "does-not-follow",
        UNDECIDED: "undecided",
        TOO_FEW: "needs-the-weights",
    }
    printed = [
        f"{display_name(name)} {significant(value, 3)}" for name, value in one.published.items()
    ]
    if len(printed) > LISTED:
        ends = (significant(end(one.published.values()), 3) for end in (min, max))
        printed = [f"{' to '.join(ends)} in {len(printed)} models"]
    return {
        "is": one,
        "printed": ", ".join(printed),
        "number": number(one.estimate),
        "grade": grade[one.word],
        "same": f"the same under {same} of {len(words)}",
        "others": [
            (_how(text(choice), of), words[choice], number(of)) for choice, of in one.others.items()
        ],
        "strip": strip(one),
        "noise": noise and (significant(noise.band or 0.0, 2), noise.same, noise.n),
        "random": random and (random.same, random.n),
    }


def of_random(beside: Mapping[str, Any]) -> str:
    """What random weights answer, in one sentence; nothing where none were drawn."""
    if not (document := beside.get(CONTROL)):
        return ""
    same, asked = share(document)
    return (
        f"Random weights of this architecture answer {same} of {asked} questions as this model "
        f"does, in each of {document['n']} draws: these answers are no evidence of training."
    )


def _how(choice: str, found: Estimate) -> str:
    """A choice, and of what the estimate is under it."""
    return f"{choice} ({found.where})" if found.where else choice


def number(estimate: Estimate) -> tuple[str, str]:
    """The value, and [low, high] or nothing where there is no interval."""
    ends = estimate.low, estimate.high
    known = all(map(math.isfinite, ends))
    low, high = (significant(end, 3) if known else "" for end in ends)
    return significant(estimate.value, 3), f"[{low}, {high}]" if known else ""


def strip(one: Answer) -> dict[str, Any]:
    """Where interval, value, the papers' models and the claim's range lie on a line."""
    asked, own = one.question, one.estimate
    limits = [at for at in (asked.above, asked.below) if math.isfinite(at)]
    ends = [at for at in (own.low, own.high) if math.isfinite(at)]
    every = [own.value, *ends, *limits, *one.published.values()]
    low, high = min(every), max(every)
    pad = 0.08 * (high - low) or 1.0
    width, height = STRIP

    def place(at: float) -> float:  # what lies farther out, infinity too, at the end
        return round(float(np.interp(at, (low - pad, high + pad), (0, width))), 1)

    start, stop = place(asked.above), place(asked.below)
    return {
        "width": width,
        "height": height,
        "range": (start, round(stop - start, 1)),
        "limits": [place(at) for at in limits],
        "printed": [place(at) for at in one.published.values()],
        "ends": [place(at) for at in (own.low, own.high)] if ends else [],
        "value": place(own.value),
    }


def claims(answers: Sequence[Answer]) -> Table:
    """Every claim as the papers asked it, under every other choice, and on the papers' models."""
    rows: list[list[Value]] = []
    for one in answers:
        asked = [("as the papers did", one.estimate, one.word)]
        asked += [(text(choice), of, one.words[choice]) for choice, of in one.others.items()]
        for how, of, said in asked:
            ends = [end if math.isfinite(end) else None for end in (of.low, of.high)]
            rows.append([one.question.says, how, of.value, *ends, of.n, said])
        for model, value in one.published.items():
            rows.append([one.question.says, f"papers: {display_name(model)}", value, *[None] * 4])
    columns = ("claim", "how it was asked", "value", "low", "high", "n", "outcome")
    caption = "The papers' claims: the number a claim is about, its 95% interval, what follows."
    return Table("claims", caption, dict.fromkeys(columns), rows)
