"""UA and output preference over categories and models (supplement of Paper 1)."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from layerwise.engine.derivation import Document, Function, Rule, Rules, all_of
from layerwise.engine.evidence import Entry
from layerwise.papers.shared.names.categories import FACTS, NUMERIC
from layerwise.papers.shared.names.result_files import (
    CLASSES,
    CONTRIBUTIONS,
    DIVERGENCE,
    OUTPUT_CORRELATION,
    PAPER1,
)
from layerwise.papers.shared.rules.categories import asymmetry, preference
from layerwise.statistics import curves
from layerwise.statistics.correlation import pearson_p, pearson_r

REGIMES = ("LIE_REGIME", "BULLSHIT_REGIME", "MIXED")
STARS = {0.001: "***", 0.01: "**", 0.05: "*"}
WIDER = {0.01: "***", 0.05: "**", 0.1: "*"}
YMYL = (FACTS, "lifestyle")  # the supplement's "your money or your life"
SCALE = 10  # of UA against the preference, in the gap


def ua(f: Entry, model: str, category: str) -> float:
    """UA in the supplement's run."""
    return f.of(CONTRIBUTIONS).row(model=model, category=category).ua


def categories(f: Entry, *without: str) -> list[str]:
    """The supplement's categories, in its order."""
    names = dict.fromkeys(row.category for row in f.of(CONTRIBUTIONS))
    return [name for name in names if name not in without]


def correlation(of_model: Entry, *without: str) -> tuple[float, int]:
    """r of UA and preference over the categories, and how many there are."""
    names = categories(of_model, *without)
    x, y = (
        np.array([of(of_model, of_model.called, name) for name in names]) for of in (ua, preference)
    )
    return pearson_r(x, y), len(names)


def p_value(of_model: Entry, *without: str) -> float:
    """Return the two-sided p of r of UA and preference over the categories."""
    return float(pearson_p(*correlation(of_model, *without)))


def over_models(row: Entry, of: Callable[..., float], statistic: Callable[..., Any]) -> float:
    """A statistic of a row's category over the models."""
    return float(statistic([of(row, model, row.category) for model in PAPER1]))


def contribution(f: Entry, model: str, category: str) -> float:
    """UA times preference: a category's part of their sum of products, means left in."""
    return float(ua(f, model, category) * preference(f, model, category))


def contributions(f: Entry, model: str, names: Sequence[str] = ()) -> list[float]:
    return [contribution(f, model, name) for name in names or categories(f)]


def centred(f: Entry, model: str) -> dict[str, float]:
    """Every category's share of the covariance of UA and preference, which r is made of, in %."""
    names = categories(f)
    x, y = (np.array([of(f, model, name) for name in names]) for of in (ua, preference))
    products = (x - x.mean()) * (y - y.mean())
    return dict(zip(names, 100 * products / products.sum(), strict=True))


def preferring_b(f: Entry) -> str:
    """In how many models the numeric truths' number is the likelier side, on average."""
    n = sum(preference(f, model, NUMERIC) < 0 for model in PAPER1)
    return "all models" if n == len(PAPER1) else f"{n} of {len(PAPER1)} models"


def in_regime(f: Entry, category: str, regime: str) -> str:
    """In how many models a category has a label."""
    found = [row.classification == regime for row in f if row.category == category]
    return "all models" if all_of(found) else f"{sum(found)} of {len(found)} models"


def n_in_regime(f: Entry, regime: str) -> int:
    """How many categories of how many models have a label."""
    return sum(row.classification == regime for row in f)


def total_divergence(row: Entry) -> float:
    """How far the models differ on a category: the deviations of UA and of preference."""
    return over_models(row, ua, np.std) + over_models(row, preference, np.std)


def over_the_next(f: Entry) -> float:
    """The largest total divergence of a category over the next one's."""
    found = sorted(total_divergence(row) for row in f)
    return found[-1] / found[-2]


def gap(of_model: Entry) -> float:
    """UA and preference on scientific facts, both by size and UA scaled: the difference."""
    model = of_model.called
    return SCALE * abs(ua(of_model, model, FACTS)) - abs(preference(of_model, model, FACTS))


def without_numeric(of_model: Entry) -> float:
    """What r gains when the numeric truths go."""
    return correlation(of_model, NUMERIC)[0] - correlation(of_model)[0]


