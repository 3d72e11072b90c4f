"""A specification curve per question: every estimate in order, and below it how it was asked."""

import itertools
import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from layerwise.engine.questions.question import (
    NEVER,
    NO,
    PUBLISHED,
    TOO_FEW,
    UNDECIDED,
    WORDS,
    YES,
    Question,
)
from layerwise.engine.questions.table import base, cells, words, words_of_others
from layerwise.papers.across.questions import QUESTIONS
from layerwise.papers.shared.questions.choices import TEXTS
from layerwise.present.figures import style
from layerwise.present.figures.numbers import Document, NothingToDraw, Numbers

COLOURS = {
    YES: style.BLUE,
    NO: style.RED,
    UNDECIDED: style.GREY,
    TOO_FEW: style.ORANGE,
    NEVER: style.ORANGE,
}
BESIDE = 0.25  # of the spread of the values, above and below them
WIDE = 10  # largest over smallest value, from which on the axis is logarithmic
HIGH = 20  # characters of a line beside the axis, whose height they keep to
WIDE_LABEL = 38  # characters of a line of a choice: the axes keep half of the width
PREFIX = "question_"
Answer = tuple[str, str, Mapping[str, Any]]  # model, choice, answer


class SpecificationCurve:
    """What draws the figure of one question."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.__name__ = f"{PREFIX}{question.name}"
        self.__doc__ = (
            f"{question.says} Every estimate ({question.number}) with its 95% interval, in "
            "ascending order; the marks below show its choice of method. Diamonds: as the papers "
            "did. Blue field: where the estimate lies if the claim is right. Blue: yes; red: no; "
            "grey: undecided; orange: too few units. Intervals are cut at the frame."
        )

    def __call__(self, numbers: Numbers) -> Figure:
        document = numbers.statistics.get("questions", {}).get(self.question.name, {})
        if not document.get("models"):
            raise NothingToDraw(f"no number that answers it was {numbers.word}")
        answers = sorted(cells(document), key=lambda one: one[2]["value"])
        choices = [one for one in TEXTS if any(base(choice) == one for _, choice, _ in answers)]
        rows = ["\n".join(textwrap.wrap(TEXTS[choice], WIDE_LABEL)) for choice in choices]
        row = style.ROW * (1.9 if any("\n" in one for one in rows) else 1.0)
        height = 1.9 + row * len(rows)
        ratios = {"height_ratios": [1.7, row * len(rows) + 0.1]}
        figure, (above, below) = style.panels(
            numbers, self.message(document), height / 2, n=2, sharex=True, gridspec_kw=ratios
        )
        _curve(above, answers, self.question)
        _marks(below, answers, choices)
        below.set_yticks(range(len(rows)), rows, linespacing=1.0)
        return figure

    def message(self, document: Document) -> str:
        """How often each word came, as the papers asked and otherwise."""
        asked, other = words(document), words_of_others(document)
        said = f"{self.question.says} As the papers asked: {_counted(asked.get(PUBLISHED, {}))}"
        return said + (f"; under other choices: {_counted(other)}" if other else "")


def _counted(found: Mapping[str, int]) -> str:
    return ", ".join(f"{found[word]} {word}" for word in WORDS if found.get(word)) or "not answered"


def _curve(axes: Axes, answers: Sequence[Answer], question: Question) -> None:
    ends = [end for end in (question.above, question.below) if math.isfinite(end)]
    values = [*(of["value"] for _, _, of in answers), *ends]  # the ends of the field are seen
    pad = BESIDE * (max(values) - min(values)) or max(abs(values[0]), 1.0) * BESIDE
    limits = min(values) - pad, max(values) + pad
    if min(values) > 0 and max(values) > WIDE * min(values):
        limits = min(values) / (1 + BESIDE), max(values) * (1 + BESIDE)
        style.log_axis(axes, "y")
        if limits[1] < 100 * limits[0]:  # powers of ten alone would be one or two
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    start, stop = max(question.above, limits[0]), min(question.below, limits[1])
    if start < stop:
        axes.axhspan(start, stop, color=style.SKY, alpha=0.2)
    for word, published in itertools.product(WORDS, (True, False)):
        ranks = [
            rank
            for rank, (_, choice, of) in enumerate(answers)
            if of["word"] == word and (choice == PUBLISHED) is published
        ]
        shown = [answers[rank][2] for rank in ranks]
        known = [(rank, of) for rank, of in zip(ranks, shown, strict=True) if of["low"] is not None]
        lows, highs = ([_cut(of[end], limits) for _, of in known] for end in ("low", "high"))
        axes.vlines([rank for rank, _ in known], lows, highs, color=COLOURS[word], linewidth=0.8)
        marker = "D" if published else "o"
        look: dict[str, Any] = {"color": COLOURS[word], "markersize": 4, "linestyle": "none"}
        axes.plot(ranks, [of["value"] for of in shown], marker, **look)
    axes.set(ylim=limits, ylabel="\n".join(textwrap.wrap(question.number, HIGH)))
    axes.tick_params("x", length=0, labelbottom=False)


def _cut(end: float, limits: tuple[float, float]) -> float:
    """The end of an interval, or the frame's."""
    return min(max(end, limits[0]), limits[1])


def _marks(axes: Axes, answers: Sequence[Answer], choices: Sequence[str]) -> None:
    rows = [choices.index(base(choice)) for _, choice, _ in answers]
    for word in WORDS:
        ranks = [rank for rank, (_, _, of) in enumerate(answers) if of["word"] == word]
        look: dict[str, Any] = {"color": COLOURS[word], "markersize": 6, "linestyle": "none"}
        axes.plot(ranks, [rows[rank] for rank in ranks], "|", **look)
    axes.set_ylim(len(choices) - 0.5, -0.5)
    axes.set_xticks([])
    axes.set_xlabel(f"n = {len(answers)} estimates")


CURVES = tuple(SpecificationCurve(question) for question in QUESTIONS.values())
