"""Layer means of the spectral norms of W_V and W_O (Paper 3, figure 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from layerwise.figures import published_files, style

REMARK = (
    "Means with every published digit; the paper's figure was drawn from two decimals. For "
    "Pythia and BLOOM the published slice of the fused matrix is not W_V alone."
)


def draw(documents: Mapping[str, dict[str, Any]], *, source: str) -> Figure:
    """A point per model on two logarithmic axes; the line of equal norms."""
    document = published_files.document_of(documents, "spectral_scatter", "models")
    rows = document["models"]
    with style.house_style():
        figure, grid = published_files.panels(
            1, 1, document, source=source, row_height=3.2, remark=REMARK
        )
        axes = grid[0][0]
        axes.plot([1, 100], [1, 100], color=style.GREY, linestyle="--", linewidth=0.8)
        seen: set[str] = set()
        for row in rows.values():
            lab = row["lab"]
            axes.plot(
                row["value"],
                row["output"],
                linestyle="none",
                markersize=6,
                label=None if lab in seen else lab,
                **published_files.lab_look(lab),
            )
            seen.add(lab)
        points = {name: (row["value"], row["output"]) for name, row in rows.items()}
        published_files.name_points(axes, points, left=["pythia-410m"], below=["pythia-160m"])
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(1, 100)
        axes.set_ylim(1.5, 100)
        axes.set_xlabel("spectral norm of W_V, mean over layers")
        axes.set_ylabel("spectral norm of W_O, mean over layers")
        axes.set_title(f"n = {len(rows)} models; dashed: equal norms")
        axes.legend(loc="upper left")
    return figure
