"""Mean gain of the models of each lab (Paper 3, figure 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.figures import published_files, style

REMARK = (
    "Filled: the figure's own choice, three Pythia sizes of the sweep with the hunt's other "
    "models, here with every published digit (the paper typed three decimals). Hollow: "
    "EleutherAI's models of the hunt alone."
)


def draw(documents: Mapping[str, dict[str, Any]], *, source: str) -> Figure:
    """A column per lab, by mean: its models, their mean and its standard error where n > 1."""
    document = published_files.document_of(documents, "lab_heritage", "labs", "hunt")
    labs = sorted(document["labs"].items(), key=lambda item: np.mean(list(item[1].values())))
    with style.house_style():
        figure, grid = published_files.panels(
            1, 1, document, source=source, row_height=3.2, remark=REMARK
        )
        axes = grid[0][0]
        published_files.unit_line(axes)
        for number, (lab, models) in enumerate(labs):
            place = float(number)
            look = published_files.lab_look(lab)
            _column(axes, place, np.array(list(models.values())), look)
            if lab == "EleutherAI":
                hunt = np.array(list(document["hunt"].values()))
                _column(axes, place + 0.25, hunt, look | {"markerfacecolor": "none"})
        names = [f"{lab}\nn = {len(models)}" for lab, models in labs]
        axes.set_xticks(range(len(labs)), names)
        axes.set_xlim(-0.5, len(labs) - 0.5)
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
