"""Depth and residual gain of the eight Pythia sizes (Paper 3, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from layerwise.published import Published
from layerwise.replay import gain_files as files
from layerwise.replay.documents import Draws, Replay
from layerwise.statistics import gains
from layerwise.statistics.correlation import pearson_p, pearson_r

AXIS = (0.82, 1.38)  # the gains that figure A4 shows; points outside are clipped to its edges
EXCEPTION = "pythia-1b"


def derive(work: Replay, draws: Draws) -> None:
    """Gains of each size from its prompts, their correlation with depth, the bound of eq 3."""
    published = work.published
    work.start("family", published.document(files.SWEEP), {"": (files.SWEEP, "")})
    keys = files.models(published, files.SWEEP)
    for key in keys.values():
        for name, compute in _of_model(published, key).items():
            work.derive("family", f"{key}/{name}", compute)
    for name, compute in _over_models(published, keys).items():
        work.derive("family", f"/{name}", compute)
    sizes = list(keys.values())
    curves: dict[str, Callable[[int], float]] = {
        "depth": float,
        "inverse_depth": lambda n: 1 / n,
        "bound": gains.depth_bound,
    }
    for name, x in curves.items():
        work.derive("family", f"/depth_gain/{name}", correlation, published, sizes, x)
    work.derive("family", "/depth_gain/final_norm", final_norm, published, sizes)


def depths(published: Published, keys: Sequence[str]) -> list[int]:
    """Blocks of each model."""
    return [int(published.number(files.SWEEP, f"{key}/n_layers")) for key in keys]


def correlation(
    published: Published, keys: Sequence[str], x: Callable[[int], float]
) -> dict[str, float]:
    """r and p of a function of depth with the mean gain."""
    found = np.array([x(n) for n in depths(published, keys)])
    r = pearson_r(found, np.array(files.gains_of(published, files.SWEEP, keys)))
    return {"r": r, "p": float(pearson_p(r, len(found)))}


def final_norm(published: Published, keys: Sequence[str]) -> dict[str, float]:
    """r and p of depth with the last gain, which is taken behind the final norm."""
    y = [files.layer_gain(published, files.SWEEP, key, before_last=0) for key in keys]
    r = pearson_r(np.array(depths(published, keys), dtype=np.float64), np.array(y))
    return {"r": r, "p": float(pearson_p(r, len(y)))}


def _of_model(published: Published, key: str) -> dict[str, Callable[[], Any]]:
    def mean() -> float:
        return files.gain(published, files.SWEEP, key)

    return {
        "n_layers": lambda: len(files.numbers(published, files.SWEEP, f"{key}/{files.LAYERS}")),
        "residual_gain_mean": mean,
        "residual_gain_std": lambda: float(np.std(files.prompt_gains(published, key))),
        "gain_with_ln_mean": lambda: files.layer_gain(published, files.SWEEP, key, before_last=0),
        "is_dampening": lambda: gains.dampens(mean()),
        "class": lambda: "dampener" if gains.dampens(mean()) else "expander",
    }


def _over_models(published: Published, keys: dict[str, str]) -> dict[str, Callable[[], Any]]:
    every = list(keys.values())
    others = [key for name, key in keys.items() if name != EXCEPTION]

    def means(some: Sequence[str] = every) -> list[float]:
        return files.gains_of(published, files.SWEEP, some)

    def prompts() -> list[int]:
        return [len(files.prompt_gains(published, key)) for key in every]

    def bound(some: Sequence[str]) -> str:
        return gains.bound_word(means(some), depths(published, some))

    def inner(key: str) -> list[float]:
        return files.numbers(published, files.SWEEP, f"{key}/{files.LAYERS}")[1:-1]

    def inner_bound() -> str:
        words = {
            gains.bound_word(inner(key), [n] * len(inner(key)))
            for key, n in zip(every, depths(published, every), strict=True)
        }
        return "holds" if words == {"holds"} else "violated"

    def outside() -> int:
        values = [gain for key in every for gain in files.prompt_gains(published, key)]
        return sum(not AXIS[0] <= gain <= AXIS[1] for gain in values)

    def total() -> float:
        (value,) = {round(gains.depth_bound(n) ** n, 9) for n in depths(published, every)}
        return value

    return {
        "n_models": lambda: len(means()),
        "n_prompts": lambda: next(iter(set(prompts()))) if len(set(prompts())) == 1 else prompts(),
        "figure_a4/outside": outside,
        "figure_a4/n_dampening": lambda: sum(gains.dampens(gain) for gain in means()),
        "bound/word": lambda: bound(every),
        "bound/word_without_1b": lambda: bound(others),
        "bound/word_inner_blocks": inner_bound,
        "bound/total": total,
        "bound/inner_products": lambda: [float(np.prod(inner(key))) for key in every],
    }
