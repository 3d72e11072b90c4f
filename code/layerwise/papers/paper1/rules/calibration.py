"""Asymmetry by category and model, the models' calibration, and what Paper 1's text says of them.

A statement across the four models is the text in print where its rule holds.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from layerwise.engine.derivation import Document, Function, Rule, Rules, all_of, count
from layerwise.engine.evidence import Entry, Evidence, measured_among
from layerwise.errors import LayerwiseError
from layerwise.papers.shared.names.categories import FACTS, NUMERIC
from layerwise.papers.shared.names.result_files import FIGURE_1, NUMBERS, PAPER1, WORDS
from layerwise.papers.shared.rules.categories import (
    asymmetry,
    categories,
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


def asymmetries(results: Entry, group: str = "neutral_only") -> Float[np.ndarray, " category"]:
    """Return UA of a group's categories, in the order of the streams."""
    return np.array(
        [asymmetry(results[name]) for name in categories(results) if name != GROUPS[group]]
    )


def interval(results: Entry, group: str = "neutral_only") -> Ends:
    """Return the bootstrap interval of a group's mean UA; each interval starts the stream anew."""
    draws = results.draws
    return mean_interval(asymmetries(results, group), draws.n_resamples, draws.level, draws.seed)


def neutral_d(results: Entry) -> float:
    """Return Cohen's d of UA over the neutral categories."""
    return cohens_d(asymmetries(results))


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


def zero_in_words(results: Entry) -> str:
    """Say whether the interval of the neutral mean includes zero."""
    return f"CI {'includes' if includes_zero(interval(results)) else 'excludes'} zero"


def group_rules(group: str) -> Rules:
    """Return the rules of what Paper 1's script saves over a group of categories."""
    rules: Rules = {
        "mean_asymmetry": Rule(
            lambda results: np.mean(asymmetries(results, group)), "mean UA over the categories"
        ),
        "std_asymmetry": Rule(
            lambda results: np.std(asymmetries(results, group)),
            "population SD of UA over the categories",
        ),
        "bootstrap_95ci": Rule(
            lambda results: list(interval(results, group)), "bootstrap interval of the mean UA"
        ),
        "cohens_d": Rule(
            lambda results: cohens_d(asymmetries(results, group)),
            "Cohen's d of UA over the categories, population SD",
        ),
    }
    return {f"_global_stats/{group}/{name}": rule for name, rule in rules.items()}


MODEL_RULES: Rules = {
    "_global_stats/total_pairs": total_pairs,
    **group_rules("all_categories"),
    **group_rules("neutral_only"),
    "_global_stats/neutral_only/sample_d": Rule(
        lambda results: sample_d(asymmetries(results)),
        "Cohen's d of UA over the categories, sample SD",
    ),
    "_verdicts/zero": zero_in_words,
    "_verdicts/status_paper": Rule(
        lambda results: paper_status(interval(results), neutral_d(results)),
        "the paper's word: Pass where the interval includes zero and |d| < 0.3",
    ),
    "_verdicts/status_code": Rule(
        lambda results: code_status(interval(results), neutral_d(results)),
        "the script's word, by the interval and |d| < 0.2",
    ),
    "_verdicts/status_readme": Rule(
        lambda results: code_status(interval(results), neutral_d(results)).capitalize(),
        "the script's word, as the README writes it",
    ),
}
CATEGORY_RULES: Rules = {
    "n_pairs": Rule(
        lambda category: n_pairs(category, category.called), "the statement pairs of the category"
    ),
    "asymmetry": asymmetry,
}

# --- across the models ----------------------------------------------------------------------------

ByModel = Mapping[str, float]
OTHERS = {left_out: [model for model in MODELS if model != left_out] for left_out in MODELS}


def statement_on(
    category: str, words: Callable[[ByModel], Any], models: Iterable[str] = tuple(MODELS)
) -> Function:
    """Return the rule of a statement about the UA of a category in these models."""
    return lambda evidence: words(
        {model: asymmetry(evidence[MODELS[model]][category]) for model in models}
    )


