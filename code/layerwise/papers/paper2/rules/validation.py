"""Uniformity asymmetry and output preference over the categories, last layer (notebook 003)."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from layerwise.engine.derivation import Document, Function, Rule, Rules, for_each_group
from layerwise.engine.evidence import Entry, Evidence
from layerwise.engine.published import pointer
from layerwise.papers.shared.names.categories import FACTS, NUMERIC
from layerwise.papers.shared.names.result_files import (
    OUTPUT_CORRELATION,
    PAPER1,
    TYPED_MODELS,
    UA_FILES,
    own_file,
)
from layerwise.papers.shared.rules.categories import (
    asymmetries,
    asymmetry,
    categories,
    n_pairs,
    preference,
    preferences,
    r_over_categories,
    total_pairs,
)
from layerwise.statistics import correlation
from layerwise.statistics.bootstrap import mean_interval
from layerwise.statistics.estimates import correlation_estimate
from layerwise.statistics.samples import cohens_d

LEVEL = 0.05


def share_preferring_a(category: Entry) -> float:
    """Return the percent of pairs that prefer A: the nearest that a whole number can give."""
    n = n_pairs(category, category.called)
    return round(category.pct_prefer_a / 100 * n) / n * 100


def word_on_facts(word: Callable[[Entry], str]) -> Function:
    """Return the rule of a word about scientific facts, where there is such a category."""
    return lambda results: word(results[FACTS]) if FACTS in results else None


def alignment(ua: float, preference: float) -> str:
    """Return YES where both share a strict sign, or |UA| < 0.02 and |preference| < 0.1; else NO."""
    small = abs(ua) < 0.02 and abs(preference) < 0.1
    return "YES" if ua * preference > 0 or small else "NO"


def coupling_word(r: float) -> str:
    """Return ALIGNED for r above 0.5, INVERTED below -0.3, DECOUPLED between."""
    if r > 0.5:
        return "ALIGNED"
    return "INVERTED" if r < -0.3 else "DECOUPLED"


def key_question(ua: float, preference: float) -> str:
    """Say whether neutral states come with a strong preference: YES, NO or UNCLEAR."""
    if abs(ua) < 0.02 and abs(preference) > 0.5:
        return "YES"
    return "NO" if abs(ua) > 0.05 else "UNCLEAR"


def interval(results: Entry) -> list[float]:
    """Return the bootstrap interval of the mean UA; categories resampled, the stream restarted."""
    draws = results.draws
    return list(mean_interval(asymmetries(results), draws.n_resamples, draws.level, draws.seed))


# What rests on states alone stands apart: an embedding model has no preference.
CATEGORY_STATE_RULES: Rules = {
    "n_pairs": Rule(
        lambda category: n_pairs(category, category.called), "the statement pairs of the category"
    ),
    "asymmetry": asymmetry,
}
CATEGORY_RULES: Rules = {**CATEGORY_STATE_RULES, "pct_prefer_a": share_preferring_a}
GLOBAL_STATE_RULES: Rules = {
    "total_pairs": total_pairs,
    "mean_asymmetry": Rule(
        lambda results: np.mean(asymmetries(results)), "mean UA over the categories"
    ),
    "std_asymmetry": Rule(
        lambda results: np.std(asymmetries(results)), "population SD of UA over the categories"
    ),
    "bootstrap_95ci": interval,
    "cohens_d": Rule(
        lambda results: cohens_d(asymmetries(results)), "Cohen's d of UA over the categories"
    ),
}
GLOBAL_RULES: Rules = {
    **GLOBAL_STATE_RULES,
    "ua_output_correlation": r_over_categories,
    "mean_output_preference": Rule(
        lambda results: np.mean(preferences(results)), "mean preference over the categories"
    ),
}
WORD_RULES: Rules = {
    "aligned": for_each_group(
        lambda results: {name: results[name] for name in categories(results)},
        Rule(
            lambda category: alignment(asymmetry(category), category.output_preference),
            "whether UA and preference have one sign, or are both small",
        ),
    ),
    "interpretation": Rule(
        lambda results: coupling_word(r_over_categories(results)),
        "the notebook's word for r: ALIGNED, INVERTED or DECOUPLED",
    ),
    "sf_label": Rule(
        word_on_facts(lambda category: "ALIGNED" if abs(asymmetry(category)) > 0.05 else "NEUTRAL"),
        "whether |UA| on scientific facts exceeds 0.05",
    ),
    "key_question": Rule(
        word_on_facts(
            lambda category: key_question(asymmetry(category), category.output_preference)
        ),
        "whether neutral states come with a strong preference, on scientific facts",
    ),
    "summary_text": Rule(
        lambda results: "alignment" if r_over_categories(results) > 0.3 else "weak",
        "the summary's word: alignment where r > 0.3",
    ),  # also at -0.9
}
STATE_RULES: dict[str, Rules] = {
    "": {f"_global_stats/{name}": rule for name, rule in GLOBAL_STATE_RULES.items()},
    "*": CATEGORY_STATE_RULES,
}
RULES: dict[str, Rules] = {
    "": {f"_global_stats/{name}": rule for name, rule in GLOBAL_RULES.items()}
    | {f"_verdicts/{name}": rule for name, rule in WORD_RULES.items()},
    "*": CATEGORY_RULES,
}


def r_without_each_category(results: Entry) -> dict[str, dict[str, float]]:
    """Return r of UA and preference without each category, and its p."""
    points = zip(asymmetries(results), preferences(results), strict=True)
    correlations = correlation.leave_one_out(dict(zip(categories(results), points, strict=True)))
    return {name: test._asdict() for name, test in correlations.items()}


def r_and_interval_without_each(results: Entry) -> dict[str, dict[str, Any]]:
    """Return r without each category with Fisher's 95% interval, empty where there is none."""
    n = len(categories(results)) - 1
    return {
        name: {**test, "interval": interval_of_r(test["r"], n)}
        for name, test in r_without_each_category(results).items()
    }


