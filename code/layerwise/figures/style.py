"""What all figures share: sizes, colours, the footer that names the source, and saving.

Figures are made at the width they are printed at, so that 8 pt here is 8 pt on paper.
"""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.figure import Figure

from layerwise.errors import LayerwiseError
from layerwise.figures.numbers import OWN, Numbers
from layerwise.figures.svg import as_svg
from layerwise.files import atomic_path, write_text

WIDTH = 6.3  # inches: the text width of the paper
LINE = 108  # characters of a footer line at that width
FOOTER = 0.24  # inches kept free below the panels
TALLEST = 7.5  # inches: a page less its caption; taller figures would be scaled down in print
ROW = 0.17  # inches for a line of a legend or of the footer
DPI = 200
# Okabe and Ito's colours: told apart under every common form of colour blindness.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
BLUE, RED, GREEN, PURPLE = COLOURS[:4]
GREY = "#666666"
LABS = ("EleutherAI", "Meta", "BigScience", "OpenAI", "TII", "StabilityAI")
SOURCES = {
    "published": "source: published numbers",
    "measured": "source: measured from the models' weights",
    OWN: "own model - measured from its weights",
}
RANDOM = "random weights: the numbers mean nothing"
_RC: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8.0,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8.0,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.5,
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
_UNDATED: dict[str, dict[str, Any]] = {
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "png": {"Software": None},
}


@contextlib.contextmanager
def house_style() -> Iterator[None]:
    """Text sizes and lines of every figure; matplotlib's global state is left as it was."""
    with matplotlib.rc_context(_RC):
        yield


def look(number: int) -> dict[str, Any]:
    """Colour and marker of the n-th series."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
    }


def lab_look(lab: str) -> dict[str, Any]:
    """A lab's colour and marker, the same in every figure.

    Raises:
        LayerwiseError: if the lab has none.
    """
    if lab not in LABS:
        raise LayerwiseError(f"a lab must be one of {', '.join(LABS)}, found {lab!r}; add it")
    return look(LABS.index(lab))


def panels(
    numbers: Numbers,
    rows: int,
    columns: int,
    *,
    row_height: float = 2.5,
    legend_rows: int = 0,
    remark: str = "",
) -> tuple[Figure, Any]:
    """A figure of `rows` x `columns` axes, with a footer: remark, what is missing, files, source.

    Of random weights it is marked all over. `legend_rows` lines are kept free above the footer,
    see `legend_below`.

    Raises:
        LayerwiseError: if the source is not one of `SOURCES`.
    """
    if numbers.source not in SOURCES:
        raise LayerwiseError(
            f"a figure's source must be one of {', '.join(SOURCES)}, got {numbers.source!r}; "
            "pass the source its numbers came from"
        )
    missing = f"Not {numbers.word}: {', '.join(numbers.missing)}." if numbers.missing else ""
    files = ", ".join(numbers.files) if numbers.source == "published" else ""
    lines = [
        *textwrap.wrap(remark, LINE),
        *textwrap.wrap(missing, LINE),
        *textwrap.wrap(files and f"from {files}", LINE, break_long_words=False,
                       break_on_hyphens=False),
    ]  # fmt: skip
    footer = FOOTER + len(lines) * ROW
    below = footer + legend_rows * ROW
    height = min(rows * row_height + below, TALLEST)
    figure = Figure(figsize=(WIDTH, height))
    rect = (0, below / height, 1, 1 - below / height)
    figure.set_layout_engine("constrained", rect=rect, hspace=0.04, wspace=0.04)
    source = SOURCES[numbers.source] + (f" - {RANDOM}" if numbers.random_weights else "")
    for row, line in enumerate((source, *reversed(lines))):
        y = 0.02 if row == 0 else FOOTER - 0.04 + (row - 1) * ROW
        figure.text(0.005, y / height, line, ha="left", va="bottom", color=GREY)
    if numbers.random_weights:
        size = min(80, 22 * height)
        mark = figure.text(0.5, 0.5, "RANDOM", ha="center", va="center", rotation=25, fontsize=size)
        mark.set(color="grey", alpha=0.28, fontweight="bold", zorder=1000)
        mark.set_in_layout(False)
    return figure, figure.subplots(rows, columns, squeeze=False)


def legend_below(
    figure: Figure, axes: Sequence[Axes], columns: int, more: Mapping[str, Any] | None = None
) -> None:
    """One legend for all panels, in the lines that `panels` kept free; `more` are further entries.

    The panels' lowest edge is where the layout begins.
    """
    entries: dict[str, Any] = {}
    for panel in axes:
        handles, labels = panel.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    entries |= more or {}
    rows = -(-len(entries) // columns)
    engine: Any = figure.get_layout_engine()
    top = engine.get()["rect"][1]
    legend = figure.legend(
        entries.values(),
        entries.keys(),
        loc="lower center",
        bbox_to_anchor=(0.5, top - rows * ROW / figure.get_figheight()),
        ncols=columns,
        columnspacing=1.2,
        handlelength=1.6,
        borderpad=0.1,
        labelspacing=0.35,
    )
    legend.set_in_layout(False)


def remark(axes: Axes, text: str) -> None:
    """Fill a panel that has nothing to draw with the reason."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, text, ha="center", va="center", transform=axes.transAxes, color=GREY)