def statement_on_measured(category: str, words: Callable[[ByModel], Any]) -> Function:
    """Return the rule of a statement about the UA of a category in the measured models."""

    def rule(evidence: Evidence) -> Any:
        files = {model: evidence[file] for model, file in MODELS.items()}
        measured = measured_among(files, lambda results: asymmetry(results[category]))
        return words({model: asymmetry(results[category]) for model, results in measured.items()})

    return rule


def statement_on_ratios(category: str, words: Callable[[list[float]], Any]) -> Function:
    """Return the rule of a statement about |UA| of Apertus over that of each other model."""

    def on_asymmetries(ua: ByModel) -> Any:
        if zero := [model for model in OTHERS["apertus"] if ua[model] == 0]:
            raise LayerwiseError(
                f"a ratio to {', '.join(zero)} does not exist, the value there is 0; "
                "leave that model out"
            )
        return words([abs(ua["apertus"]) / abs(ua[model]) for model in OTHERS["apertus"]])

    return statement_on(category, on_asymmetries)


def factors_as_printed(*factors: float) -> str:
    """Return factors as the paper prints them, in whole numbers: 3× or, for several, 5-10×."""
    rounded = [f"{factor:.0f}" for factor in sorted(factors)]
    return f"{rounded[0]}×" if len(factors) == 1 else f"{rounded[0]}-{rounded[-1]}×"


def models_in_zone(ua: ByModel, band: float = BAND) -> list[str]:
    """The models whose |UA| is below the band, in order."""
    return [model for model, value in ua.items() if abs(value) < band]


def compare_with_bound(name: str, values: Iterable[float], bound: float) -> str:
    """Say whether every value is below a bound: `d < 0.3`."""
    return f"{name} {'<' if max(values) < bound else '>='} {bound:g}".strip()


def sign_parties(ua: ByModel) -> str:
    """Return the larger party of signs against the smaller: 3-vs-1."""
    parties = sum(value < 0 for value in ua.values()), sum(value > 0 for value in ua.values())
    return f"{max(parties)}-vs-{min(parties)}"


def place_of_apertus(ua: ByModel) -> str:
    """Return `lowest` if no other model is lower than Apertus, else its place from below."""
    place = sum(value < ua["apertus"] for value in ua.values()) + 1
    return "lowest" if place == 1 else f"place {place} of {len(ua)} from below"


def most_models_rule(neutral: Callable[[Entry], bool]) -> Function:
    """Return the rule that gives `most models` where more than half are neutral, else the count."""

    def words(evidence: Evidence) -> str:
        n = sum(bool(neutral(evidence[file])) for file in MODELS.values())
        return "most models" if 2 * n > len(MODELS) else f"{n} of {len(MODELS)} models"

    return words


def strongest_category(evidence: Evidence) -> str:
    """Return the category of Apertus' largest |UA|."""
    ua = {name: abs(asymmetry(evidence[MODELS["apertus"]][name])) for name in categories(evidence)}
    return max(ua, key=ua.__getitem__)


def facts_over_business(evidence: Evidence, decimals: int | None = None) -> float:
    """Return Apertus' UA on the facts over that on business, of rounded UA with `decimals`."""
    facts, business = (asymmetry(evidence[MODELS["apertus"]][name]) for name in (FACTS, "business"))
    if decimals is not None:
        facts, business = round(facts, decimals), round(business, decimals)
    return facts / business


def n_models(evidence: Evidence) -> int:
    """Return the number of models that have an asymmetry, by the names in their files."""
    return count(
        (evidence[file] for file in MODELS.values()),
        lambda results: asymmetry(results[NUMERIC]),
        named=lambda results: results._metadata.model,
    )


def run_dates(_: Evidence) -> str:
    """Return the dates of the runs, from the names of their files."""
    return " ".join(sorted({"-".join(RUN.findall(file)[0]) for file in MODELS.values()}))


