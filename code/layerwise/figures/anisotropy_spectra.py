"""Eigenvalue spectra of the token covariance at the key layers (notebook 004)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from layerwise.errors import LayerwiseError
from layerwise.figures import style


def draw(documents: Mapping[str, dict[str, Any]], *, source: str) -> Figure:
    """One panel per model; each spectrum is divided by the sum of the eigenvalues kept.

    Raises:
        LayerwiseError: if no document has spectra (the notebook did not save them).
    """
    style.documents_of(documents, ["L_star_anisotropy", "n_prompts"], "anisotropy_spectra")
    kept = {model: document for model, document in documents.items() if document.get("spectra")}
    if not kept:
        raise LayerwiseError(
            "figure anisotropy_spectra: eigenvalue spectra are needed, none of "
            f"{', '.join(documents)} has any (the notebook plotted but did not save them); "
            "measure them from the weights"
        )
    with style.house_style():
        columns = min(2, len(kept))
        rows = -(-len(kept) // columns)
        figure, grid = style.panels(rows, columns, source=source, row_height=2.8)
        axes = list(grid.flat)
        for spare in axes[len(kept) :]:
            spare.set_axis_off()
        for panel, (model, document) in zip(axes, kept.items(), strict=False):
            layers = style.layers_of(document["spectra"])
            for number, layer in enumerate(layers):
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
