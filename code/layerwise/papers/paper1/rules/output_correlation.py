"""UA and output preference over categories and models (supplement of Paper 1)."""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from layerwise.engine.derivation import NOWHERE, Document, Rule, Rules
from layerwise.engine.evidence import Entry
from layerwise.papers.shared.names import FACTS, NUMERIC
from layerwise.papers.shared.result_files import (
    CLASSES,
    CONTRIBUTIONS,
    DIVERGENCE,
    OUTPUT_CORRELATION,
    PAPER1,
)
from layerwise.papers.shared.rules import preference
from layerwise.papers.shared.terms import NO_STARS, STARS, models_in_words
from layerwise.statistics import curves
from layerwise.statistics.correlation import pearson_p, pearson_r

REGIMES = ("LIE_REGIME", "BULLSHIT_REGIME", "MIXED")
WIDER = {0.01: "***", 0.05: "**", 0.1: "*"}
YMYL = (FACTS, "lifestyle")  # the supplement's "your money or your life"
# what the paper's text says of some categories
LABELLED_AS = {
    NUMERIC: "LIE_REGIME",
    "business": "BULLSHIT_REGIME",
    "lifestyle": "BULLSHIT_REGIME",
}
SCALE = 10  # of UA against the preference, in the gap


def rerun_asymmetry(source: Entry, model: str, category: str) -> float:
    """Return UA of a category in the supplement's run."""
    return source.of(CONTRIBUTIONS).row(model=model, category=category).ua


def rerun_categories(source: Entry, *without: str) -> list[str]:
    """Return the supplement's categories in its order, without some."""
    names = dict.fromkeys(row.category for row in source.of(CONTRIBUTIONS))
    return [name for name in names if name not in without]


