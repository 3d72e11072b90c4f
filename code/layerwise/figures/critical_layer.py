"""L* by the formula against L* of the attention trace (Paper 3, figure A2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from layerwise.figures import published_files, style

REMARK = "Population SD over five prompts. Models of one depth and head count share a prediction."


def draw(documents: Mapping[str, dict[str, Any]], *, source: str) -> Figure:
    """A point per model with the spread of its L* over the prompts; the line of agreement."""
    document = published_files.document_of(documents, "critical_layer", "models", "mean_error")
    rows = document["models"]
    with style.house_style():
        figure, grid = published_files.panels(
            1, 1, document, source=source, row_height=3.2, remark=REMARK
        )
        axes = grid[0][0]
        axes.plot([0, 24], [0, 24], color=style.GREY, linestyle="--", linewidth=0.8)
        # Three models lie on each predicted layer: their bars would hide one another.
        offsets = _beside([row["predicted"] for row in rows.values()])
        seen: set[str] = set()
        for offset, (name, row) in zip(offsets, rows.items(), strict=True):
            lab = row["lab"]
            axes.errorbar(
                row["predicted"] + offset,
                row["empirical"],
                yerr=row["std"],
                linestyle="none",
                markersize=6,
                capsize=3,
                label=None if lab in seen else lab,
                **published_files.lab_look(lab),
            )
            seen.add(lab)
            point = {name: (row["predicted"] + offset, row["empirical"])}
            published_files.name_points(axes, point, left=[name] if offset <= 0 else [])
        axes.set_xlim(0, 24)
        axes.set_ylim(0, 24)
        axes.set_xlabel("predicted L* (layer; points of one prediction are set side by side)")
        axes.set_ylabel("L* of the trace (layer)")
        axes.set_title(f"n = {len(rows)} models; mean error {document['mean_error']:.1f}% of depth")
        axes.legend(loc="upper left")
    return figure


def _beside(predicted: list[float]) -> np.ndarray:
    """Sideways offsets that set points of one prediction side by side."""
    offsets = np.zeros(len(predicted))
    for value in set(predicted):
        places = [place for place, other in enumerate(predicted) if other == value]
        offsets[places] = 0.5 * (np.arange(len(places)) - (len(places) - 1) / 2)
    return offsets
