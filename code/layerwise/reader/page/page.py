"""A reader's own models as one HTML page, LaTeX tables, figures and CSV files."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.ticker import MaxNLocator

from layerwise.engine.questions.answers import Answer
from layerwise.engine.questions.beside import again, share
from layerwise.engine.questions.question import (
    MEANINGS,
    NEVER,
    NO,
    TOO_FEW,
    UNDECIDED,
    WORDS,
    YES,
)
from layerwise.engine.words import in_words
from layerwise.files import write_text
from layerwise.folders import CONTROL, REPLICATES
from layerwise.papers.across.questions import QUESTIONS
from layerwise.papers.across.together import PAPERS
from layerwise.present import latex
from layerwise.present.figures.printed import Printed
from layerwise.present.html import fill, inlined, policy
from layerwise.present.pictures import Picture
from layerwise.present.tables import Table, Value, significant
from layerwise.present.values import NOTHING, with_signs
from layerwise.reader.page import HTML, LATEX, ROOT, STYLES
from layerwise.reader.page.figures import display_name
from layerwise.reader.page.sections import Section
from layerwise.statistics.estimates import Estimate

LONGEST_FLOAT = 40  # rows: more do not fit on one page
LISTED = 4  # models named beside a claim; of more, the range
STRIP = (200, 42)  # width and height of a claim's drawing, in pixels
TICKS = 3  # steps on its axis at most: their numbers do not run into one another


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
    asked: Mapping[str, Sequence[Answer]] = field(default_factory=dict)  # of several, by model
    further: Sequence[Table] = field(default=())  # as CSV files only
    random_weights: bool = False
    lead: str = (
        "The analyses of the three papers on the dynamics of transformers, measured on one model. "
        "What is grey are the papers' models, from the numbers published with them."
    )

    @property
    def matrix(self) -> Table | None:
        """The claims by model, of several."""
        return claims_by_model(self.asked) if any(self.asked.values()) else None

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
        "answer": answer(own.answers) if not own.asked else answer_of_several(own.asked),
        "answers": [view(one, own.beside) for one in own.answers],
        "by_model": by_question(own.asked),
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
        NEVER: "{} cannot be answered",
        UNDECIDED: "{} undecided",
        NO: "no to {}",
        YES: "yes to {}",
    }
    parts = [said[word].format(counts[word]) for word in WORDS if counts[word]]
    n = f"{len(answers)} question{'s' if len(answers) != 1 else ''}"
    return f"Of {n} that the papers' claims ask: {', '.join(parts)}." if parts else ""


def answer_of_several(models: Mapping[str, Sequence[Answer]]) -> str:
    """How the questions are answered by several models, in one sentence."""
    counts = Counter(one.word for of in models.values() for one in of)
    n = len({one.question.name for of in models.values() for one in of})
    said = ", ".join(f"{counts[word]} times {word}" for word in WORDS if counts[word])
    questions = f"{n} question{'s' if n != 1 else ''} of the papers"
    return f"{len(models)} models, {questions}: {said}." if said else ""


def by_question(models: Mapping[str, Sequence[Answer]]) -> list[dict[str, Any]]:
    """A row per question that some model was asked: each model's answer, or None."""
    found = {name: {one.question.name: one for one in of} for name, of in models.items()}
    rows = []
    for question in QUESTIONS.values():
        answered = [of.get(question.name) for of in found.values()]
        if any(answered):
            of_models = zip(found, answered, strict=True)
            cells = [one and {**view(one, {}), "model": model} for model, one in of_models]
            rows.append({"question": question, "answers": cells})
    return rows


def claims_by_model(models: Mapping[str, Sequence[Answer]]) -> Table:
    """The same as a table: outcome, value and interval."""

    def cell(of: Mapping[str, Any] | None) -> str | None:
        if of is None:
            return None
        said = f"{of['is'].word}: {' '.join(of['number'])}"
        return f"{said} ({where})" if (where := of["where"]) else said

    rows: list[list[Value]] = [
        [f"{row['question'].says} ({row['question'].number})", *map(cell, row["answers"])]
        for row in by_question(models)
    ]
    caption = "The papers' claims on each model: outcome, number and its 95% interval."
    headings = {"the papers' claim": None, **dict.fromkeys(models)}
    return Table("claims-by-model", caption, headings, rows)


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
        NEVER: "needs-the-weights",
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
        "units": units(one),
        "where": in_words(one.estimate.where),
        "grade": grade[one.word],
        "same": same_elsewhere(same, len(words)),
        "others": [
            (_how(PAPERS.choice_in_words(choice), of), words[choice], number(of))
            for choice, of in one.others.items()
        ],
        "strip": strip(one),
        "noise": noise and (significant(noise.band or 0.0, 2), noise.same, noise.n),
        "random": random and (random.same, random.n),
    }


