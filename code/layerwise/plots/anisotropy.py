"""Four measures of anisotropy over all layers (notebook 004)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.plots import style

SERIES = (
    ("intrinsic_dim_ratio", "first-PC share", "share of variance"),
    ("effective_rank", "effective rank", "effective rank (dimensions)"),
    ("avg_cos_sim", "mean cosine to the mean", "cosine (no unit)"),
    ("eigenvalue_variance", "eigenvalue variance", "variance (log scale)"),
)


def draw(documents: Mapping[str, dict[str, Any]], *, source: str) -> Figure:
    """Two rows of two panels per model, with a vertical at L*, the layer of the largest share."""
    keys = ["n_layers", "n_prompts", "L_star_anisotropy", *(key for key, _, _ in SERIES[:3])]
    style.documents_of(documents, keys, "anisotropy")
    with style.house_style():
        figure, grid = style.panels(2 * len(documents), 2, source=source, row_height=2.2)
        for number, (model, document) in enumerate(documents.items()):
            panels = list(grid[2 * number : 2 * number + 2].flat)
            for position, (panel, entry) in enumerate(zip(panels, SERIES, strict=True)):
                _series(panel, position, model, document, entry)
    return figure


def _series(
    axes: Axes, position: int, model: str, document: Mapping[str, Any], entry: tuple[str, str, str]
) -> None:
    key, title, unit = entry
    values = document.get(key)
    if values is None:
        style.remark(axes, "eigenvalue variance:\nthe notebook plotted it\nbut did not save it")
        return
    layers = list(range(document["n_layers"] + 1))
    axes.plot(
        layers,
        values,
        marker=style.MARKERS[position],
        color=style.COLOURS[position],
        markersize=3,
    )
    if key == "intrinsic_dim_ratio":
        axes.fill_between(layers, values, color=style.COLOURS[position], alpha=0.2)
    if key == "eigenvalue_variance":
        axes.set_yscale("log")
    peak = document["L_star_anisotropy"]
    axes.axvline(peak, color=style.RED, linestyle="--", label=f"L* = {peak}")
    axes.legend(loc="best")
    style.layer_axis(axes, layers)
    axes.set_ylabel(unit)
    axes.set_xlabel(f"layer (n: all tokens of {document['n_prompts']} prompts)")
    axes.set_title(f"{model}: {title}")
