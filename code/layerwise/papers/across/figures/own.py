"""Readers' own models over relative depth, the papers' in grey beside them."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.files import JsonObject
from layerwise.papers.across.curves import own_curves
from layerwise.papers.paper3.figures import bound_by_depth, show_gains
from layerwise.papers.shared import quantities
from layerwise.papers.shared.names import MATRICES
from layerwise.papers.shared.result_files import CATEGORIES
from layerwise.papers.shared.terms import GAIN, OVER_MODELS, PAIRWISE
from layerwise.present.figures import signs, style
from layerwise.present.figures.names import draw_papers_curves, name_points
from layerwise.present.figures.numbers import DepthCurve, Numbers

SHARE = "intrinsic_dim_ratio"
QUANTITIES = {  # title and name on the axis
    CATEGORIES: ("over the categories", quantities.R_OVER_CATEGORIES),
    PAIRWISE: ("over the pairs", quantities.R_OVER_PAIRS),
    SHARE: quantities.ANISOTROPY[SHARE],
    GAIN: ("by block", quantities.GAIN),
}
ABOVE_BOUND = "whole interval above the bound"
LOGARITHMIC = (GAIN, *MATRICES)
LEVELS = {CATEGORIES: 0, PAIRWISE: 0, GAIN: 1}  # no correlation, neither damped nor expanded
MOST_NAMED = 21  # models: of more the legend would leave no room for the panels
ONE_OF_MANY: signs.Look = {"color": signs.ESTIMATE, "alpha": 0.5, "linewidth": 0.8}


def gains(numbers: Numbers) -> Figure:
    """Gain of every block over relative depth, and gain of the second-last block against depth.

    Left: a point is the mean gain of a block over the prompts; the last block's includes the final
    norm. Right: a point is a model, with the 95% interval over the prompts (Student's). Curve: the
    bound 10^(1/L) on the gain of a model of L blocks, which Paper 3 claims; light blue: what it
    allows. Grey: the eight Pythia sizes of Paper 3, as published.
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
    figure, (left, right) = style.panels(numbers, title, 3.0, _remark(len(documents)), columns=2)
    curves = {
        name: own_curves({"layers": document, "gains": document})[GAIN]
        for name, document in documents.items()
    }
    style.log_axis(left, "y")
    _draw_curves(left, numbers, curves)
    left.axhline(1, **signs.REFERENCE)
    left.set(ylabel=quantities.GAIN, title="by block")
    _gains_against_depth(right, numbers, documents, stated)
    draw_papers_curves(numbers, {GAIN: left})
    _name_gains(right, numbers, documents)
    return figure


def _gains_against_depth(
    axes: Axes, numbers: Numbers, documents: Mapping[str, JsonObject], stated: JsonObject
) -> None:
    bound_by_depth(axes, max([40, *(document["n_layers"] for document in documents.values())]))
    for point in _printed_gains(numbers).values():
        axes.plot(*point, signs.DOT, color=signs.CONTEXT, markersize=3.5, label=signs.PAPERS)
    for number, (name, document) in enumerate(documents.items()):
        look, depth = _look(number, len(documents)), document["n_layers"]
        if ends := stated["interval"].get(name):
            if len(documents) == 1 and ends[0] > stated["bound"][name]:
                look |= {"color": signs.OUTSIDE, "label": ABOVE_BOUND}
            axes.vlines(depth, ends[0], ends[1], color=look["color"], zorder=3)
        look = {"marker": signs.DOT, **look}
        axes.plot(depth, document["residual_gain_mean"], zorder=3, linestyle="none", **look)
    measured = [document["residual_gain_mean"] for document in documents.values()]
    ends = [end for name in documents for end in stated["interval"].get(name) or ()]
    printed = [gain for _, gain in _printed_gains(numbers).values()]
    show_gains(axes, [*measured, *ends, *printed])
    axes.set(ylabel=quantities.SECOND_LAST, title="second-last block")


def _name_gains(axes: Axes, numbers: Numbers, documents: Mapping[str, JsonObject]) -> None:
    """Write the names of the papers' models, and of a single own one; of several the legend has."""
    own = {
        numbers.names[name]: (document["n_layers"], document["residual_gain_mean"])
        for name, document in documents.items()
        if len(documents) == 1
    }
    names = {name.removeprefix("Pythia-"): at for name, at in _printed_gains(numbers).items()}
    name_points(axes, {**own, **names}, bold=own)


def _printed_gains(numbers: Numbers) -> dict[str, tuple[float, float]]:
    """Return depth and second-last gain of the papers' models."""
    curves = numbers.beside.get(GAIN, {})
    return {name: (float(len(curve)), curve[-2][1]) for name, curve in curves.items()}


def spectral(numbers: Numbers) -> Figure:
    """Spectral norms of the attention projections over relative depth, logarithmic.

    A point is the largest singular value of a block's matrix. Grey: the papers' models, as
    published; the papers cut the fused matrices of Pythia and BLOOM at other rows.
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
    norms = {matrix: (f"${matrix}$", quantities.SPECTRAL_NORM) for matrix in MATRICES}
    return _panels(numbers, title, curves, norms, sharey=True)


def by_depth(numbers: Numbers) -> Figure:
    """Correlations of asymmetry and preference, the first principal component's share and the gain,
    over relative depth.

    A line is a model, a point one of its layers. Grey: the papers' models, as published.
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
    curves_by_model: Mapping[str, Mapping[str, DepthCurve]],
    names: Mapping[str, tuple[str, str]],
    **grid: Any,
) -> Figure:
    """Return a panel per quantity that some model has.

    Arguments:
        names: the title of the panel and the name on its axis, by quantity.
        grid: what `style.panels` takes.
    """
    quantities = [
        quantity
        for quantity in names
        if any(quantity in curves for curves in curves_by_model.values())
    ]
    grid |= {"n": len(quantities), "columns": min(2, len(quantities))}
    figure, panels = style.panels(numbers, title, 2.3, _remark(len(curves_by_model)), **grid)
    for axes, quantity in zip(panels, quantities, strict=True):
        if quantity in LOGARITHMIC:
            style.log_axis(axes, "y")
        curves = {
            name: curves[quantity] for name, curves in curves_by_model.items() if quantity in curves
        }
        _draw_curves(axes, numbers, curves)
        if quantity in LEVELS:
            axes.axhline(LEVELS[quantity], **signs.REFERENCE)
        heading, name = names[quantity]
        axes.set(title=heading, ylabel=name)
    draw_papers_curves(numbers, dict(zip(quantities, panels, strict=True)))
    return figure


def _draw_curves(axes: Axes, numbers: Numbers, curves: Mapping[str, DepthCurve]) -> None:
    """Draw own curves in colour."""
    for number, (name, curve) in enumerate(curves.items()):
        look = {**_look(number, len(curves)), "zorder": 3, "markersize": 3.5}
        label = numbers.names[name] if len(curves) <= MOST_NAMED else "own models"
        axes.plot(*zip(*curve, strict=True), label=label, **look)
    style.depth_axis(axes)


def _look(number: int, n: int) -> signs.Look:
    """Return the look of a model among n; too many to be told apart have one look."""
    return signs.series_look(number, n) if n <= MOST_NAMED else dict(ONE_OF_MANY)


def _remark(n: int) -> str:
    """Return what the footer says of models that are not named."""
    return f"{n} models, too many to name here: the tables list them." * (n > MOST_NAMED)


def _values(numbers: Numbers, values: Mapping[str, float], ends: Sequence[float]) -> str:
    """Return the number of each model; of many the ends of their range."""
    if len(values) > 2:
        return " to ".join(f"{end:.3f}" for end in ends)
    return ", ".join(f"{value:.3f} in {numbers.names[name]}" for name, value in values.items())
