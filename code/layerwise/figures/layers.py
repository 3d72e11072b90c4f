"""r(UA, preference) per layer, and per pooling at the last layer (notebook 001)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.figures import style

POOLINGS = ("mean_pooled", "last_token", "first_token")
PREFIX = "layer_"


def draw(documents: Mapping[str, dict[str, Any]], *, source: str) -> Figure:
    """One row per model: the curve over layers, and bars of the three poolings."""
    style.documents_of(documents, ["strategies", "summary"], "layers")
    with style.house_style():
        figure, grid = style.panels(len(documents), 2, source=source)
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
    return style.points_behind(strategies.values())


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
