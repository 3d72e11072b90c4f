"""How the printed numbers of the three papers fare."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.figures import style
from layerwise.figures.numbers import NothingToDraw, Numbers
from layerwise.ledger.findings import ORIGINS
from layerwise.ledger.tally import FAR, PLACES, by_place, compared, gaps
from layerwise.ledger.verdicts import FALLS, STANDING, VERDICTS

# of what stands, and of what does not
SHADES = (("#0072B2", "#56B4E9", "#A6D5F2"), (style.RED, "#F2B48A"))
GREYS = 0.35, 0.92  # of what nothing can be said about: from dark to light, as far apart as may be
NAMES = {place: "rest of the paper" if place == ORIGINS[0] else place for place in PLACES}
LOOKS: Mapping[bool, dict[str, Any]] = {
    False: {"marker": ".", "markersize": 4, "color": style.BLUE},
    True: {"marker": "D", "markersize": 4, "color": style.RED},
}
Record = Mapping[str, Any]
Row = tuple[int, str]  # paper and place


def _colours(records: Sequence[Record]) -> dict[str, str]:
    """A colour for each verdict that is there, in the order in which they are drawn."""
    there = {record["verdict"] for record in records}
    rest = [word for word in VERDICTS if word not in (*STANDING, *FALLS)]
    colours: dict[str, str] = {}
    for words, shades in zip((STANDING, FALLS), SHADES, strict=True):
        colours |= dict(zip(filter(there.__contains__, words), shades, strict=False))
    untold = [word for word in rest if word in there]
    greys = np.linspace(*GREYS, max(2, len(untold)))
    return colours | {word: f"{grey:.3f}" for word, grey in zip(untold, greys, strict=False)}


def _row_names(axes: Axes, rows: Mapping[Row, Any]) -> None:
    """Paper, place, and what the row says of its n."""
    style.category_axis(
        axes, [f"Paper {paper}, {NAMES[place]} (n = {n})" for (paper, place), n in rows.items()]
    )
    axes.tick_params(axis="y", length=0)


def overview(numbers: Numbers) -> Figure:
    """The verdicts on all claims, by paper and place.

    A bar of equal length per paper and place, with the counts in it; n: claims.
    """
    if not numbers.claims:
        raise NothingToDraw("the papers' claims: not judged here")
    counts, of = by_place(numbers.claims), compared(numbers.claims)
    title = f"Of {of.n} printed values that can be compared {of.fall} do not stand, "
    title += f"{of.fall_in_abstracts} of them in the abstracts"
    figure, (axes,) = style.panels(numbers, title, 1.0 + 0.25 * len(counts))
    _row_names(axes, {row: found.total() for row, found in counts.items()})
    left = np.zeros(len(counts))
    for word, colour in _colours(numbers.claims).items():
        shares = np.array([100 * found[word] / found.total() for found in counts.values()])
        bars = axes.barh(range(len(counts)), shares, 0.84, left, color=colour, label=word)
        wide = zip(shares, counts.values(), strict=True)
        said = [str(found[word]) if share > 3 else "" for share, found in wide]
        ink = "#ffffff" if colour == SHADES[0][0] else "#111111"
        axes.bar_label(bars, said, label_type="center", color=ink)
        left += shares
    axes.set(xlim=(0, 100), xlabel="share of the claims (%)")
    axes.grid(visible=False)
    style.legend_below(figure, 4)
    return figure


def agreement(numbers: Numbers) -> Figure:
    """Relative difference of printed and recomputed numbers, by paper and place.

    A point per number other than zero (red: it does not stand) that is not equal in every digit.
    Scatter up and down only separates the points.
    """
    found = gaps(numbers.claims)
    if not found.every:
        raise NothingToDraw("the papers' claims: no number was computed again")
    title = f"{found.stand} of {len(found.every)} numbers come out as printed; {found.fall} do "
    title += f"not, {found.far} of them by more than {FAR:.0%}"
    figure, (axes,) = style.panels(numbers, title, 0.9 + 0.27 * len(found.n))
    _row_names(axes, {row: f"{n}, {found.equal.get(row, 0)} equal" for row, n in found.n.items()})
    style.log_axis(axes, "x")
    jitter = np.random.default_rng(0)
    for place, row in enumerate(found.n):
        for falls, look in LOOKS.items():  # points that nobody could tell apart: once
            there = {round(math.log10(gap.size), 2) for gap in found.every
                     if gap.at == row and gap.size and gap.falls == falls}  # fmt: skip
            at = sorted(there)
            rows = place + jitter.uniform(-0.3, 0.3, len(at))
            axes.plot([10**one for one in at], rows, ls="none", **look)
    axes.set_xlabel("relative difference of printed and recomputed")
    return figure
