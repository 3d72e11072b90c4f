"""Paper 3: gains of the Pythia sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from layerwise.figures import style
from layerwise.figures.numbers import Numbers
from layerwise.statistics.correlation import pearson_p, pearson_r

SEED = 42  # of the sideways scatter, as in the paper
AXIS = (0.82, 1.38)  # the paper's axis
BOX = "The paper's box names depth and gain, but holds r and p of head density and gain."
DIGITS = "Means with every digit; the paper's figure was drawn from three decimals."
SCATTER = (
    "Sideways scatter only separates the points. The paper's axis ends at the dotted lines and "
    "moves what lies outside onto them."
)


def _sizes(numbers: Numbers, *keys: str) -> tuple[Mapping[str, Any], dict[str, np.ndarray]]:
    """The family's document, its sizes by name, and depth, gain and head density of all."""
    document = numbers.document("depth_gain", "family", "models")
    sizes = {row["model"]: row for row in document["models"]}
    sizes = numbers.having("depth_gain", sizes, "residual_gain_mean", "residual_gain_all", *keys)
    return sizes, {
        key: np.array([row[key] for row in sizes.values()], dtype=float)
        for key in ("n_layers", "residual_gain_mean", "residual_gain_std", "rho")
        if key in keys or key == "residual_gain_mean"
    }


def _n_prompts(sizes: Mapping[str, Any]) -> str:
    return ", ".join(map(str, sorted({len(row["residual_gain_all"]) for row in sizes.values()})))


def depth_gain(numbers: Numbers) -> Figure:
    """Mean gain of the second-last block against depth, with the claimed bound (Paper 3, figure 1).

    A point per size; the curve 10^(1/L); the correlations with depth and with head density.
    """
    sizes, columns = _sizes(numbers, "n_layers", "rho")
    depth, gain, density = (columns[k] for k in ("n_layers", "residual_gain_mean", "rho"))
    figure, grid = style.panels(numbers, 1, 1, row_height=3.0, remark=DIGITS)
    axes = grid[0][0]
    curve = np.linspace(4, 40, 200)
    axes.plot(curve, 10 ** (1 / curve), color=style.GREY, label="claimed bound 10^(1/L)")
    style.unit_line(axes)
    for word, colour, marker, chosen in (
        ("damps (G < 1)", style.BLUE, "o", gain < 1),
        ("expands", style.RED, "^", gain >= 1),
    ):
        axes.plot(
            depth[chosen],
            gain[chosen],
            linestyle="none",
            color=colour,
            marker=marker,
            markersize=6,
            label=word,
        )
    points = dict(zip(sizes, zip(depth, gain, strict=True), strict=True))
    style.name_points(
        axes, points, below=["pythia-12b", "pythia-410m", "pythia-160m"], left=["pythia-160m"]
    )
    axes.set_xlim(4, 40)
    axes.set_ylim(min(0.88, gain.min() - 0.05), max(1.25, gain.max() + 0.05))
    axes.set_xlabel("depth L (blocks)")
    axes.set_ylabel("mean gain of the second-last block")
    axes.set_title(
        f"n = {len(sizes)} sizes, {_n_prompts(sizes)} prompts each; "
        f"r(L, G) = {_r(depth, gain)}, r(head density, G) = {_r(density, gain)}"
    )
    axes.legend(loc="lower left")
    return figure


def _r(x: np.ndarray, y: np.ndarray, *, with_p: bool = False) -> str:
    """r, which takes three points and some spread."""
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return "undefined"
    r = pearson_r(x, y)
    return f"{r:.3f}" + (f", p = {pearson_p(r, len(x)):.4f}" if with_p else "")


def gain_by_depth(numbers: Numbers) -> Figure:
    """Mean gain and its spread over the prompts against depth (Paper 3, figure A3).

    A point per size with the population standard deviation over its prompts.
    """
    sizes, columns = _sizes(numbers, "n_layers", "residual_gain_std")
    depth, gain, spread = (
        columns[k] for k in ("n_layers", "residual_gain_mean", "residual_gain_std")
    )
    figure, grid = style.panels(numbers, 1, 1, row_height=3.0, remark=BOX)
    axes = grid[0][0]
    style.unit_line(axes)
    axes.errorbar(
        depth, gain, yerr=spread, linestyle="none", marker="o", color=style.BLUE, capsize=3
    )
    points = dict(zip(sizes, zip(depth, gain, strict=True), strict=True))
    style.name_points(axes, points, below=["pythia-2.8b", "pythia-410m", "pythia-12b"])
    axes.set_xlim(4, 42)
    axes.set_xlabel("depth L (blocks)")
    axes.set_ylabel("gain of the second-last block,\nmean and population SD")
    axes.set_title(
        f"n = {len(sizes)} sizes, {_n_prompts(sizes)} prompts each; "
        f"r(L, G) = {_r(depth, gain, with_p=True)}"
    )
    return figure


def gain_distribution(numbers: Numbers) -> Figure:
    """Gains of the single prompts by model size (Paper 3, figure A4).

    A column per size, by depth: every prompt, the mean, the population standard deviation.
    """
    sizes, _ = _sizes(numbers, "n_layers", "residual_gain_std")
    rows = sorted(sizes.items(), key=lambda item: item[1]["n_layers"])
    jitter = np.random.default_rng(SEED)
    outside = 0
    figure, grid = style.panels(numbers, 1, 1, row_height=3.2, remark=SCATTER)
    axes = grid[0][0]
    style.unit_line(axes)
    for place, (_, row) in enumerate(rows):
        gains = np.array(row["residual_gain_all"], dtype=float)
        outside += int(np.sum((gains < AXIS[0]) | (gains > AXIS[1])))
        axes.scatter(
            place + jitter.uniform(-0.18, 0.18, len(gains)),
            gains,
            s=9,
            color=style.COLOURS[5],
            label="prompt" if place == 0 else None,
        )
        axes.errorbar(
            place,
            row["residual_gain_mean"],
            yerr=row["residual_gain_std"],
            marker="o",
            color=style.BLUE if row["residual_gain_mean"] < 1 else style.RED,
            capsize=4,
            zorder=3,
        )
    for end in AXIS:
        axes.axhline(end, color=style.GREY, linestyle=":", linewidth=0.8)
    names = [f"{name.removeprefix('pythia-')}\nL = {row['n_layers']}" for name, row in rows]
    axes.set_xticks(range(len(rows)), names)
    axes.set_xlabel("Pythia size, by depth (blue: mean under 1, red: over 1)")
    axes.set_ylabel("gain of the second-last block")
    axes.set_title(
        f"n = {_n_prompts(sizes)} prompts each, mean and population SD; "
        f"{outside} outside the paper's axis"
    )
    axes.legend(loc="upper right")
    return figure
