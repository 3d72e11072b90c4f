"""Paper 3: gains of the second-last block, by depth and by lab."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.analyses.depth_gain import AXIS
from layerwise.analyses.gain_files import depth_bound
from layerwise.figures import style
from layerwise.figures.numbers import Numbers
from layerwise.statistics.correlation import pearson_p, pearson_r

SEED = 42  # of the sideways scatter, as in the paper
ELEUTHER = "EleutherAI"
# What Paper 3's figure 2 shows as EleutherAI: these sizes of the sweep, these models of the hunt.
DRAWN_SIZES = ("pythia-1.4b", "pythia-2.8b", "pythia-6.9b")
DRAWN_HUNT = ("gpt-neo-1.3B", "gpt-j-6B")


def depth_gain(numbers: Numbers) -> Figure:
    """Gain of the eight Pythia sizes against depth, with the claimed bound (Paper 3, figures 1, A3
    and A4).

    Left: mean and population standard deviation over the prompts, and the curve 10^(1/L); red: over
    the bound. Right: every prompt; the dotted lines end the paper's axis.
    """
    document = numbers.document("depth_gain", "family", "models")
    sizes = numbers.having(
        "depth_gain",
        {row["model"].removeprefix("pythia-"): row for row in document["models"]},
        *("n_layers", "residual_gain_mean", "residual_gain_std", "residual_gain_all"),
    )
    over = [
        name for name, of in sizes.items() if of["residual_gain_mean"] > depth_bound(of["n_layers"])
    ]
    title = f"The mean gain of {len(over)} of {len(sizes)} sizes is over the claimed bound 10^(1/L)"
    title += f": {', '.join(over)}" if over else ""
    remark = f"Gain of the second-last block. {_correlations(sizes)}"
    figure, (left, right) = style.panels(numbers, title, 3.2, remark, columns=2)
    _prompts(right, sizes)
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


def _correlations(sizes: Mapping[str, Any]) -> str:
    """r with depth, and with the density of heads where it is known; it takes three sizes."""
    said = []
    for name, key in (("depth", "n_layers"), ("head density", "rho")):
        of_all = [(of.get(key), of["residual_gain_mean"]) for of in sizes.values()]
        if len(of_all) > 2 and all(x is not None for x, _ in of_all):
            r = pearson_r(*np.array(of_all, dtype=float).T)
            said.append(f"r({name}, mean gain) = {r:.3f}, p = {pearson_p(r, len(of_all)):.3f}.")
    return " ".join(said)


def _prompts(axes: Axes, sizes: Mapping[str, Any]) -> None:
    """A column per size, by depth."""
    rows = sorted(sizes.items(), key=lambda item: item[1]["n_layers"])
    jitter = np.random.default_rng(SEED)
    outside = 0
    for place, (_, of) in enumerate(rows):
        gains = np.array(of["residual_gain_all"], dtype=float)
        outside += int(np.sum((gains < AXIS[0]) | (gains > AXIS[1])))
        across = place + jitter.uniform(-0.2, 0.2, len(gains))
        axes.plot(across, gains, linestyle="none", marker=".", markersize=4, color=style.SKY)
    for end in AXIS:
        axes.axhline(end, color=style.GREY, linestyle=":", linewidth=0.8)
    axes.axhline(1, **style.REFERENCE)
    axes.set_xticks(range(len(rows)), [name for name, _ in rows])
    axes.tick_params("x", rotation=45)
    n = ", ".join(map(str, sorted({len(of["residual_gain_all"]) for of in sizes.values()})))
    axes.set(xlabel=f"size, by depth (n = {n} prompts each)", ylabel="gain")
    axes.set_title(f"single prompts: {outside} outside the paper's axis")


def lab_heritage(numbers: Numbers) -> Figure:
    """Mean gain of the models of each lab (Paper 3, figure 2).

    A column per lab, by mean: its models (small), their mean and its standard error where n > 1.
    Hollow: EleutherAI's models of the hunt alone, where the paper's figure took three Pythia sizes
    of the sweep.
    """
    tested = numbers.document("lab_heritage", "hunt", "tested_results")["tested_results"]
    sizes = numbers.document("depth_gain", "family", "models")["models"]
    hunt = numbers.having(
        "lab_heritage", {row["model"].split("/")[-1]: row for row in tested}, "gain_no_ln_mean"
    )
    by_size = {row["model"]: row.get("residual_gain_mean") for row in sizes}
    labs: dict[str, list[float]] = {}
    for row in hunt.values():
        labs.setdefault(row["lab"], []).append(row["gain_no_ln_mean"])
    of_hunt = labs.pop(ELEUTHER, [])
    chosen = [by_size[name] for name in DRAWN_SIZES if by_size.get(name) is not None]
    chosen += [hunt[name]["gain_no_ln_mean"] for name in DRAWN_HUNT if name in hunt]
    if chosen:
        labs[ELEUTHER] = chosen
    columns = sorted(labs.items(), key=lambda column: float(np.mean(column[1])))
    below = [lab for lab, gains in columns if np.mean(gains) < 1]
    title = f"Mean gain is below 1 in {len(below)} of {len(columns)} labs"
    title += f": {', '.join(below)}" if below else ""
    figure, (axes,) = style.panels(numbers, title, 3.0)
    axes.axhline(1, **style.REFERENCE)
    for place, (lab, gains) in enumerate(columns):
        colour = style.RED if lab in below else style.BLUE
        _column(axes, float(place), gains, color=colour)
        if lab == ELEUTHER and of_hunt:
            _column(axes, place + 0.3, of_hunt, color=colour, mfc="none")
    names = [f"{lab}\nn = {len(gains)}" for lab, gains in columns]
    axes.set_xticks(range(len(columns)), names)
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylabel="mean gain of the second-last block")
    return figure


def _column(axes: Axes, place: float, gains: list[float], **look: Any) -> None:
    """The models left of their mean; the error is the sample deviation over the root of n."""
    axes.plot([place - 0.1] * len(gains), gains, "o", markersize=3, **look)
    error = np.std(gains, ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else None
    axes.errorbar(place, np.mean(gains), yerr=error, marker="D", markersize=6, **look)
