"""Asymmetry by category and model, the models' calibration, and what Paper 1's text says of them.

A statement across the four models is the text in print where its rule holds.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from layerwise.engine.derivation import Document, Function, Rules, all_of, count
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
        "mean_asymmetry": lambda f: np.mean(asymmetries(f, group)),
        "std_asymmetry": lambda f: np.std(asymmetries(f, group)),
        "bootstrap_95ci": lambda f: list(interval(f, group)),
        "cohens_d": lambda f: cohens_d(asymmetries(f, group)),
        "sample_d": lambda f: sample_d(asymmetries(f, group)),
    }
    return {f"_global_stats/{group}/{name}": rule for name, rule in found.items()}


OF_MODEL: Rules = {
    "_global_stats/total_pairs": total_pairs,
    **of_group("all_categories"),
    **of_group("neutral_only"),
    "_verdicts/zero": zero_in_words,
    "_verdicts/status_paper": lambda f: paper_status(interval(f), neutral_d(f)),
    "_verdicts/status_code": lambda f: code_status(interval(f), neutral_d(f)),
    "_verdicts/status_readme": lambda f: code_status(interval(f), neutral_d(f)).capitalize(),
}
OF_CATEGORY: Rules = {"n_pairs": lambda m: n_pairs(m, m.called), "asymmetry": asymmetry}

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
        "negative": statement_on(NUMERIC, negative),
        "split": statement_on(NUMERIC, split),
        "above": statement_on(NUMERIC, above_bound),
        "below": statement_on(
            NUMERIC, lambda ua: below("", ua.values(), -BOUND), OTHERS["apertus"]
        ),
        "weakest": statement_on(NUMERIC, lambda ua: max(ua.values()), OTHERS["apertus"]),
        "strongest": statement_on(NUMERIC, lambda ua: min(ua.values()), OTHERS["apertus"]),
    },
    "lifestyle": {
        "calibrated": statement_on("lifestyle", calibrated),
        "band": statement_on(
            "lifestyle", lambda ua: below("|Delta|", map(abs, ua.values()), BAND), CALIBRATED
        ),
        "others": statement_on("lifestyle", others, OTHERS["gemma"]),
        "positive": statement_on("lifestyle", slightly_positive, ("gemma", "apertus")),
        "quantor": quantor(lambda f: abs(asymmetry(f.lifestyle)) < BAND),
        "quantor_neutral_mean": quantor(lambda f: bool(abs(np.mean(asymmetries(f))) < BAND)),
        "quantor_neutral_interval": quantor(lambda f: includes_zero(interval(f))),
        "pass_rule": pass_rule,
    },
    "facts": {
        "others": statement_on(FACTS, all_near, OTHERS["apertus"]),
        "calibrated": statement_on(FACTS, all_near, CALIBRATED),
        "largest_other": statement_on(
            FACTS, lambda ua: max(map(abs, ua.values())), OTHERS["apertus"]
        ),
    },
    "business": {
        "typical": statement_on("business", lambda ua: f"~{np.mean(list(ua.values())):+.2f}"),
        "lowest": statement_on("business", lambda ua: min(ua.values())),
        "highest": statement_on("business", lambda ua: max(ua.values())),
        "apertus": statement_on("business", rank),
    },
    "apertus": {
        "strongest": lambda e: DISPLAY[strongest(e)],
        "nonnumeric_over_next": over_the_others(
            "ground_truth_nonnumeric", lambda ratios: times(min(ratios))
        ),
        "facts_over_others": over_the_others(FACTS, lambda ratios: times(*ratios)),
        "facts_ratios": over_the_others(FACTS, sorted),
        "facts_over_business": lambda e: times(facts_over_business(e)),
        "facts_over_business_printed": lambda e: times(facts_over_business(e, 3)),
        "facts_over_business_cut": lambda e: times(np.floor(facts_over_business(e))),
    },
    "dataset": {
        "n_pairs": total_pairs,
        "n_categories": lambda e: len(sizes(e)),
        "sizes": lambda e: size_words(sizes(e)),
        "largest": lambda e: size_words([max(sizes(e))]),
        "n_models": n_models,
        "date": dates,
    },
    "settings": {
        "n_resamples": lambda e: shared_value(
            e[file]._metadata.n_bootstrap for file in MODELS.values()
        ),
        "seed": lambda e: shared_value(e[file]._metadata.random_seed for file in MODELS.values()),
        "level": level,
    },
    "figure": {"bars": bars},
    "texts": {"archimedes": lambda e: e[NUMBERS].ground_truth_numeric[0].b},
    # what the figure of all categories says of the models that it draws
    "drawn": {
        "n_models": over_measured("lifestyle", len),
        "n_within": over_measured("lifestyle", lambda ua: len(inside_zone(ua))),
        "n_negative": over_measured(NUMERIC, lambda ua: sum(one < 0 for one in ua.values())),
    },
    "words": {
        "parity": lambda e: parity(gaps(e)),
        "parity_of_sides": lambda e: parity(gaps(e, of_sides=True)),
        "pairs_within": lambda e: pairs_within(gaps(e)),
        "pairs_within_labelled": lambda e: pairs_within(gaps(e, names=LABELLED)),
    },
}
ACROSS_MODELS: Rules = {
    f"{part}/{name}": rule for part, rules in STATEMENTS.items() for name, rule in rules.items()
}
DOCUMENTS = {
    model: Document(file, {"": OF_MODEL, "*": OF_CATEGORY}) for model, file in MODELS.items()
} | {"models": Document(None, {"": ACROSS_MODELS})}
