"""What the colours and marks of figures mean: one vocabulary, of which every legend is made.

==================  ==========================================================================
blue dot            an estimate, where a figure has one series
red dot             an estimate whose whole interval lies outside what a claim says
black               what the message of the figure singles out
cross               an estimate whose interval includes the value that would decide
grey                what estimates are held against: a reference, a claim, the papers' models
light blue field    where an estimate lies if the claim holds
pale bar            a standard deviation, where a thin line would be an interval
open diamond        a value as printed: in the strip, and on the page
other colours       series, each with a shape of its own, which the legend names
==================  ==========================================================================

Colours are Okabe and Ito's, told apart under every common form of colour blindness.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

ESTIMATE, OUTSIDE, SINGLED_OUT, CONTEXT = "#0072B2", "#D55E00", "#000000", "#666666"
OF_SERIES = ("#009E73", "#CC79A7", "#E69F00", "#56B4E9")
SHAPES = ("o", "s", "^", "v", "P", "*", ">")  # of series; all are filled
DOT, CROSS = "o", "x"
Look = dict[str, Any]  # keyword arguments of matplotlib's functions that draw
# A line that estimates are held against: no correlation, a gain of one.
REFERENCE: Look = {"color": CONTEXT, "linestyle": "--", "linewidth": 0.8, "zorder": 1}
CLAIMED: Look = {"color": ESTIMATE, "alpha": 0.12, "linewidth": 0, "zorder": 0}
SPREAD: Look = {"alpha": 0.3, "linewidth": 6, "label": "standard deviation"}
FINAL_NORM = "last layer, after the final norm"
PAPERS = "the papers' models, as published"
INTERVAL = "95% interval"

ROW, AROUND = 0.165, 0.1  # inches: of a line of a legend, above and below all of them
LETTER = 4.3  # points: the mean width of one at 8 pt
HANDLE = 36  # points of an entry beside its words


def series_look(number: int, n: int) -> Look:
    """Return colour and shape of one of n series: a single one is the estimate; 28 differ."""
    if n == 1:
        return {"color": ESTIMATE, "marker": DOT}
    return {
        "color": OF_SERIES[number % len(OF_SERIES)],
        "marker": SHAPES[number % len(SHAPES)],
    }


def explain(axes: Axes, words: str, **look: Any) -> None:
    """Add a mark and what it means to the legend of a figure."""
    axes.plot([], [], label=words, **{"linestyle": "none", **look})


def explain_cross(axes: Axes, border: str) -> None:
    """Add the cross to the legend.

    Arguments:
        border: what an interval includes that has one.
    """
    explain(axes, f"interval includes {border}", marker=CROSS, color=CONTEXT)


def legend_below(figure: Figure) -> None:
    """One legend for all panels, between them and the footer; the figure grows by its lines."""
    entries: dict[str, Any] = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    if not entries:
        return
    entries = dict(sorted(entries.items(), key=lambda entry: _rank(entry[1])))
    width, height = figure.get_size_inches()
    columns = _columns([LETTER * len(words) + HANDLE for words in entries], 72 * width)
    figure.set_size_inches(width, height + ROW * math.ceil(len(entries) / columns) + AROUND)
    legend: Any = {"loc": "outside lower center", "ncols": columns}
    figure.subfigs[0].legend(entries.values(), entries.keys(), **legend)


def _rank(handle: Any) -> int:
    """Return where an entry stands: marks and lines first, crosses behind them, fields last."""
    if isinstance(handle, Patch | PolyCollection):
        return 2
    return int(isinstance(handle, Line2D) and handle.get_marker() == CROSS)


def _columns(widths: Sequence[float], room: float) -> int:
    """Return the number of columns of which the entries need the fewest lines."""
    fitting = [
        columns
        for columns in range(2, len(widths) + 1)
        if sum(max(entries) for entries in np.array_split(widths, columns)) <= room
    ]
    return min(fitting, key=lambda columns: math.ceil(len(widths) / columns), default=1)
