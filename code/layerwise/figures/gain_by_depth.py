"""Mean gain and its spread over the prompts against depth (Paper 3, figure A3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from layerwise.figures import published_files, style
from layerwise.statistics.correlation import pearson_p, pearson_r

REMARK = "The paper's box names depth and gain, but holds r and p of head density and gain."


def draw(documents: Mapping[str, dict[str, Any]], *, source: str) -> Figure:
    """A point per size with the population standard deviation over its prompts."""
    document = published_files.document_of(documents, "gain_by_depth", "models", "n_prompts")
    rows = document["models"]
    depth = np.array([row["n_layers"] for row in rows.values()], dtype=float)
    gain = np.array([row["mean"] for row in rows.values()])
    with style.house_style():
        figure, grid = published_files.panels(
            1, 1, document, source=source, row_height=3.0, remark=REMARK
        )
        axes = grid[0][0]
        published_files.unit_line(axes)
        axes.errorbar(
            depth,
            gain,
            yerr=[row["std"] for row in rows.values()],
            linestyle="none",
            marker="o",
            color=style.BLUE,
            capsize=3,
        )
        points = dict(zip(rows, zip(depth, gain, strict=True), strict=True))
        published_files.name_points(
            axes, points, below=["pythia-2.8b", "pythia-410m", "pythia-12b"]
        )
        axes.set_xlim(4, 42)
        axes.set_xlabel("depth L (blocks)")
        axes.set_ylabel("gain of the second-last block,\nmean and population SD")
        r = pearson_r(depth, gain)
        axes.set_title(
            f"n = {len(rows)} sizes, {document['n_prompts']} prompts each; "
            f"r(L, G) = {r:.3f}, p = {pearson_p(r, len(rows)):.4f}"
        )
    return figure
