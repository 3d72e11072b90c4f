"""Readers' own models over relative depth, the papers' in grey beside them."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.papers.across.curves import own_curves
from layerwise.papers.paper3.figures import bound_by_depth
from layerwise.papers.shared.names import MATRICES
from layerwise.papers.shared.result_files import CATEGORIES
from layerwise.papers.shared.terms import GAIN, OVER_MODELS, PAIRWISE
from layerwise.present.figures import style
from layerwise.present.figures.numbers import Curve, Numbers

QUANTITIES = {
    CATEGORIES: "r over the categories",
    PAIRWISE: "r over the pairs (centroid asymmetry)",
    "intrinsic_dim_ratio": "first component's share",
    GAIN: "gain of each block",
}
LOGARITHMIC = (GAIN, *MATRICES)
LEVELS = {CATEGORIES: 0, PAIRWISE: 0, GAIN: 1}  # no correlation, neither damped nor expanded
COLUMNS = 3  # of the legend
MOST_NAMED = 7 * COLUMNS  # models: of more the legend would leave no room for the panels
ONE_OF_MANY: dict[str, Any] = {"color": style.BLUE, "alpha": 0.5, "linewidth": 0.8}


def gains(numbers: Numbers) -> Figure:
    """Gain of every block over relative depth, and gain of the second-last block against depth.

    Left: means over the prompts; the last block's includes the final norm. Right: mean and 95%
    interval over the prompts (Student's), and the claimed bound 10^(1/L). Grey: the eight Pythia
    sizes of Paper 3.
    """
    keys = ("all_layer_gains", "residual_gain_mean", "residual_gain_all", "n_layers")
    documents = numbers.models("gains", *keys)
    means = {name: document["residual_gain_mean"] for name, document in documents.items()}
    stated = numbers.document(OVER_MODELS, "gains", "bound", "range", "interval")
    over, bounds = stated["above_bound"], stated["bound"]
    title = f"The second-last block's mean gain is {_values(numbers, means, stated['range'])}"
    if len(documents) == 1:
        ((name, document),) = documents.items()
        bound = f"the claimed bound 10^(1/{document['n_layers']}) = {bounds[name]:.3f}"
        title += f", {'above' if over else 'not above'} {bound}"
    else:
        title += f": {len(over)} of {len(bounds)} above the claimed bound 10^(1/L)"
    height, remark = _height(3.2, len(documents)), _remark(numbers, len(documents))
    figure, (left, right) = style.panels(numbers, title, height, remark, columns=2)
    curves = {
        name: own_curves({"layers": document, "gains": document})[GAIN]
        for name, document in documents.items()
    }
    style.log_axis(left, "y")
    _draw_curves(left, numbers, curves)
    left.axhline(1, **style.REFERENCE)
    left.set(ylabel="gain", title="by block")
    _gains_against_depth(right, numbers, documents, stated["interval"])
    _name_models(figure, len(curves))
    style.draw_papers_curves(numbers, {GAIN: left})
    return figure


def _gains_against_depth(
    axes: Axes,
    numbers: Numbers,
    documents: Mapping[str, Any],
    intervals: Mapping[str, Sequence[float]],
) -> None:
    printed = {
        name: (float(len(curve)), curve[-2][1])
        for name, curve in numbers.beside.get(GAIN, {}).items()
    }
    bound_by_depth(axes, max([40, *(document["n_layers"] for document in documents.values())]))
    for point in printed.values():
        axes.plot(*point, "o", color=style.GREY, mfc="none", markersize=4)
    for number, (name, document) in enumerate(documents.items()):
        look, depth = _look(number, len(documents)), document["n_layers"]
        if ends := intervals.get(name):
            axes.vlines(depth, ends[0], ends[1], color=look["color"], zorder=3)
        axes.plot(
            depth, document["residual_gain_mean"], zorder=3, ls="none", **{"marker": "o", **look}
        )
    axes.margins(y=0.15)  # room for names
    axes.set_title("second-last block")
    own = {
        numbers.names[name]: (document["n_layers"], document["residual_gain_mean"])
        for name, document in documents.items()
        if len(documents) == 1  # of several the legend has the names
    }
    names = {name.removeprefix("Pythia-"): point for name, point in printed.items()}
    style.name_points(axes, {**own, **names}, bold=own)


def spectral(numbers: Numbers) -> Figure:
    """Spectral norms of the attention projections over relative depth, logarithmic.

    Grey: the papers' models; the papers cut the fused matrices of Pythia and BLOOM at other rows.
    """
    keys = (f"{matrix}_spectral_norm" for matrix in MATRICES)
    documents = numbers.models("spectral", "W_V_over_W_O", *keys)
    ratio = {name: document["W_V_over_W_O"] for name, document in documents.items()}
    ends = numbers.document(OVER_MODELS, "spectral", "range")["range"]
    title = f"The mean spectral norm of W_V over that of W_O is {_values(numbers, ratio, ends)}"
    curves = {
        name: own_curves({"layers": document, "spectral": document})
        for name, document in documents.items()
    }
    norms = {matrix: f"spectral norm of {matrix}" for matrix in MATRICES}
    return _panels(numbers, title, curves, norms, sharey=True)


def by_depth(numbers: Numbers) -> Figure:
    """Correlations, anisotropy and gain over relative depth, a line per model.

    Grey: the papers' models.
    """
    curves = {
        name: own_curves(
            {
                analysis: documents[name]
                for analysis, documents in numbers.statistics.items()
                if name in documents
            }
        )
        for name in numbers.models("layers", "n_layers")
    }
    stated = numbers.document(OVER_MODELS, "scaling", "drawn/n_models")["drawn"]
    title = f"At the last layer r over the categories is negative in {stated['n_negative_at_end']} "
    title += f"of {stated['n_models']} models"
    return _panels(numbers, title, curves, QUANTITIES)


def _panels(
    numbers: Numbers,
    title: str,
    curves_by_model: Mapping[str, Mapping[str, Curve]],
    titles: Mapping[str, str],
    **grid: Any,
) -> Figure:
    """Return a panel per quantity that some model has.

    Arguments:
        titles: of the panels, by quantity.
        grid: what `style.panels` takes.
    """
    quantities = [
        quantity
        for quantity in titles
        if any(quantity in curves for curves in curves_by_model.values())
    ]
    grid |= {"n": len(quantities), "columns": min(2, len(quantities))}
    n, rows = len(curves_by_model), -(-len(quantities) // grid["columns"])
    height, remark = _height(2.45, n, rows), _remark(numbers, n)
    figure, panels = style.panels(numbers, title, height, remark, **grid)
    for axes, quantity in zip(panels, quantities, strict=True):
        if quantity in LOGARITHMIC:
            style.log_axis(axes, "y")
        curves = {
            name: curves[quantity] for name, curves in curves_by_model.items() if quantity in curves
        }
        _draw_curves(axes, numbers, curves)
        if quantity in LEVELS:
            axes.axhline(LEVELS[quantity], **style.REFERENCE)
        axes.set_title(titles[quantity])
    _name_models(figure, n)
    style.draw_papers_curves(numbers, dict(zip(quantities, panels, strict=True)))
    return figure


def _draw_curves(axes: Axes, numbers: Numbers, curves: Mapping[str, Curve]) -> None:
    """Draw own curves in colour."""
    for number, (name, curve) in enumerate(curves.items()):
        look = {**_look(number, len(curves)), "zorder": 3, "markersize": 3.5}
        axes.plot(*zip(*curve, strict=True), label=numbers.names[name], **look)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_xlabel("relative depth (layer / L)")


def _look(number: int, n: int) -> dict[str, Any]:
    """Return the look of a model among n; too many to be told apart have one look."""
    return style.look(number) if n <= MOST_NAMED else ONE_OF_MANY


def _name_models(figure: Figure, n: int) -> None:
    """Add the legend, where there is more than one model and room for their names."""
    if 1 < n <= MOST_NAMED:
        style.legend_below(figure, COLUMNS)


def _height(height: float, n: int, rows: int = 1) -> float:
    """Return the height of a row of panels, with room for the legend's lines beyond two."""
    lines = -(-n // COLUMNS) if n <= MOST_NAMED else 0
    return height + style.ROW * max(0, lines - 2) / rows


def _remark(numbers: Numbers, n: int) -> str:
    """Return what the footer says of grey lines, and of models that are not named."""
    many = f"{n} models, too many to name here: the tables list them." * (n > MOST_NAMED)
    return f"{numbers.grey} {many}".strip()


def _values(numbers: Numbers, values: Mapping[str, float], ends: Sequence[float]) -> str:
    """Return the number of each model; of many the ends of their range."""
    if len(values) > 2:
        return " to ".join(f"{end:.3f}" for end in ends)
    return ", ".join(f"{value:.3f} in {numbers.names[name]}" for name, value in values.items())
