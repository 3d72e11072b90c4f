"""Uniformity asymmetry and output preference over the categories, last layer (notebook 003)."""

from functools import partial

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules
from layerwise.engine.evidence import Entry, Evidence
from layerwise.engine.published import pointer
from layerwise.papers.shared.names import FACTS, NUMERIC
from layerwise.papers.shared.result_files import (
    OUTPUT_CORRELATION,
    PAPER1,
    TYPED_MODELS,
    UA_FILES,
    own_file,
)
from layerwise.papers.shared.rules import (
    asymmetries,
    asymmetry,
    categories,
    category_states,
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


def preferences_of_category(category: Entry) -> Rules:
    """UA of a category, and the share of its pairs that prefer A."""

    def share_preferring_a() -> float:
        """Return the percent of pairs that prefer A: the nearest that a whole number can give."""
        n = n_pairs(category, category.called)
        return round(category.pct_prefer_a / 100 * n) / n * 100

    return {
        **category_states(category),
        "pct_prefer_a": share_preferring_a,
    }


def states(results: Entry) -> Rules:
    """UA over the categories, which rests on states alone; one category has no spread."""

    def interval() -> list[float] | None:
        d, ua = results.draws, asymmetries(results)
        return list(mean_interval(ua, d.n_resamples, d.level, d.seed)) if len(ua) > 1 else None

    def effect_size() -> float | None:
        ua = asymmetries(results)
        return cohens_d(ua) if len(ua) > 1 else None

    return {
        "_global_stats/total_pairs": partial(total_pairs, results),
        "_global_stats/mean_asymmetry": Rule(
            lambda: np.mean(asymmetries(results)), "mean UA over the categories"
        ),
        "_global_stats/std_asymmetry": Rule(
            lambda: np.std(asymmetries(results)), "population SD of UA over the categories"
        ),
        "_global_stats/bootstrap_95ci": Rule(
            interval,
            "the bootstrap interval of the mean UA; categories resampled, the stream restarted; "
            "None with one category",
        ),
        "_global_stats/cohens_d": Rule(
            effect_size, "Cohen's d of UA over the categories; None with one"
        ),
    }


def states_and_mean_preference(results: Entry) -> Rules:
    """UA and preference, without the relation of both: there are under three categories."""
    return {
        **states(results),
        "_global_stats/mean_output_preference": Rule(
            lambda: np.mean(preferences(results)), "mean preference over the categories"
        ),
    }


def states_and_preferences(results: Entry) -> Rules:
    """UA and preference over the categories, and the notebook's words for them."""

    def r() -> float:
        """Return r of UA and preference over the categories."""
        return r_over_categories(results)

    def is_aligned(name: str) -> str:
        return alignment(asymmetry(results[name]), results[name].output_preference)

    def label_of_facts() -> str | None:
        if FACTS not in results:
            return None
        return "ALIGNED" if abs(asymmetry(results[FACTS])) > 0.05 else "NEUTRAL"

    def key_question_on_facts() -> str | None:
        """Say whether neutral states come with a strong preference, on scientific facts."""
        if FACTS not in results:
            return None
        return key_question(asymmetry(results[FACTS]), results[FACTS].output_preference)

    return {
        **states_and_mean_preference(results),
        "_global_stats/ua_output_correlation": r,
        "_verdicts/aligned": Rule(
            lambda: {name: partial(is_aligned, name) for name in categories(results)},
            "whether UA and preference have one sign, or are both small",
        ),
        "_verdicts/interpretation": Rule(
            lambda: coupling_word(r()), "the notebook's word for r: ALIGNED, INVERTED or DECOUPLED"
        ),
        "_verdicts/sf_label": Rule(label_of_facts, "whether |UA| on scientific facts exceeds 0.05"),
        "_verdicts/key_question": key_question_on_facts,
        "_verdicts/summary_text": Rule(
            lambda: "alignment" if r() > 0.3 else "weak",  # also at -0.9
            "the summary's word: alignment where r > 0.3",
        ),
    }


def drawn_interval(r: float, n: int) -> list[float]:
    """Return the 95% interval of r over n categories; empty where there is none."""
    estimate = correlation_estimate(r, n, "categories")
    return [estimate.low, estimate.high] if estimate.has_interval else []


def r_without_each(results: Entry) -> dict[str, correlation.Correlation]:
    """Return r of UA and preference without each category, and its p."""
    points = zip(asymmetries(results), preferences(results), strict=True)
    return correlation.leave_one_out(dict(zip(categories(results), points, strict=True)))


def drawn_without_each(results: Entry) -> Rules:
    """The statement of the figure: r with all categories and without each."""

    def interval() -> list[float]:
        """Return the 95% interval of r over all categories: exact under ten, else Fisher's."""
        return drawn_interval(r_over_categories(results), len(categories(results)))

    def without_one() -> dict[str, dict[str, float | list[float]]]:
        """Return r without each category with its 95% interval, empty where there is none."""
        n = len(categories(results)) - 1
        return {
            name: {**test._asdict(), "interval": drawn_interval(test.r, n)}
            for name, test in r_without_each(results).items()
        }

    return {
        "_without_one": without_one,
        "_interval": interval,
    }


def validation_of_print(results: Entry) -> Rules:
    """All that is said of a model of the paper, the categories that carry r among it."""

    def weakest_category() -> dict[str, str | float | bool]:
        """Return the category whose loss leaves the least |r|, with that r and its p."""
        correlations = r_without_each(results)
        name = min(correlations, key=lambda name: abs(correlations[name].r))
        test = correlations[name]
        return {"category": name, **test._asdict(), "significant": test.p < LEVEL}

    def numeric_share() -> str:
        whole = r_over_categories(results)
        moved = {name: abs(test.r - whole) for name, test in r_without_each(results).items()}
        numeric = moved.pop(NUMERIC)
        return f"contributes {'dis' if numeric > sum(moved.values()) else ''}proportionately"

    return {
        **states_and_preferences(results),
        **drawn_without_each(results),
        "_weakest": weakest_category,
        "_numeric": Rule(
            numeric_share,
            "whether the loss of the numeric facts moves r more than that of all other categories",
        ),
    }


def facts_of_paper_1(evidence: Evidence) -> Rules:
    """UA and mean preference of the facts in Paper 1's models, as notebook 003 typed them."""

    def rules_of_model(model: str, file: str) -> Rules:
        return {
            f"{model}/ua": Rule(
                lambda: asymmetry(evidence[file][FACTS]),
                "UA of the scientific facts in a model of Paper 1",
            ),
            f"{model}/pref": partial(preference, evidence, model, FACTS),
        }

    return {key: rule for model in PAPER1.items() for key, rule in rules_of_model(*model).items()}


DOCUMENTS = {
    slug: Document(
        file,
        {"": validation_of_print, "*": preferences_of_category},
        {"": (file, ""), "/_reference": (TYPED_MODELS, "/reference_models")},
    )
    for slug, file in UA_FILES.items()
} | {
    "reference": Document(
        None,
        {"": facts_of_paper_1},
        {
            f"/{model}/pref": (OUTPUT_CORRELATION, pointer("rlhf_masking", model, "pref"))
            for model in PAPER1
        },
    )
}
READER = Document(
    own_file("validation"), {"": states_and_preferences, "*": preferences_of_category}
)
READER_OF_PAIRS = Document(
    own_file("validation"), {"": states_and_mean_preference, "*": preferences_of_category}
)
READER_OF_STATES = Document(own_file("validation"), {"": states, "*": category_states})
