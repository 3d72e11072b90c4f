"""Readers' own models over relative depth, the papers' in grey beside them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.analyses.depth_curves import CATEGORIES, GAIN, PAIRWISE, Curve, own
from layerwise.analyses.gain_files import depth_bound
from layerwise.figures import style
from layerwise.figures.gains import bound_by_depth
from layerwise.figures.numbers import Numbers
from layerwise.places.matrices import MATRICES

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

    Left: means over the prompts; the last block's has the final norm in it. Right: mean and
    population standard deviation over the prompts, and the claimed bound 10^(1/L). Grey: the eight
    Pythia sizes of Paper 3.
    """
    documents = numbers.models("gains", "all_layer_gains", "residual_gain_all", "n_layers")
    means = {name: float(np.mean(of["residual_gain_all"])) for name, of in documents.items()}
    over = [name for name, of in documents.items() if means[name] > depth_bound(of["n_layers"])]
    title = f"The second-last block's mean gain is {_values(numbers, means)}"
    if len(documents) == 1:
        (depth,) = (of["n_layers"] for of in documents.values())
        bound = f"the claimed bound 10^(1/{depth}) = {depth_bound(depth):.3f}"
        title += f", {'over' if over else 'not over'} {bound}"
    else:
        title += f": {len(over)} of {len(means)} over the claimed bound 10^(1/L)"
    figure, (left, right) = style.panels(numbers, title, 3.2, numbers.grey, columns=2)
    curves = {name: own({"layers": of, "gains": of})[GAIN] for name, of in documents.items()}
    style.log_axis(left, "y")
    _curves(left, numbers, curves)
    left.axhline(1, **style.REFERENCE)
    left.set(ylabel="gain", title="by block")
    _against_depth(right, numbers, documents, means)
    if len(curves) > 1:
        style.legend_below(figure, 3)
    style.beside(numbers, {GAIN: left})
    return figure


def _against_depth(
    axes: Axes, numbers: Numbers, documents: Mapping[str, Any], means: Mapping[str, float]
) -> None:
    printed = {
        name: (float(len(curve)), curve[-2][1])
        for name, curve in numbers.beside.get(GAIN, {}).items()
    }
    bound_by_depth(axes, max([40, *(of["n_layers"] for of in documents.values())]))
    for at in printed.values():
        axes.plot(*at, "o", color=style.GREY, mfc="none", markersize=4)
    for number, (name, of) in enumerate(documents.items()):
        spread = float(np.std(of["residual_gain_all"]))
        axes.errorbar(of["n_layers"], means[name], yerr=spread, zorder=3, **style.look(number))
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
    title = f"The mean spectral norm of W_V over that of W_O is {_values(numbers, ratio)}"
    found = {name: own({"layers": of, "spectral": of}) for name, of in documents.items()}
    norms = {matrix: f"spectral norm of {matrix}" for matrix in MATRICES}
    return _panels(numbers, title, found, norms, sharey=True)


def by_depth(numbers: Numbers) -> Figure:
    """Correlations, anisotropy and gain over relative depth, a line per model.

    Grey: the papers' models.
    """
    found = {
        name: own({of: by[name] for of, by in numbers.statistics.items() if name in by})
        for name in numbers.models("layers", "n_layers")
    }
    last = [curves[CATEGORIES][-1][1] for curves in found.values()]
    title = f"At the last layer r over the categories is negative in {sum(r < 0 for r in last)} of "
    return _panels(numbers, f"{title}{len(last)} models", found, QUANTITIES)


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
    style.beside(numbers, dict(zip(there, panels, strict=True)))
    return figure


def last_layer(numbers: Numbers) -> Figure:
    """r of UA and preference over the categories at the last layer, with bootstrap intervals.

    A cross where the interval holds zero. Grey: the papers' Pythia sizes, without intervals.
    """
    documents = numbers.models("category_bootstrap", "layer_results", "n_categories")
    rows = {
        numbers.names[name]: style.interval(of["layer_results"][max(of["layer_results"], key=int)])
        for name, of in documents.items()
    }
    printed = {name: curve[-1][1] for name, curve in numbers.beside.get(CATEGORIES, {}).items()}
    clear = sum(not holds_zero for *_, holds_zero in rows.values())
    title = f"The interval of r at the last layer excludes zero in {clear} of {len(rows)} models"
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
    axes.set(xlim=(-1.05, 1.05), xlabel="r(UA, preference)")
    return figure


def _curves(axes: Axes, numbers: Numbers, found: Mapping[str, Curve]) -> None:
    """Own curves in colour."""
    for number, (name, curve) in enumerate(found.items()):
        look: dict[str, Any] = {**style.look(number), "zorder": 3, "markersize": 3.5}
        axes.plot(*zip(*curve, strict=True), label=numbers.names[name], **look)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_xlabel("relative depth (layer / L)")


def _values(numbers: Numbers, values: Mapping[str, float]) -> str:
    """A number of each model; of many their range."""
    if len(values) > 2:
        return f"{min(values.values()):.3f} to {max(values.values()):.3f}"
    return ", ".join(f"{value:.3f} in {numbers.names[name]}" for name, value in values.items())
