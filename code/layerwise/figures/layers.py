"""Paper 2: the correlation over categories by layer and pooling."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import stats

from layerwise.errors import LayerwiseError
from layerwise.figures import style
from layerwise.figures.numbers import Numbers

POOLINGS = ("mean_pooled", "last_token", "first_token")
PREFIX = "layer_"


def layers(numbers: Numbers) -> Figure:
    """r(UA, preference) per layer, and per pooling at the last layer (notebook 001).

    One row per model: the curve over layers, and bars of the three poolings.
    """
    documents = numbers.models("layers", "strategies/mean_pooled", "summary/sign_changes")
    figure, grid = style.panels(numbers, len(documents), 2)
    for row, (model, document) in zip(grid, documents.items(), strict=True):
        n = _n_categories(document["strategies"])
        _curve(row[0], document)
        row[0].set_title(f"{model}: by layer (n = {n} categories)")
        _bars(row[1], document["strategies"])
        row[1].set_title(f"{model}: by pooling (n = {n})")
    return figure


def _n_categories(strategies: Mapping[str, Mapping[str, Any]]) -> int:
    """Counted where the values by category are there; the published files have r and p alone."""
    first = next(iter(strategies.values()))
    if "category_prefs" in first:
        return len(first["category_prefs"])
    return points_behind(strategies.values())


def _curve(axes: Axes, document: Mapping[str, Any]) -> None:
    strategies = document["strategies"]
    layers = style.layers_of(
        name.removeprefix(PREFIX)
        for name in strategies
        if name.removeprefix(PREFIX).isdigit()  # not the extra readings, such as layer_8_all_tokens
    )
    r = [strategies[f"{PREFIX}{layer}"]["correlation"] for layer in layers]
    axes.plot(layers, r, marker="o", color=style.BLUE)
    label: str | None = "sign change"
    for change in document["summary"]["sign_changes"]:
        middle = (change["layer_before"] + change["layer_after"]) / 2
        axes.axvline(middle, color=style.RED, linestyle=":", label=label)
        label = None
    if label is None:
        axes.legend(loc="best")
    style.zero_line(axes)
    style.layer_axis(axes, layers)
    axes.set_ylim(-1.05, 1.05)
    axes.set_ylabel("r(UA, preference)")


def _bars(axes: Axes, strategies: Mapping[str, Mapping[str, float | None]]) -> None:
    """A first token that is always BOS has one state for all statements, hence no r."""
    r = [strategies[name]["correlation"] for name in POOLINGS]
    labels = [name.replace("_", "\n") for name in POOLINGS]
    heights = [0.0 if value is None else value for value in r]
    bars = axes.bar(labels, heights, color=style.COLOURS[:3], width=0.6)
    words = ["no r" if value is None else f"{value:+.3f}" for value in r]
    axes.bar_label(bars, labels=words, padding=2)
    style.zero_line(axes)
    axes.set_ylim(-1.2, 1.2)
    axes.set_ylabel("r(UA, preference)")


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
