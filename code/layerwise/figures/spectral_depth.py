"""Spectral norm of W_V over relative depth (Paper 3, figure A1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.figures import published_files, style

LIMIT = 10.0  # the paper's dotted line


def draw(documents: Mapping[str, dict[str, Any]], *, source: str) -> Figure:
    """All models, and those of other labs than EleutherAI in the same colours."""
    document = published_files.document_of(documents, "spectral_depth", "models")
    rows = document["models"]
    others = {name: row for name, row in rows.items() if row["lab"] != "EleutherAI"}
    with style.house_style():
        figure, grid = published_files.panels(1, 2, document, source=source, row_height=3.0)
        for axes, chosen, title in (
            (grid[0][0], rows, "all"),
            (grid[0][1], others, "without EleutherAI"),
        ):
            _curves(axes, rows, chosen)
            axes.axhline(LIMIT, color=style.GREY, linestyle=":")
            axes.set_title(f"{title}, n = {len(chosen)} models")
            axes.set_xlabel("layer over number of layers")
            axes.set_ylabel("spectral norm of W_V")
        grid[0][0].legend(loc="upper left")
    return figure


def _curves(axes: Axes, rows: Mapping[str, Any], chosen: Mapping[str, Any]) -> None:
    """A curve per chosen model at x = (layer + 1) / layers; colours as in the whole set."""
    for number, (name, row) in enumerate(rows.items()):
        if name in chosen:
            norms = row["norms"]
            axes.plot(
                (np.arange(len(norms)) + 1) / len(norms),
                norms,
                color=style.COLOURS[number],
                marker=style.MARKERS[number],
                markersize=3,
                label=name,
            )
