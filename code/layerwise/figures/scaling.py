"""Layer curves of several models, over layer number and over depth (notebook 002)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from layerwise.figures import style


def draw(documents: Mapping[str, dict[str, Any]], *, source: str) -> Figure:
    """Two panels with a curve per model; a ring marks each model's largest r."""
    style.documents_of({"the comparison": documents}, ["scaling"], "scaling")
    document = documents["scaling"]
    style.documents_of({"the comparison": document}, ["models", "summary"], "scaling")
    with style.house_style():
        figure, grid = style.panels(1, 2, source=source, row_height=3.0, legend_rows=2)
        by_layer, by_depth = grid[0]
        counts = set()
        peaks = {row["model"]: row["max_pos_layer"] for row in document["summary"]}
        for number, (model, curve) in enumerate(document["models"].items()):
            layers = style.layers_of(curve["layer_results"])
            results = [curve["layer_results"][str(layer)] for layer in layers]
            r = [result["correlation"] for result in results]
            counts.add(style.points_behind(results))
            look: dict[str, Any] = {
                "marker": style.MARKERS[number % len(style.MARKERS)],
                "color": style.COLOURS[number % len(style.COLOURS)],
            }
            depth = [100 * layer / curve["n_layers"] for layer in layers]
            peak = layers.index(peaks[model])
            for axes, x in ((by_layer, layers), (by_depth, depth)):
                axes.plot(x, r, label=model, **look)
                ring = axes.plot(
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
        handles, labels = by_layer.get_legend_handles_labels()
        entries = dict(zip(labels, handles, strict=True)) | {"largest r": ring[0]}
        style.legend_below(figure, entries, columns=5)
    return figure
