"""Gains of the single prompts by model size (Paper 3, figure A4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from layerwise.figures import published_files, style

SEED = 42  # of the sideways scatter, as in the paper
AXIS = (0.82, 1.38)  # the paper's axis
REMARK = (
    "Sideways scatter only separates the points. The paper's axis ends at the dotted lines and "
    "moves what lies outside onto them."
)


def draw(documents: Mapping[str, dict[str, Any]], *, source: str) -> Figure:
    """A column per size, by depth: every prompt, the mean, the population standard deviation."""
    document = published_files.document_of(documents, "gain_distribution", "models", "n_prompts")
    rows = sorted(document["models"].items(), key=lambda item: item[1]["n_layers"])
    jitter = np.random.default_rng(SEED)
    outside = 0
    with style.house_style():
        figure, grid = published_files.panels(
            1, 1, document, source=source, row_height=3.2, remark=REMARK
        )
        axes = grid[0][0]
        published_files.unit_line(axes)
        for place, (_, row) in enumerate(rows):
            gains = np.array(row["all"])
            outside += int(np.sum((gains < AXIS[0]) | (gains > AXIS[1])))
            axes.scatter(
                place + jitter.uniform(-0.18, 0.18, len(gains)),
                gains,
                s=9,
                color=style.COLOURS[5],
                label="prompt" if place == 0 else None,
            )
            axes.errorbar(
                place,
                row["mean"],
                yerr=row["std"],
                marker="o",
                color=style.BLUE if row["mean"] < 1 else style.RED,
                capsize=4,
                zorder=3,
            )
        for end in AXIS:
            axes.axhline(end, color=style.GREY, linestyle=":", linewidth=0.8)
        names = [f"{name.removeprefix('pythia-')}\nL = {row['n_layers']}" for name, row in rows]
        axes.set_xticks(range(len(rows)), names)
        axes.set_xlabel("Pythia size, by depth (blue: mean under 1, red: over 1)")
        axes.set_ylabel("gain of the second-last block")
        axes.set_title(
            f"n = {document['n_prompts']} prompts each, mean and population SD; "
            f"{outside} outside the paper's axis"
        )
        axes.legend(loc="upper right")
    return figure
