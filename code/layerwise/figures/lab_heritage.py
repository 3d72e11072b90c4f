"""Paper 3: gains by lab."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.figures import style
from layerwise.figures.numbers import Numbers

ELEUTHER = "EleutherAI"
# What Paper 3's figure 2 shows as EleutherAI: these sizes of the sweep, these models of the hunt.
DRAWN_SIZES = ("pythia-1.4b", "pythia-2.8b", "pythia-6.9b")
DRAWN_HUNT = ("gpt-neo-1.3B", "gpt-j-6B")
REMARK = (
    "Filled: the figure's own choice, three Pythia sizes of the sweep with the hunt's other "
    "models, here with every digit (the paper typed three decimals). Hollow: "
    "EleutherAI's models of the hunt alone."
)


def lab_heritage(numbers: Numbers) -> Figure:
    """Mean gain of the models of each lab (Paper 3, figure 2).

    A column per lab, by mean: its models, their mean and its standard error where n > 1.
    """
    tested = numbers.document("lab_heritage", "hunt", "tested_results")["tested_results"]
    sizes = numbers.document("depth_gain", "family", "models")["models"]
    hunt = numbers.having(
        "lab_heritage", {row["model"].split("/")[-1]: row for row in tested}, "gain_no_ln_mean"
    )
    by_size = {row["model"]: row.get("residual_gain_mean") for row in sizes}
    labs: dict[str, dict[str, float]] = {}
    for name, row in hunt.items():
        labs.setdefault(row["lab"], {})[name] = row["gain_no_ln_mean"]
    of_hunt = labs.pop(ELEUTHER, {})
    chosen = {name: by_size[name] for name in DRAWN_SIZES if by_size.get(name) is not None}
    chosen |= {name: of_hunt[name] for name in DRAWN_HUNT if name in of_hunt}
    if chosen:
        labs[ELEUTHER] = chosen
    columns = sorted(labs.items(), key=lambda item: float(np.mean(list(item[1].values()))))
    figure, grid = style.panels(numbers, 1, 1, row_height=3.2, remark=REMARK)
    axes = grid[0][0]
    style.unit_line(axes)
    for number, (lab, models) in enumerate(columns):
        place = float(number)
        look = style.lab_look(lab)
        _column(axes, place, np.array(list(models.values())), look)
        if lab == ELEUTHER and of_hunt:
            hollow = look | {"markerfacecolor": "none"}
            _column(axes, place + 0.25, np.array(list(of_hunt.values())), hollow)
    names = [f"{lab}\nn = {len(models)}" for lab, models in columns]
    axes.set_xticks(range(len(columns)), names)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylabel("mean gain of the second-last block")
    axes.set_title("models (small) and their mean with its standard error, by lab")
    return figure


def _column(axes: Axes, place: float, gains: np.ndarray, look: dict[str, Any]) -> None:
    """The models left of their mean; the error is the sample deviation over the root of n."""
    axes.plot(
        np.full(len(gains), place - 0.1), gains, linestyle="none", **look | {"markersize": 3.5}
    )
    error = np.std(gains, ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else None
    axes.errorbar(place, np.mean(gains), yerr=error, markersize=7, capsize=4, **look)