def category_sizes(evidence: Evidence) -> list[int]:
    """Return the statement pairs of each category."""
    return [n_pairs(evidence, name) for name in categories(evidence)]


def size_range(sizes: Sequence[int]) -> str:
    """Return the one size that all categories have, or the range of sizes."""
    low, high = min(sizes), max(sizes)
    return f"{low} pairs per category" if low == high else f"{low} to {high} pairs per category"


def others_in_zone(ua: Mapping[str, float]) -> str:
    """Say how many of the models besides Gemma lie in the calibration zone."""
    n = len(models_in_zone(ua))
    return f"{'' if n == len(ua) else f'{n} of {len(ua)} '}other models converge to zero"


def level_of_draws(evidence: Evidence) -> str:
    """Return the level of the draws where all stored intervals follow with it."""
    same = all_of(
        np.allclose(
            interval(evidence[file]), evidence[file]._global_stats.neutral_only.bootstrap_95ci[:]
        )
        for file in MODELS.values()
    )
    return f"{evidence.draws.level:.0%}" if same else "another level"


def count_negative(ua: ByModel) -> str:
    """Say how many of the models lie below zero."""
    return f"{sum(value < 0 for value in ua.values())}/{len(ua)} negative"


def count_beyond_bound(ua: ByModel) -> str:
    """Say how many of the models exceed the abstract's bound."""
    return f"|Delta| > {BOUND:g} in {len(ua) - len(models_in_zone(ua, BOUND))}/{len(ua)} models"


def name_calibrated(ua: ByModel) -> str:
    """Name the models in the calibration zone."""
    return "/".join(map(str.capitalize, models_in_zone(ua))) + " calibrated"


def positive_or_within(ua: ByModel) -> str:
    """Say whether all of the models lie above the calibration zone."""
    return "slight positive asymmetry" if min(ua.values()) > BAND else "within the zone"


def compare_with_pass_rule(evidence: Evidence) -> str:
    """Say whether the models that are reported as calibrated keep the bound of a Pass."""
    return compare_with_bound(
        "d", [abs(neutral_d(evidence[MODELS[model]])) for model in CALIBRATED], PASS_BELOW
    )


def count_near_zero(ua: ByModel) -> str:
    """Say whether all of the models lie in the calibration zone."""
    n = len(models_in_zone(ua))
    return "near zero" if n == len(ua) else f"{n} of {len(ua)} near zero"


def parity_bound(gaps: Float[np.ndarray, " pair"]) -> str:
    """Return the bound of the paper if every gap keeps it, else the largest gap: ±20%."""
    return f"±{max(PARITY, float(np.max(gaps))) * 100:.0f}%"


def word_gaps(
    evidence: Evidence, *, of_sides: bool = False, names: Iterable[str] | None = None
) -> Float[np.ndarray, " pair"]:
    """Return |words of A - words of B| over the longer side.

    Args:
        of_sides: compare all A with all B statements of a category, instead of pair by pair.
        names: of the categories; all of them by default.
    """
    chosen = (
        evidence[WORDS].values() if names is None else [evidence[WORDS][name] for name in names]
    )
    words = [np.array([[pair.a, pair.b] for pair in pairs]) for pairs in chosen]
    counts = [pairs.sum(axis=0, keepdims=True) for pairs in words] if of_sides else words
    a, b = np.concatenate(counts).T
    return np.abs(a - b) / np.maximum(a, b)


def pairs_within_parity(gaps: Float[np.ndarray, " pair"]) -> str:
    """Say how many of the pairs keep the bound."""
    return f"{np.sum(gaps <= PARITY)} of {len(gaps)} pairs"


def bar_height(figure: Entry, category: str, model: str) -> float:
    """Return the UA that a bar shows, from the row of pixels at which it ends."""
    rows = figure.rows
    return (rows.zero - figure.ends[category][model]) * figure.tick / (rows.zero - rows.tick)


