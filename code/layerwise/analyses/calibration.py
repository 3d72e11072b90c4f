"""Paper 1: asymmetry by category and model, the calibration of the models, and what its text says.

A statement across the four models is the text in print where its rule holds.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from layerwise.analyses.categories import (
    FACTS,
    NUMERIC,
    asymmetry,
    categories,
    n_pairs,
    total_pairs,
)
from layerwise.analyses.derivation import Document, Rule, Rules
from layerwise.analyses.evidence import Entry, Evidence
from layerwise.inputs.result_files import PAPER1
from layerwise.statistics import calibration
from layerwise.statistics.bootstrap import mean_interval
from layerwise.statistics.curves import includes_zero
from layerwise.statistics.samples import cohens_d, sample_d

GROUPS = {"all_categories": "", "neutral_only": NUMERIC}  # and the category that it leaves out
MODELS = {model: PAPER1[model] for model in ("gemma", "llama", "mistral", "apertus")}
CALIBRATED = ("llama", "mistral")  # the models that the paper reports as calibrated
DISPLAY = {  # the categories as the paper's tables write them
    NUMERIC: "GT Numeric",
    "ground_truth_nonnumeric": "GT Non-Numeric",
    "tech_philosophy": "Tech Philosophy",
    "lifestyle": "Lifestyle",
    "business": "Business",
    FACTS: "Scientific Facts",
}
RUN = re.compile(r"_(\d{4})(\d{2})(\d{2})_")  # when a model's result file was made, in its name
WORDS = "words of dataset.json"  # white-space words per statement of the neutral categories

# --- one model ------------------------------------------------------------------------------------


def asymmetries(f: Entry, group: str = "neutral_only") -> Float[np.ndarray, " category"]:
    """UA of a group's categories, in the order of the streams."""
    return np.array([asymmetry(f[name]) for name in categories(f) if name != GROUPS[group]])


def interval(f: Entry, group: str = "neutral_only") -> tuple[float, float]:
    """Interval of a group's mean UA; every one starts the stream anew."""
    draws = f.draws
    return mean_interval(asymmetries(f, group), draws.n_resamples, draws.level, draws.seed)


def neutral_d(f: Entry) -> float:
    return cohens_d(asymmetries(f))


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
    "_verdicts/zero": lambda f: (
        f"CI {'includes' if includes_zero(interval(f)) else 'excludes'} zero"
    ),
    "_verdicts/status_paper": lambda f: calibration.paper_status(interval(f), neutral_d(f)),
    "_verdicts/status_code": lambda f: calibration.code_status(interval(f), neutral_d(f)),
}
OF_CATEGORY: Rules = {"n_pairs": lambda m: n_pairs(m, m.called), "asymmetry": asymmetry}

# --- across the models ----------------------------------------------------------------------------

Words = Callable[[Mapping[str, float]], Any]
BOUND, BAND = calibration.NUMERIC_BOUND, calibration.BAND
OTHERS = {left_out: [one for one in MODELS if one != left_out] for left_out in MODELS}


def over(category: str, words: Words, models: Iterable[str] = tuple(MODELS)) -> Rule:
    """A statement about the UA of a category in these models."""
    return lambda e: words({model: asymmetry(e[MODELS[model]][category]) for model in models})


def over_the_others(category: str, words: Callable[[list[float]], Any]) -> Rule:
    """A statement about |UA| of Apertus over that of each other model."""
    return over(category, lambda ua: words(list(calibration.ratios(ua, "apertus").values())))


def quantor(neutral: Callable[[Entry], bool]) -> Rule:
    """How many of the models are neutral by a rule."""
    return lambda e: calibration.quantor(
        sum([bool(neutral(e[file])) for file in MODELS.values()]), len(MODELS)
    )


def below(name: str, values: Iterable[float], bound: float) -> str:
    """Whether the largest |value| is below a bound."""
    return calibration.bound_words(name, list(map(abs, values)), bound)


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


def sizes(e: Evidence) -> list[int]:
    return [n_pairs(e, name) for name in categories(e)]


def others(ua: Mapping[str, float]) -> str:
    """How many of the models besides Gemma lie in the calibration zone."""
    n = len(calibration.within(ua))
    return f"{'' if n == len(ua) else f'{n} of {len(ua)} '}other models converge to zero"


