"""The anisotropy profile of Gemma-2B (Paper 3, supplement)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from layerwise.published import ANISOTROPY
from layerwise.replay.documents import Draws, Replay
from layerwise.replay.series import R, series, single
from layerwise.statistics import profile

GEMMA = R + "anisotropy_results_gemma.json"
SLUG = "gemma-2b"
SHARES = "/intrinsic_dim_ratio"
BELL = ("is_bell_curve", "phase1_slope", "phase1_r", "phase2_slope", "phase2_r")


def derive(work: Replay, draws: Draws) -> None:
    """L*, the bell test, and the spread of the profile beside Pythia's."""
    published = work.published
    given = published.document(GEMMA)
    work.start(SLUG, given, {"": (GEMMA, "")})
    n = len(given["intrinsic_dim_ratio"])
    n_pythia = len(published.document(ANISOTROPY)["intrinsic_dim_ratio"])

    def shares() -> np.ndarray:
        return series(published, GEMMA, SHARES, n)

    def bell(name: str) -> Any:
        return getattr(profile.bell_test(shares().tolist()), name)

    def spread() -> float:
        values = single(shares())
        return float(values.max() - values.min())

    def pythia_spread() -> float:
        return float(np.ptp(series(published, ANISOTROPY, SHARES, n_pythia)))

    statistics: dict[str, Callable[[], Any]] = {
        "/L_star_anisotropy": lambda: bell("l_star"),
        "/profile_variance": lambda: float(single(shares()).var()),
        "/profile_range": spread,
        "/max_anisotropy": lambda: float(shares().max()),
        "/gauge_theory_test/is_flatter": lambda: (
            spread() < published.number(GEMMA, "/gauge_theory_test/pythia_profile_range")
        ),
        "/is_flatter_than_measured": lambda: spread() < pythia_spread(),
    }
    for key, compute in statistics.items():
        work.derive(SLUG, key, compute)
    for name in BELL:
        work.derive(SLUG, f"/{name}", bell, name)
