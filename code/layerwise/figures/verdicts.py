"""How the printed numbers of the three papers fare."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.figures import style
from layerwise.figures.numbers import NothingToDraw, Numbers
from layerwise.ledger.findings import ORIGINS, origin
from layerwise.ledger.verdicts import FALLS, STANDING, VERDICTS, counted

# of what stands, and of what does not
SHADES = (("#0072B2", "#56B4E9", "#A6D5F2"), (style.RED, "#F2B48A"))
GREYS = 0.35, 0.92  # of what nothing can be said about: from dark to light, as far apart as may be
ABSTRACT = "abstract"
PLACES = {ABSTRACT: ABSTRACT, ORIGINS[0]: "rest of the paper", **{of: of for of in ORIGINS[1:]}}
LOOKS: Mapping[bool, dict[str, Any]] = {
    False: {"marker": ".", "markersize": 4, "color": style.BLUE},
    True: {"marker": "D", "markersize": 4, "color": style.RED},
}
Record = Mapping[str, Any]
Row = tuple[int, int]  # paper, number of the place


def _row(record: Record) -> Row:
    """Paper and place of a claim."""
    place = ABSTRACT if ABSTRACT in record["where"] else origin(record)
    return record["paper"], list(PLACES).index(place)


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
    places = list(PLACES.values())
    style.category_axis(
        axes, [f"Paper {paper}, {places[place]} (n = {n})" for (paper, place), n in rows.items()]
    )
    axes.tick_params(axis="y", length=0)


def overview(numbers: Numbers) -> Figure:
    """The verdicts on all claims, by paper and place.

    A bar of equal length per paper and place, with the counts in it; n: claims.
    """
    if not numbers.claims:
        raise NothingToDraw("the papers' claims: not judged here")
    counts = dict(sorted(counted(numbers.claims, _row).items()))
    denied = sum(found[word] for found in counts.values() for word in FALLS)
    standing = sum(found[word] for found in counts.values() for word in STANDING)
    abstracts = sum(counts[row][word] for row in counts if not row[1] for word in FALLS)
    title = f"Of {standing + denied} printed values that can be compared {denied} do not stand, "
    title += f"{abstracts} of them in the abstracts"
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
    gaps: dict[Row, list[tuple[bool, float]]] = {}
    for record in sorted(numbers.claims, key=_row):
        for gap in _gaps(record):
            gaps.setdefault(_row(record), []).append((record["verdict"] in FALLS, gap))
    if not gaps:
        raise NothingToDraw("the papers' claims: no number was computed again")
    denied = [gap for found in gaps.values() for is_denied, gap in found if is_denied]
    n = sum(map(len, gaps.values()))
    title = f"{n - len(denied)} of {n} numbers come out as printed; {len(denied)} do not, "
    title += f"{sum(gap > 0.1 for gap in denied)} of them by more than 10%"
    figure, (axes,) = style.panels(numbers, title, 0.9 + 0.27 * len(gaps))
    equal = {row: sum(gap == 0 for _, gap in found) for row, found in gaps.items()}
    _row_names(axes, {row: f"{len(gaps[row])}, {equal[row]} equal" for row in gaps})
    style.log_axis(axes, "x")
    jitter = np.random.default_rng(0)
    for place, found in enumerate(gaps.values()):
        for denies, look in LOOKS.items():  # points that nobody could tell apart: once
            there = {round(math.log10(gap), 2) for is_denied, gap in found
                     if gap and is_denied == denies}  # fmt: skip
            at = sorted(there)
            rows = place + jitter.uniform(-0.3, 0.3, len(at))
            axes.plot([10**one for one in at], rows, ls="none", **look)
    axes.set_xlabel("relative difference of printed and recomputed")
    return figure


def _gaps(record: Record) -> Iterator[float]:
    """Relative differences of numbers other than zero and what answers them; of a list each."""
    pairs = [(record["published"], record["recomputed"])]
    if all(isinstance(value, list) for value in pairs[0]):
        pairs = list(zip(*pairs[0], strict=False))
    for printed, again in pairs:
        if all(type(value) in (int, float) for value in (printed, again)) and printed:
            yield abs(again - printed) / abs(printed)
