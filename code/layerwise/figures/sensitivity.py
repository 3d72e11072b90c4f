"""What becomes of the headline claims under other choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from layerwise.analyses.survival import CHOICES, CLAIMS
from layerwise.figures import style
from layerwise.figures.numbers import Numbers
from layerwise.statistics.survival import ABSENT, APPEARS, LOST, SURVIVES

# marker, colour and whether it is filled: told apart in grey as well
MARKS = {
    SURVIVES: ("o", style.GREEN, True),
    LOST: ("X", style.RED, True),
    APPEARS: ("D", style.BLUE, False),
    ABSENT: (".", style.GREY, True),
}
WORDS = {
    SURVIVES: "holds, and survives",
    LOST: "holds, and is lost",
    APPEARS: "holds under this choice only",
    ABSENT: "holds under neither",
}
ROW = 0.19  # inches for a model
HEAD = 2.3  # inches for names of claims and choices

Column = tuple[str, str]


def sensitivity(numbers: Numbers) -> Figure:
    """Which claims survive which choice: a mark per model, claim and choice.

    One row per model, one column per claim and choice.
    """
    documents = numbers.models("sensitivity", "rows")
    columns = _columns(documents)
    figure, grid = style.panels(
        numbers, 1, 1, row_height=HEAD + ROW * len(documents), legend_rows=2
    )
    axes = grid[0, 0]
    for place, document in enumerate(documents.values()):
        _model(axes, place, document, columns)
    _labels(axes, list(documents), columns)
    style.legend_below(figure, [], 2, {WORDS[word]: _mark(word) for word in MARKS})
    return figure


def _columns(documents: Mapping[str, Mapping[str, Any]]) -> list[Column]:
    """The claims and choices that some model has, in the order of the registries."""
    present = {(row["claim"], row["choice"]) for d in documents.values() for row in d["rows"]}
    return [(claim, choice) for claim in CLAIMS for choice in CHOICES if (claim, choice) in present]


def _model(axes: Axes, place: int, document: Mapping[str, Any], columns: list[Column]) -> None:
    for row in document["rows"]:
        marker, colour, filled = MARKS[row["outcome"]]
        axes.plot(
            columns.index((row["claim"], row["choice"])),
            place,
            linestyle="none",
            marker=marker,
            color=colour,
            markerfacecolor=colour if filled else "none",
        )


def _mark(word: str) -> Line2D:
    marker, colour, filled = MARKS[word]
    face = colour if filled else "none"
    return Line2D([], [], linestyle="none", marker=marker, color=colour, markerfacecolor=face)


def _labels(axes: Axes, models: list[str], columns: list[Column]) -> None:
    axes.set_yticks(range(len(models)), models)
    axes.set_ylabel("model")
    axes.set_ylim(len(models) - 0.5, -0.5)
    axes.set_xlim(-0.6, len(columns) - 0.4)
    axes.set_xticks(
        range(len(columns)),
        [choice.replace("_", " ") for _, choice in columns],
        rotation=90,
    )
    axes.tick_params(axis="x", length=0)
    claims = [claim for claim, _ in columns]
    for claim in dict.fromkeys(claims):
        first, last = claims.index(claim), len(claims) - 1 - claims[::-1].index(claim)
        axes.axvline(first - 0.5, color=style.GREY, linewidth=0.6)
        narrow = last - first < 2  # too narrow for a name across
        axes.text(
            (first + last) / 2,
            -0.6,
            claim.replace("_", " " if narrow else "\n"),
            rotation=90 if narrow else 0,
            ha="center",
            va="bottom",
        )
