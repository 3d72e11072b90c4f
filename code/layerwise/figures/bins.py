"""Paper 2: random bins instead of categories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.errors import LayerwiseError
from layerwise.figures import style
from layerwise.figures.numbers import Numbers

BAR = 0.38
UNSAVED = "The sweep over k was printed by the notebook, not saved."


def bins(numbers: Numbers) -> Figure:
    """Random bins against categories: r, interval widths, and the sweep over k (notebook 000).

    Per model a row of r and widths, and where the sweep over k was kept a second row.
    """
    keys = ("bootstrap_results", "original_results", "comparison/original_n", "k_bins")
    documents = numbers.models("bins", *keys)
    swept = {model for model, document in documents.items() if document.get("results_by_k")}
    alone = len(documents) == 1
    columns = 4 if swept and not alone else 2
    rows = 1 + len(swept) if alone else len(documents)
    unswept = numbers.source == "published" and len(swept) < len(documents)
    figure, grid = style.panels(
        numbers, rows, columns, legend_rows=2 if swept else 1, remark=UNSAVED if unswept else ""
    )
    for number, (model, document) in enumerate(documents.items()):
        axes = list(grid.flat if alone else grid[number])
        most = 10 if columns == 2 else 5
        _compare(axes[:2], model, document, most)
        if model in swept:
            _sweep(axes[2:], document, most)
        for spare in axes[2:] if model not in swept else []:
            spare.set_axis_off()
    style.legend_below(figure, [panel for panel in grid.flat[::2] if panel.axison], 5)
    return figure


def _compare(axes: Any, model: str, bins: Mapping[str, Any], most: int) -> None:
    series = (
        (f"n = {bins['comparison']['original_n']} categories", bins["original_results"]),
        (f"n = {bins['k_bins']} bins", bins["bootstrap_results"]),
    )
    layers = style.layers_of(series[1][1])
    if layers != style.layers_of(series[0][1]):
        raise LayerwiseError(
            f"figure bins: {model} must have the same layers in bins and categories, the bins have "
            f"{layers}, the categories {style.layers_of(series[0][1])}; "
            "make both from one extraction"
        )
    x = np.arange(len(layers))
    for number, (label, results) in enumerate(series):
        at = x + (number - 0.5) * BAR
        low, r, high = (
            np.array([results[str(layer)][key] for layer in layers])
            for key in ("ci_lower", "r", "ci_upper")
        )
        colour = style.COLOURS[2 * number]
        axes[0].bar(at, r, BAR, color=colour, label=label, alpha=0.8)
        axes[0].vlines(at, low, high, color="black", linewidth=0.8)
        axes[1].bar(at, high - low, BAR, color=colour, label=label, alpha=0.8)
    style.zero_line(axes[0])
    axes[0].set_ylim(-1.05, 1.05)
    axes[0].set_ylabel(f"{model}\nr(UA, preference)")
    axes[1].set_ylim(0, 2.05)  # r lies in [-1, 1]: no interval is wider than 2
    axes[1].set_ylabel("width (units of r)")
    axes[0].set_title("r, 95% intervals")
    axes[1].set_title("interval width")
    for panel in axes:
        style.layer_axis(panel, layers, x.tolist(), most=most)


def _sweep(axes: Any, bins: Mapping[str, Any], most: int) -> None:
    means: Axes = axes[0]
    for number, k in enumerate(sorted(bins["results_by_k"], key=int)):
        results = bins["results_by_k"][k]
        layers = style.layers_of(results)
        rows = [results[str(layer)] for layer in layers]
        look: dict[str, Any] = {
            "marker": style.MARKERS[number % len(style.MARKERS)],
            "color": style.COLOURS[number % len(style.COLOURS)],
            "label": f"k = {k}",
        }
        means.errorbar(
            layers,
            [result["r_mean"] for result in rows],
            [result["r_std"] for result in rows],
            linewidth=0.9,
            capsize=2,
            **look,
        )
        axes[1].plot(layers, [result["p_mean"] for result in rows], linewidth=0.9, **look)
        for panel in axes:
            style.layer_axis(panel, layers, most=most)
    style.zero_line(means)
    means.set_ylabel("mean r, bars: SD")
    axes[1].set_ylabel("mean p")
    axes[1].axhline(0.05, color=style.GREY, linestyle=":", linewidth=0.8)
    axes[1].set_ylim(0, 1.05)
    for panel in axes:
        panel.set_title(f"{bins['n_permutations']} binnings")
