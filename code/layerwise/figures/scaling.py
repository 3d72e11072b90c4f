"""Paper 2: the curve by model size."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from layerwise.figures import style
from layerwise.figures.layers import points_behind
from layerwise.figures.numbers import Numbers


def scaling(numbers: Numbers) -> Figure:
    """Layer curves of several models, over layer number and over depth (notebook 002).

    Two panels with a curve per model; a ring marks each model's largest r.
    """
    document = numbers.document("scaling", "family", "models", "summary")
    models = numbers.having("scaling", document["models"], "layer_results", "n_layers")
    figure, grid = style.panels(
        numbers, 1, 2, row_height=3.0, legend_rows=-(-(len(models) + 1) // 5)
    )
    by_layer, by_depth = grid[0]
    counts: set[int] = set()
    rings: dict[str, Any] = {}
    peaks = {row["model"]: row.get("max_pos_layer") for row in document["summary"]}
    for number, (model, curve) in enumerate(models.items()):
        layers = style.layers_of(curve["layer_results"])
        results = [curve["layer_results"][str(layer)] for layer in layers]
        r = [result["correlation"] for result in results]
        counts.add(points_behind(results))
        depth = [100 * layer / curve["n_layers"] for layer in layers]
        for axes, x in ((by_layer, layers), (by_depth, depth)):
            axes.plot(x, r, label=model, **style.look(number))
            if peaks.get(model) in layers:
                peak = layers.index(peaks[model])
                (rings["largest r"],) = axes.plot(
                    x[peak],
                    r[peak],
                    linestyle="none",
                    marker="o",
                    markersize=10,
                    markerfacecolor="none",
                    markeredgecolor="black",
                )
    by_layer.set_xlabel("layer")
    by_depth.set_xlabel("layer (% of depth)")
    n = ", ".join(str(count) for count in sorted(counts))
    by_layer.set_title(f"by layer number (n = {n} categories)")
    by_depth.set_title(f"by depth (n = {n} categories)")
    for axes in (by_layer, by_depth):
        style.zero_line(axes)
        axes.set_ylim(-1.05, 1.05)
        axes.set_ylabel("r(UA, preference)")
    style.legend_below(figure, [by_layer], 5, rings)
    return figure
