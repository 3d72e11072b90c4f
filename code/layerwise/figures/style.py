"""What all figures share: sizes, colours, the footer that names the source, and saving.

Figures are made at the width they are printed at, so that 8 pt here is 8 pt on paper.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import stats

from layerwise.errors import LayerwiseError
from layerwise.files import atomic_path

WIDTH = 6.3  # inches: the text width of the paper
FOOTER = 0.24  # inches kept free below the panels
TALLEST = 7.5  # inches: a page less its caption; taller figures would be scaled down in print
LEGEND_ROW = 0.17  # inches for a line of a legend below the panels
# Okabe and Ito's colours: told apart under every common form of colour blindness.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
BLUE, RED, GREEN, PURPLE = COLOURS[:4]
GREY = "#666666"
SOURCES = {
    "published": "source: published numbers",
    "mini": "source: mini - random weights, numbers mean nothing",
    "full": "source: full - measured from the models' weights",
}
OWN = "own"  # a reader's own model, which is no source of the pipeline
_FOOTERS = {**SOURCES, OWN: "own model - measured from its weights"}
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
    "pdf.fonttype": 42,
}


@contextlib.contextmanager
def house_style() -> Iterator[None]:
    """Text sizes and lines of every figure; matplotlib's global state is left as it was."""
    with matplotlib.rc_context(_RC):
        yield


def documents_of(documents: Mapping[str, Any], keys: Sequence[str], figure: str) -> None:
    """Refuse an empty set of documents, or one whose document lacks a key the figure draws.

    Raises:
        LayerwiseError: naming the figure, the model and the missing key.
    """
    if not documents:
        raise LayerwiseError(
            f"figure {figure}: at least one result document is needed, none came; "
            "run the analysis for a model first"
        )
    for model, document in documents.items():
        for key in keys:
            if key not in document:
                raise LayerwiseError(
                    f"figure {figure}: the document of {model} must have the key {key!r}, "
                    f"it has {', '.join(sorted(document))}; was it made by another analysis?"
                )


def panels(
    rows: int, columns: int, *, source: str, row_height: float = 2.5, legend_rows: int = 0
) -> tuple[Figure, Any]:
    """A figure of `rows` x `columns` axes with the footer, marked if the source is mini.

    `legend_rows` lines are kept free between the panels and the footer, see `legend_below`.

    Raises:
        LayerwiseError: if the source is not one of published, mini, full, nor `OWN`.
    """
    if source not in _FOOTERS:
        raise LayerwiseError(
            f"a figure's source must be one of {', '.join(SOURCES)}, got {source!r}; "
            "pass the source its numbers came from"
        )
    below = FOOTER + legend_rows * LEGEND_ROW
    height = min(rows * row_height + below, TALLEST)
    figure = Figure(figsize=(WIDTH, height))
    rect = (0, below / height, 1, 1 - below / height)
    figure.set_layout_engine("constrained", rect=rect, hspace=0.04, wspace=0.04)
    figure.text(0.005, 0.02 / height, _FOOTERS[source], ha="left", va="bottom", color=GREY)
    if source == "mini":
        mark = figure.text(
            0.5, 0.5, "MINI", ha="center", va="center", rotation=25, fontsize=min(90, 28 * height)
        )
        mark.set(color="grey", alpha=0.28, fontweight="bold", zorder=1000)
        mark.set_in_layout(False)
    return figure, figure.subplots(rows, columns, squeeze=False)


def legend_below(figure: Figure, entries: Mapping[str, Any], columns: int) -> None:
    """One legend for all panels, in the lines that `panels` kept free."""
    legend = figure.legend(
        entries.values(),
        entries.keys(),
        loc="lower center",
        bbox_to_anchor=(0.5, FOOTER / figure.get_figheight()),
        ncols=columns,
        columnspacing=1.2,
        handlelength=1.6,
        borderpad=0.1,
        labelspacing=0.35,
    )
    legend.set_in_layout(False)


def note(figure: Figure, text: str) -> None:
    """A remark at the right end of the footer."""
    height = figure.get_figheight()
    figure.text(0.995, 0.02 / height, text, ha="right", va="bottom", color=GREY)


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


def interval_points(
    axes: Axes,
    layers: Sequence[int],
    results: Mapping[str, Mapping[str, Any]],
    *,
    colour: str = BLUE,
    marker: str = "o",
    label: str | None = None,
    most: int = 10,
) -> None:
    """r with its confidence interval per layer; a star where the interval excludes zero."""
    rows = [results[str(layer)] for layer in layers]
    r = np.array([row["r"] for row in rows])
    low = np.array([row["ci_lower"] for row in rows])
    high = np.array([row["ci_upper"] for row in rows])
    # An interval of percentiles need not contain r: draw it as what it is, not as r +- length.
    axes.vlines(layers, low, high, color=colour, linewidth=1.0)
    for ends in (low, high):
        axes.plot(layers, ends, linestyle="none", marker="_", color=colour, markersize=5)
    axes.plot(layers, r, marker=marker, color=colour, label=label)
    starred = [i for i, row in enumerate(rows) if not row["includes_zero"]]
    axes.plot(
        [layers[i] for i in starred],
        high[starred] + 0.07,
        linestyle="none",
        marker="*",
        color=RED,
        markersize=6,
        label="interval excludes 0",
    )
    zero_line(axes)
    layer_axis(axes, layers, most=most)


def points_behind(results: Iterable[Mapping[str, Any]], largest: int = 2000) -> int:
    """The n behind correlations that are published as `correlation` and `p_value` without n.

    r and the two-sided p fix n; the largest |r| of the results tells the candidates apart best.

    Raises:
        LayerwiseError: if not exactly one n from 3 to `largest` fits.
    """
    known = (result for result in results if result["correlation"] is not None)
    strongest = max(known, key=lambda result: abs(result["correlation"]))
    r, p = strongest["correlation"], strongest["p_value"]
    n = np.arange(3, largest + 1)
    half = n / 2 - 1
    expected = 2 * stats.beta.sf(abs(r), half, half, loc=-1, scale=2)
    fitting = n[np.isclose(expected, p, rtol=1e-6, atol=0)]
    if len(fitting) != 1:
        raise LayerwiseError(
            f"r = {r} and p = {p} must belong to one number of points, found {len(fitting)} "
            f"from 3 to {largest}; check that both come from the same correlation"
        )
    return int(fitting[0])


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write `folder/name.pdf` and `folder/name.png`, the same bytes each time; free the figure."""
    written = []
    metadata: dict[str, dict[str, Any]] = {
        "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
        "png": {"Software": None},
    }
    with house_style():
        # The layout solver's result depends on memory addresses in the last bit: freeze and round.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        for axes in figure.axes:
            edges = [round(edge, 6) for edge in axes.get_position().bounds]
            axes.set_position((edges[0], edges[1], edges[2], edges[3]))
        for kind, entries in metadata.items():
            path = folder / f"{name}.{kind}"
            with atomic_path(path) as part:
                figure.savefig(part, format=kind, dpi=200, metadata=entries)
            written.append(path)
    figure.clear()
    return written
