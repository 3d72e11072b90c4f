"""Asymmetry by category and model, the models' calibration, and what Paper 1's text says of them.

A statement across the four models is the text in print where its rule holds.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial

import numpy as np
from jaxtyping import Float

from layerwise.engine.derivation import Document, Rule, Rules, all_of, count
from layerwise.engine.evidence import Entry, Evidence, measured_among
from layerwise.errors import LayerwiseError
from layerwise.papers.shared.names import FACTS, NUMERIC
from layerwise.papers.shared.result_files import FIGURE_1, NUMBERS, PAPER1, WORDS
from layerwise.papers.shared.rules import (
    asymmetry,
    categories,
    category_states,
    join_sections,
    n_pairs,
    shared_value,
    total_pairs,
)
from layerwise.papers.shared.terms import BAND
from layerwise.statistics.bootstrap import mean_interval
from layerwise.statistics.curves import Ends, includes_zero
from layerwise.statistics.samples import cohens_d, sample_d

GROUPS = {"all_categories": "", "neutral_only": NUMERIC}  # and the category that it leaves out
MODELS = {model: PAPER1[model] for model in ("gemma", "llama", "mistral", "apertus")}
PASS_BELOW = 0.3  # Cohen's d, the paper's text
BOUND = 0.14  # |UA| on the numeric truths, abstract
PARITY = 0.20  # of the word counts in a pair, table of the dataset
CALIBRATED = ("llama", "mistral")  # the models that the paper reports as calibrated
LABELLED = ("tech_philosophy", "lifestyle")  # neutral by the table of the dataset
DISPLAY = {  # the categories as the paper's tables write them
    NUMERIC: "GT Numeric",
    "ground_truth_nonnumeric": "GT Non-Numeric",
    "tech_philosophy": "Tech Philosophy",
    "lifestyle": "Lifestyle",
    "business": "Business",
    FACTS: "Scientific Facts",
}
RUN = re.compile(r"_(\d{4})(\d{2})(\d{2})_")  # when a model's result file was made, in its name

# --- one model ------------------------------------------------------------------------------------


def group_asymmetries(
    results: Entry, group: str = "neutral_only"
) -> Float[np.ndarray, " category"]:
    """Return UA of a group's categories, in the order of the streams."""
    return np.array(
        [asymmetry(results[name]) for name in categories(results) if name != GROUPS[group]]
    )


def group_interval(results: Entry, group: str = "neutral_only") -> Ends:
    """Return the bootstrap interval of a group's mean UA; each interval starts the stream anew."""
    ua, draws = group_asymmetries(results, group), results.draws
    return mean_interval(ua, draws.n_resamples, draws.level, draws.seed)


def neutral_d(results: Entry) -> float:
    """Return Cohen's d of UA over the neutral categories."""
    return cohens_d(group_asymmetries(results))


def paper_status(ends: Ends, d: float) -> str:
    """Pass where the interval includes zero and |d| < 0.3 (Paper 1, table of statistics).

    The paper has two more words, Review and Detected, and no rule for them: here `not Pass`.
    """
    return "Pass" if includes_zero(ends) and abs(d) < PASS_BELOW else "not Pass"


def code_status(ends: Ends, d: float) -> str:
    """NEUTRAL where zero is included and |d| < 0.2, MARGINAL where it is included (the script)."""
    if not includes_zero(ends):
        return "ASYMMETRY"
    return "NEUTRAL" if abs(d) < 0.2 else "MARGINAL"


def group_statistics(results: Entry, group: str) -> Rules:
    """The statistics of a group of categories that Paper 1's script saves."""
    ua = partial(group_asymmetries, results, group)
    rules = {
        "mean_asymmetry": Rule(lambda: np.mean(ua()), "mean UA over the categories"),
        "std_asymmetry": Rule(lambda: np.std(ua()), "population SD of UA over the categories"),
        "bootstrap_95ci": Rule(
            lambda: list(group_interval(results, group)), "bootstrap interval of the mean UA"
        ),
        "cohens_d": Rule(
            lambda: cohens_d(ua()), "Cohen's d of UA over the categories, population SD"
        ),
    }
    return {f"_global_stats/{group}/{name}": rule for name, rule in rules.items()}


