"""Random bins against categories: r, interval widths, and the sweep over k (notebook 000)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.errors import LayerwiseError
from layerwise.plots import style

BAR = 0.38


def draw(documents: Mapping[str, dict[str, Any]], *, source: str) -> Figure:
    """Per model a row of r and widths, and where the sweep over k was kept a second row.

    `documents[model]` holds the documents "bins" and "category_bootstrap" of that model.
    """
    style.documents_of(documents, ["bins", "category_bootstrap"], "bins")
    swept = {model for model, both in documents.items() if both["bins"].get("results_by_k")}
    with style.house_style():
        rows = len(documents) + len(swept)
        figure, grid = style.panels(rows, 2, source=source)
        row = iter(grid)
        for model, both in documents.items():
            _compare(next(row), model, both["bins"], both["category_bootstrap"])
            if model in swept:
                _sweep(next(row), model, both["bins"])
        if len(swept) < len(documents):
            style.note(figure, "the sweep over k was printed by the notebook, not saved")
    return figure


def _compare(axes: Any, model: str, bins: Mapping[str, Any], categories: Mapping[str, Any]) -> None:
    series = (
        (f"n = {categories['n_categories']} categories", categories["layer_results"]),
        (f"n = {bins['k_bins']} bins", bins["bootstrap_results"]),
    )
    layers = style.layers_of(series[1][1])
    if layers != style.layers_of(series[0][1]):
        raise LayerwiseError(
            f"figure bins: {model} must have the same layers in both documents, the bins have "
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
    axes[0].set_ylim(-1.05, 1.6)
    axes[0].set_ylabel("r(UA, preference)")
    axes[1].set_ylim(0, 2.6)
    axes[1].set_ylabel("interval width (units of r)")
    axes[0].set_title(f"{model}: r with 95% intervals")
    axes[1].set_title(f"{model}: width of the interval")
    for panel in axes:
        panel.set_xticks(x, [str(layer) for layer in layers])
        panel.set_xlabel("layer")
        panel.legend(loc="upper left", ncols=2, columnspacing=1, handlelength=1.2)


def _sweep(axes: Any, model: str, bins: Mapping[str, Any]) -> None:
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
            style.layer_axis(panel, layers)
    style.zero_line(means)
    means.set_ylabel("mean r +- population SD")
    axes[1].set_ylabel("mean p")
    axes[1].axhline(0.05, color=style.GREY, linestyle=":", linewidth=0.8)
    axes[1].set_ylim(0, 1.05)
    for panel in axes:
        panel.set_title(f"{model}: {bins['n_permutations']} binnings per k")
    axes[1].legend(loc="upper left", ncols=3, columnspacing=1, handlelength=1.2)
