"""Paper 1: asymmetry of the categories."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from layerwise.figures import style
from layerwise.figures.numbers import Numbers

MODELS = ("gemma", "llama", "mistral", "apertus")
REFERENCE = "lifestyle"
BAND = 0.015  # Paper 1 calls a model calibrated whose UA on lifestyle is smaller in size


def asymmetry_by_category(numbers: Numbers) -> Figure:
    """Uniformity asymmetry of every category and model (Paper 1, figure 1).

    Grouped bars, a group per category and a bar per model; the band at the calibration.
    """
    documents = numbers.statistics.get("calibration", {})
    models = numbers.having(
        "calibration", {name: documents.get(name) for name in MODELS}, f"{REFERENCE}/asymmetry"
    )
    for name in models:
        numbers.document("calibration", name, REFERENCE)
    categories = [name for name in next(iter(models.values())) if not name.startswith("_")]
    counts = [next(iter(models.values()))[category]["n_pairs"] for category in categories]
    width = 0.8 / len(models)
    figure, grid = style.panels(numbers, 1, 1, row_height=3.2)
    axes = grid[0][0]
    places = np.arange(len(categories))
    for number, document in enumerate(models.values()):
        axes.bar(
            places + (number - (len(models) - 1) / 2) * width,
            [document[category]["asymmetry"] for category in categories],
            width=width,
            color=style.COLOURS[number],
            label=document["_metadata"]["model_display"],
        )
    place = categories.index(REFERENCE)
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
    axes.set_title(
        f"last layer, {sum(counts)} pairs (n = {min(counts)} to {max(counts)} per category)"
    )
    axes.legend(loc="lower right", ncols=2)
    return figure