def same_elsewhere(same: int, n: int) -> str:
    """Under how many of n other choices the answer is the same, in words."""
    if same == n:
        return "the same answer" if n == 1 else f"the same answer under all {n}"
    return "another answer" if n == 1 else f"another answer under {n - same} of {n}"


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


def units(one: Answer) -> str:
    """Over how many units the number is: `1 category`, `24 pairs`."""
    n, of = one.estimate.n, one.question.unit
    return f"{n} {in_one(of) if n == 1 else of}"


def in_one(units: str) -> str:
    """The word for one of them: `category` of `categories`, `pair` of `pairs`."""
    return f"{units[:-3]}y" if units.endswith("ies") else units.removesuffix("s")


def number(estimate: Estimate) -> tuple[str, str]:
    """The value, and [low, high] or nothing where there is no interval."""
    known = ends_of(estimate)
    return significant(estimate.value, 3), f"[{', '.join(known)}]" if known else ""


def ends_of(estimate: Estimate) -> list[str]:
    """Low and high of the interval; nothing where there is none."""
    ends = estimate.low, estimate.high
    return [significant(end, 3) for end in ends] if all(map(math.isfinite, ends)) else []


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
        "ticks": ticks(low - pad, high + pad, place),
    }


def ticks(low: float, high: float, place: Callable[[float], float]) -> list[tuple[float, str]]:
    """Round numbers on a strip's axis: where each stands, and its text."""
    found = map(float, MaxNLocator(TICKS, steps=[1, 2, 5, 10]).tick_values(low, high))
    return [(place(at), with_signs(f"{round(at, 10):g}")) for at in found if low <= at <= high]


def in_short(answers: Sequence[Answer]) -> Table:
    """A row per question: the answer, the number behind it, and whether other choices agree."""
    rows: list[list[Value]] = []
    shown: list[list[str]] = []
    for one in answers:
        own = one.estimate
        known = [end if math.isfinite(end) else None for end in (own.low, own.high)]
        same = sum(word == one.word for word in one.words.values())
        rows.append([one.question.says, one.word, own.value, *known, own.n, same, len(one.words)])
        numbers = significant(own.value, 3), *(ends_of(own) or [NOTHING, NOTHING])
        counts = map(str, (own.n, same, len(one.words)))
        shown.append([one.question.says, one.word, *numbers, *counts])
    columns = ("question", "answer", "value", "low", "high", "n", "same", "of")
    note = (
        "value, low, high: the number that the question is about and its 95% interval, over n "
        "units. same, of: other choices of method that give the same answer, of those computed."
    )
    return Table("answers", answer(answers), dict.fromkeys(columns), rows, [note], shown)


def claims(answers: Sequence[Answer]) -> Table:
    """Every claim as the papers asked it, under every other choice, and on the papers' models."""
    rows: list[list[Value]] = []
    for one in answers:
        asked = [("as the papers did", one.estimate, one.word)]
        asked += [
            (PAPERS.choice_in_words(choice), of, one.words[choice])
            for choice, of in one.others.items()
        ]
        for how, of, said in asked:
            ends = [end if math.isfinite(end) else None for end in (of.low, of.high)]
            rows.append([one.question.says, how, of.value, *ends, of.n, said])
        for model, value in one.published.items():
            rows.append([one.question.says, f"papers: {display_name(model)}", value, *[None] * 4])
    columns = ("claim", "how it was asked", "value", "low", "high", "n", "outcome")
    caption = "The papers' claims: the number a claim is about, its 95% interval, what follows."
    return Table("claims", caption, dict.fromkeys(columns), rows)
