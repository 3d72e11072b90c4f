"""The layer curve of the instruct model with and without chat template (Paper 2, figure 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.figures import published_files, style

LOOKS: dict[str, dict[str, Any]] = {
    "with": {"color": style.BLUE, "marker": "o"},
    "without": {"color": style.RED, "marker": "s", "linestyle": "--"},
}


def draw(documents: Mapping[str, dict[str, Any]], *, source: str) -> Figure:
    """Two curves with their intervals; a hollow point where the interval holds zero."""
    document = published_files.document_of(
        documents, "template_comparison", "with", "without", "n_pairs", "verdict"
    )
    with style.house_style():
        figure, grid = published_files.panels(
            1,
            1,
            document,
            source=source,
            row_height=3.0,
            remark="Hollow: the interval holds zero.",
        )
        axes = grid[0][0]
        for name, look in LOOKS.items():
            _curve(axes, document[name], look | {"label": f"{name} template"})
        style.zero_line(axes)
        style.layer_axis(axes, style.layers_of(document["with"]))
        axes.legend(loc="upper right")
        axes.set_ylim(-0.8, 0.8)
        axes.set_ylabel("r (95% interval)")
        axes.set_title(
            f"Llama-3.1-8B-Instruct (n = {document['n_pairs']} pairs); "
            f"the notebook's word: {document['verdict']}"
        )
    return figure


def _curve(axes: Axes, results: Mapping[str, Mapping[str, Any]], look: dict[str, Any]) -> None:
    layers = style.layers_of(results)
    rows = [results[str(layer)] for layer in layers]
    ends = [[row[end] for row in rows] for end in ("ci_lower", "ci_upper")]
    axes.vlines(layers, ends[0], ends[1], color=look["color"], linewidth=1.0)
    axes.plot(layers, [row["r"] for row in rows], **look)
    for layer, row in zip(layers, rows, strict=True):
        if row["includes_zero"]:
            axes.plot(
                layer, row["r"], **look | {"label": None, "markerfacecolor": "white", "zorder": 4}
            )