def calibration_of_model(results: Entry) -> Rules:
    """UA over the categories of a model, and the words for it."""

    def zero_in_words() -> str:
        """Say whether the interval of the neutral mean includes zero."""
        return f"CI {'includes' if includes_zero(group_interval(results)) else 'excludes'} zero"

    def d_without_each() -> dict[str, float]:
        neutral = [name for name in categories(results) if name != NUMERIC]
        ua = {name: asymmetry(results[name]) for name in neutral}
        return {
            left_out: cohens_d(np.array([ua[name] for name in neutral if name != left_out]))
            for left_out in neutral
        }

    def script_status() -> str:
        """Return the script's word, by the interval and |d| < 0.2."""
        return code_status(group_interval(results), neutral_d(results))

    return {
        "_global_stats/total_pairs": partial(total_pairs, results),
        **group_statistics(results, "all_categories"),
        **group_statistics(results, "neutral_only"),
        "_global_stats/neutral_only/sample_d": Rule(
            lambda: sample_d(group_asymmetries(results)),
            "Cohen's d of UA over the categories, sample SD",
        ),
        "_global_stats/neutral_only/d_without": Rule(
            d_without_each, "Cohen's d of UA over the neutral categories, by the one left out"
        ),
        "_verdicts/zero": zero_in_words,
        "_verdicts/status_paper": Rule(
            lambda: paper_status(group_interval(results), neutral_d(results)),
            "the paper's word: Pass where the interval includes zero and |d| < 0.3",
        ),
        "_verdicts/status_code": script_status,
        "_verdicts/status_readme": Rule(
            lambda: script_status().capitalize(), "the script's word, as the README writes it"
        ),
    }


# --- across the models ----------------------------------------------------------------------------

ByModel = Mapping[str, float]
OTHERS = {left_out: [model for model in MODELS if model != left_out] for left_out in MODELS}


def asymmetry_by_model(
    evidence: Evidence, category: str, models: Iterable[str] = tuple(MODELS)
) -> dict[str, float]:
    """Return UA of a category in each of these models."""
    return {model: asymmetry(evidence[MODELS[model]][category]) for model in models}


def models_in_zone(ua: ByModel, band: float = BAND) -> list[str]:
    """The models whose |UA| is below the band, in order."""
    return [model for model, value in ua.items() if abs(value) < band]


def count_negative(ua: ByModel) -> int:
    """Return how many of the models lie below zero."""
    return sum(value < 0 for value in ua.values())


def compare_with_bound(name: str, values: Iterable[float], bound: float) -> str:
    """Say whether every value is below a bound: `d < 0.3`."""
    return f"{name} {'<' if max(values) < bound else '>='} {bound:g}".strip()


def place_of_apertus(ua: ByModel) -> str:
    """Return `lowest` if no other model is lower than Apertus, else its place from below."""
    place = sum(value < ua["apertus"] for value in ua.values()) + 1
    return "lowest" if place == 1 else f"place {place} of {len(ua)} from below"


def numeric_statements(evidence: Evidence) -> Rules:
    """UA on the numeric facts."""
    ua = partial(asymmetry_by_model, evidence, NUMERIC)
    without_apertus = partial(ua, OTHERS["apertus"])

    def sign_parties() -> str:
        n_below, n_above = count_negative(ua()), sum(value > 0 for value in ua().values())
        return f"{max(n_below, n_above)}-vs-{min(n_below, n_above)}"

    def count_beyond_bound() -> str:
        n = len(MODELS) - len(models_in_zone(ua(), BOUND))
        return f"|Delta| > {BOUND:g} in {n}/{len(MODELS)} models"

    return {
        "numeric/negative": Rule(
            lambda: f"{count_negative(ua())}/{len(MODELS)} negative",
            "how many models lie below zero on numeric facts",
        ),
        "numeric/split": Rule(sign_parties, "the larger party of signs against the smaller"),
        "numeric/above": Rule(count_beyond_bound, "how many models keep the abstract's bound"),
        "numeric/below": Rule(
            lambda: compare_with_bound("", without_apertus().values(), -BOUND),
            "whether every model but Apertus lies below the bound",
        ),
        "numeric/weakest": Rule(
            lambda: max(without_apertus().values()),
            "the UA nearest to zero on numeric facts, without Apertus",
        ),
        "numeric/strongest": Rule(
            lambda: min(without_apertus().values()),
            "the most negative UA on numeric facts, without Apertus",
        ),
    }


