"""What all figures share: sizes, colours, the message, the footer, recurring marks, and saving.

Figures are made at the width they are printed at, so that 8 pt here is 8 pt on paper, and once more
for a phone, one panel below the other. The SVG stands alone, with its message above and its footer
below; the PDF is for documents, which say both in their caption.
"""

import io
import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.transforms import Bbox

from layerwise.present.figures.numbers import OWN, RANDOM, RELATIVE_DEPTH, Numbers
from layerwise.present.figures.points import Drawing, Ends, note_points
from layerwise.present.figures.settings import own_settings
from layerwise.present.figures.signs import (
    CONTEXT,
    CROSS,
    DOT,
    ESTIMATE,
    FINAL_NORM,
    INTERVAL,
    REFERENCE,
    SPREAD,
    Look,
    explain,
    explain_cross,
)
from layerwise.present.figures.svg import as_svg

WIDTH = 6.3  # inches: the text width of the paper
NARROW = 3.2  # inches: on a phone of 390 pixels 8 pt of it are 12 pixels
LINE, TITLE_LINE = 103, 82  # characters of a line of the footer and of the title at full width
ROW, TITLE_ROW = 0.16, 0.18  # inches for such a line
MARGIN = 0.08  # inches beside a panel with its names: another font may be wider
TALLEST = 7.5  # inches: a page less its caption; taller figures would be scaled down in print
MINUS = "\u2212"
_HYPHEN = re.compile(r"(?<![\w.])-(?=\d)")  # that begins a number, so no part of a name
SOURCES = {
    "published": "source: published numbers",
    "measured": "source: measured from the models' weights",
    OWN: "own model - measured from its weights",
}
_RC: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8.0,
    "figure.titlesize": 9.0,
    "figure.titleweight": "bold",
    "axes.titlesize": 8.0,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "legend.handlelength": 1.5,
    "legend.columnspacing": 1.5,
    "lines.linewidth": 1.2,
    "lines.markersize": 5,
    "errorbar.capsize": 0,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "pdf.fonttype": 42,
}
UNDATED = {"Creator": None, "Producer": None, "CreationDate": None}


def house_style() -> AbstractContextManager[None]:
    """Text sizes and lines of every figure; matplotlib's global state is left as it was."""
    return own_settings(_RC)


def panels(
    numbers: Numbers,
    title: str,
    height: float,
    remark: str = "",
    *,
    n: int | None = None,
    columns: int = 1,
    **grid: Any,
) -> tuple[Figure, Any]:
    """A figure of n axes in so many columns, and these: the message above, a footer below.

    The footer says the remark, what is missing and the source; of random weights the figure is
    marked all over. A narrow figure has one column.

    Arguments:
        height: of a row of panels, in inches.
        n: of panels; None: one row of them.
        grid: what `Figure.subplots` takes.
    """
    n = n or columns
    width, tallest = WIDTH, TALLEST
    if numbers.narrow:
        width, tallest, columns = NARROW, math.inf, 1
        grid.pop("width_ratios", None)
    line, title_line = (int(length * width / WIDTH) for length in (LINE, TITLE_LINE))
    footer = _footer(numbers, remark, line)
    message = textwrap.wrap(with_minus(title), title_line, break_on_hyphens=False)
    rows = -(-n // columns)
    height = min(rows * height + ROW * len(footer) + TITLE_ROW * len(message), tallest)
    figure = Drawing(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=MARGIN))
    figure.suptitle("\n".join(message), x=0.005, ha="left")
    figure.supxlabel("\n".join(footer), x=0.005, ha="left", fontsize=8, color=CONTEXT)
    if numbers.random_weights:
        _mark_random(figure)
    body: Any = figure.subfigures()
    axes = body.subplots(rows, columns, squeeze=False, **grid).flat
    for spare in axes[n:]:
        spare.set_axis_off()
    return figure, axes[:n]


def _footer(numbers: Numbers, remark: str, line: int) -> list[str]:
    """Return the lines below a figure, of at most so many characters."""
    missing = f"Not {numbers.word}: {', '.join(numbers.missing)}." if numbers.missing else ""
    source = SOURCES[numbers.source] + (f" - {RANDOM}" if numbers.random_weights else "")
    return [
        words
        for text in (with_minus(remark), missing, source)
        for words in textwrap.wrap(text, line, break_on_hyphens=False)
    ]


