"""Paper 3: anisotropy over depth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.figures import style
from layerwise.figures.numbers import Numbers

SERIES = (
    ("intrinsic_dim_ratio", "first-PC share", "share of variance"),
    ("effective_rank", "effective rank", "dimensions"),
    ("avg_cos_sim", "mean cosine to the mean", "cosine"),
    ("eigenvalue_variance", "eigenvalue variance", "variance (log)"),
)


def anisotropy(numbers: Numbers) -> Figure:
    """Four measures of anisotropy over all layers (notebook 004).

    Two rows of two panels for one model, else a row per model; a vertical marks L*.

    L* is the layer of the largest first-PC share.
    """
    keys = ("n_layers", "n_prompts", "L_star_anisotropy", *(key for key, _, _ in SERIES[:3]))
    documents = numbers.models("anisotropy", *keys)
    alone = len(documents) == 1
    rows, columns = (2, 2) if alone else (len(documents), 4)
    n = ", ".join(str(n) for n in sorted({d["n_prompts"] for d in documents.values()}))
    figure, grid = style.panels(
        numbers, rows, columns, row_height=2.2, remark=f"n: all tokens of {n} prompts."
    )
    for number, (model, document) in enumerate(documents.items()):
        panels = list(grid.flat if alone else grid[number])
        for position, (panel, entry) in enumerate(zip(panels, SERIES, strict=True)):
            _series(panel, position, document, entry, most=10 if alone else 5)
        for panel in panels[:: 2 if alone else 4]:
            panel.set_ylabel(f"{model}\n{panel.get_ylabel()}")
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
    if values is None or None in values:
        style.remark(axes, f"{title}:\nnot among\nthe numbers")
        return
    layers = list(range(document["n_layers"] + 1))
    axes.plot(layers, values, markersize=3, **style.look(position))
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


def anisotropy_spectra(numbers: Numbers) -> Figure:
    """Eigenvalue spectra of the token covariance at the key layers (notebook 004).

    One panel per model; each spectrum is divided by the sum of the eigenvalues kept. The notebook
    plotted but did not save them.
    """
    documents = numbers.models("anisotropy", "spectra", "L_star_anisotropy", "n_prompts")
    columns = min(2, len(documents))
    rows = -(-len(documents) // columns)
    figure, grid = style.panels(numbers, rows, columns, row_height=2.8)
    axes = list(grid.flat)
    for spare in axes[len(documents) :]:
        spare.set_axis_off()
    for panel, (model, document) in zip(axes, documents.items(), strict=False):
        for number, layer in enumerate(style.layers_of(document["spectra"])):
            eigenvalues = np.asarray(document["spectra"][str(layer)], dtype=float)
            panel.plot(
                np.arange(1, len(eigenvalues) + 1),
                eigenvalues / eigenvalues.sum(),
                color=style.COLOURS[number % len(style.COLOURS)],
                linestyle=("-", "--", "-.", ":", (0, (5, 1)))[number % 5],
                label=f"layer {layer}",
            )
        panel.set_yscale("log")
        panel.set_xlabel("rank of the eigenvalue")
        panel.set_ylabel("share of the eigenvalues kept")
        peak, prompts = document["L_star_anisotropy"], document["n_prompts"]
        panel.set_title(f"{model}: L* = {peak} (tokens of {prompts} prompts)")
        panel.legend(loc="best")
    return figure
