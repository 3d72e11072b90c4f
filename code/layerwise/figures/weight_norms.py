"""Squared spectral norm of W_V over depth, logarithmic (Paper 3, figure A5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from layerwise.figures import published_files, style

REMARK = (
    "Squares of the published norms. For Pythia and BLOOM the published slice of the fused "
    "matrix is not W_V alone."
)


def draw(documents: Mapping[str, dict[str, Any]], *, source: str) -> Figure:
    """A curve per model, layers spread evenly from zero to one."""
    document = published_files.document_of(documents, "weight_norms", "models")
    with style.house_style():
        figure, grid = published_files.panels(
            1, 1, document, source=source, row_height=3.2, remark=REMARK
        )
        axes = grid[0][0]
        for number, (name, row) in enumerate(document["models"].items()):
            squares = np.square(row["norms"])
            axes.plot(
                np.linspace(0, 1, len(squares)),
                squares,
                color=style.COLOURS[number],
                marker=style.MARKERS[number],
                markersize=3,
                label=name,
            )
        axes.set_yscale("log")
        axes.set_ylim(1, 6000)
        axes.set_xlabel("relative depth (0: first layer, 1: last)")
        axes.set_ylabel("squared spectral norm of W_V")
        axes.set_title(f"n = {len(document['models'])} models")
        axes.legend(loc="upper left", ncols=2)
    return figure
