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


def asymmetries(f: Entry, group: str = "neutral_only") -> Float[np.ndarray, " category"]:
    """UA of a group's categories, in the order of the streams."""
    return np.array([asymmetry(f[name]) for name in categories(f) if name != GROUPS[group]])


def interval(f: Entry, group: str = "neutral_only") -> Ends:
    """Interval of a group's mean UA; every one starts the stream anew."""
    draws = f.draws
    return mean_interval(asymmetries(f, group), draws.n_resamples, draws.level, draws.seed)


def neutral_d(f: Entry) -> float:
    return cohens_d(asymmetries(f))


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


def zero_in_words(f: Entry) -> str:
    """Whether the interval of the neutral mean includes zero."""
    return f"CI {'includes' if includes_zero(interval(f)) else 'excludes'} zero"


def of_group(group: str) -> Rules:
    """What Paper 1's script saves over a group of categories, and the textbook's d."""
    found: Rules = {
        "mean_asymmetry": Rule(
            lambda f: np.mean(asymmetries(f, group)), "mean UA over the categories"
        ),
        "std_asymmetry": Rule(
            lambda f: np.std(asymmetries(f, group)), "population SD of UA over the categories"
        ),
        "bootstrap_95ci": Rule(
            lambda f: list(interval(f, group)), "bootstrap interval of the mean UA"
        ),
        "cohens_d": Rule(
            lambda f: cohens_d(asymmetries(f, group)),
            "Cohen's d of UA over the categories, population SD",
        ),
        "sample_d": Rule(
            lambda f: sample_d(asymmetries(f, group)),
            "Cohen's d of UA over the categories, sample SD",
        ),
    }
    return {f"_global_stats/{group}/{name}": rule for name, rule in found.items()}


OF_MODEL: Rules = {
    "_global_stats/total_pairs": total_pairs,
    **of_group("all_categories"),
    **of_group("neutral_only"),
    "_verdicts/zero": zero_in_words,
    "_verdicts/status_paper": Rule(
        lambda f: paper_status(interval(f), neutral_d(f)),
        "the paper's word: Pass where the interval includes zero and |d| < 0.3",
    ),
    "_verdicts/status_code": Rule(
        lambda f: code_status(interval(f), neutral_d(f)),
        "the script's word, by the interval and |d| < 0.2",
    ),
    "_verdicts/status_readme": Rule(
        lambda f: code_status(interval(f), neutral_d(f)).capitalize(),
        "the script's word, as the README writes it",
    ),
}
OF_CATEGORY: Rules = {
    "n_pairs": Rule(lambda m: n_pairs(m, m.called), "the statement pairs of the category"),
    "asymmetry": asymmetry,
}

# --- across the models ----------------------------------------------------------------------------

ByModel = Mapping[str, float]
OTHERS = {left_out: [one for one in MODELS if one != left_out] for left_out in MODELS}


def statement_on(
    category: str, words: Callable[[ByModel], Any], models: Iterable[str] = tuple(MODELS)
) -> Function:
    """A statement about the UA of a category in these models."""
    return lambda e: words({model: asymmetry(e[MODELS[model]][category]) for model in models})


def over_measured(category: str, words: Callable[[ByModel], Any]) -> Function:
    """A statement about the UA of a category in those of the models that were measured."""

    def of_measured(e: Evidence) -> Any:
        files = {model: e[file] for model, file in MODELS.items()}
        there = measured_among(files, lambda f: asymmetry(f[category]))
        return words({model: asymmetry(f[category]) for model, f in there.items()})

    return of_measured


def over_the_others(category: str, words: Callable[[list[float]], Any]) -> Function:
    """A statement about |UA| of Apertus over that of each other model."""

    def of_ratios(ua: ByModel) -> Any:
        if zero := [model for model in OTHERS["apertus"] if ua[model] == 0]:
            raise LayerwiseError(
                f"a ratio to {', '.join(zero)} does not exist, the value there is 0; "
                "leave that model out"
            )
        return words([abs(ua["apertus"]) / abs(ua[model]) for model in OTHERS["apertus"]])

    return statement_on(category, of_ratios)