def lifestyle_statements(evidence: Evidence) -> Rules:
    """UA on lifestyle."""
    ua = partial(asymmetry_by_model, evidence, "lifestyle")

    def others_in_zone() -> str:
        """Say how many of the other models lie within the zone."""
        others = OTHERS["gemma"]
        n = len(models_in_zone(ua(others)))
        return (
            f"{'' if n == len(others) else f'{n} of {len(others)} '}other models converge to zero"
        )

    def positive_or_within() -> str:
        """Say whether Gemma and Apertus lie above the zone."""
        above = min(ua(("gemma", "apertus")).values()) > BAND
        return "slight positive asymmetry" if above else "within the zone"

    return {
        "lifestyle/calibrated": Rule(
            lambda: "/".join(map(str.capitalize, models_in_zone(ua()))) + " calibrated",
            "the models within the zone",
        ),
        "lifestyle/band": Rule(
            lambda: compare_with_bound("|Delta|", map(abs, ua(CALIBRATED).values()), BAND),
            "whether the calibrated models lie within the zone on lifestyle",
        ),
        "lifestyle/others": others_in_zone,
        "lifestyle/positive": positive_or_within,
    }


def calibrated_statements(evidence: Evidence) -> Rules:
    """The models that count as calibrated, by several meanings of the word."""

    def most_models(is_neutral: Callable[[Entry], bool]) -> str:
        """Return `most models` where more than half are neutral, else how many are."""
        n = sum(is_neutral(evidence[file]) for file in MODELS.values())
        return "most models" if 2 * n > len(MODELS) else f"{n} of {len(MODELS)} models"

    def compare_with_pass_rule() -> str:
        """Say whether the models that are reported as calibrated keep the bound of a Pass."""
        sizes = [abs(neutral_d(evidence[MODELS[model]])) for model in CALIBRATED]
        return compare_with_bound("d", sizes, PASS_BELOW)

    return {
        "lifestyle/quantor": Rule(
            lambda: most_models(lambda results: abs(asymmetry(results.lifestyle)) < BAND),
            "how many models lie within the zone on lifestyle",
        ),
        "lifestyle/quantor_neutral_mean": Rule(
            lambda: most_models(lambda results: abs(np.mean(group_asymmetries(results))) < BAND),
            "how many models have a neutral mean within the zone",
        ),
        "lifestyle/quantor_neutral_interval": Rule(
            lambda: most_models(lambda results: includes_zero(group_interval(results))),
            "how many models have a neutral interval that includes zero",
        ),
        "lifestyle/pass_rule": compare_with_pass_rule,
    }


def facts_statements(evidence: Evidence) -> Rules:
    """UA on the scientific facts, without Apertus."""
    ua = partial(asymmetry_by_model, evidence, FACTS)

    def count_near_zero(models: Collection[str]) -> str:
        n = len(models_in_zone(ua(models)))
        return "near zero" if n == len(models) else f"{n} of {len(models)} near zero"

    return {
        "facts/others": Rule(
            lambda: count_near_zero(OTHERS["apertus"]),
            "how many of the other models lie within the zone",
        ),
        "facts/calibrated": Rule(lambda: count_near_zero(CALIBRATED), "the models within the zone"),
        "facts/largest_other": Rule(
            lambda: max(map(abs, ua(OTHERS["apertus"]).values())),
            "the largest |UA| on scientific facts, without Apertus",
        ),
    }


def business_statements(evidence: Evidence) -> Rules:
    """UA on business."""
    ua = partial(asymmetry_by_model, evidence, "business")
    return {
        "business/typical": Rule(
            lambda: f"~{np.mean(list(ua().values())):+.2f}", "mean UA on business over the models"
        ),
        "business/lowest": Rule(lambda: min(ua().values()), "the smallest UA on business"),
        "business/highest": Rule(lambda: max(ua().values()), "the largest UA on business"),
        "business/apertus": Rule(
            lambda: place_of_apertus(ua()), "Apertus' place from below on business"
        ),
    }


def ratios_of_apertus(evidence: Evidence, category: str) -> list[float]:
    """Return |UA| of Apertus over that of each other model, ascending.

    Raises:
        LayerwiseError: where the UA of another model is 0.
    """
    ua = asymmetry_by_model(evidence, category)
    if zero := [model for model in OTHERS["apertus"] if ua[model] == 0]:
        raise LayerwiseError(
            f"a ratio to {', '.join(zero)} does not exist, the value there is 0; "
            "leave that model out"
        )
    return sorted(abs(ua["apertus"]) / abs(ua[model]) for model in OTHERS["apertus"])


