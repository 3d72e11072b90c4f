"""Paper 2: correlation over the pairs, model by model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from layerwise.figures import style
from layerwise.figures.numbers import Numbers

METRIC = "centroid_asymmetry"  # the pair-level metric of Paper 2's figures
PYTHIA = "pythia-6p9b"
# analysis, document, where its results stand, and whether they are by metric
CURVES = (
    ("pairs", PYTHIA, "results", True),
    ("cross_model", "llama-3p1-8b", "pair_level_results", True),
    ("cross_model", "apertus-8b", "results", False),
    ("cross_model", "gemma-2b", "results", False),
)
REMARK = (
    "Star: the interval excludes zero. Intervals as the bootstrap gave them; grey caps: those of "
    "the consolidated table, from which the paper's panel of Pythia was drawn."
)


def layer_curves(numbers: Numbers) -> Figure:
    """r of centroid asymmetry and preference over pairs, by layer (Paper 2, figure 1).

    Two by two panels; a star where the interval excludes zero.
    """
    documents = {name: numbers.statistics.get(of, {}).get(name, {}) for of, name, _, _ in CURVES}
    curves = {
        name: {
            layer: row[METRIC] if by_metric else row
            for layer, row in documents[name].get(results, {}).items()
        }
        for _, name, results, by_metric in CURVES
    }
    there = numbers.having("pairs and cross_model", {n: {"r": c} for n, c in curves.items()}, "r")
    for analysis, name, results, _ in CURVES:
        if name in there:
            numbers.document(analysis, name, results)
    printed = _printed(numbers)
    figure, grid = style.panels(numbers, 2, 2, row_height=2.4, remark=REMARK if printed else "")
    for axes, name in zip(grid.flat, there, strict=False):
        for layer, row in printed.items() if name == PYTHIA else ():
            axes.plot(
                [int(layer)] * 2,
                [row["ci_lo"], row["ci_hi"]],
                linestyle="none",
                marker="_",
                markersize=11,
                color=style.GREY,
            )
        style.interval_points(axes, curves[name])
        axes.set_ylim(-0.8, 0.8)
        axes.set_title(f"{numbers.names[name]} (n = {documents[name]['n_pairs']} pairs)")
        axes.set_ylabel("r (95% interval)")
    for spare in list(grid.flat)[len(there) :]:
        spare.set_axis_off()
    return figure


def _printed(numbers: Numbers) -> Mapping[str, Any]:
    """The rows of the consolidated table; measured numbers have no second set of intervals."""
    if numbers.source != "published":
        return {}
    return numbers.document("consolidated", PYTHIA, "0/ci_lo")
