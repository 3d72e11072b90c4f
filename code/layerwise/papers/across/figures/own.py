"""Readers' own models over relative depth, the papers' in grey beside them."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.engine.curves import Curve
from layerwise.papers.across.curves import own_curves
from layerwise.papers.paper3.figures.gains import bound_by_depth
from layerwise.papers.shared.names.curves import CATEGORIES
from layerwise.papers.shared.names.matrices import MATRICES
from layerwise.papers.shared.terms import GAIN, OVER_MODELS, PAIRWISE
from layerwise.present.figures import style
from layerwise.present.figures.numbers import Numbers

QUANTITIES = {
    CATEGORIES: "r over the categories",
    PAIRWISE: "r over the pairs (centroid asymmetry)",
    "intrinsic_dim_ratio": "first component's share",
    GAIN: "gain of each block",
}
LOGARITHMIC = (GAIN, *MATRICES)
LEVELS = {CATEGORIES: 0, PAIRWISE: 0, GAIN: 1}  # no correlation, neither damped nor expanded


def gains(numbers: Numbers) -> Figure:
    """Gain of every block over relative depth, and gain of the second-last block against depth.

    Left: means over the prompts; the last block's includes the final norm. Right: mean and 95%
    interval over the prompts (Student's), and the claimed bound 10^(1/L). Grey: the eight Pythia
    sizes of Paper 3.
    """
    keys = ("all_layer_gains", "residual_gain_mean", "residual_gain_all", "n_layers")
    documents = numbers.models("gains", *keys)
    means = {name: of["residual_gain_mean"] for name, of in documents.items()}
    stated = numbers.document(OVER_MODELS, "gains", "bound", "range", "interval")
    over, bounds = stated["above_bound"], stated["bound"]
    title = f"The second-last block's mean gain is {_values(numbers, means, stated['range'])}"
    if len(documents) == 1:
        ((name, of),) = documents.items()
        bound = f"the claimed bound 10^(1/{of['n_layers']}) = {bounds[name]:.3f}"
        title += f", {'above' if over else 'not above'} {bound}"
    else:
        title += f": {len(over)} of {len(bounds)} above the claimed bound 10^(1/L)"
    figure, (left, right) = style.panels(numbers, title, 3.2, numbers.grey, columns=2)
    curves = {name: own_curves({"layers": of, "gains": of})[GAIN] for name, of in documents.items()}
    style.log_axis(left, "y")
    _curves(left, numbers, curves)
    left.axhline(1, **style.REFERENCE)
    left.set(ylabel="gain", title="by block")
    _against_depth(right, numbers, documents, stated["interval"])
    if len(curves) > 1:
        style.legend_below(figure, 3)
    style.draw_papers_curves(numbers, {GAIN: left})
    return figure


def _against_depth(
    axes: Axes,
    numbers: Numbers,
    documents: Mapping[str, Any],
    intervals: Mapping[str, Sequence[float]],
) -> None:
    printed = {
        name: (float(len(curve)), curve[-2][1])
        for name, curve in numbers.beside.get(GAIN, {}).items()
    }
    bound_by_depth(axes, max([40, *(of["n_layers"] for of in documents.values())]))
    for at in printed.values():
        axes.plot(*at, "o", color=style.GREY, mfc="none", markersize=4)
    for number, (name, of) in enumerate(documents.items()):
        look = style.look(number)
        if ends := intervals.get(name):
            axes.vlines(of["n_layers"], ends[0], ends[1], color=look["color"], zorder=3)
        axes.plot(of["n_layers"], of["residual_gain_mean"], zorder=3, ls="none", **look)
    axes.margins(y=0.1)
    axes.set_title("second-last block")
    style.name_points(axes, {name.removeprefix("Pythia-"): at for name, at in printed.items()})


def spectral(numbers: Numbers) -> Figure:
    """Spectral norms of the attention projections over relative depth, logarithmic.

    Grey: the papers' models; the papers cut the fused matrices of Pythia and BLOOM at other rows.
    """
    norms_of = (f"{matrix}_spectral_norm" for matrix in MATRICES)
    documents = numbers.models("spectral", "W_V_over_W_O", *norms_of)
    ratio = {name: of["W_V_over_W_O"] for name, of in documents.items()}
    range_of = numbers.document(OVER_MODELS, "spectral", "range")["range"]
    title = "The mean spectral norm of W_V over that of W_O is "
    title += _values(numbers, ratio, range_of)
    found = {name: own_curves({"layers": of, "spectral": of}) for name, of in documents.items()}
    norms = {matrix: f"spectral norm of {matrix}" for matrix in MATRICES}
    return _panels(numbers, title, found, norms, sharey=True)


def by_depth(numbers: Numbers) -> Figure:
    """Correlations, anisotropy and gain over relative depth, a line per model.

    Grey: the papers' models.
    """
    found = {
        name: own_curves({of: by[name] for of, by in numbers.statistics.items() if name in by})
        for name in numbers.models("layers", "n_layers")
    }
    stated = numbers.document(OVER_MODELS, "scaling", "drawn/n_models")["drawn"]
    title = f"At the last layer r over the categories is negative in {stated['n_negative_at_end']} "
    title += f"of {stated['n_models']} models"
    return _panels(numbers, title, found, QUANTITIES)


def _panels(
    numbers: Numbers,
    title: str,
    found: Mapping[str, Mapping[str, Curve]],
    quantities: Mapping[str, str],
    **grid_of: Any,
) -> Figure:
    """A panel per quantity that some model has."""
    there = [of for of in quantities if any(of in curves for curves in found.values())]
    grid_of |= {"n": len(there), "columns": min(2, len(there))}
    figure, panels = style.panels(numbers, title, 2.45, numbers.grey, **grid_of)
    for axes, of in zip(panels, there, strict=True):
        if of in LOGARITHMIC:
            style.log_axis(axes, "y")
        _curves(axes, numbers, {name: c[of] for name, c in found.items() if of in c})
        if of in LEVELS:
            axes.axhline(LEVELS[of], **style.REFERENCE)
        axes.set_title(quantities[of])
    if len(found) > 1:
        style.legend_below(figure, 3)
    style.draw_papers_curves(numbers, dict(zip(there, panels, strict=True)))
    return figure


def last_layer(numbers: Numbers) -> Figure:
    """r of UA and preference over the categories at the last layer, with bootstrap intervals.

    Grey: the papers' Pythia sizes, without intervals.
    """
    documents = numbers.models("category_bootstrap", "layer_results", "n_categories")
    rows = {
        numbers.names[name]: style.interval(of["layer_results"][max(of["layer_results"], key=int)])
        for name, of in documents.items()
    }
    printed = {name: curve[-1][1] for name, curve in numbers.beside.get(CATEGORIES, {}).items()}
    clear = numbers.document(OVER_MODELS, "category_bootstrap", "n_excluding_zero")
    title = f"The interval of r at the last layer excludes zero in {clear['n_excluding_zero']} of "
    title += f"{len(rows)} models"
    height, remark = 0.8 + 0.22 * (len(rows) + len(printed)), f"{style.HOLDS_ZERO} {numbers.grey}"
    figure, (axes,) = style.panels(numbers, title, height, remark)
    counts = [f"{numbers.names[name]}, n = {of['n_categories']}" for name, of in documents.items()]
    style.category_axis(axes, [*counts, *printed])
    for place, (r, low, high, holds_zero) in enumerate(rows.values()):
        colour = style.look(place)["color"]
        axes.hlines(place, low, high, color=colour)
        axes.plot(r, place, "x" if holds_zero else "o", color=colour)
    for place, r in enumerate(printed.values(), start=len(rows)):
        axes.plot(r, place, "o", color=style.GREY, mfc="none")
    axes.axvline(0, **style.REFERENCE)
    axes.set(xlim=(-1.05, 1.05), xlabel="r(asymmetry, preference)")
    return figure


def _curves(axes: Axes, numbers: Numbers, found: Mapping[str, Curve]) -> None:
    """Own curves in colour."""
    for number, (name, curve) in enumerate(found.items()):
        look: dict[str, Any] = {**style.look(number), "zorder": 3, "markersize": 3.5}
        axes.plot(*zip(*curve, strict=True), label=numbers.names[name], **look)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_xlabel("relative depth (layer / L)")


def _values(numbers: Numbers, values: Mapping[str, float], ends: Sequence[float]) -> str:
    """A number of each model; of many the ends of their range."""
    if len(values) > 2:
        return " to ".join(f"{end:.3f}" for end in ends)
    return ", ".join(f"{value:.3f} in {numbers.names[name]}" for name, value in values.items())
