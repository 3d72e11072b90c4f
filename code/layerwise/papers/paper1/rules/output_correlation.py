"""UA and output preference over categories and models (supplement of Paper 1)."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from layerwise.engine.derivation import Document, Function, Rule, Rules
from layerwise.engine.evidence import Entry
from layerwise.papers.shared.names.categories import FACTS, NUMERIC
from layerwise.papers.shared.names.result_files import (
    CLASSES,
    CONTRIBUTIONS,
    DIVERGENCE,
    OUTPUT_CORRELATION,
    PAPER1,
)
from layerwise.papers.shared.rules.categories import preference
from layerwise.papers.shared.terms import NO_STARS, STARS, models_in_words
from layerwise.statistics import curves
from layerwise.statistics.correlation import pearson_p, pearson_r

REGIMES = ("LIE_REGIME", "BULLSHIT_REGIME", "MIXED")
WIDER = {0.01: "***", 0.05: "**", 0.1: "*"}
YMYL = (FACTS, "lifestyle")  # the supplement's "your money or your life"
SCALE = 10  # of UA against the preference, in the gap


def rerun_asymmetry(source: Entry, model: str, category: str) -> float:
    """Return UA of a category in the supplement's run."""
    return source.of(CONTRIBUTIONS).row(model=model, category=category).ua


def categories(source: Entry, *without: str) -> list[str]:
    """Return the supplement's categories in its order, without some."""
    names = dict.fromkeys(row.category for row in source.of(CONTRIBUTIONS))
    return [name for name in names if name not in without]


def correlation(entry: Entry, *without: str) -> tuple[float, int]:
    """Return r of UA and preference over the categories, and their number."""
    names = categories(entry, *without)
    x, y = (
        np.array([number(entry, entry.called, name) for name in names])
        for number in (rerun_asymmetry, preference)
    )
    return pearson_r(x, y), len(names)


def p_value(entry: Entry, *without: str) -> float:
    """Return the two-sided p of r of UA and preference over the categories."""
    return float(pearson_p(*correlation(entry, *without)))


def spread_over_models(
    row: Entry, number: Callable[..., float], statistic: Callable[..., Any]
) -> float:
    """Return a statistic over the models of a number of a row's category."""
    return float(statistic([number(row, model, row.category) for model in PAPER1]))


def contribution(source: Entry, model: str, category: str) -> float:
    """Return UA times preference, nats: a category's part of the sum of products, means left in."""
    return float(rerun_asymmetry(source, model, category) * preference(source, model, category))


def contributions(source: Entry, model: str, names: Sequence[str] = ()) -> list[float]:
    """Return the contributions of these categories, or of all."""
    return [contribution(source, model, name) for name in names or categories(source)]


def covariance_shares(source: Entry, model: str) -> dict[str, float]:
    """Return each category's share of the covariance of UA and preference, percent."""
    names = categories(source)
    x, y = (
        np.array([number(source, model, name) for name in names])
        for number in (rerun_asymmetry, preference)
    )
    products = (x - x.mean()) * (y - y.mean())
    return dict(zip(names, 100 * products / products.sum(), strict=True))


def models_preferring_b(source: Entry) -> str:
    """Say in how many models the statement with the number is the likelier one, on average."""
    return models_in_words(preference(source, model, NUMERIC) < 0 for model in PAPER1)


def models_in_regime(rows: Entry, category: str, regime: str) -> str:
    """Say in how many models a category has a label."""
    return models_in_words(row.classification == regime for row in rows if row.category == category)


def n_in_regime(rows: Entry, regime: str) -> int:
    """Return the number of categories with a label, over all models."""
    return sum(row.classification == regime for row in rows)


def total_divergence(row: Entry) -> float:
    """Return the sum of two population SDs over the models: of UA and of preference."""
    return spread_over_models(row, rerun_asymmetry, np.std) + spread_over_models(
        row, preference, np.std
    )


def divergence_over_next(rows: Entry) -> float:
    """Return the largest total divergence of a category over the second largest."""
    divergences = sorted(total_divergence(row) for row in rows)
    return divergences[-1] / divergences[-2]


def masking_gap(entry: Entry) -> float:
    """Return 10 |UA| less |preference| on scientific facts."""
    model = entry.called
    return SCALE * abs(rerun_asymmetry(entry, model, FACTS)) - abs(preference(entry, model, FACTS))


def change_without_numeric(entry: Entry) -> float:
    """Return r without numeric facts less r of all categories."""
    return correlation(entry, NUMERIC)[0] - correlation(entry)[0]