def times(*factors: float) -> str:
    """Factors as the paper prints them, rounded to whole numbers: 3× or, of several, 5-10×."""
    rounded = [f"{factor:.0f}" for factor in sorted(factors)]
    return f"{rounded[0]}×" if len(factors) == 1 else f"{rounded[0]}-{rounded[-1]}×"


def inside_zone(ua: ByModel, band: float = BAND) -> list[str]:
    """The models whose |UA| is below the band, in order."""
    return [model for model, value in ua.items() if abs(value) < band]


def below(name: str, values: Iterable[float], bound: float) -> str:
    """Whether every value is below a bound."""
    return f"{name} {'<' if max(values) < bound else '>='} {bound:g}".strip()


def split(ua: ByModel) -> str:
    """The larger party of signs against the smaller: 3-vs-1."""
    parties = sum(value < 0 for value in ua.values()), sum(value > 0 for value in ua.values())
    return f"{max(parties)}-vs-{min(parties)}"


def rank(ua: ByModel) -> str:
    """`lowest` if no other model is lower than Apertus, else its place from below."""
    place = sum(value < ua["apertus"] for value in ua.values()) + 1
    return "lowest" if place == 1 else f"place {place} of {len(ua)} from below"


def quantor(neutral: Callable[[Entry], bool]) -> Function:
    """`most models` where more than half are neutral by a rule, else the count."""

    def words(e: Evidence) -> str:
        n = sum(bool(neutral(e[file])) for file in MODELS.values())
        return "most models" if 2 * n > len(MODELS) else f"{n} of {len(MODELS)} models"

    return words


def strongest(e: Evidence) -> str:
    """The category of Apertus' largest |UA|."""
    ua = {name: abs(asymmetry(e[MODELS["apertus"]][name])) for name in categories(e)}
    return max(ua, key=ua.__getitem__)


def facts_over_business(e: Evidence, decimals: int | None = None) -> float:
    """Apertus' UA of the facts over that of business; of rounded ones, where decimals are."""
    facts, business = (asymmetry(e[MODELS["apertus"]][name]) for name in (FACTS, "business"))
    if decimals is not None:
        facts, business = round(facts, decimals), round(business, decimals)
    return facts / business


def n_models(e: Evidence) -> int:
    """How many models have an asymmetry, by the names in their files."""
    return count(
        (e[file] for file in MODELS.values()),
        lambda f: asymmetry(f[NUMERIC]),
        named=lambda f: f._metadata.model,
    )


def dates(_: Evidence) -> str:
    """When the runs were made, by the names of their files."""
    return " ".join(sorted({"-".join(RUN.findall(file)[0]) for file in MODELS.values()}))


def sizes(e: Evidence) -> list[int]:
    return [n_pairs(e, name) for name in categories(e)]


def size_words(sizes: Sequence[int]) -> str:
    """One size of all categories, or the range of sizes."""
    low, high = min(sizes), max(sizes)
    return f"{low} pairs per category" if low == high else f"{low} to {high} pairs per category"


def others(ua: Mapping[str, float]) -> str:
    """How many of the models besides Gemma lie in the calibration zone."""
    n = len(inside_zone(ua))
    return f"{'' if n == len(ua) else f'{n} of {len(ua)} '}other models converge to zero"


def level(e: Evidence) -> str:
    """The level of the draws, if all stored intervals follow with it; else that they do not."""
    same = all_of(
        np.allclose(interval(e[file]), e[file]._global_stats.neutral_only.bootstrap_95ci[:])
        for file in MODELS.values()
    )
    return f"{e.draws.level:.0%}" if same else "another level"


def negative(ua: ByModel) -> str:
    """How many of the models lie below zero."""
    return f"{sum(value < 0 for value in ua.values())}/{len(ua)} negative"


def above_bound(ua: ByModel) -> str:
    """How many of the models keep the abstract's bound."""
    return f"|Delta| > {BOUND:g} in {len(ua) - len(inside_zone(ua, BOUND))}/{len(ua)} models"


def calibrated(ua: ByModel) -> str:
    """The models in the calibration zone."""
    return "/".join(map(str.capitalize, inside_zone(ua))) + " calibrated"


def slightly_positive(ua: ByModel) -> str:
    """Whether all of the models lie above the calibration zone."""
    return "slight positive asymmetry" if min(ua.values()) > BAND else "within the zone"