def factors_text(*factors: float) -> str:
    """Return ascending factors in whole numbers: 3× or, for several, 5-10×."""
    low, high = (f"{factor:.0f}" for factor in (factors[0], factors[-1]))
    return f"{low}×" if len(factors) == 1 else f"{low}-{high}×"


def apertus_statements(evidence: Evidence) -> Rules:
    """The asymmetries of Apertus, beside each other and beside those of the other models."""
    ratios = partial(ratios_of_apertus, evidence)

    def ua(category: str) -> float:
        return asymmetry(evidence[MODELS["apertus"]][category])

    def strongest_category() -> str:
        """Return the category of the largest |UA| in Apertus."""
        return DISPLAY[max(categories(evidence), key=lambda category: abs(ua(category)))]

    return {
        "apertus/strongest": strongest_category,
        "apertus/nonnumeric_over_next": Rule(
            lambda: factors_text(ratios("ground_truth_nonnumeric")[0]),
            "Apertus' |UA| on non-numeric facts over that of the next model",
        ),
        "apertus/facts_over_others": Rule(
            lambda: factors_text(*ratios(FACTS)),
            "Apertus' |UA| on scientific facts over that of each other model",
        ),
        "apertus/facts_ratios": Rule(
            lambda: ratios(FACTS),
            "Apertus' |UA| on scientific facts over that of each other model, ascending",
        ),
        "apertus/facts_over_business": Rule(
            lambda: factors_text(ua(FACTS) / ua("business")),
            "Apertus' UA on scientific facts over that on business",
        ),
        "apertus/facts_over_business_printed": Rule(
            lambda: factors_text(round(ua(FACTS), 3) / round(ua("business"), 3)),
            "Apertus' UA on scientific facts over that on business, of the printed decimals",
        ),
        "apertus/facts_over_business_cut": Rule(
            lambda: factors_text(np.floor(ua(FACTS) / ua("business"))),
            "Apertus' UA on scientific facts over that on business, cut to a whole number",
        ),
    }


def dataset_statements(evidence: Evidence) -> Rules:
    """The size of the data set, the models and when they ran."""

    def sizes() -> list[int]:
        return [n_pairs(evidence, name) for name in categories(evidence)]

    def pairs_per_category(low: int, high: int) -> str:
        return f"{low if low == high else f'{low} to {high}'} pairs per category"

    def n_models() -> int:
        """Return the number of models that have an asymmetry, by the names in their files."""
        return count(
            (evidence[file] for file in MODELS.values()),
            lambda results: asymmetry(results[NUMERIC]),
            named=lambda results: results._metadata.model,
        )

    def run_dates() -> str:
        return " ".join(sorted({"-".join(RUN.findall(file)[0]) for file in MODELS.values()}))

    return {
        "dataset/n_pairs": partial(total_pairs, evidence),
        "dataset/n_categories": Rule(lambda: len(sizes()), "the categories of the statement pairs"),
        "dataset/sizes": Rule(
            lambda: pairs_per_category(min(sizes()), max(sizes())),
            "the statement pairs per category",
        ),
        "dataset/largest": Rule(
            lambda: pairs_per_category(max(sizes()), max(sizes())),
            "the statement pairs of the largest category",
        ),
        "dataset/n_models": n_models,
        "dataset/date": Rule(run_dates, "the dates of the runs, from the names of their files"),
    }


def settings_statements(evidence: Evidence) -> Rules:
    """The settings that all result files share."""

    def results() -> list[Entry]:
        return [evidence[file] for file in MODELS.values()]

    def level_of_draws() -> str:
        """Return the level of the draws where all stored intervals follow with it."""
        same = all_of(
            np.allclose(group_interval(model), model._global_stats.neutral_only.bootstrap_95ci[:])
            for model in results()
        )
        return f"{evidence.draws.level:.0%}" if same else "another level"

    return {
        "settings/n_resamples": Rule(
            lambda: shared_value(model._metadata.n_bootstrap for model in results()),
            "the resamples that the result files state",
        ),
        "settings/seed": Rule(
            lambda: shared_value(model._metadata.random_seed for model in results()),
            "the seed that the result files state",
        ),
        "settings/level": level_of_draws,
    }


