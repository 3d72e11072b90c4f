"""The anisotropy profile (notebook 004)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from layerwise.analyses.category_bootstrap import BOOTSTRAP
from layerwise.analyses.documents import SLUG, Draws, Replay, includes_zero
from layerwise.analyses.pairs import PAIRS
from layerwise.errors import LayerwiseError
from layerwise.inputs.published import ANISOTROPY, PROMPTS, Published, pointer
from layerwise.statistics import profile

SHARES, RANKS = "intrinsic_dim_ratio", "effective_rank"


def derive(work: Replay, draws: Draws) -> None:
    """L*, the bell test and the readings of the profile, from the published series."""
    published = work.published
    work.start(SLUG, published.document(ANISOTROPY), {"": (ANISOTROPY, "")})
    n = len(work.documents[SLUG][SHARES])

    def series(name: str) -> list[float]:
        return [published.number(ANISOTROPY, pointer(name, layer)) for layer in range(n)]

    def bell(name: str) -> Any:
        return getattr(profile.bell_test(series(SHARES)), name)

    def change(layer: int) -> float:
        after, before = (
            published.number(ANISOTROPY, pointer(SHARES, at)) for at in (layer, layer - 1)
        )
        return after - before

    def rounded_change(layer: int) -> float:
        after, before = (
            round(published.number(ANISOTROPY, pointer(SHARES, at)), 3) for at in (layer, layer - 1)
        )
        return after - before

    def typed() -> int:
        """The layer that notebook 004 compares with; it typed the number."""
        return int(published.number("notebook 004", "/PAPER2_L_STAR_ESTIMATE"))

    statistics: dict[str, Callable[[], Any]] = {
        "category_inversion": lambda: category_inversion(published),
        "n_layers": lambda: n - 1,
        "n_prompts": lambda: int(published.number(PROMPTS, "/anisotropy/n_prompts")),
        "L_star_anisotropy": lambda: bell("l_star"),
        "L_star_paper2": lambda: inversion_layer(published),
        "gap": lambda: abs(typed() - bell("l_star")),
        "match_verdict": lambda: profile.match_verdict(bell("l_star"), typed()),
        "effective_rank_min_layer": lambda: int(np.argmin(series(RANKS))),
        "three_phases": lambda: profile.three_phases(bell("l_star"), typed(), n - 1),
        "spectrum_layers": lambda: profile.spectrum_layers(bell("l_star"), n - 1),
    }
    for name, compute in statistics.items():
        work.derive(SLUG, pointer(name), compute)
    for name in ("is_bell_curve", "phase1_slope", "phase1_r", "phase2_slope", "phase2_r"):
        work.derive(SLUG, pointer(name), bell, name)
    for layer in range(1, n):
        work.derive(SLUG, pointer("share_change", layer), change, layer)
        work.derive(SLUG, pointer("rounded_share_change", layer), rounded_change, layer)


def inversion_layer(published: Published) -> int:
    """Paper 2's inversion: the first tested layer whose pair-level r is negative.

    Raises:
        LayerwiseError: if no r is negative.
    """
    for layer in sorted(map(int, published.document(PAIRS)["results"])):
        if published.number(PAIRS, pointer("results", layer, "centroid_asymmetry", "r")) < 0:
            return layer
    raise LayerwiseError(f"{PAIRS}: no layer has a negative r, so there is no inversion layer")


def category_inversion(published: Published) -> int | None:
    """Another reading: the first layer whose r over the categories is stably negative."""
    layers = sorted(map(int, published.document(BOOTSTRAP)["layer_results"]))
    for layer in layers:
        key = pointer("layer_results", layer)
        negative = published.number(BOOTSTRAP, f"{key}/r") < 0
        if negative and not includes_zero(published, BOOTSTRAP, key):
            return layer
    return None
