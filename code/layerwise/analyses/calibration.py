"""Paper 1: asymmetry by category and model, and the calibration of the models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from layerwise.analyses.calibration_text import ACROSS_MODELS, MODELS
from layerwise.analyses.categories import NUMERIC, asymmetry, categories, n_pairs, total_pairs
from layerwise.analyses.derivation import Document, Rule, Rules
from layerwise.analyses.evidence import Entry, Evidence
from layerwise.statistics import calibration
from layerwise.statistics.bootstrap import mean_interval
from layerwise.statistics.rules import includes_zero
from layerwise.statistics.samples import cohens_d, sample_d

GROUPS = {"all_categories": "", "neutral_only": NUMERIC}  # and the category that it leaves out


def asymmetries(f: Entry, group: str = "neutral_only") -> Float[np.ndarray, " category"]:
    """UA of a group's categories, in the order of the streams."""
    return np.array([asymmetry(f[name]) for name in categories(f) if name != GROUPS[group]])


def interval(f: Entry, group: str = "neutral_only") -> tuple[float, float]:
    """Interval of a group's mean UA; every one starts the stream anew."""
    draws = f.draws
    return mean_interval(asymmetries(f, group), draws.n_resamples, draws.level, draws.seed)


def d(f: Entry) -> float:
    """Cohen's d of the neutral categories."""
    return cohens_d(asymmetries(f))


def of_group(group: str) -> Rules:
    """What Paper 1's script saves over a group of categories, and the textbook's d."""

    def over(statistic: Callable[[np.ndarray], Any]) -> Rule:
        return lambda f: float(statistic(asymmetries(f, group)))

    found: Rules = {
        "mean_asymmetry": over(np.mean),
        "std_asymmetry": over(np.std),
        "bootstrap_95ci": lambda f: list(interval(f, group)),
        "cohens_d": over(cohens_d),
        "sample_d": over(sample_d),
    }
    return {f"_global_stats/{group}/{name}": rule for name, rule in found.items()}


def quantor(neutral: Callable[[Entry], bool]) -> Callable[[Evidence], str]:
    """How many of the models are neutral by a rule."""
    return lambda e: calibration.quantor(
        sum([neutral(e[file]) for file in MODELS.values()]), len(MODELS)
    )


OF_MODEL: Rules = {
    "_global_stats/total_pairs": total_pairs,
    **of_group("all_categories"),
    **of_group("neutral_only"),
    "_verdicts/zero": lambda f: calibration.zero_words(interval(f)),
    "_verdicts/status_paper": lambda f: calibration.paper_status(interval(f), d(f)),
    "_verdicts/status_code": lambda f: calibration.code_status(interval(f), d(f)),
}
OF_CATEGORY: Rules = {"n_pairs": lambda m: n_pairs(m, m.called), "asymmetry": asymmetry}
NEUTRAL: Rules = {
    "lifestyle/quantor_neutral_mean": quantor(
        lambda f: bool(abs(np.mean(asymmetries(f))) < calibration.BAND)
    ),
    "lifestyle/quantor_neutral_interval": quantor(lambda f: includes_zero(interval(f))),
}
DOCUMENTS = {
    model: Document(file, {"": OF_MODEL, "*": OF_CATEGORY}) for model, file in MODELS.items()
} | {"models": Document(None, {"": {**ACROSS_MODELS, **NEUTRAL}})}