def figure_statements(evidence: Evidence) -> Rules:
    """Figure 1 beside the table of its numbers."""

    def compare_bars() -> str:
        """Allow for the table's last decimal and a row of pixels."""
        figure = evidence[FIGURE_1]
        rows = figure.rows
        ua_of_row = figure.tick / (rows.zero - rows.tick)
        met = [
            abs((rows.zero - ends[model]) * ua_of_row - asymmetry(evidence[file][category]))
            <= 0.5e-3 + ua_of_row
            for category, ends in figure.ends.items()
            for model, file in MODELS.items()
        ]
        return "as Table main" if all_of(met) else f"{sum(met)} of {len(met)} as Table main"

    says = "whether bars end where the table puts them, to its last decimal and a row of pixels"
    return {"figure/bars": Rule(compare_bars, says)}


def drawn_statements(evidence: Evidence) -> Rules:
    """The models that the figure of all categories draws."""

    def ua_of_measured(category: str) -> dict[str, float]:
        files = {model: evidence[file] for model, file in MODELS.items()}
        measured = measured_among(files, lambda results: asymmetry(results[category]))
        return asymmetry_by_model(evidence, category, measured)

    return {
        "drawn/n_models": Rule(lambda: len(ua_of_measured("lifestyle")), "the measured models"),
        "drawn/n_within": Rule(
            lambda: len(models_in_zone(ua_of_measured("lifestyle"))),
            "the measured models that lie within the zone on lifestyle",
        ),
        "drawn/n_negative": Rule(
            lambda: count_negative(ua_of_measured(NUMERIC)),
            "the measured models below zero on numeric facts",
        ),
    }


def length_gaps(words: list[np.ndarray]) -> Float[np.ndarray, " pair"]:
    """Return |words of A - words of B| over the longer side."""
    a, b = np.concatenate(words).T
    return np.abs(a - b) / np.maximum(a, b)


def word_statements(evidence: Evidence) -> Rules:
    """The parity of word counts in a pair."""

    def counts(names: Iterable[str]) -> list[np.ndarray]:
        """Return the words of A and of B of each pair, by category."""
        return [np.array([[pair.a, pair.b] for pair in evidence[WORDS][name]]) for name in names]

    def gaps_of_pairs(names: Iterable[str]) -> Float[np.ndarray, " pair"]:
        return length_gaps(counts(names))

    def gaps_of_sides() -> Float[np.ndarray, " category"]:
        """Compare all A with all B statements of a category."""
        return length_gaps([pairs.sum(axis=0, keepdims=True) for pairs in counts(evidence[WORDS])])

    def parity_bound(gaps: Float[np.ndarray, " pair"]) -> str:
        """Return the bound of the paper if every gap keeps it, else the largest gap: ±20%."""
        return f"±{max(PARITY, float(np.max(gaps))) * 100:.0f}%"

    def within_parity(gaps: Float[np.ndarray, " pair"]) -> str:
        return f"{np.sum(gaps <= PARITY)} of {len(gaps)} pairs"

    return {
        "words/parity": Rule(
            lambda: parity_bound(gaps_of_pairs(evidence[WORDS])),
            "the bound that the word counts of every pair keep",
        ),
        "words/parity_of_sides": Rule(
            lambda: parity_bound(gaps_of_sides()),
            "the bound that the word counts of both sides of a category keep",
        ),
        "words/pairs_within": Rule(
            lambda: within_parity(gaps_of_pairs(evidence[WORDS])),
            "the pairs whose word counts keep the bound",
        ),
        "words/pairs_within_labelled": Rule(
            lambda: within_parity(gaps_of_pairs(LABELLED)),
            "the pairs of the categories called neutral whose word counts keep the bound",
        ),
    }


STATEMENTS_ACROSS_MODELS = join_sections(
    numeric_statements,
    lifestyle_statements,
    calibrated_statements,
    facts_statements,
    business_statements,
    apertus_statements,
    dataset_statements,
    settings_statements,
    figure_statements,
    drawn_statements,
    word_statements,
)
DOCUMENTS = {
    model: Document(file, {"": calibration_of_model, "*": category_states})
    for model, file in MODELS.items()
} | {
    "models": Document(None, {"": STATEMENTS_ACROSS_MODELS}),
    "texts": Document(NUMBERS, {}),  # as it stands: claims name its cells
}