def whole_interval(results: Entry) -> list[float]:
    """Return Fisher's 95% interval of r over all categories."""
    return interval_of_r(r_over_categories(results), len(categories(results)))


def interval_of_r(r: float, n: int) -> list[float]:
    """Return Fisher's 95% interval of r over n categories; empty where there is none."""
    estimate = correlation_estimate(r, n, "categories")
    return [estimate.low, estimate.high] if estimate.has_interval else []


def weakest_category(results: Entry) -> dict[str, Any]:
    """Return the category whose loss leaves the least |r|, with that r and its p."""
    correlations = r_without_each_category(results)
    name = min(correlations, key=lambda name: abs(correlations[name]["r"]))
    return {"category": name, **correlations[name], "significant": correlations[name]["p"] < LEVEL}


def numeric_share(results: Entry) -> str:
    """Say whether the loss of the numeric facts moves r more than that of all other categories."""
    whole = r_over_categories(results)
    moved = {
        name: abs(test["r"] - whole) for name, test in r_without_each_category(results).items()
    }
    numeric = moved.pop(NUMERIC)
    return f"contributes {'dis' if numeric > sum(moved.values()) else ''}proportionately"


def asymmetry_of_facts(evidence: Evidence, model: str) -> float:
    """Return UA of the scientific facts in a model of Paper 1."""
    return asymmetry(evidence[PAPER1[model]][FACTS])


# what notebook 003 typed of Paper 1's models: UA and mean preference of the facts
FACTS_RULES: Mapping[str, Callable[..., float]] = {
    "ua": asymmetry_of_facts,
    "pref": partial(preference, category=FACTS),
}
REFERENCE_RULES: Rules = {
    f"{model}/{name}": partial(rule, model=model)
    for model in PAPER1
    for name, rule in FACTS_RULES.items()
}
DRAWN: Rules = {"_without_one": r_and_interval_without_each, "_interval": whole_interval}
PRINT_RULES: Rules = {**DRAWN, "_weakest": weakest_category, "_numeric": numeric_share}
DOCUMENTS = {
    slug: Document(
        file,
        {**RULES, "": {**RULES[""], **PRINT_RULES}},
        {"": (file, ""), "/_reference": (TYPED_MODELS, "/reference_models")},
    )
    for slug, file in UA_FILES.items()
} | {
    "reference": Document(
        None,
        {"": REFERENCE_RULES},
        {
            f"/{model}/pref": (OUTPUT_CORRELATION, pointer("rlhf_masking", model, "pref"))
            for model in PAPER1
        },
    )
}
READER = Document(own_file("validation"), RULES)
READER_OF_STATES = Document(own_file("validation"), STATE_RULES)  # without preferences