def zero_line(axes: Axes) -> None:
    axes.axhline(0.0, color=GREY, linestyle="--", linewidth=0.8, zorder=1)


def layer_axis(
    axes: Axes, layers: Sequence[int], at: Sequence[int] | None = None, *, most: int = 10
) -> None:
    """Ticks at the layers (or at positions `at`, labelled by layer), thinned to at most `most`."""
    step = -(-len(layers) // most)
    shown = list(layers)[::step]
    axes.set_xticks(shown if at is None else list(at)[::step], [str(layer) for layer in shown])
    axes.set_xlabel("layer")


def layers_of(results: Iterable[str]) -> list[int]:
    """The layer numbers that key a result, ascending."""
    return sorted(int(layer) for layer in results)


def interval(row: Mapping[str, Any]) -> tuple[float, float, float, bool]:
    """r, the ends of its interval, and whether that holds zero.

    The later notebooks call them ci_lo, ci_hi and sig, the earlier ones ci_lower, ci_upper and
    includes_zero.
    """
    if "ci_lo" in row:
        return row["r"], row["ci_lo"], row["ci_hi"], not row["sig"]
    return row["r"], row["ci_lower"], row["ci_upper"], row["includes_zero"]


def interval_points(
    axes: Axes,
    results: Mapping[str, Mapping[str, Any]],
    *,
    colour: str = BLUE,
    marker: str = "o",
    most: int = 10,
) -> None:
    """r with its confidence interval per layer; a star where the interval excludes zero."""
    layers = layers_of(results)
    r, low, high, holds_zero = (
        np.array(column)
        for column in zip(*(interval(results[str(layer)]) for layer in layers), strict=True)
    )
    # An interval of percentiles need not contain r: draw it as what it is, not as r +- length.
    axes.vlines(layers, low, high, color=colour, linewidth=1.0)
    for ends in (low, high):
        axes.plot(layers, ends, linestyle="none", marker="_", color=colour, markersize=5)
    axes.plot(layers, r, marker=marker, color=colour)
    axes.plot(
        np.array(layers)[~holds_zero],
        high[~holds_zero] + 0.07,
        linestyle="none",
        marker="*",
        color=RED,
        markersize=6,
        label="interval excludes 0",
    )
    zero_line(axes)
    layer_axis(axes, layers, most=most)


def unit_line(axes: Axes) -> None:
    """Gain one: neither damping nor expanding."""
    axes.axhline(1.0, color=GREY, linestyle="--", linewidth=0.8, zorder=1)


def name_points(
    axes: Axes,
    points: Mapping[str, tuple[float, float]],
    below: Collection[str] = (),
    left: Collection[str] = (),
) -> None:
    """The points' names to their upper right; lower or to the left where `below`, `left` say so."""
    for name, at in points.items():
        axes.annotate(
            name,
            at,
            xytext=(-6 if name in left else 6, -11 if name in below else 4),
            textcoords="offset points",
            ha="right" if name in left else "left",
            color=GREY,
        )


def save(figure: Figure, folder: Path, name: str) -> str:
    """Write `folder/name.pdf`, `.png` and `.svg`, the same bytes each time; free the figure.

    Returns:
        The text of the SVG.
    """
    with house_style():
        # The layout solver's result depends on memory addresses in the last bit: freeze and round.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        for axes in figure.axes:
            edges = [round(edge, 6) for edge in axes.get_position().bounds]
            axes.set_position((edges[0], edges[1], edges[2], edges[3]))
        # not `savefig`, which draws everything once more to lay it out
        with atomic_path(folder / f"{name}.pdf") as part:
            FigureCanvasPdf(figure).print_pdf(part, metadata=_UNDATED["pdf"])
        drawn = as_svg(figure, name)
        write_text(folder / f"{name}.svg", drawn)
        figure.patch.set_facecolor("white")
        figure.set_dpi(DPI)
        with atomic_path(folder / f"{name}.png") as part:
            FigureCanvasAgg(figure).print_png(part, metadata=_UNDATED["png"])
    figure.clear()
    return drawn