def pass_rule(e: Evidence) -> str:
    """Whether the models that are reported as calibrated keep the bound of a Pass."""
    return below("d", [abs(neutral_d(e[MODELS[model]])) for model in CALIBRATED], PASS_BELOW)


def all_near(ua: ByModel) -> str:
    """Whether all of the models lie in the calibration zone."""
    n = len(inside_zone(ua))
    return "near zero" if n == len(ua) else f"{n} of {len(ua)} near zero"


def parity(gaps: Float[np.ndarray, " pair"]) -> str:
    """The bound asked for if every gap keeps it, else the largest gap: ±20%."""
    return f"±{max(PARITY, float(np.max(gaps))) * 100:.0f}%"


def gaps(
    e: Evidence, *, of_sides: bool = False, names: Iterable[str] | None = None
) -> Float[np.ndarray, " pair"]:
    """|words of A - words of B| over the longer side, of the pairs or of a category's sides."""
    chosen = e[WORDS].values() if names is None else [e[WORDS][name] for name in names]
    words = [np.array([[pair.a, pair.b] for pair in pairs]) for pairs in chosen]
    both = [pairs.sum(axis=0, keepdims=True) for pairs in words] if of_sides else words
    a, b = np.concatenate(both).T
    return np.abs(a - b) / np.maximum(a, b)


def pairs_within(found: Float[np.ndarray, " pair"]) -> str:
    """How many of the pairs keep the bound."""
    return f"{np.sum(found <= PARITY)} of {len(found)} pairs"


def bar(figure: Entry, category: str, model: str) -> float:
    """Height of a bar, from where it ends between the rows of zero and of the highest tick."""
    rows = figure.rows
    return (rows.zero - figure.ends[category][model]) * figure.tick / (rows.zero - rows.tick)


def bars(e: Evidence) -> str:
    """Whether the bars end where the table puts them, to its last decimal and a row of pixels."""
    figure = e[FIGURE_1]
    slack = 0.5e-3 + figure.tick / (figure.rows.zero - figure.rows.tick)
    met = [
        abs(bar(figure, category, model) - asymmetry(e[file][category])) <= slack
        for category in figure.ends
        for model, file in MODELS.items()
    ]
    return "as Table main" if all_of(met) else f"{sum(met)} of {len(met)} as Table main"


