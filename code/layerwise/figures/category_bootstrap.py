"""Paper 2: intervals over the categories."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.figures import style
from layerwise.figures.numbers import Numbers


def category_bootstrap(numbers: Numbers) -> Figure:
    """r over categories with bootstrap intervals per layer, and the intervals' widths.

    One row per model: r with intervals and stars, and the widths with their mean.
    """
    keys = ("layer_results", "n_categories", "ci_level")
    documents = numbers.models("category_bootstrap", *keys)
    figure, grid = style.panels(numbers, len(documents), 2)
    for row, (model, document) in zip(grid, documents.items(), strict=True):
        results = document["layer_results"]
        layers = style.layers_of(results)
        n = document["n_categories"]
        style.interval_points(row[0], results)
        row[0].set_ylim(-1.15, 1.25)
        row[0].set_ylabel(f"r, {document['ci_level']:.0%} interval")
        row[0].set_title(f"{model} (n = {n} categories)")
        row[0].legend(loc="upper right")
        _widths(row[1], layers, results)
        row[1].set_title(f"{model}: width of the interval (n = {n})")
    return figure


def _widths(axes: Axes, layers: list[int], results: Mapping[str, Mapping[str, float]]) -> None:
    widths = [results[str(layer)]["ci_upper"] - results[str(layer)]["ci_lower"] for layer in layers]
    axes.bar([str(layer) for layer in layers], widths, color=style.BLUE, width=0.7)
    mean = float(np.mean(widths))
    axes.axhline(mean, color=style.RED, linestyle="--", label=f"mean {mean:.2f}")
    axes.set_ylim(0, 2.35)  # r lies in [-1, 1]: no interval is wider than 2
    axes.legend(loc="upper right")
    axes.set_xlabel("layer")
    axes.set_ylabel("width (units of r)")
