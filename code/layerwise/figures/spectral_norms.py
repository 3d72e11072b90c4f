"""Paper 3: spectral norms of the value and output projections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.figures import style
from layerwise.figures.numbers import Numbers

LEFT_OUT = "gpt-neo-125M"  # Paper 3 leaves it out of the two figures over depth
LIMIT = 10.0  # the paper's dotted line
NORMS = "W_V_spectral_norm"
MEANS = ("W_V_mean_spectral", "W_O_mean_spectral")
SLICE = "For Pythia and BLOOM the published slice of the fused matrix is not W_V alone."


def _models(numbers: Numbers, *keys: str) -> dict[str, Any]:
    documents = numbers.statistics.get("spectral_norms", {})
    models = {name: document for name, document in documents.items() if "lab" in document}
    kept = numbers.having("spectral_norms", models, *keys)
    for name in kept:
        numbers.document("spectral_norms", name, *keys)
    return kept


def spectral_scatter(numbers: Numbers) -> Figure:
    """Layer means of the spectral norms of W_V and W_O (Paper 3, figure 3).

    A point per model on two logarithmic axes; the line of equal norms.
    """
    models = _models(numbers, *MEANS)
    remark = f"Means with every digit; the paper's figure was drawn from two decimals. {SLICE}"
    figure, grid = style.panels(numbers, 1, 1, row_height=3.2, remark=remark)
    axes = grid[0][0]
    axes.plot([1, 100], [1, 100], color=style.GREY, linestyle="--", linewidth=0.8)
    points = {name: (row[MEANS[0]], row[MEANS[1]]) for name, row in models.items()}
    seen: set[str] = set()
    for name, row in models.items():
        lab = row["lab"]
        axes.plot(
            *points[name],
            linestyle="none",
            markersize=6,
            label=None if lab in seen else lab,
            **style.lab_look(lab),
        )
        seen.add(lab)
    style.name_points(axes, points, left=["pythia-410m"], below=["pythia-160m"])
    axes.set_xscale("log")
    axes.set_yscale("log")
    lowest = [min(point[side] for point in points.values()) / 1.3 for side in (0, 1)]
    highest = [max(point[side] for point in points.values()) * 1.3 for side in (0, 1)]
    axes.set_xlim(min(1, lowest[0]), max(100, highest[0]))
    axes.set_ylim(min(1.5, lowest[1]), max(100, highest[1]))
    axes.set_xlabel("spectral norm of W_V, mean over layers")
    axes.set_ylabel("spectral norm of W_O, mean over layers")
    axes.set_title(f"n = {len(models)} models; dashed: equal norms")
    axes.legend(loc="upper left")
    return figure


def _over_depth(numbers: Numbers) -> dict[str, Any]:
    return {name: row for name, row in _models(numbers, NORMS).items() if name != LEFT_OUT}


def spectral_depth(numbers: Numbers) -> Figure:
    """Spectral norm of W_V over relative depth (Paper 3, figure A1).

    All models, and those of other labs than EleutherAI in the same colours.
    """
    rows = _over_depth(numbers)
    others = {name: row for name, row in rows.items() if row["lab"] != "EleutherAI"}
    figure, grid = style.panels(numbers, 1, 2, row_height=3.0)
    for axes, chosen, title in (
        (grid[0][0], rows, "all"),
        (grid[0][1], others, "without EleutherAI"),
    ):
        _curves(axes, rows, chosen)
        axes.axhline(LIMIT, color=style.GREY, linestyle=":")
        axes.set_title(f"{title}, n = {len(chosen)} models")
        axes.set_xlabel("layer over number of layers")
        axes.set_ylabel("spectral norm of W_V")
    grid[0][0].legend(loc="upper left")
    return figure


def _curves(axes: Axes, rows: Mapping[str, Any], chosen: Mapping[str, Any]) -> None:
    """A curve per chosen model at x = (layer + 1) / layers; colours as in the whole set."""
    for number, (name, row) in enumerate(rows.items()):
        if name in chosen:
            depth = (np.arange(len(row[NORMS])) + 1) / len(row[NORMS])
            axes.plot(depth, row[NORMS], markersize=3, label=name, **style.look(number))


def weight_norms(numbers: Numbers) -> Figure:
    """Squared spectral norm of W_V over depth, logarithmic (Paper 3, figure A5).

    A curve per model, layers spread evenly from zero to one.
    """
    rows = _over_depth(numbers)
    remark = f"Squares of the norms. {SLICE}"
    figure, grid = style.panels(numbers, 1, 1, row_height=3.2, remark=remark)
    axes = grid[0][0]
    for number, (name, row) in enumerate(rows.items()):
        squares = np.square(row[NORMS])
        depth = np.linspace(0, 1, len(squares))
        axes.plot(depth, squares, markersize=3, label=name, **style.look(number))
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.set_ylim(min(1, low), max(6000, high))
    axes.set_xlabel("relative depth (0: first layer, 1: last)")
    axes.set_ylabel("squared spectral norm of W_V")
    axes.set_title(f"n = {len(rows)} models")
    axes.legend(loc="upper left", ncols=2)
    return figure
