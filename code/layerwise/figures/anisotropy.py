"""Four measures of anisotropy over all layers (notebook 004)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.figures import style

SERIES = (
    ("intrinsic_dim_ratio", "first-PC share", "share of variance"),
    ("effective_rank", "effective rank", "dimensions"),
    ("avg_cos_sim", "mean cosine to the mean", "cosine"),
    ("eigenvalue_variance", "eigenvalue variance", "variance (log)"),
)


def draw(documents: Mapping[str, dict[str, Any]], *, source: str) -> Figure:
    """Two rows of two panels for one model, else a row per model; a vertical marks L*.

    L* is the layer of the largest first-PC share.
    """
    keys = ["n_layers", "n_prompts", "L_star_anisotropy", *(key for key, _, _ in SERIES[:3])]
    style.documents_of(documents, keys, "anisotropy")
    alone = len(documents) == 1
    with style.house_style():
        rows, columns = (2, 2) if alone else (len(documents), 4)
        figure, grid = style.panels(rows, columns, source=source, row_height=2.2)
        for number, (model, document) in enumerate(documents.items()):
            panels = list(grid.flat if alone else grid[number])
            for position, (panel, entry) in enumerate(zip(panels, SERIES, strict=True)):
                _series(panel, position, document, entry, most=10 if alone else 5)
            for panel in panels[:: 2 if alone else 4]:
                panel.set_ylabel(f"{model}\n{panel.get_ylabel()}")
        n = ", ".join(str(n) for n in sorted({d["n_prompts"] for d in documents.values()}))
        style.note(figure, f"n: all tokens of {n} prompts")
    return figure


def _series(
    axes: Axes,
    position: int,
    document: Mapping[str, Any],
    entry: tuple[str, str, str],
    *,
    most: int,
) -> None:
    key, title, unit = entry
    values = document.get(key)
    if values is None:
        style.remark(axes, "eigenvalue variance:\nthe notebook\nplotted it but\ndid not save it")
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
    axes.legend(loc="best", handlelength=1.2, handletextpad=0.4)
    style.layer_axis(axes, layers, most=most)
    axes.set_ylabel(unit)
    axes.set_title(title if most == 10 else title.replace(" ", "\n", 1))