def _mark_random(figure: Figure) -> None:
    """Write over all of a figure that its numbers are of random weights."""
    size = min(80, 22 * figure.get_figheight())
    mark = figure.text(0.5, 0.5, "RANDOM", ha="center", va="center", rotation=25, fontsize=size)
    mark.set(color="grey", alpha=0.28, fontweight="bold", zorder=1000)
    mark.set_in_layout(False)


def with_minus(text: str) -> str:
    """A true minus before numbers."""
    return _HYPHEN.sub(MINUS, text)


def figure_note(figure: Figure) -> str:
    """Return what the footer says besides the source, of a figure of full width."""
    return " ".join(figure.get_supxlabel().replace(r"\$", "$").split("\n")[:-1])


def in_first_column(axes: Axes) -> bool:
    """Return whether no panel stands left of this one."""
    place = axes.get_subplotspec()
    return place is not None and place.is_first_col()


def log_axis(axes: Axes, side: Literal["x", "y"]) -> None:
    """Powers of ten as plain text, which every reader of an SVG has a font for."""
    axes.set(**{f"{side}scale": "log"})
    axis = axes.xaxis if side == "x" else axes.yaxis
    axis.set_major_locator(LogLocator(numticks=6))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _power(axis, value)))
    axis.set_minor_formatter(NullFormatter())


def _power(axis: Axis, value: float) -> str:
    """Return a tick as a number where all of the axis can be read as one, else as 1e7."""
    low, high = axis.get_view_interval()
    if low >= 1e-4 and high < 1e5:
        return f"{value:g}"
    return f"1e{round(math.log10(value))}"


