"""Paper 2: what the chat template changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.figures import style
from layerwise.figures.numbers import Numbers

MODEL = "llama-3p1-8b-instruct"
LOOKS: dict[str, dict[str, Any]] = {
    "with": {"color": style.BLUE, "marker": "o"},
    "without": {"color": style.RED, "marker": "s", "linestyle": "--"},
}


def template_comparison(numbers: Numbers) -> Figure:
    """The layer curve of the instruct model with and without chat template (Paper 2, figure 2).

    Two curves with their intervals; a hollow point where the interval holds zero.
    """
    places = {name: f"results_{name}_template" for name in LOOKS}
    document = numbers.document("template", MODEL, *places.values(), "verdict")
    figure, grid = style.panels(numbers, 1, 1, row_height=3.0, remark="Hollow: the interval holds "
                                "zero.")  # fmt: skip
    axes = grid[0][0]
    for name, look in LOOKS.items():
        _curve(axes, document[places[name]], look | {"label": f"{name} template"})
    style.zero_line(axes)
    style.layer_axis(axes, style.layers_of(document[places["with"]]))
    axes.legend(loc="upper right")
    axes.set_ylim(-0.8, 0.8)
    axes.set_ylabel("r (95% interval)")
    axes.set_title(
        f"{numbers.names[MODEL]} (n = {document['n_pairs']} pairs); "
        f"the notebook's word: {document['verdict']}"
    )
    return figure


def _curve(axes: Axes, results: Mapping[str, Mapping[str, Any]], look: dict[str, Any]) -> None:
    layers = style.layers_of(results)
    rows = [style.interval(results[str(layer)]) for layer in layers]
    axes.vlines(
        layers, [row[1] for row in rows], [row[2] for row in rows], color=look["color"], linewidth=1
    )
    axes.plot(layers, [row[0] for row in rows], **look)
    for layer, (r, _, _, holds_zero) in zip(layers, rows, strict=True):
        if holds_zero:
            axes.plot(layer, r, **look | {"label": None, "markerfacecolor": "white", "zorder": 4})
