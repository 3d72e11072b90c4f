"""Paper 2: pair-level metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from layerwise.figures import style
from layerwise.figures.numbers import Numbers

COLUMNS = 3


def pairs(numbers: Numbers) -> Figure:
    """Five pair-level metrics against preference, per layer (the pair-level notebook).

    r with intervals for each metric: two rows of panels for one model, else a row per model.
    """
    documents = numbers.models("pairs", "results", "n_pairs", "metrics_tested")
    alone = len(documents) == 1
    most = max(len(document["metrics_tested"]) for document in documents.values())
    columns = COLUMNS if alone else most
    rows = -(-most // columns) if alone else len(documents)
    n = ", ".join(str(n) for n in sorted({d["n_pairs"] for d in documents.values()}))
    remark = f"n = {n} pairs; star: the 95% interval excludes 0."
    figure, grid = style.panels(numbers, rows, columns, row_height=2.2, remark=remark)
    for number, (model, document) in enumerate(documents.items()):
        axes = list(grid.flat) if alone else list(grid[number])
        _model(axes, document, most=10 if alone else 4)
        for panel in axes[:: COLUMNS if alone else columns]:
            panel.set_ylabel(f"{model}\nr(metric, preference)")
    return figure


def _model(axes: list[Any], document: Mapping[str, Any], *, most: int) -> None:
    metrics = document["metrics_tested"]
    for number, metric in enumerate(metrics):
        panel = axes[number]
        style.interval_points(
            panel,
            {layer: results[metric] for layer, results in document["results"].items()},
            colour=style.COLOURS[2 * (number % 2)],
            marker=style.MARKERS[number % len(style.MARKERS)],
            most=most,
        )
        panel.set_ylim(-1, 1)
        title = metric.replace("_", " ")
        panel.set_title(title if most == 10 else title.replace(" ", "\n", 1))
    for spare in axes[len(metrics) :]:
        spare.set_axis_off()
