"""UA and preference over the categories (notebook 003)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from layerwise.analyses.documents import (
    UA_FILES,
    Draws,
    Replay,
    asymmetries,
    asymmetry,
    categories,
    n_pairs,
    preferences,
    r_over_categories,
    total_pairs,
)
from layerwise.inputs.published import Published, pointer
from layerwise.statistics import rules
from layerwise.statistics.bootstrap import mean_interval
from layerwise.statistics.effect_size import cohens_d

PAPER1 = {
    "llama": "Results/results_llama_20251231_142705.json",
    "gemma": "Results/results_gemma_20251231_142425.json",
    "mistral": "Results/results_mistral_20251231_143700.json",
    "apertus": "Results/results_apertus_20251231_150219.json",
}
OUTPUT_CORRELATION = "extended_results/data/correlation_analysis.json"
FACTS = "scientific_facts"


def derive(work: Replay, draws: Draws) -> None:
    """Both Pythia models, and Paper 1's values on scientific facts under `reference`."""
    published = work.published
    typed = published.document("notebook 003")["reference_models"]
    for slug, file in UA_FILES.items():
        origins = {"": (file, ""), "/_reference": ("notebook 003", "/reference_models")}
        work.start(slug, {**published.document(file), "_reference": typed}, origins)
        for category in categories(published):
            for name, compute in _of_category(published, file, category).items():
                work.derive(slug, pointer(category, name), compute)
        for name, compute in _over_categories(published, file, draws).items():
            work.derive(slug, pointer("_global_stats", name), compute)
        _words(work, slug, file)
    given = published.document(OUTPUT_CORRELATION)["rlhf_masking"]
    origins = {
        pointer(model, "pref"): (OUTPUT_CORRELATION, pointer("rlhf_masking", model, "pref"))
        for model in PAPER1
    }
    work.start("reference", {model: {"pref": given[model]["pref"]} for model in PAPER1}, origins)
    for model, file in PAPER1.items():
        work.derive("reference", pointer(model, "ua"), asymmetry, published, file, FACTS)


def _of_category(published: Published, file: str, category: str) -> dict[str, Callable[[], Any]]:
    def share() -> float:
        """The nearest share that a whole number of pairs can give."""
        printed = published.number(file, pointer(category, "pct_prefer_a"))
        n = n_pairs(published, category)
        return round(printed / 100 * n) / n * 100

    return {
        "n_pairs": lambda: n_pairs(published, category),
        "pct_prefer_a": share,
        "asymmetry": lambda: asymmetry(published, file, category),
    }


def _over_categories(published: Published, file: str, draws: Draws) -> dict[str, Callable[[], Any]]:
    def ua() -> np.ndarray:
        return np.array(asymmetries(published, file))

    def interval_of_mean() -> list[float]:
        found = mean_interval(ua(), draws.n_resamples, draws.level, draws.seed)
        return [found.low, found.high]

    return {
        "total_pairs": lambda: total_pairs(published),
        "mean_asymmetry": lambda: float(np.mean(ua())),
        "std_asymmetry": lambda: float(np.std(ua())),
        "bootstrap_95ci": interval_of_mean,
        "cohens_d": lambda: cohens_d(ua()),
        "ua_output_correlation": lambda: r_over_categories(published, file),
        "mean_output_preference": lambda: float(np.mean(preferences(published, file))),
    }


def _words(work: Replay, slug: str, file: str) -> None:
    published = work.published

    def both(category: str) -> tuple[float, float]:
        preference = published.number(file, pointer(category, "output_preference"))
        return asymmetry(published, file, category), preference

    def r() -> float:
        return r_over_categories(published, file)

    def aligned(category: str) -> str:
        return rules.aligned(*both(category))

    for category in categories(published):
        work.derive(slug, pointer("_verdicts", "aligned", category), aligned, category)
    words: dict[str, Callable[[], str]] = {
        "interpretation": lambda: rules.coupling(r()),
        "sf_label": lambda: rules.facts_label(asymmetry(published, file, FACTS)),
        "key_question": lambda: rules.key_question(*both(FACTS)),
        "summary_text": lambda: rules.summary_branch(r()),
    }
    for name, compute in words.items():
        work.derive(slug, pointer("_verdicts", name), compute)