def gaps(e: Evidence, *, of_sides: bool = False) -> Float[np.ndarray, " pair"]:
    """|words of A - words of B| over the longer side, of the pairs or of a category's sides."""
    words = [np.array([[pair.a, pair.b] for pair in pairs]) for pairs in e[WORDS].values()]
    both = [pairs.sum(axis=0, keepdims=True) for pairs in words] if of_sides else words
    a, b = np.concatenate(both).T
    return np.abs(a - b) / np.maximum(a, b)


STATEMENTS: Mapping[str, Rules] = {
    "numeric": {
        "negative": over(
            NUMERIC, lambda ua: f"{sum(one < 0 for one in ua.values())}/{len(ua)} negative"
        ),
        "split": over(NUMERIC, calibration.split_words),
        # the abstract's bound
        "above": over(
            NUMERIC,
            lambda ua: (
                f"|Delta| > {BOUND:g} in "
                f"{len(ua) - len(calibration.within(ua, BOUND))}/{len(ua)} models"
            ),
        ),
        "below": over(
            NUMERIC,
            lambda ua: calibration.bound_words("", list(ua.values()), -BOUND),
            OTHERS["apertus"],
        ),
        "weakest": over(NUMERIC, lambda ua: max(ua.values()), OTHERS["apertus"]),
        "strongest": over(NUMERIC, lambda ua: min(ua.values()), OTHERS["apertus"]),
    },
    "lifestyle": {
        "calibrated": over(
            "lifestyle",
            lambda ua: "/".join(map(str.capitalize, calibration.within(ua))) + " calibrated",
        ),
        "band": over("lifestyle", lambda ua: below("|Delta|", ua.values(), BAND), CALIBRATED),
        "others": over("lifestyle", others, OTHERS["gemma"]),
        "quantor": over(
            "lifestyle", lambda ua: calibration.quantor(len(calibration.within(ua)), len(ua))
        ),
        "quantor_neutral_mean": quantor(lambda f: bool(abs(np.mean(asymmetries(f))) < BAND)),
        "quantor_neutral_interval": quantor(lambda f: includes_zero(interval(f))),
        "pass_rule": lambda e: below(
            "d",
            [neutral_d(e[MODELS[model]]) for model in CALIBRATED],
            calibration.PASS_BELOW,
        ),
    },
    "business": {
        "typical": over("business", lambda ua: f"~{np.mean(list(ua.values())):+.2f}"),
        "lowest": over("business", lambda ua: min(ua.values())),
        "highest": over("business", lambda ua: max(ua.values())),
        "apertus": over("business", lambda ua: calibration.rank_words(ua, "apertus")),
    },
    "apertus": {
        "strongest": lambda e: DISPLAY[strongest(e)],
        "nonnumeric_over_next": over_the_others(
            "ground_truth_nonnumeric", lambda ratios: calibration.times(min(ratios))
        ),
        "facts_over_others": over_the_others(FACTS, lambda ratios: calibration.times(*ratios)),
        "facts_ratios": over_the_others(FACTS, sorted),
        "facts_over_business": lambda e: calibration.times(facts_over_business(e)),
        "facts_over_business_printed": lambda e: calibration.times(facts_over_business(e, 3)),
        "facts_over_business_cut": lambda e: calibration.times(np.floor(facts_over_business(e))),
    },
    "dataset": {
        "n_pairs": total_pairs,
        "n_categories": lambda e: len(sizes(e)),
        "sizes": lambda e: calibration.size_words(sizes(e)),
        "largest": lambda e: calibration.size_words([max(sizes(e))]),
        "n_models": lambda e: len(
            {e[file]._metadata.model: asymmetry(e[file][NUMERIC]) for file in MODELS.values()}
        ),
        # of the runs, from their files' names
        "date": lambda _: " ".join(
            sorted({"-".join(RUN.findall(file)[0]) for file in MODELS.values()})
        ),
    },
    "words": {
        "parity": lambda e: calibration.parity_words(gaps(e)),
        "parity_of_sides": lambda e: calibration.parity_words(gaps(e, of_sides=True)),
        "pairs_within": lambda e: (
            f"{np.sum(gaps(e) <= calibration.PARITY)} of {len(gaps(e))} pairs"
        ),
    },
}
ACROSS_MODELS: Rules = {
    f"{part}/{name}": rule for part, rules in STATEMENTS.items() for name, rule in rules.items()
}
DOCUMENTS = {
    model: Document(file, {"": OF_MODEL, "*": OF_CATEGORY}) for model, file in MODELS.items()
} | {"models": Document(None, {"": ACROSS_MODELS})}
