"""The unified benchmark: four models, 25 prompts each (Paper 3, abstract; benchmark notebook)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from layerwise.analyses.documents import Draws, Replay
from layerwise.analyses.series import R, single
from layerwise.inputs.published import Published, pointer
from layerwise.statistics.correlation import pearson_p, pearson_r
from layerwise.statistics.samples import pooled_d, pooled_t, spearman_r

ROWS = R + "thermodynamic_benchmark_20260105_141034.csv"
SUMMARY = R + "thermodynamic_benchmark_20260105_141034.json"
SIMPLE, NEW = "Cliche", "Novel"  # the two categories whose entropies are compared


def derive(work: Replay, draws: Draws) -> None:
    """Base levels, ranges, correlations and the entropy comparison, from the 100 measurements."""
    published = work.published
    rows = published.document(ROWS)
    of_model: dict[str, dict[str, list[int]]] = {}  # rows by model and category
    for row, entry in enumerate(rows):
        of_model.setdefault(entry["Model"], {}).setdefault(entry["Category"], []).append(row)
    members: dict[str, list[int]] = {}
    for place, (model, groups) in enumerate(of_model.items()):
        platitude = pointer("p3_platitude_tunnel", place)
        origins = {
            "/base_level": (SUMMARY, pointer("base_levels", model)),
            "/range": (SUMMARY, pointer("modulation_ranges", model)),
            "/entropy": (SUMMARY, pointer("entropy_correlations", place)),
            "/complexity": (SUMMARY, pointer("complexity_correlations", place)),
            **{f"/p3/{q}": (SUMMARY, f"{platitude}/{q}") for q in ("t_stat", "p_val", "cohens_d")},
        }
        work.start(model, {}, origins)
        members[model] = sorted(row for group in groups.values() for row in group)
        statistics = _gains(published, members[model]) | _entropies(published, groups)
        for key, compute in statistics.items():
            work.derive(model, key, compute)
    work.start("study", {}, {"/n_measurements": (SUMMARY, "/n_measurements")})
    work.derive(
        "study", "/n_measurements", lambda: len(column(published, "Last_Gain", range(len(rows))))
    )
    work.derive("study", "/order", order, published, members)


def column(published: Published, name: str, rows: Any) -> np.ndarray:
    """A column of the table, at some rows."""
    return np.array([published.number(ROWS, pointer(row, name)) for row in rows], np.float64)


def order(published: Published, members: Mapping[str, list[int]]) -> str:
    """The models by mean gain, the smallest first."""
    means = {
        model: np.mean(column(published, "Last_Gain", rows)) for model, rows in members.items()
    }
    return " < ".join(sorted(means, key=means.__getitem__))


def _gains(published: Published, rows: list[int]) -> dict[str, Callable[[], Any]]:
    def gains() -> np.ndarray:
        return column(published, "Last_Gain", rows)

    def entropies() -> np.ndarray:
        # stored in single precision; correlated in double
        return single(column(published, "Entropy", rows)).astype(np.float64)

    def complexities() -> np.ndarray:
        return column(published, "Complexity", rows)

    def pearson() -> float:
        return pearson_r(entropies(), gains())

    def ranked() -> float:
        return spearman_r(entropies(), gains())

    def by_complexity() -> float:
        return spearman_r(complexities(), gains())

    return {
        "/base_level": lambda: float(np.mean(gains())),
        "/range/min": lambda: float(np.min(gains())),
        "/range/max": lambda: float(np.max(gains())),
        "/range/range": lambda: float(np.max(gains()) - np.min(gains())),
        "/entropy/Pearson_r": pearson,
        "/entropy/Pearson_p": lambda: pearson_p(pearson(), len(rows)),
        "/entropy/Spearman_r": ranked,
        "/entropy/Spearman_p": lambda: pearson_p(ranked(), len(rows)),
        "/complexity/Complexity_Spearman_r": by_complexity,
        "/complexity/Complexity_Spearman_p": lambda: pearson_p(by_complexity(), len(rows)),
        "/distance_r": lambda: pearson_r(entropies(), np.abs(gains() - 1)),
    }


def _entropies(published: Published, groups: dict[str, list[int]]) -> dict[str, Callable[[], Any]]:
    def entropies(category: str) -> np.ndarray:
        return single(column(published, "Entropy", groups[category]))

    def both() -> tuple[np.ndarray, np.ndarray]:
        return entropies(SIMPLE), entropies(NEW)

    def gains(category: str) -> np.ndarray:
        return column(published, "Last_Gain", groups[category])

    def mean(category: str) -> float:
        """As printed: the shortest decimal of the single-precision mean."""
        return float(str(entropies(category).mean()))

    by_category: dict[str, Callable[[str], float]] = {
        "gain": lambda category: float(np.mean(gains(category))),
        "dev": lambda category: float(np.mean(np.abs(gains(category) - 1))),
        "entropy": lambda category: float(np.mean(column(published, "Entropy", groups[category]))),
    }
    statistics: dict[str, Callable[[], Any]] = {
        "/p3/Cliche_mean": lambda: mean(SIMPLE),
        "/p3/Novel_mean": lambda: mean(NEW),
        "/p3/t_stat": lambda: pooled_t(*both())[0],
        "/p3/p_val": lambda: pooled_t(*both())[1],
        "/p3/cohens_d": lambda: pooled_d(*both()),
    }
    for category in groups:
        key = pointer("category", category)
        statistics |= {f"{key}/{name}": partial(of, category) for name, of in by_category.items()}
    return statistics