STATEMENTS: Mapping[str, Rules] = {
    "numeric": {
        "negative": Rule(
            statement_on(NUMERIC, negative), "how many models lie below zero on numeric facts"
        ),
        "split": Rule(
            statement_on(NUMERIC, split), "the larger party of signs against the smaller"
        ),
        "above": Rule(
            statement_on(NUMERIC, above_bound), "how many models keep the abstract's bound"
        ),
        "below": Rule(
            statement_on(NUMERIC, lambda ua: below("", ua.values(), -BOUND), OTHERS["apertus"]),
            "whether every model but Apertus lies below the bound",
        ),
        "weakest": Rule(
            statement_on(NUMERIC, lambda ua: max(ua.values()), OTHERS["apertus"]),
            "the UA nearest to zero on numeric facts, without Apertus",
        ),
        "strongest": Rule(
            statement_on(NUMERIC, lambda ua: min(ua.values()), OTHERS["apertus"]),
            "the most negative UA on numeric facts, or the category of the largest |UA| in Apertus",
        ),
    },
    "lifestyle": {
        "calibrated": Rule(statement_on("lifestyle", calibrated), "the models within the zone"),
        "band": Rule(
            statement_on(
                "lifestyle", lambda ua: below("|Delta|", map(abs, ua.values()), BAND), CALIBRATED
            ),
            "whether the calibrated models lie within the zone on lifestyle",
        ),
        "others": Rule(
            statement_on("lifestyle", others, OTHERS["gemma"]),
            "how many of the other models lie within the zone",
        ),
        "positive": Rule(
            statement_on("lifestyle", slightly_positive, ("gemma", "apertus")),
            "whether Gemma and Apertus lie above the zone",
        ),
        "quantor": Rule(
            quantor(lambda f: abs(asymmetry(f.lifestyle)) < BAND),
            "how many models lie within the zone on lifestyle",
        ),
        "quantor_neutral_mean": Rule(
            quantor(lambda f: bool(abs(np.mean(asymmetries(f))) < BAND)),
            "how many models have a neutral mean within the zone",
        ),
        "quantor_neutral_interval": Rule(
            quantor(lambda f: includes_zero(interval(f))),
            "how many models have a neutral interval that includes zero",
        ),
        "pass_rule": pass_rule,
    },
    "facts": {
        "others": Rule(
            statement_on(FACTS, all_near, OTHERS["apertus"]),
            "how many of the other models lie within the zone",
        ),
        "calibrated": Rule(statement_on(FACTS, all_near, CALIBRATED), "the models within the zone"),
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
        "apertus": Rule(statement_on("business", rank), "Apertus' place from below on business"),
    },
    "apertus": {
        "strongest": Rule(
            lambda e: DISPLAY[strongest(e)],
            "the most negative UA on numeric facts, or the category of the largest |UA| in Apertus",
        ),
        "nonnumeric_over_next": Rule(
            over_the_others("ground_truth_nonnumeric", lambda ratios: times(min(ratios))),
            "Apertus' |UA| on non-numeric facts over that of the next model",
        ),
        "facts_over_others": Rule(
            over_the_others(FACTS, lambda ratios: times(*ratios)),
            "Apertus' |UA| on scientific facts over that of each other model",
        ),
        "facts_ratios": Rule(
            over_the_others(FACTS, sorted),
            "Apertus' |UA| on scientific facts over that of each other model, ascending",
        ),
        "facts_over_business": Rule(
            lambda e: times(facts_over_business(e)),
            "Apertus' UA on scientific facts over that on business",
        ),
        "facts_over_business_printed": Rule(
            lambda e: times(facts_over_business(e, 3)), "the same ratio of the printed decimals"
        ),
        "facts_over_business_cut": Rule(
            lambda e: times(np.floor(facts_over_business(e))),
            "the same ratio, cut to a whole number",
        ),
    },
    "dataset": {
        "n_pairs": total_pairs,
        "n_categories": Rule(lambda e: len(sizes(e)), "the categories of the statement pairs"),
        "sizes": Rule(lambda e: size_words(sizes(e)), "the statement pairs per category"),
        "largest": Rule(
            lambda e: size_words([max(sizes(e))]), "the statement pairs of the largest category"
        ),
        "n_models": n_models,
        "date": dates,
    },
    "settings": {
        "n_resamples": Rule(
            lambda e: shared_value(e[file]._metadata.n_bootstrap for file in MODELS.values()),
            "the resamples that the result files state",
        ),
        "seed": Rule(
            lambda e: shared_value(e[file]._metadata.random_seed for file in MODELS.values()),
            "the seed that the result files state",
        ),
        "level": level,
    },
    "figure": {"bars": bars},
    "texts": {
        "archimedes": Rule(
            lambda e: e[NUMBERS].ground_truth_numeric[0].b,
            "the number in the first numeric statement",
        )
    },
    # what the figure of all categories says of the models that it draws
    "drawn": {
        "n_models": Rule(over_measured("lifestyle", len), "the measured models"),
        "n_within": Rule(
            over_measured("lifestyle", lambda ua: len(inside_zone(ua))),
            "the measured models that lie within the zone on lifestyle",
        ),
        "n_negative": Rule(
            over_measured(NUMERIC, lambda ua: sum(one < 0 for one in ua.values())),
            "the measured models below zero on numeric facts",
        ),
    },
    "words": {
        "parity": Rule(
            lambda e: parity(gaps(e)), "the bound that the word counts of every pair keep"
        ),
        "parity_of_sides": Rule(
            lambda e: parity(gaps(e, of_sides=True)),
            "the bound that the word counts of both sides of a category keep",
        ),
        "pairs_within": Rule(
            lambda e: pairs_within(gaps(e)), "the pairs whose word counts keep the bound"
        ),
        "pairs_within_labelled": Rule(
            lambda e: pairs_within(gaps(e, names=LABELLED)),
            "the same, of the categories that the paper calls neutral",
        ),
    },
}
ACROSS_MODELS: Rules = {
    f"{part}/{name}": rule for part, rules in STATEMENTS.items() for name, rule in rules.items()
}
DOCUMENTS = {
    model: Document(file, {"": OF_MODEL, "*": OF_CATEGORY}) for model, file in MODELS.items()
} | {"models": Document(None, {"": ACROSS_MODELS})}
