"""Mean gain of the second-last block against depth, with the claimed bound (Paper 3, figure 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from layerwise.figures import published_files, style
from layerwise.statistics.correlation import pearson_r

REMARK = "Means with every published digit; the paper's figure was drawn from three decimals."


def draw(documents: Mapping[str, dict[str, Any]], *, source: str) -> Figure:
    """A point per size; the curve 10^(1/L); the correlations with depth and with head density."""
    document = published_files.document_of(documents, "depth_gain", "models", "n_prompts")
    rows = document["models"]
    depth = np.array([row["n_layers"] for row in rows.values()], dtype=float)
    gain = np.array([row["mean"] for row in rows.values()])
    density = np.array([row["rho"] for row in rows.values()])
    with style.house_style():
        figure, grid = published_files.panels(
            1, 1, document, source=source, row_height=3.0, remark=REMARK
        )
        axes = grid[0][0]
        curve = np.linspace(4, 40, 200)
        axes.plot(curve, 10 ** (1 / curve), color=style.GREY, label="claimed bound 10^(1/L)")
        published_files.unit_line(axes)
        for word, colour, marker, chosen in (
            ("damps (G < 1)", style.BLUE, "o", gain < 1),
            ("expands", style.RED, "^", gain >= 1),
        ):
            axes.plot(
                depth[chosen],
                gain[chosen],
                linestyle="none",
                color=colour,
                marker=marker,
                markersize=6,
                label=word,
            )
        points = dict(zip(rows, zip(depth, gain, strict=True), strict=True))
        published_files.name_points(
            axes, points, below=["pythia-12b", "pythia-410m", "pythia-160m"], left=["pythia-160m"]
        )
        axes.set_xlim(4, 40)
        axes.set_ylim(0.88, 1.25)
        axes.set_xlabel("depth L (blocks)")
        axes.set_ylabel("mean gain of the second-last block")
        axes.set_title(
            f"n = {len(rows)} sizes, {document['n_prompts']} prompts each; "
            f"r(L, G) = {pearson_r(depth, gain):.3f}, "
            f"r(head density, G) = {pearson_r(density, gain):.3f}"
        )
        axes.legend(loc="lower left")
    return figure
