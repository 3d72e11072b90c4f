"""Paper 3: the critical layer, predicted and found."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from layerwise.figures import style
from layerwise.figures.numbers import Numbers

KEYS = ("L_star_predicted", "L_star_empirical", "L_star_std")
REMARK = "Population SD over five prompts. Models of one depth and head count share a prediction."


def critical_layer(numbers: Numbers) -> Figure:
    """L* by the formula against L* of the attention trace (Paper 3, figure A2).

    A point per model with the spread of its L* over the prompts; the line of agreement.
    """
    document = numbers.document("critical_layer", "argmax", "results")
    rows = {row["model"].split("/")[-1]: row for row in document["results"]}
    rows = numbers.having("critical_layer", rows, *KEYS)
    predicted, found, spread = ([row[key] for row in rows.values()] for key in KEYS)
    figure, grid = style.panels(numbers, 1, 1, row_height=3.2, remark=REMARK)
    axes = grid[0][0]
    end = max(24, *predicted, *np.add(found, spread))
    axes.plot([0, end], [0, end], color=style.GREY, linestyle="--", linewidth=0.8)
    # Three models lie on each predicted layer: their bars would hide one another.
    at = np.array(predicted) + (offsets := _beside(predicted))
    seen: set[str] = set()
    for place, (name, row) in enumerate(rows.items()):
        lab = row["lab"]
        axes.errorbar(
            at[place],
            found[place],
            yerr=spread[place],
            linestyle="none",
            markersize=6,
            capsize=3,
            label=None if lab in seen else lab,
            **style.lab_look(lab),
        )
        seen.add(lab)
        left = [name] if offsets[place] <= 0 else []
        style.name_points(axes, {name: (at[place], found[place])}, left=left)
    axes.set_xlim(0, end)
    axes.set_ylim(0, end)
    axes.set_xlabel("predicted L* (layer; points of one prediction are set side by side)")
    axes.set_ylabel("L* of the trace (layer)")
    error = document.get("overall_mape")
    words = "unknown" if error is None else f"{error:.1f}% of depth"
    axes.set_title(f"n = {len(rows)} models; mean error {words}")
    axes.legend(loc="upper left")
    return figure


def _beside(predicted: list[float]) -> np.ndarray:
    """Sideways offsets that set points of one prediction side by side."""
    offsets = np.zeros(len(predicted))
    for value in set(predicted):
        places = [place for place, other in enumerate(predicted) if other == value]
        offsets[places] = 0.5 * (np.arange(len(places)) - (len(places) - 1) / 2)
    return offsets