def layer_axis(axes: Axes, layers: Sequence[int], *, most: int = 10, unit: int = 1) -> None:
    """Ticks at the layers, thinned to at most `most`; the last one is read after the final norm.

    Arguments:
        unit: how many layers one is on the axis; of more than one it is that of relative depth.
    """
    if unit > 1:
        depth_axis(axes)
    else:
        axes.set_xticks(list(layers)[:: -(-len(layers) // most)])
        axes.set_xlabel("layer")
    if len(layers) > 1 and not axes.patches:  # once, of however many curves
        first, before, last = (layer / unit for layer in (layers[0], *layers[-2:]))
        half = max((last - before) / 2, 0.02 * (last - first))
        span: Look = {"color": CONTEXT, "alpha": 0.15, "linewidth": 0, "zorder": 0}
        axes.axvspan(last - half, last + half, label=FINAL_NORM, **span)
        axes.set_xlim(first - half, last + half)


def place_layer(layer: int, unit: int) -> float:
    """Return where a layer stands on the axis of `layer_axis`."""
    return layer if unit == 1 else layer / unit


def depth_axis(axes: Axes) -> None:
    """Ticks at the first layer, in the middle and at the last."""
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.set_xlabel(RELATIVE_DEPTH)


def category_axis(axes: Axes, names: Sequence[str]) -> None:
    """A row per name, the first on top."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)


def layers_of(results: Iterable[str]) -> list[int]:
    """The layer numbers that key a result, ascending."""
    return sorted(int(layer) for layer in results)


def r_and_ends(row: Mapping[str, Any]) -> tuple[float, float, float, bool]:
    """r, the ends of its interval, and whether that includes zero.

    The later notebooks call them ci_lo, ci_hi and sig, the earlier ones ci_lower, ci_upper and
    includes_zero.
    """
    if "ci_lo" in row:
        return row["r"], row["ci_lo"], row["ci_hi"], not row["sig"]
    return row["r"], row["ci_lower"], row["ci_upper"], row["includes_zero"]


def signed(value: float, decimals: int = 3) -> str:
    """With its sign, and a minus as wide as the plus."""
    return f"{value:+.{decimals}f}".replace("-", MINUS)


def signed_interval(value: float, ends: Sequence[float | None] | None) -> str:
    """Return a number with its sign at two decimals, and the ends of its interval if it has any."""
    if not ends or None in ends:
        return signed(value, 2)
    low, high = (signed(end, 2) for end in ends if end is not None)
    return f"{signed(value, 2)} ({low} to {high})"


def intervals_by_layer(
    axes: Axes,
    results: Mapping[str, Mapping[str, Any]],
    *,
    words: str = f"r, {INTERVAL}",
    series: str = "",
    color: str = ESTIMATE,
    marker: str = DOT,
    unit: int = 1,
) -> None:
    """r with its interval per layer, a cross where that includes zero.

    Arguments:
        words: of the legend.
        series: what all points are; may be empty.
        unit: see `layer_axis`.
    """
    layers = layers_of(results)
    rows = {layer: r_and_ends(results[str(layer)]) for layer in layers}
    at = {layer: place_layer(layer, unit) for layer in layers}
    axes.plot([*at.values()], [r for r, *_ in rows.values()], color=color, linewidth=0.8, alpha=0.6)
    for holds_zero, mark in ((False, marker), (True, CROSS)):
        chosen = [layer for layer in layers if rows[layer][-1] == holds_zero]
        draw_points(
            axes,
            [f"layer {layer}" for layer in chosen],
            [at[layer] for layer in chosen],
            [rows[layer][0] for layer in chosen],
            y_ends=[rows[layer][1:3] for layer in chosen],
            series=series,
            marker=mark,
            color=color,
        )
    explain(axes, words, marker=marker, color=color)
    if any(holds_zero for *_, holds_zero in rows.values()):
        explain_cross(axes, "zero")
    axes.axhline(0, **REFERENCE)
    layer_axis(axes, layers, unit=unit)


def draw_points(
    axes: Axes,
    names: Sequence[str],
    x: Sequence[float],
    y: Sequence[float],
    *,
    x_ends: Ends | None = None,
    y_ends: Ends | None = None,
    series: str = "",
    in_rows: bool = False,
    is_spread: bool = False,
    **look: Any,
) -> None:
    """Draw points that have names, over their intervals.

    An interval of percentiles need not contain its estimate: it is drawn as what it is.

    Arguments:
        x_ends, y_ends: the ends of the intervals; None where a point has none.
        series: what all of them are; may be empty.
        in_rows: y parts rows, and is no number.
        is_spread: the ends are a standard deviation away, and no interval's.
        look: colour, marker and label.
    """
    for draw_bars, places, ends in ((axes.hlines, y, x_ends), (axes.vlines, x, y_ends)):
        bars = [(at, *pair) for at, pair in zip(places, ends or (), strict=bool(ends)) if pair]
        if bars:
            bar = SPREAD if is_spread else {"linewidth": 1.0}
            draw_bars(*zip(*bars, strict=True), color=look["color"], **bar)
    (line,) = axes.plot(x, y, linestyle="none", **look)
    shown: dict[str, Any] = {} if in_rows else {"y": y, "y_ends": y_ends}
    if names:
        note_points(line, names, series=series, x=x, x_ends=x_ends, **shown)


def as_files(figure: Figure, name: str) -> tuple[bytes, str]:
    """The figure as PDF, without message and footer, and as SVG; the figure is freed.

    The same bytes each time.
    """
    with house_style():
        drawn = _as_stable_svg(figure, name)
        (body,) = figure.subfigs
        low, high = (round(float(end) / figure.dpi, 2) for end in body.bbox.intervaly)
        figure.suptitle("")
        figure.supxlabel("")
        pdf = io.BytesIO()
        FigureCanvasPdf(figure).print_figure(
            pdf, dpi=72, bbox_inches=Bbox([[0, low], [WIDTH, high]]), metadata=UNDATED
        )
    figure.clear()
    return pdf.getvalue(), drawn


def as_narrow_svg(figure: Figure, name: str) -> str:
    """A narrow figure as SVG, the same bytes each time; the figure is freed."""
    with house_style():
        drawn = _as_stable_svg(figure, name)
    figure.clear()
    return drawn


def lay_out(figure: Figure) -> None:
    """Place the panels of a figure, as its first drawing would."""
    if (engine := figure.get_layout_engine()) is not None:
        engine.execute(figure)


def _as_stable_svg(figure: Figure, name: str) -> str:
    """Freeze and round the layout, whose solver's last bit depends on memory addresses; the SVG."""
    lay_out(figure)
    figure.set_layout_engine(None)  # not "none", with which a PDF is drawn twice
    for axes in figure.axes:
        edges = [round(edge, 6) for edge in axes.get_position().bounds]
        axes.set_position((edges[0], edges[1], edges[2], edges[3]))
    return as_svg(figure, name)
