"""What Paper 1 says across its four models: ratios, ranges, counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Int

from layerwise.analyses.categories import (
    FACTS,
    NUMERIC,
    asymmetry,
    categories,
    n_pairs,
    total_pairs,
)
from layerwise.analyses.derivation import Rules
from layerwise.analyses.evidence import Entry, Evidence
from layerwise.inputs.result_files import PAPER1
from layerwise.statistics import calibration
from layerwise.statistics.samples import cohens_d

MODELS = {model: PAPER1[model] for model in ("gemma", "llama", "mistral", "apertus")}
CALIBRATED = ("llama", "mistral")  # the models that the paper reports as calibrated
DISPLAY = {  # the categories as the paper's tables write them
    NUMERIC: "GT Numeric",
    "ground_truth_nonnumeric": "GT Non-Numeric",
    "tech_philosophy": "Tech Philosophy",
    "lifestyle": "Lifestyle",
    "business": "Business",
    FACTS: "Scientific Facts",
}
RUN = re.compile(r"_(\d{4})(\d{2})(\d{2})_")  # when a model's result file was made, in its name
WORDS = "words of dataset.json"  # white-space words per statement of the neutral categories

ByModel = dict[str, float]


def but(left_out: str) -> list[str]:
    """The models without one of them."""
    return [model for model in MODELS if model != left_out]


def over(
    category: str, words: Callable[[ByModel], Any], models: Iterable[str] = tuple(MODELS)
) -> Callable[[Evidence], Any]:
    """A statement about the UA of a category in these models."""
    return lambda e: words({model: asymmetry(e[MODELS[model]][category]) for model in models})


def above(ua: ByModel) -> str:
    """How many models keep the abstract's bound."""
    bound = calibration.NUMERIC_BOUND
    n = len(ua) - len(calibration.within(ua, bound))
    return f"|Delta| > {bound:g} in {n}/{len(ua)} models"


def others(ua: ByModel) -> str:
    """How many of the models besides Gemma lie in the calibration zone."""
    n = len(calibration.within(ua))
    return f"{'' if n == len(ua) else f'{n} of {len(ua)} '}other models converge to zero"


def calibrated(ua: ByModel) -> str:
    """The models in the calibration zone."""
    return "/".join(model.capitalize() for model in calibration.within(ua)) + " calibrated"


def pass_rule(e: Evidence) -> str:
    """Whether d over the neutral categories passes, in the models reported as calibrated."""
    neutral = [name for name in categories(e) if name != NUMERIC]
    files = [e[MODELS[model]] for model in CALIBRATED]
    d = [cohens_d(np.array([asymmetry(f[name]) for name in neutral])) for f in files]
    return calibration.bound_words("d", list(map(abs, d)), calibration.PASS_BELOW)


def apertus(e: Evidence) -> Entry:
    """The file of the model that the paper sets apart."""
    return e[MODELS["apertus"]]


def strongest(e: Evidence) -> str:
    """The category of Apertus' largest |UA|."""
    ua = {name: abs(asymmetry(apertus(e)[name])) for name in categories(e)}
    return DISPLAY[max(ua, key=lambda name: ua[name])]


def facts_over_business(
    rounding: Callable[[float], float] = float, cut: Callable[[float], float] = float
) -> Callable[[Evidence], str]:
    """Apertus' UA of the facts over that of business."""

    def rule(e: Evidence) -> str:
        facts, business = (rounding(asymmetry(apertus(e)[name])) for name in (FACTS, "business"))
        return calibration.times(cut(facts / business))

    return rule


def sizes(e: Evidence) -> list[int]:
    """Pairs of each category."""
    return [n_pairs(e, name) for name in categories(e)]


def n_models(e: Evidence) -> int:
    """Models that have a result."""
    runs = [e[file] for file in MODELS.values()]
    return len({run._metadata.model: asymmetry(run[NUMERIC]) for run in runs})


