"""Uniformity asymmetry and output preference over the categories, last layer (notebook 003)."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from layerwise.engine.derivation import Document, Function, Rule, Rules, for_each_group
from layerwise.engine.evidence import Entry, Evidence
from layerwise.engine.published import pointer
from layerwise.papers.shared.names.categories import FACTS
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


def share(of_category: Entry) -> float:
    """Percent of pairs that prefer A: the nearest that a whole number of pairs can give."""
    n = n_pairs(of_category, of_category.called)
    return round(of_category.pct_prefer_a / 100 * n) / n * 100


def on_facts(word: Callable[[Entry], str]) -> Function:
    """A word about scientific facts, where there is such a category."""
    return lambda f: word(f[FACTS]) if FACTS in f else None


def aligned(ua: float, preference: float) -> str:
    """YES where both share a strict sign, or |UA| < 0.02 and |preference| < 0.1; else NO."""
    small = abs(ua) < 0.02 and abs(preference) < 0.1
    return "YES" if ua * preference > 0 or small else "NO"


def coupling(r: float) -> str:
    """ALIGNED above 0.5, INVERTED below -0.3, DECOUPLED between."""
    if r > 0.5:
        return "ALIGNED"
    return "INVERTED" if r < -0.3 else "DECOUPLED"


def key_question(ua: float, preference: float) -> str:
    """Neutral states with a strong preference? YES, NO or UNCLEAR (scientific facts)."""
    if abs(ua) < 0.02 and abs(preference) > 0.5:
        return "YES"
    return "NO" if abs(ua) > 0.05 else "UNCLEAR"


def interval(f: Entry) -> list[float]:
    """Bootstrap interval of the mean UA: categories resampled, the random stream restarted."""
    draws = f.draws
    return list(mean_interval(asymmetries(f), draws.n_resamples, draws.level, draws.seed))


OF_CATEGORY: Rules = {
    "n_pairs": Rule(lambda m: n_pairs(m, m.called), "the statement pairs of the category"),
    "pct_prefer_a": share,
    "asymmetry": asymmetry,
}
GLOBAL: Rules = {
    "total_pairs": total_pairs,
    "mean_asymmetry": Rule(lambda f: np.mean(asymmetries(f)), "mean UA over the categories"),
    "std_asymmetry": Rule(
        lambda f: np.std(asymmetries(f)), "population SD of UA over the categories"
    ),
    "bootstrap_95ci": interval,
    "cohens_d": Rule(lambda f: cohens_d(asymmetries(f)), "Cohen's d of UA over the categories"),
    "ua_output_correlation": r_over_categories,
    "mean_output_preference": Rule(
        lambda f: np.mean(preferences(f)), "mean preference over the categories"
    ),
}
WORDS: Rules = {
    "aligned": for_each_group(
        lambda f: {name: f[name] for name in categories(f)},
        Rule(
            lambda m: aligned(asymmetry(m), m.output_preference),
            "whether UA and preference have one sign, or are both small",
        ),
    ),
    "interpretation": Rule(
        lambda f: coupling(r_over_categories(f)),
        "the notebook's word for r: ALIGNED, INVERTED or DECOUPLED",
    ),
    "sf_label": Rule(
        on_facts(lambda m: "ALIGNED" if abs(asymmetry(m)) > 0.05 else "NEUTRAL"),
        "whether |UA| on scientific facts exceeds 0.05",
    ),
    "key_question": Rule(
        on_facts(lambda m: key_question(asymmetry(m), m.output_preference)),
        "whether neutral states come with a strong preference, on scientific facts",
    ),
    "summary_text": Rule(
        lambda f: "alignment" if r_over_categories(f) > 0.3 else "weak",
        "the summary's word: alignment where r > 0.3",
    ),  # also at -0.9
}
RULES: dict[str, Rules] = {
    "": {f"_global_stats/{name}": rule for name, rule in GLOBAL.items()}
    | {f"_verdicts/{name}": rule for name, rule in WORDS.items()},
    "*": OF_CATEGORY,
}


def without_one(f: Entry) -> dict[str, dict[str, float]]:
    """r of UA and preference when one category goes, and its p."""
    points = zip(asymmetries(f), preferences(f), strict=True)
    found = correlation.leave_one_out(dict(zip(categories(f), points, strict=True)))
    return {name: of._asdict() for name, of in found.items()}


def left_out(f: Entry) -> dict[str, dict[str, Any]]:
    """The same with Fisher's 95% interval, which is empty where there is none."""
    n = len(categories(f)) - 1
    return {
        name: {**of, "interval": interval_of_r(of["r"], n)} for name, of in without_one(f).items()
    }


def whole_interval(f: Entry) -> list[float]:
    """Fisher's 95% interval of r over all categories."""
    return interval_of_r(r_over_categories(f), len(categories(f)))


def interval_of_r(r: float, n: int) -> list[float]:
    """Over so many categories; empty where there is none."""
    found = correlation_estimate(r, n, "categories")
    return [found.low, found.high] if found.has_interval else []


def weakest(f: Entry) -> dict[str, Any]:
    """The category whose loss leaves the least of r, what it leaves, and if p stays under 0.05."""
    found = without_one(f)
    name = min(found, key=lambda name: abs(found[name]["r"]))
    return {"category": name, **found[name], "significant": found[name]["p"] < LEVEL}


def ua_of_facts(e: Evidence, model: str) -> float:
    """UA of the scientific facts in a model of Paper 1."""
    return asymmetry(e[PAPER1[model]][FACTS])


# what notebook 003 typed of Paper 1's models: UA and mean preference of the facts
OF_FACTS: Mapping[str, Callable[..., float]] = {
    "ua": ua_of_facts,
    "pref": partial(preference, category=FACTS),
}
REFERENCE: Rules = {
    f"{model}/{name}": partial(rule, model=model)
    for model in PAPER1
    for name, rule in OF_FACTS.items()
}
DRAWN: Rules = {"_without_one": left_out, "_interval": whole_interval}
OF_PRINT: Rules = {**DRAWN, "_weakest": weakest}
DOCUMENTS = {
    slug: Document(
        file,
        {**RULES, "": {**RULES[""], **OF_PRINT}},
        {"": (file, ""), "/_reference": (TYPED_MODELS, "/reference_models")},
    )
    for slug, file in UA_FILES.items()
} | {
    "reference": Document(
        None,
        {"": REFERENCE},
        {f"/{m}/pref": (OUTPUT_CORRELATION, pointer("rlhf_masking", m, "pref")) for m in PAPER1},
    )
}
READER = Document(own_file("validation"), RULES)