def rerun_series(source: Entry, model: str, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return UA and preference of a model in these categories."""
    x, y = (
        np.array([number(source, model, name) for name in names])
        for number in (rerun_asymmetry, preference)
    )
    return x, y


def correlation_statistics(entry: Entry) -> Rules:
    """r of UA and preference over the categories of a model, with and without numeric facts."""

    def correlation(*without: str) -> tuple[float, int]:
        """Return r and the number of categories."""
        names = rerun_categories(entry, *without)
        return pearson_r(*rerun_series(entry, entry.called, names)), len(names)

    def p_value(*without: str) -> float:
        return float(pearson_p(*correlation(*without)))

    return {
        # of the p of r, as usual: * under 0.05, ** under 0.01, *** under 0.001
        "stars": Rule(lambda: curves.word_below(p_value(), STARS, NO_STARS), "stars of the p of r"),
        "wider_stars": Rule(
            lambda: curves.word_below(p_value(), WIDER, NO_STARS),
            "stars of the p of r, on a wider scale",
        ),
        "full_r": Rule(lambda: correlation()[0], "r of UA and preference over the categories"),
        "full_p": Rule(p_value, "the two-sided p of r of UA and preference over the categories"),
        "r_without_numeric": Rule(
            lambda: correlation(NUMERIC)[0],
            "r of UA and preference over the categories, without numeric facts",
        ),
        "p_without_numeric": Rule(
            lambda: p_value(NUMERIC),
            "two-sided p of r of UA and preference, without numeric facts",
        ),
        "delta_r": Rule(
            lambda: correlation(NUMERIC)[0] - correlation()[0],
            "r without numeric facts less r of all categories",
        ),
    }


def masking_gap(entry: Entry) -> Rules:
    """UA beside the preference on the scientific facts of a model."""

    def gap() -> float:
        model = entry.called
        ua, nats = rerun_asymmetry(entry, model, FACTS), preference(entry, model, FACTS)
        return SCALE * abs(ua) - abs(nats)

    return {"gap": Rule(gap, "10 |UA| less |preference| on scientific facts")}


def spread_over_models(
    row: Entry, number: Callable[..., float], statistic: Callable[..., Any]
) -> float:
    """Return a statistic over the models of a number of a row's category."""
    return float(statistic([number(row, model, row.category) for model in PAPER1]))


def total_divergence(row: Entry) -> float:
    """Return the sum of two population SDs over the models: of UA and of preference."""
    return spread_over_models(row, rerun_asymmetry, np.std) + spread_over_models(
        row, preference, np.std
    )


def divergence_of_category(row: Entry) -> Rules:
    """The spread of the models in a category."""
    return {
        "ua_std": Rule(
            lambda: spread_over_models(row, rerun_asymmetry, np.std),
            "population SD of UA over the models",
        ),
        "ua_range": Rule(
            lambda: spread_over_models(row, rerun_asymmetry, np.ptp), "range of UA over the models"
        ),
        "pref_std": Rule(
            lambda: spread_over_models(row, preference, np.std),
            "population SD of the preference over the models",
        ),
        "pref_range": Rule(
            lambda: spread_over_models(row, preference, np.ptp),
            "range of the preference over the models",
        ),
        "total_divergence": partial(total_divergence, row),
    }


def divergence_ratio(rows: Entry) -> Rules:
    """The category that is said to diverge most, beside the next."""

    def over_the_next() -> float:
        *_, second, largest = sorted(map(total_divergence, rows))
        return largest / second

    says = "the largest total divergence of a category over the second largest"
    return {"over_the_next": Rule(over_the_next, says)}


def regime_counts(rows: Entry) -> Rules:
    """The number of categories with each of the supplement's labels, and of models by category."""

    def n_with(regime: str) -> int:
        return sum(row.classification == regime for row in rows)

    def models_with(category: str, regime: str) -> str:
        return models_in_words(
            row.classification == regime for row in rows if row.category == category
        )

    return {
        regime: Rule(
            partial(n_with, regime), "the number of categories with a label, over all models"
        )
        for regime in REGIMES
    } | {
        f"labelled/{category}/{regime}": Rule(
            partial(models_with, category, regime), "in how many models a category has a label"
        )
        for category, regime in LABELLED_AS.items()
    }


def contribution(source: Entry, model: str, category: str) -> float:
    """Return UA times preference, nats: a part of the sum of products, means left in."""
    return float(rerun_asymmetry(source, model, category) * preference(source, model, category))


def numeric_share_of_covariance(source: Entry, model: str) -> float:
    """Return the numeric facts' part of the covariance of UA and preference, percent."""
    names = rerun_categories(source)
    x, y = rerun_series(source, model, names)
    products = (x - x.mean()) * (y - y.mean())
    return float((100 * products / products.sum())[names.index(NUMERIC)])


def contributions_of_model(source: Entry, model: str) -> Rules:
    """UA times preference of a model, by category and together."""
    part = partial(contribution, source, model)

    def total() -> float:
        return math.fsum(map(part, rerun_categories(source)))

    def mean_part(names: Iterable[str]) -> float:
        return float(np.mean([part(name) for name in names]))

    return {
        "preference/facts": partial(preference, source, model, FACTS),
        "preference/numeric": partial(preference, source, model, NUMERIC),
        "parts": Rule(
            lambda: {name: partial(part, name) for name in rerun_categories(source)},
            "UA times preference, nats, of each category",
        ),
        "total": Rule(total, "the sum of the contributions of all categories"),
        "numeric_share": Rule(
            lambda: 100 * part(NUMERIC) / total(),
            "the numeric facts' part of the sum of all contributions, percent",
        ),
        "numeric_share_of_covariance": Rule(
            lambda: numeric_share_of_covariance(source, model),
            "share of numeric facts in the covariance",
        ),
        "ymyl": Rule(
            lambda: mean_part(YMYL),
            "mean contribution of the categories that are about money or life",
        ),
        "not_ymyl": Rule(
            lambda: mean_part(rerun_categories(source, *YMYL)),
            "mean contribution of the categories that are not about money or life",
        ),
    }


def contribution_statistics(source: Entry) -> Rules:
    """The contributions of every model, and what is said of several."""

    def models_preferring_b() -> str:
        """Say in how many models the statement with the number is the likelier one, on average."""
        return models_in_words(preference(source, model, NUMERIC) < 0 for model in PAPER1)

    return {
        "preferring_b": models_preferring_b,
        **{
            f"{model}/{name}": rule
            for model in PAPER1
            for name, rule in contributions_of_model(source, model).items()
        },
    }


DOCUMENTS = {
    "correlation": Document(
        OUTPUT_CORRELATION,
        {"numeric_split/*": correlation_statistics, "rlhf_masking/*": masking_gap},
    ),
    "divergence": Document(DIVERGENCE, {"*": divergence_of_category}),
    "divergence_ratio": Document(DIVERGENCE, {"": divergence_ratio}, NOWHERE),
    "classification": Document(CLASSES, {"": regime_counts}, NOWHERE),
    "contributions": Document(CONTRIBUTIONS, {"": contribution_statistics}, NOWHERE),
}
