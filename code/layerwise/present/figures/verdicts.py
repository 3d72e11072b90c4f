"""How the printed numbers of the three papers fare."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.engine.tally import ALIKE, FAR, PLACES, alike_by_place, compared, gaps
from layerwise.present.figures import style
from layerwise.present.figures.numbers import NothingToDraw, Numbers

SHADES = (style.BLUE, style.GREEN, style.SKY, style.RED, style.ORANGE, style.PURPLE)
COLOURS = dict(zip(ALIKE, (*SHADES, "#B5B5B5", "#E6E6E6"), strict=True))
FALL = {"differs": ("differs", "differ"), "contradicted": ("contradicted", "contradicted")}
NAMES = {place: "rest of the paper" if place == "paper" else place for place in PLACES}
LOOKS: Mapping[bool, dict[str, Any]] = {
    False: {"marker": ".", "markersize": 4, "color": style.BLUE},
    True: {"marker": "D", "markersize": 4, "color": style.RED},
}
NOTHING = dict.fromkeys(ALIKE, 0)
ROOM = 1.75  # of the longest bar, for what is written behind the bars
LEAST = 1e-6  # relative difference: what is smaller is the rounding of the arithmetic


def overview(numbers: Numbers) -> Figure:
    """The verdicts on all claims, by place and paper.

    One bar per paper; its length is the number of claims there (the scales differ between the
    panels). Beside it: how many of them differ from what is published or are contradicted by it.
    """
    if not numbers.claims:
        raise NothingToDraw("the papers' claims: not judged here")
    counts, of = alike_by_place(numbers.claims), compared(numbers.claims)
    title = f"Of {len(numbers.claims):,} claims {of.n:,} can be compared: {of.fall} of these "
    title += f"differ or are contradicted, {of.fall_in_abstracts} in the abstracts"
    places = [place for place in PLACES if any(at == place for _, at in counts)]
    papers = sorted({paper for paper, _ in counts})
    shape: dict[str, Any] = {"n": len(places), "columns": min(2, len(places))}
    figure, panels = style.panels(numbers, title, 0.75 + 0.29 * len(papers), **shape)
    for axes, place in zip(panels, places, strict=True):
        found = {paper: counts.get((paper, place), NOTHING) for paper in papers}
        _bars(axes, found)
        axes.set_title(NAMES[place])
    for axes in panels[-shape["columns"] :]:
        axes.set_xlabel("claims")
    style.legend_below(figure, 3)
    return figure


def _bars(axes: Axes, counts: Mapping[int, Mapping[str, int]]) -> None:
    """A bar per paper, and behind it what does not stand."""
    kinds = {kind: [found[kind] for found in counts.values()] for kind in ALIKE}
    left = np.zeros(len(counts))
    for kind, found in kinds.items():
        if any(found):
            axes.barh(range(len(counts)), found, 0.7, left, color=COLOURS[kind], label=kind)
        left += found
    for row, end in enumerate(left):
        said = [
            f"{kinds[kind][row]} {words[kinds[kind][row] > 1]}"
            for kind, words in FALL.items()
            if kinds[kind][row]
        ]
        axes.annotate(",\n".join(said), (end, row), (3, 0), textcoords="offset points", va="center",
                      linespacing=0.9)  # fmt: skip
    axes.set_xlim(0, ROOM * max(left))
    style.category_axis(axes, [f"Paper {paper}, n = {n:,.0f}" for paper, n in
                               zip(counts, left, strict=True)])  # fmt: skip
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")


def agreement(numbers: Numbers) -> Figure:
    """Relative difference of printed and recomputed numbers, by paper and place.

    A point per number other than zero (red: it does not agree) that is not equal in every digit.
    Scatter up and down only separates the points.
    """
    found = gaps(numbers.claims)
    if not found.every:
        raise NothingToDraw("the papers' claims: no number was recomputed")
    title = f"{found.stand:,} of {len(found.every):,} numbers agree with the printed ones; "
    title += f"{found.fall} do not, {found.far} of them by more than {FAR:.0%}"
    remark = f"Dashed: {FAR:.0%}. At the left edge: differences below one in a million, "
    remark += "the rounding of the arithmetic."
    figure, (axes,) = style.panels(numbers, title, 0.9 + 0.27 * len(found.n), remark)
    rows = {
        row: f"Paper {row[0]}, {NAMES[row[1]]} (n = {n}, {found.equal.get(row, 0)} equal)"
        for row, n in found.n.items()
    }
    style.category_axis(axes, list(rows.values()))
    axes.tick_params(axis="y", length=0)
    style.log_axis(axes, "x")
    jitter = np.random.default_rng(0)
    for place, row in enumerate(found.n):
        for falls, look in LOOKS.items():  # points that nobody could tell apart: once
            there = {round(math.log10(max(gap.size, LEAST)), 2) for gap in found.every
                     if gap.at == row and gap.size and gap.falls == falls}  # fmt: skip
            at = sorted(there)
            scattered = place + jitter.uniform(-0.3, 0.3, len(at))
            axes.plot([10**one for one in at], scattered, ls="none", **look)
    axes.axvline(FAR, **style.REFERENCE)
    axes.set_xlabel("relative difference of printed and recomputed")
    return figure