def parts(f: Entry, model: str) -> dict[str, Function]:
    """A rule per category: its part of the sum."""
    return {name: partial(contribution, f, model, name) for name in categories(f)}


def numeric_share(f: Entry, model: str) -> float:
    """The numeric truths' part of the sum of all, percent."""
    return 100 * contribution(f, model, NUMERIC) / math.fsum(contributions(f, model))


def mean_part(f: Entry, model: str, names: Sequence[str]) -> float:
    """Mean part of these categories."""
    return float(np.mean(contributions(f, model, names)))


def largest_difference(f: Entry, model: str) -> float:
    """Of a category's UA between Paper 1's run and the supplement's."""
    first = f.of(PAPER1[model])
    return max(abs(ua(f, model, name) - asymmetry(first[name])) for name in categories(f))


SPLIT: Rules = {
    # of the p of r, as usual: * under 0.05, ** under 0.01, *** under 0.001
    "stars": Rule(lambda m: curves.word_below(p_value(m), STARS, "(none)"), "stars of the p of r"),
    "wider_stars": Rule(
        lambda m: curves.word_below(p_value(m), WIDER, "(none)"),
        "stars of the p of r, on a wider scale",
    ),
    "full_r": Rule(lambda m: correlation(m)[0], "r of UA and preference over the categories"),
    "full_p": p_value,
    "r_without_numeric": Rule(
        lambda m: correlation(m, NUMERIC)[0], "the same r without numeric facts"
    ),
    "p_without_numeric": Rule(lambda m: p_value(m, NUMERIC), "p of r without numeric facts"),
    "delta_r": without_numeric,
}
OF_CATEGORY: Rules = {
    "ua_std": Rule(lambda row: over_models(row, ua, np.std), "population SD of UA over the models"),
    "ua_range": Rule(lambda row: over_models(row, ua, np.ptp), "range of UA over the models"),
    "pref_std": Rule(
        lambda row: over_models(row, preference, np.std),
        "population SD of the preference over the models",
    ),
    "pref_range": Rule(
        lambda row: over_models(row, preference, np.ptp), "range of the preference over the models"
    ),
    "total_divergence": total_divergence,
}
REGIME_COUNTS: Rules = {regime: partial(n_in_regime, regime=regime) for regime in REGIMES}
REGIMES_OF: Rules = {
    f"of/{category}/{regime}": partial(in_regime, category=category, regime=regime)
    for category in (NUMERIC, "business", "lifestyle")
    for regime in REGIMES
}
OF_MODEL: Mapping[str, Callable[..., Any]] = {
    "preference/facts": partial(preference, category=FACTS),
    "preference/numeric": partial(preference, category=NUMERIC),
    "parts": parts,
    "total": Rule(
        lambda f, model: math.fsum(contributions(f, model)),
        "the sum of the contributions of all categories",
    ),
    "numeric_share": numeric_share,
    "numeric_share_of_covariance": Rule(
        lambda f, model: centred(f, model)[NUMERIC], "share of numeric facts in the covariance"
    ),
    "ymyl": partial(mean_part, names=YMYL),
    "not_ymyl": Rule(
        lambda f, model: mean_part(f, model, categories(f, *YMYL)),
        "mean contribution of the categories that are not about money or life",
    ),
}
OF_PARTS: Rules = {
    "preferring_b": preferring_b,
    **{
        f"{model}/{name}": partial(rule, model=model)
        for model in PAPER1
        for name, rule in OF_MODEL.items()
    },
}
NOISE: Rules = {model: partial(largest_difference, model=model) for model in PAPER1}
DOCUMENTS = {
    "correlation": Document(
        OUTPUT_CORRELATION, {"numeric_split/*": SPLIT, "rlhf_masking/*": {"gap": gap}}
    ),
    "divergence": Document(DIVERGENCE, {"*": OF_CATEGORY}),
    "divergence_ratio": Document(DIVERGENCE, {"": {"over_the_next": over_the_next}}, {}),
    "classification": Document(CLASSES, {"": {**REGIME_COUNTS, **REGIMES_OF}}, {}),
    "contributions": Document(CONTRIBUTIONS, {"": OF_PARTS}, {}),
    "rerun": Document(CONTRIBUTIONS, {"": NOISE}, {}),
}
