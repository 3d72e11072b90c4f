"""Paper 3: gains of the second-last block, by depth and by lab."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.analyses.depth_gain import AXIS
from layerwise.analyses.gain_files import depth_bound
from layerwise.figures import style
from layerwise.figures.numbers import Document, Numbers

SEED = 42  # of the sideways scatter, as in the paper
FAMILY = "pythia-"  # begins the names of the sizes


def depth_gain(numbers: Numbers) -> Figure:
    """Gain of the eight Pythia sizes against depth, with the claimed bound (Paper 3, figures 1, A3
    and A4).

    Left: mean and population standard deviation over the prompts, and the curve 10^(1/L); red: over
    the bound. Right: every prompt; the dotted lines end the paper's axis.
    """
    document = numbers.document("depth_gain", "family", "models", "drawn/above_bound")
    sizes = numbers.having(
        "depth_gain",
        {row["model"].removeprefix(FAMILY): row for row in document["models"]},
        *("n_layers", "residual_gain_mean", "residual_gain_std", "residual_gain_all"),
    )
    over = [name.removeprefix(FAMILY) for name in document["drawn"]["above_bound"]]
    title = f"The mean gain of {len(over)} of {len(sizes)} sizes is over the claimed bound 10^(1/L)"
    title += f": {', '.join(over)}" if over else ""
    remark = f"Gain of the second-last block. {_correlations(numbers, document)}"
    figure, (left, right) = style.panels(numbers, title, 3.2, remark, columns=2)
    _prompts(right, sizes, document.get("figure_a4", {}).get("outside"))
    _against_depth(left, sizes, over)
    return figure


def _against_depth(axes: Axes, sizes: Mapping[str, Any], over: list[str]) -> None:
    depth, gain, spread = (
        np.array([of[key] for of in sizes.values()], dtype=float)
        for key in ("n_layers", "residual_gain_mean", "residual_gain_std")
    )
    bound_by_depth(axes)
    for name, x, y, sd in zip(sizes, depth, gain, spread, strict=True):
        colour = style.RED if name in over else style.BLUE
        axes.errorbar(x, y, yerr=sd, marker="D" if name in over else "o", color=colour)
    axes.set_xlim(3, 42)
    low, high = min(gain - spread), max(gain + spread)
    axes.set_ylim(min(0.85, low - 0.03), max(1.42, high + 0.03))
    axes.set(ylabel="gain: mean and SD over the prompts", title=f"n = {len(sizes)} sizes")
    style.name_points(axes, dict(zip(sizes, zip(depth, gain, strict=True), strict=True)))


def bound_by_depth(axes: Axes, deepest: int = 40) -> None:
    """The claimed bound, and the gain that neither damps nor expands."""
    depths = range(4, deepest + 1)
    axes.plot(depths, [depth_bound(at) for at in depths], color=style.GREY)
    axes.annotate("10^(1/L)", (8, depth_bound(8)), (4, 4), textcoords="offset points")
    axes.axhline(1, **style.REFERENCE)
    axes.set_xlabel("depth L (blocks)")


def _correlations(numbers: Numbers, document: Document) -> str:
    """r with depth, and with the density of heads; over all sizes or not at all."""
    density = numbers.statistics.get("crowding", {}).get("family", {}).get("analysis", {})
    depth = document.get("depth_gain", {}).get("depth", {})
    found = {
        "depth": (depth.get("r"), depth.get("p")),
        "head density": (
            density.get("rho_gain_correlation"),
            density.get("correlation_p_value"),
        ),
    }
    return " ".join(
        f"r({name}, mean gain) = {style.signed(r)}, p = {p:.3f}."
        for name, (r, p) in found.items()
        if r is not None and p is not None
    )


def _prompts(axes: Axes, sizes: Mapping[str, Any], outside: int | None) -> None:
    """A column per size, by depth; outside: how many prompts of all sizes lie off the axis."""
    rows = sorted(sizes.items(), key=lambda item: item[1]["n_layers"])
    jitter = np.random.default_rng(SEED)
    for place, (_, of) in enumerate(rows):
        gains = of["residual_gain_all"]
        across = place + jitter.uniform(-0.2, 0.2, len(gains))
        axes.plot(across, gains, linestyle="none", marker=".", markersize=4, color=style.SKY)
    for end in AXIS:
        axes.axhline(end, color=style.GREY, linestyle=":", linewidth=0.8)
    axes.axhline(1, **style.REFERENCE)
    axes.set_xticks(range(len(rows)), [name for name, _ in rows])
    axes.tick_params("x", rotation=45)
    n = ", ".join(map(str, sorted({len(of["residual_gain_all"]) for of in sizes.values()})))
    axes.set(xlabel=f"size, by depth (n = {n} prompts each)", ylabel="gain")
    counted = "" if outside is None else f": {outside} outside the paper's axis"
    axes.set_title(f"single prompts{counted}")


def lab_heritage(numbers: Numbers) -> Figure:
    """Mean gain of the models of each lab (Paper 3, figure 2).

    A column per lab, by mean: its models (small), their mean and its standard error where n > 1.
    Hollow: EleutherAI's models of the hunt alone, where the paper's figure took three Pythia sizes
    of the sweep.
    """
    keys = ("tested_results", "drawn/labs", "drawn/labs_below_1")
    document = numbers.document("lab_heritage", "hunt", *keys)
    tested = {row["model"].split("/")[-1]: row for row in document["tested_results"]}
    numbers.having("lab_heritage", tested, "gain_no_ln_mean")  # the footer names the others
    drawn = document["drawn"]
    columns = sorted(drawn["labs"].items(), key=lambda column: column[1]["mean"])
    hunted, below = drawn.get("hunt", {}), drawn["labs_below_1"]
    title = f"Mean gain is below 1 in {len(below)} of {len(columns)} labs"
    title += f": {', '.join(below)}" if below else ""
    figure, (axes,) = style.panels(numbers, title, 3.0)
    axes.axhline(1, **style.REFERENCE)
    for place, (lab, column) in enumerate(columns):
        colour = style.RED if lab in below else style.BLUE
        _column(axes, float(place), column, color=colour)
        if lab in hunted:
            _column(axes, place + 0.3, hunted[lab], color=colour, mfc="none")
    names = [f"{lab}\nn = {len(column['gains'])}" for lab, column in columns]
    axes.set_xticks(range(len(columns)), names)
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylabel="mean gain of the second-last block")
    return figure


def _column(axes: Axes, place: float, column: Mapping[str, Any], **look: Any) -> None:
    """The models left of their mean, which has its standard error."""
    gains = column["gains"]
    axes.plot([place - 0.1] * len(gains), gains, "o", markersize=3, **look)
    axes.errorbar(place, column["mean"], yerr=column["se"], marker="D", markersize=6, **look)