def contribution_rules(source: Entry, model: str) -> dict[str, Function]:
    """Return the rules for UA times preference, nats, of each category."""
    return {name: partial(contribution, source, model, name) for name in categories(source)}


def numeric_share(source: Entry, model: str) -> float:
    """Return the numeric facts' part of the sum of all contributions, percent."""
    return 100 * contribution(source, model, NUMERIC) / math.fsum(contributions(source, model))


def mean_contribution(source: Entry, model: str, names: Sequence[str]) -> float:
    """Return the mean contribution of these categories."""
    return float(np.mean(contributions(source, model, names)))


CORRELATION_RULES: Rules = {
    # of the p of r, as usual: * under 0.05, ** under 0.01, *** under 0.001
    "stars": Rule(
        lambda entry: curves.word_below(p_value(entry), STARS, NO_STARS), "stars of the p of r"
    ),
    "wider_stars": Rule(
        lambda entry: curves.word_below(p_value(entry), WIDER, NO_STARS),
        "stars of the p of r, on a wider scale",
    ),
    "full_r": Rule(
        lambda entry: correlation(entry)[0], "r of UA and preference over the categories"
    ),
    "full_p": p_value,
    "r_without_numeric": Rule(
        lambda entry: correlation(entry, NUMERIC)[0],
        "r of UA and preference over the categories, without numeric facts",
    ),
    "p_without_numeric": Rule(
        lambda entry: p_value(entry, NUMERIC),
        "two-sided p of r of UA and preference, without numeric facts",
    ),
    "delta_r": change_without_numeric,
}
CATEGORY_RULES: Rules = {
    "ua_std": Rule(
        lambda row: spread_over_models(row, rerun_asymmetry, np.std),
        "population SD of UA over the models",
    ),
    "ua_range": Rule(
        lambda row: spread_over_models(row, rerun_asymmetry, np.ptp), "range of UA over the models"
    ),
    "pref_std": Rule(
        lambda row: spread_over_models(row, preference, np.std),
        "population SD of the preference over the models",
    ),
    "pref_range": Rule(
        lambda row: spread_over_models(row, preference, np.ptp),
        "range of the preference over the models",
    ),
    "total_divergence": total_divergence,
}
REGIME_COUNTS: Rules = {regime: partial(n_in_regime, regime=regime) for regime in REGIMES}
SAID_OF_REGIMES: Rules = {
    f"labelled/{category}/{regime}": partial(models_in_regime, category=category, regime=regime)
    for category, regime in (
        (NUMERIC, "LIE_REGIME"),
        ("business", "BULLSHIT_REGIME"),
        ("lifestyle", "BULLSHIT_REGIME"),
    )
}
MODEL_RULES: Mapping[str, Callable[..., Any]] = {
    "preference/facts": partial(preference, category=FACTS),
    "preference/numeric": partial(preference, category=NUMERIC),
    "parts": contribution_rules,
    "total": Rule(
        lambda source, model: math.fsum(contributions(source, model)),
        "the sum of the contributions of all categories",
    ),
    "numeric_share": numeric_share,
    "numeric_share_of_covariance": Rule(
        lambda source, model: covariance_shares(source, model)[NUMERIC],
        "share of numeric facts in the covariance",
    ),
    "ymyl": partial(mean_contribution, names=YMYL),
    "not_ymyl": Rule(
        lambda source, model: mean_contribution(source, model, categories(source, *YMYL)),
        "mean contribution of the categories that are not about money or life",
    ),
}
CONTRIBUTION_RULES: Rules = {
    "preferring_b": models_preferring_b,
    **{
        f"{model}/{name}": partial(rule, model=model)
        for model in PAPER1
        for name, rule in MODEL_RULES.items()
    },
}
DOCUMENTS = {
    "correlation": Document(
        OUTPUT_CORRELATION,
        {"numeric_split/*": CORRELATION_RULES, "rlhf_masking/*": {"gap": masking_gap}},
    ),
    "divergence": Document(DIVERGENCE, {"*": CATEGORY_RULES}),
    "divergence_ratio": Document(DIVERGENCE, {"": {"over_the_next": divergence_over_next}}, {}),
    "classification": Document(CLASSES, {"": {**REGIME_COUNTS, **SAID_OF_REGIMES}}, {}),
    "contributions": Document(CONTRIBUTIONS, {"": CONTRIBUTION_RULES}, {}),
}
