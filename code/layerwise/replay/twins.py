"""Base models and their instruction-tuned twins (Paper 3, section 5.5; twin notebook)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from layerwise.published import pointer
from layerwise.replay.documents import Draws, Replay
from layerwise.replay.series import R, whole

ROWS = R + "twin_test_results_20260105_160237.csv"
SUMMARY = R + "twin_test_results_20260105_160237.json"
EFFECT = 0.05  # a change of the mean gain that counts
VARIANTS = ("base", "instruct")


def effect(delta: float) -> str:
    """Word for the change of the mean gain (twin notebook)."""
    if abs(delta) <= EFFECT:
        return "NEUTRAL"
    return "AMPLIFIES" if delta > 0 else "DAMPENS"


def same_side(base: float, tuned: float) -> bool:
    """Whether both gains dampen or both expand."""
    return (base > 1) == (tuned > 1)


def derive(work: Replay, draws: Draws) -> None:
    """Means, SDs, changes and words per family; over the families the largest change."""
    published = work.published
    entries = published.document(ROWS)
    families = list(dict.fromkeys(entry["Family"] for entry in entries))

    def gains(family: str, variant: str) -> np.ndarray:
        rows = [
            row
            for row, entry in enumerate(entries)
            if entry["Family"] == family and entry["Variant"] == variant
        ]
        return np.array([published.number(ROWS, pointer(row, "Last_Gain")) for row in rows])

    def mean(family: str, variant: str) -> float:
        return float(np.mean(gains(family, variant)))

    def means(family: str) -> tuple[float, float]:
        return mean(family, "base"), mean(family, "instruct")

    def ratio(family: str) -> float:
        base, tuned = means(family)
        return tuned / base

    def delta(family: str) -> float:
        base, tuned = means(family)
        return tuned - base

    for row, family in enumerate(families):
        summary = pointer("twin_summary", family)
        origins = {variant: f"{summary}/{variant}" for variant in VARIANTS}
        work.start(
            family,
            {},
            {"": (SUMMARY, pointer("hypothesis_results", row))}
            | {f"/{variant}": (SUMMARY, key) for variant, key in origins.items()},
        )
        for variant in VARIANTS:
            work.derive(
                family,
                f"/{variant}/std_gain",
                lambda f=family, v=variant: float(np.std(gains(f, v))),
            )
        statistics: dict[str, Callable[[str], Any]] = {
            "/Base_Gain": lambda f: mean(f, "base"),
            "/Instruct_Gain": lambda f: mean(f, "instruct"),
            "/Delta": delta,
            "/Ratio": ratio,
            "/RLHF_Effect": lambda f: effect(delta(f)),
            "/Same_Sign": lambda f: same_side(*means(f)),
        }
        for key, of_family in statistics.items():
            work.derive(family, key, of_family, family)
    work.start("study", {}, {"": (SUMMARY, "")})
    over: dict[str, Callable[[], Any]] = {
        "/n_total_measurements": lambda: sum(len(gains(f, v)) for f in families for v in VARIANTS),
        "/sign_kept": lambda: all(same_side(*means(family)) for family in families),
        "/largest_change_pct": lambda: whole(max(100 * abs(1 - ratio(f)) for f in families)),
    }
    for key, compute in over.items():
        work.derive("study", key, compute)
