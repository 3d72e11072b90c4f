"""What Paper 1 says across its four models: ratios, ranges, counts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from layerwise.analyses.documents import asymmetry, categories, n_pairs, total_pairs
from layerwise.analyses.once_measured import once_measured
from layerwise.analyses.validation import PAPER1
from layerwise.inputs.published import Published, pointer
from layerwise.statistics import calibration
from layerwise.statistics.effect_size import cohens_d

MODELS = {model: PAPER1[model] for model in ("gemma", "llama", "mistral", "apertus")}
NUMERIC = "ground_truth_numeric"
DISPLAY = {  # the categories as the paper's tables write them
    NUMERIC: "GT Numeric",
    "ground_truth_nonnumeric": "GT Non-Numeric",
    "tech_philosophy": "Tech Philosophy",
    "lifestyle": "Lifestyle",
    "business": "Business",
    "scientific_facts": "Scientific Facts",
}
RUN = re.compile(r"Results/results_[a-z]+_(\d{8})_\d{6}\.json")  # a model's result file
WORDS = "words of dataset.json"  # white-space words per statement of the neutral categories
CALIBRATED = ("llama", "mistral")  # the models that the paper reports as calibrated

Computations = dict[str, Callable[[], Any]]


def by_model(
    published: Published, category: str, models: Mapping[str, str] | None = None
) -> dict[str, float]:
    """UA of one category, by model."""
    chosen = MODELS if models is None else models
    return {model: asymmetry(published, file, category) for model, file in chosen.items()}


def across_models(published: Published) -> Computations:
    """Every statistic of the text that spans models, by key."""
    return {
        **_numeric(published),
        **_lifestyle(published),
        **_business(published),
        **_apertus(published),
        **_dataset(published),
        **_words(published),
    }


def _numeric(published: Published) -> Computations:
    def ua() -> dict[str, float]:
        return by_model(published, NUMERIC)

    def others() -> list[float]:
        three = {model: file for model, file in MODELS.items() if model != "apertus"}
        return list(by_model(published, NUMERIC, three).values())

    def above() -> str:
        bound = calibration.NUMERIC_BOUND
        n = len(MODELS) - len(calibration.within(ua(), bound))
        return f"|Delta| > {bound:g} in {n}/{len(MODELS)} models"

    return {
        "/numeric/negative": lambda: calibration.negative_words(ua()),
        "/numeric/split": lambda: calibration.split_words(ua()),
        "/numeric/above": above,
        "/numeric/below": lambda: calibration.bound_words("", others(), -calibration.NUMERIC_BOUND),
        "/numeric/weakest": lambda: max(others()),
        "/numeric/strongest": lambda: min(others()),
    }


def _lifestyle(published: Published) -> Computations:
    def ua(*models: str) -> dict[str, float]:
        return by_model(published, "lifestyle", {m: MODELS[m] for m in models or MODELS})

    def band() -> str:
        sizes = [abs(value) for value in ua(*CALIBRATED).values()]
        return calibration.bound_words("|Delta|", sizes, calibration.BAND)

    def others() -> str:
        rest = ua(*(model for model in MODELS if model != "gemma"))
        n = len(calibration.within(rest))
        return f"{'' if n == len(rest) else f'{n} of {len(rest)} '}other models converge to zero"

    def pass_rule() -> str:
        neutral = [name for name in categories(published) if name != NUMERIC]
        d = [
            cohens_d(np.array([asymmetry(published, MODELS[model], name) for name in neutral]))
            for model in CALIBRATED
        ]
        return calibration.bound_words("d", list(map(abs, d)), calibration.PASS_BELOW)

    return {
        "/lifestyle/calibrated": lambda: (
            "/".join(model.capitalize() for model in calibration.within(ua())) + " calibrated"
        ),
        "/lifestyle/band": band,
        "/lifestyle/others": others,
        "/lifestyle/quantor": lambda: calibration.quantor(
            len(calibration.within(ua())), len(MODELS)
        ),
        "/lifestyle/pass_rule": pass_rule,
    }


def _business(published: Published) -> Computations:
    def ua() -> dict[str, float]:
        return by_model(published, "business")

    return {
        "/business/typical": lambda: f"~{np.mean(list(ua().values())):+.2f}",
        "/business/lowest": lambda: min(ua().values()),
        "/business/highest": lambda: max(ua().values()),
        "/business/apertus": lambda: calibration.rank_words(ua(), "apertus"),
    }


def _apertus(published: Published) -> Computations:
    file = MODELS["apertus"]

    def strongest() -> str:
        ua = {name: asymmetry(published, file, name) for name in categories(published)}
        return DISPLAY[max(ua, key=lambda name: abs(ua[name]))]

    def facts_over_business(decimals: int | None = None) -> float:
        facts, business = (
            asymmetry(published, file, name) for name in ("scientific_facts", "business")
        )
        if decimals is not None:
            facts, business = round(facts, decimals), round(business, decimals)
        return facts / business

    def over(category: str) -> list[float]:
        return list(calibration.ratios(by_model(published, category), "apertus").values())

    return {
        "/apertus/strongest": strongest,
        "/apertus/nonnumeric_over_next": lambda: calibration.times(
            min(over("ground_truth_nonnumeric"))
        ),
        "/apertus/facts_over_others": lambda: calibration.times(*over("scientific_facts")),
        "/apertus/facts_over_business": lambda: calibration.times(facts_over_business()),
        "/apertus/facts_over_business_printed": lambda: calibration.times(facts_over_business(3)),
        "/apertus/facts_over_business_cut": lambda: calibration.times(
            float(math.floor(facts_over_business()))
        ),
    }


def _dataset(published: Published) -> Computations:
    def sizes() -> list[int]:
        return [n_pairs(published, name) for name in categories(published)]

    runs = sorted({file for file, _ in published.cells if RUN.fullmatch(file)})

    def n_models() -> int:
        models = {published[file, "/_metadata/model"] for file in runs}
        return once_measured(
            published, lambda: [by_model(published, NUMERIC, {f: f}) for f in runs], len(models)
        )

    def date() -> str:
        """Of all runs, from their files' names."""
        dates = sorted({match[1] for match in map(RUN.fullmatch, runs) if match})
        return " ".join(f"{date[:4]}-{date[4:6]}-{date[6:]}" for date in dates)

    return {
        "/dataset/n_pairs": lambda: total_pairs(published),
        "/dataset/n_categories": lambda: len(sizes()),
        "/dataset/sizes": lambda: calibration.size_words(sizes()),
        "/dataset/largest": lambda: calibration.size_words([max(sizes())]),
        "/dataset/n_models": n_models,
        "/dataset/date": date,
    }


def _words(published: Published) -> Computations:
    listed = {name: len(pairs) for name, pairs in published.document(WORDS).items()}

    def counts(category: str) -> np.ndarray:
        cells = [
            [pointer(category, pair, side) for side in "ab"] for pair in range(listed[category])
        ]
        return np.array([[int(published.number(WORDS, key)) for key in pair] for pair in cells])

    def neutral() -> list[np.ndarray]:
        return [counts(name) for name in listed]

    def gaps() -> np.ndarray:
        return calibration.length_gaps(np.concatenate(neutral()))

    def sides() -> np.ndarray:
        return np.array([words.sum(axis=0) for words in neutral()])

    def keeping() -> str:
        return f"{np.sum(gaps() <= calibration.PARITY)} of {len(gaps())} pairs"

    return {
        "/words/parity": lambda: calibration.parity_words(gaps()),
        "/words/parity_of_sides": lambda: calibration.parity_words(
            calibration.length_gaps(sides())
        ),
        "/words/pairs_within": keeping,
    }
