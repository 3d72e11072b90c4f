"""Paper 1: asymmetry by category and model, and the calibration of the models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from layerwise.analyses import calibration_text
from layerwise.analyses.calibration_text import MODELS, NUMERIC
from layerwise.analyses.documents import Draws, Replay, asymmetry, categories, n_pairs, total_pairs
from layerwise.inputs.published import Published, pointer
from layerwise.statistics import calibration
from layerwise.statistics.bootstrap import mean_interval
from layerwise.statistics.effect_size import cohens_d

GROUPS = ("all_categories", "neutral_only")


def derive(work: Replay, draws: Draws) -> None:
    """The four models' files, their status, and `models`: what the text says across them."""
    published = work.published
    for model, file in MODELS.items():
        work.start(model, published.document(file), {"": (file, "")})
        for category in categories(published):
            key = pointer(category)
            work.derive(model, f"{key}/n_pairs", n_pairs, published, category)
            work.derive(model, f"{key}/asymmetry", asymmetry, published, file, category)
        work.derive(model, "/_global_stats/total_pairs", total_pairs, published)
        for group in GROUPS:
            for name, compute in group_statistics(published, file, group, draws).items():
                work.derive(model, pointer("_global_stats", group, name), compute)
        for name, compute in _status(published, file, draws).items():
            work.derive(model, pointer("_verdicts", name), compute)
    work.start("models", {}, {})
    for key, compute in calibration_text.across_models(published).items():
        work.derive("models", key, compute)
    for key, compute in _near_zero(published, draws).items():
        work.derive("models", key, compute)


def group_asymmetries(published: Published, file: str, group: str) -> np.ndarray:
    """UA of a group's categories: all six, or all but the numeric truths, in the file's order."""
    names = [name for name in categories(published) if group == GROUPS[0] or name != NUMERIC]
    return np.array([asymmetry(published, file, name) for name in names])


def group_statistics(
    published: Published, file: str, group: str, draws: Draws
) -> dict[str, Callable[[], Any]]:
    """The statistics that Paper 1's script saves over a group of categories."""

    def ua() -> np.ndarray:
        return group_asymmetries(published, file, group)

    def interval() -> list[float]:
        found = mean_interval(ua(), draws.n_resamples, draws.level, draws.seed)
        return [found.low, found.high]

    return {
        "mean_asymmetry": lambda: float(np.mean(ua())),
        "std_asymmetry": lambda: float(np.std(ua())),
        "bootstrap_95ci": interval,
        "cohens_d": lambda: cohens_d(ua()),
        "sample_d": lambda: calibration.sample_d(ua()),
    }


def _status(published: Published, file: str, draws: Draws) -> dict[str, Callable[[], str]]:
    found = group_statistics(published, file, "neutral_only", draws)

    def ends() -> tuple[float, float]:
        low, high = found["bootstrap_95ci"]()
        return low, high

    return {
        "zero": lambda: calibration.zero_words(ends()),
        "status_paper": lambda: calibration.paper_status(ends(), found["cohens_d"]()),
        "status_code": lambda: calibration.code_status(ends(), found["cohens_d"]()),
    }


def _near_zero(published: Published, draws: Draws) -> dict[str, Callable[[], str]]:
    """How many models are neutral by their mean over the neutral categories, or its interval."""

    def of(name: str) -> dict[str, Any]:
        return {
            model: group_statistics(published, file, "neutral_only", draws)[name]()
            for model, file in MODELS.items()
        }

    def by_interval() -> int:
        return sum(low <= 0 <= high for low, high in of("bootstrap_95ci").values())

    return {
        "/lifestyle/quantor_neutral_mean": lambda: calibration.quantor(
            len(calibration.within(of("mean_asymmetry"))), len(MODELS)
        ),
        "/lifestyle/quantor_neutral_interval": lambda: calibration.quantor(
            by_interval(), len(MODELS)
        ),
    }
