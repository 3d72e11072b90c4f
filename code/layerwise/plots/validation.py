"""UA against preference, a point per category (notebook 003)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.plots import style

REFERENCE_MARKERS = ("x", "+", "1", "2")


def draw(documents: Mapping[str, dict[str, Any]], *, source: str) -> Figure:
    """One panel per model: the categories, their mean with its interval, Paper 1's models."""
    style.documents_of(documents, ["_global_stats"], "validation")
    with style.house_style():
        columns = min(2, len(documents))
        rows = -(-len(documents) // columns)
        figure, grid = style.panels(rows, columns, source=source, row_height=2.8, legend_rows=4)
        axes = list(grid.flat)
        for panel, (model, document) in zip(axes, documents.items(), strict=False):
            _scatter(panel, model, document)
        for spare in axes[len(documents) :]:
            spare.set_axis_off()
        entries: dict[str, Any] = {}
        for panel in axes[: len(documents)]:
            handles, labels = panel.get_legend_handles_labels()
            entries |= dict(zip(labels, handles, strict=True))
        style.legend_below(figure, entries, columns=3)
    return figure


def _scatter(axes: Axes, model: str, document: Mapping[str, Any]) -> None:
    categories = [name for name in document if not name.startswith("_")]
    for number, name in enumerate(categories):
        axes.plot(
            document[name]["asymmetry"],
            document[name]["output_preference"],
            linestyle="none",
            marker=style.MARKERS[number % len(style.MARKERS)],
            color=style.COLOURS[number % len(style.COLOURS)],
            markersize=6,
            label=name.replace("_", " "),
        )
    statistics = document["_global_stats"]
    low, high = statistics["bootstrap_95ci"]
    preference = statistics["mean_output_preference"]
    axes.hlines(preference, low, high, color=style.GREY, linewidth=1.5)
    axes.plot(
        statistics["mean_asymmetry"],
        preference,
        linestyle="none",
        marker="|",
        markersize=11,
        color=style.GREY,
        label="mean, 95% interval of mean UA",
    )
    for number, (name, values) in enumerate((document.get("_reference") or {}).items()):
        axes.plot(
            values["ua"],
            values["pref"],
            linestyle="none",
            marker=REFERENCE_MARKERS[number % len(REFERENCE_MARKERS)],
            color="black",
            markersize=7,
            label=f"{name}, scientific facts",
        )
    style.zero_line(axes)
    axes.axvline(0.0, color=style.GREY, linestyle="--", linewidth=0.8, zorder=1)
    axes.set_xlabel("UA (cosine, no unit)")
    axes.set_ylabel("mean preference (nats)")
    r = statistics["ua_output_correlation"]
    axes.set_title(f"{model}: r = {r:+.3f} (n = {len(categories)} categories)")
