"""Five pair-level metrics against preference, per layer (the pair-level notebook)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from layerwise.plots import style

COLUMNS = 3


def draw(documents: Mapping[str, dict[str, Any]], *, source: str) -> Figure:
    """Two rows of three panels per model: r with intervals for each metric, then the key."""
    style.documents_of(documents, ["results", "n_pairs", "metrics_tested"], "pairs")
    with style.house_style():
        per_model = max(-(-(len(d["metrics_tested"]) + 1) // COLUMNS) for d in documents.values())
        figure, grid = style.panels(
            len(documents) * per_model, COLUMNS, source=source, row_height=2.2
        )
        for number, (model, document) in enumerate(documents.items()):
            rows = grid[number * per_model : (number + 1) * per_model]
            _model(list(rows.flat), model, document)
    return figure


def _model(axes: list[Any], model: str, document: Mapping[str, Any]) -> None:
    layers = style.layers_of(document["results"])
    metrics = document["metrics_tested"]
    for number, metric in enumerate(metrics):
        panel = axes[number]
        style.interval_points(
            panel,
            layers,
            {layer: results[metric] for layer, results in document["results"].items()},
            colour=style.COLOURS[2 * (number % 2)],
            marker=style.MARKERS[number % len(style.MARKERS)],
        )
        panel.set_ylim(-1, 1)
        panel.set_title(metric.replace("_", " "))
        if number % COLUMNS == 0:
            panel.set_ylabel("r(metric, preference)")
    for spare in axes[len(metrics) :]:
        spare.set_axis_off()
    axes[len(metrics)].text(
        0.5,
        0.5,
        f"{model}\nn = {document['n_pairs']} pairs\n95% bootstrap intervals\n\n"
        "star: the interval\nexcludes 0",
        ha="center",
        va="center",
        transform=axes[len(metrics)].transAxes,
    )