def date(_: Evidence) -> str:
    """Of all runs, from their files' names."""
    found = {match.groups() for match in map(RUN.search, MODELS.values()) if match}
    return " ".join("-".join(parts) for parts in sorted(found))


def words(e: Evidence) -> list[Int[np.ndarray, "pair side"]]:
    """Word counts of the neutral categories' pairs."""
    return [np.array([[pair.a, pair.b] for pair in pairs]) for pairs in e[WORDS].values()]


def gaps(e: Evidence) -> np.ndarray:
    """Relative differences of a pair's word counts."""
    return calibration.length_gaps(np.concatenate(words(e)))


def gaps_of_sides(e: Evidence) -> np.ndarray:
    """Relative differences of the word counts of a category's sides."""
    return calibration.length_gaps(np.array([pairs.sum(axis=0) for pairs in words(e)]))


def values(ua: ByModel) -> list[float]:
    """Without the models' names."""
    return list(ua.values())


def times_the_others(ua: ByModel) -> list[float]:
    """|UA| of Apertus over that of each other model."""
    return values(calibration.ratios(ua, "apertus"))


BOUND, BAND = calibration.NUMERIC_BOUND, calibration.BAND
STATEMENTS: Mapping[str, Rules] = {
    "numeric": {
        "negative": over(NUMERIC, calibration.negative_words),
        "split": over(NUMERIC, calibration.split_words),
        "above": over(NUMERIC, above),
        "below": over(
            NUMERIC, lambda ua: calibration.bound_words("", values(ua), -BOUND), but("apertus")
        ),
        "weakest": over(NUMERIC, lambda ua: max(values(ua)), but("apertus")),
        "strongest": over(NUMERIC, lambda ua: min(values(ua)), but("apertus")),
    },
    "lifestyle": {
        "calibrated": over("lifestyle", calibrated),
        "band": over(
            "lifestyle",
            lambda ua: calibration.bound_words("|Delta|", list(map(abs, values(ua))), BAND),
            CALIBRATED,
        ),
        "others": over("lifestyle", others, but("gemma")),
        "quantor": over(
            "lifestyle", lambda ua: calibration.quantor(len(calibration.within(ua)), len(ua))
        ),
        "pass_rule": pass_rule,
    },
    "business": {
        "typical": over("business", lambda ua: f"~{np.mean(values(ua)):+.2f}"),
        "lowest": over("business", lambda ua: min(values(ua))),
        "highest": over("business", lambda ua: max(values(ua))),
        "apertus": over("business", lambda ua: calibration.rank_words(ua, "apertus")),
    },
    "apertus": {
        "strongest": strongest,
        "nonnumeric_over_next": over(
            "ground_truth_nonnumeric", lambda ua: calibration.times(min(times_the_others(ua)))
        ),
        "facts_over_others": over(FACTS, lambda ua: calibration.times(*times_the_others(ua))),
        "facts_over_business": facts_over_business(),
        "facts_over_business_printed": facts_over_business(rounding=lambda ua: round(ua, 3)),
        "facts_over_business_cut": facts_over_business(cut=np.floor),
    },
    "dataset": {
        "n_pairs": total_pairs,
        "n_categories": lambda e: len(sizes(e)),
        "sizes": lambda e: calibration.size_words(sizes(e)),
        "largest": lambda e: calibration.size_words([max(sizes(e))]),
        "n_models": n_models,
        "date": date,
    },
    "words": {
        "parity": lambda e: calibration.parity_words(gaps(e)),
        "parity_of_sides": lambda e: calibration.parity_words(gaps_of_sides(e)),
        "pairs_within": lambda e: (
            f"{np.sum(gaps(e) <= calibration.PARITY)} of {len(gaps(e))} pairs"
        ),
    },
}
ACROSS_MODELS: Rules = {
    f"{part}/{name}": rule for part, rules in STATEMENTS.items() for name, rule in rules.items()
}