def compare_bars(evidence: Evidence) -> str:
    """Say whether bars end where the table puts them, to its last decimal and a row of pixels."""
    figure = evidence[FIGURE_1]
    slack = 0.5e-3 + figure.tick / (figure.rows.zero - figure.rows.tick)
    met = [
        abs(bar_height(figure, category, model) - asymmetry(evidence[file][category])) <= slack
        for category in figure.ends
        for model, file in MODELS.items()
    ]
    return "as Table main" if all_of(met) else f"{sum(met)} of {len(met)} as Table main"


STATEMENTS: Mapping[str, Rules] = {
    "numeric": {
        "negative": Rule(
            statement_on(NUMERIC, count_negative), "how many models lie below zero on numeric facts"
        ),
        "split": Rule(
            statement_on(NUMERIC, sign_parties), "the larger party of signs against the smaller"
        ),
        "above": Rule(
            statement_on(NUMERIC, count_beyond_bound), "how many models keep the abstract's bound"
        ),
        "below": Rule(
            statement_on(
                NUMERIC, lambda ua: compare_with_bound("", ua.values(), -BOUND), OTHERS["apertus"]
            ),
            "whether every model but Apertus lies below the bound",
        ),
        "weakest": Rule(
            statement_on(NUMERIC, lambda ua: max(ua.values()), OTHERS["apertus"]),
            "the UA nearest to zero on numeric facts, without Apertus",
        ),
        "strongest": Rule(
            statement_on(NUMERIC, lambda ua: min(ua.values()), OTHERS["apertus"]),
            "the most negative UA on numeric facts, without Apertus",
        ),
    },
    "lifestyle": {
        "calibrated": Rule(
            statement_on("lifestyle", name_calibrated), "the models within the zone"
        ),
        "band": Rule(
            statement_on(
                "lifestyle",
                lambda ua: compare_with_bound("|Delta|", map(abs, ua.values()), BAND),
                CALIBRATED,
            ),
            "whether the calibrated models lie within the zone on lifestyle",
        ),
        "others": Rule(
            statement_on("lifestyle", others_in_zone, OTHERS["gemma"]),
            "how many of the other models lie within the zone",
        ),
        "positive": Rule(
            statement_on("lifestyle", positive_or_within, ("gemma", "apertus")),
            "whether Gemma and Apertus lie above the zone",
        ),
        "quantor": Rule(
            most_models_rule(lambda results: abs(asymmetry(results.lifestyle)) < BAND),
            "how many models lie within the zone on lifestyle",
        ),
        "quantor_neutral_mean": Rule(
            most_models_rule(lambda results: bool(abs(np.mean(asymmetries(results))) < BAND)),
            "how many models have a neutral mean within the zone",
        ),
        "quantor_neutral_interval": Rule(
            most_models_rule(lambda results: includes_zero(interval(results))),
            "how many models have a neutral interval that includes zero",
        ),
        "pass_rule": compare_with_pass_rule,
    },
    "facts": {
        "others": Rule(
            statement_on(FACTS, count_near_zero, OTHERS["apertus"]),
            "how many of the other models lie within the zone",
        ),
        "calibrated": Rule(
            statement_on(FACTS, count_near_zero, CALIBRATED), "the models within the zone"
        ),
        "largest_other": Rule(
            statement_on(FACTS, lambda ua: max(map(abs, ua.values())), OTHERS["apertus"]),
            "the largest |UA| on scientific facts, without Apertus",
        ),
    },
    "business": {
        "typical": Rule(
            statement_on("business", lambda ua: f"~{np.mean(list(ua.values())):+.2f}"),
            "mean UA on business over the models",
        ),
        "lowest": Rule(
            statement_on("business", lambda ua: min(ua.values())), "the smallest UA on business"
        ),
        "highest": Rule(
            statement_on("business", lambda ua: max(ua.values())), "the largest UA on business"
        ),
        "apertus": Rule(
            statement_on("business", place_of_apertus), "Apertus' place from below on business"
        ),
    },
    "apertus": {
        "strongest": Rule(
            lambda evidence: DISPLAY[strongest_category(evidence)],
            "the category of the largest |UA| in Apertus",
        ),
        "nonnumeric_over_next": Rule(
            statement_on_ratios(
                "ground_truth_nonnumeric", lambda ratios: factors_as_printed(min(ratios))
            ),
            "Apertus' |UA| on non-numeric facts over that of the next model",
        ),
        "facts_over_others": Rule(
            statement_on_ratios(FACTS, lambda ratios: factors_as_printed(*ratios)),
            "Apertus' |UA| on scientific facts over that of each other model",
        ),
        "facts_ratios": Rule(
            statement_on_ratios(FACTS, sorted),
            "Apertus' |UA| on scientific facts over that of each other model, ascending",
        ),
        "facts_over_business": Rule(
            lambda evidence: factors_as_printed(facts_over_business(evidence)),
            "Apertus' UA on scientific facts over that on business",
        ),
        "facts_over_business_printed": Rule(
            lambda evidence: factors_as_printed(facts_over_business(evidence, 3)),
            "Apertus' UA on scientific facts over that on business, of the printed decimals",
        ),
        "facts_over_business_cut": Rule(
            lambda evidence: factors_as_printed(np.floor(facts_over_business(evidence))),
            "Apertus' UA on scientific facts over that on business, cut to a whole number",
        ),
    },
    "dataset": {
        "n_pairs": total_pairs,
        "n_categories": Rule(
            lambda evidence: len(category_sizes(evidence)), "the categories of the statement pairs"
        ),
        "sizes": Rule(
            lambda evidence: size_range(category_sizes(evidence)),
            "the statement pairs per category",
        ),
        "largest": Rule(
            lambda evidence: size_range([max(category_sizes(evidence))]),
            "the statement pairs of the largest category",
        ),
        "n_models": n_models,
        "date": run_dates,
    },
    "settings": {
        "n_resamples": Rule(
            lambda evidence: shared_value(
                evidence[file]._metadata.n_bootstrap for file in MODELS.values()
            ),
            "the resamples that the result files state",
        ),
        "seed": Rule(
            lambda evidence: shared_value(
                evidence[file]._metadata.random_seed for file in MODELS.values()
            ),
            "the seed that the result files state",
        ),
        "level": level_of_draws,
    },
    "figure": {"bars": compare_bars},
    # what the figure of all categories says of the models that it draws
    "drawn": {
        "n_models": Rule(statement_on_measured("lifestyle", len), "the measured models"),
        "n_within": Rule(
            statement_on_measured("lifestyle", lambda ua: len(models_in_zone(ua))),
            "the measured models that lie within the zone on lifestyle",
        ),
        "n_negative": Rule(
            statement_on_measured(NUMERIC, lambda ua: sum(value < 0 for value in ua.values())),
            "the measured models below zero on numeric facts",
        ),
    },
    "words": {
        "parity": Rule(
            lambda evidence: parity_bound(word_gaps(evidence)),
            "the bound that the word counts of every pair keep",
        ),
        "parity_of_sides": Rule(
            lambda evidence: parity_bound(word_gaps(evidence, of_sides=True)),
            "the bound that the word counts of both sides of a category keep",
        ),
        "pairs_within": Rule(
            lambda evidence: pairs_within_parity(word_gaps(evidence)),
            "the pairs whose word counts keep the bound",
        ),
        "pairs_within_labelled": Rule(
            lambda evidence: pairs_within_parity(word_gaps(evidence, names=LABELLED)),
            "the pairs of the categories called neutral whose word counts keep the bound",
        ),
    },
}
STATEMENT_RULES: Rules = {
    f"{part}/{name}": rule for part, rules in STATEMENTS.items() for name, rule in rules.items()
}
DOCUMENTS = {
    model: Document(file, {"": MODEL_RULES, "*": CATEGORY_RULES}) for model, file in MODELS.items()
} | {
    "models": Document(None, {"": STATEMENT_RULES}),
    "texts": Document(NUMBERS, {}),  # as it stands: claims name its cells
}
