"""Uniformity asymmetry of every category and model (Paper 1, figure 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from layerwise.figures import published_files, style

CALIBRATION = "lifestyle"
BAND = 0.015  # Paper 1 calls a model calibrated whose UA on lifestyle is smaller in size


def draw(documents: Mapping[str, dict[str, Any]], *, source: str) -> Figure:
    """Grouped bars, a group per category and a bar per model; the band at the calibration."""
    document = published_files.document_of(
        documents, "asymmetry_by_category", "asymmetry", "n_pairs"
    )
    values = document["asymmetry"]
    categories = list(next(iter(values.values())))
    width = 0.8 / len(values)
    with style.house_style():
        figure, grid = published_files.panels(1, 1, document, source=source, row_height=3.2)
        axes = grid[0][0]
        places = np.arange(len(categories))
        for number, (model, row) in enumerate(values.items()):
            axes.bar(
                places + (number - (len(values) - 1) / 2) * width,
                [row[category] for category in categories],
                width=width,
                color=style.COLOURS[number],
                label=model,
            )
        place = categories.index(CALIBRATION)
        axes.fill_between(
            [place - 0.5, place + 0.5],
            -BAND,
            BAND,
            color=style.COLOURS[4],
            alpha=0.35,
            zorder=0,
            label=f"calibration band (±{BAND})",
        )
        style.zero_line(axes)
        axes.set_xticks(places, [category.replace("_", "\n") for category in categories])
        axes.set_ylabel("uniformity asymmetry U(A) - U(B)")
        axes.set_title(f"last layer, {document['n_pairs']} pairs (n = 20 to 50 per category)")
        axes.legend(loc="lower right", ncols=2)
    return figure
