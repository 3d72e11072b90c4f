"""r of centroid asymmetry and preference over pairs, by layer (Paper 2, figure 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from layerwise.figures import published_files, style

REMARK = (
    "Star: the interval excludes zero. Intervals as the bootstrap gave them; grey caps: those of "
    "the consolidated table, from which the paper's panel of Pythia was drawn."
)


def draw(documents: Mapping[str, dict[str, Any]], *, source: str) -> Figure:
    """Two by two panels; a star where the interval excludes zero."""
    document = published_files.document_of(
        documents, "layer_curves", "curves", "n_pairs", "printed_intervals"
    )
    with style.house_style():
        figure, grid = published_files.panels(
            2, 2, document, source=source, row_height=2.4, remark=REMARK
        )
        for axes, (model, curve) in zip(grid.flat, document["curves"].items(), strict=True):
            layers = style.layers_of(curve)
            printed = document["printed_intervals"].get(model, {})
            for end in (0, 1):
                drawn = [printed[str(layer)][end] for layer in layers] if printed else []
                axes.plot(
                    layers if printed else [],
                    drawn,
                    linestyle="none",
                    marker="_",
                    markersize=11,
                    color=style.GREY,
                )
            style.interval_points(axes, layers, curve)
            axes.set_ylim(-0.8, 0.8)
            axes.set_title(f"{model} (n = {document['n_pairs']} pairs)")
            axes.set_ylabel("r (95% interval)")
    return figure
