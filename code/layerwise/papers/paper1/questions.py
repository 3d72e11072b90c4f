"""The questions of Paper 1: asymmetry by category."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist

import numpy as np

from layerwise.engine.derivation import Function
from layerwise.engine.evidence import Entry, Evidence
from layerwise.engine.published import NotMeasured
from layerwise.engine.questions.question import OF_MEAN, PUBLISHED, Question, Range
from layerwise.papers.paper1.rules.calibration import BAND, BOUND, PASS_BELOW
from layerwise.papers.paper1.rules.output_correlation import ua as ua_of_rerun
from layerwise.papers.shared.names.categories import FACTS, NUMERIC
from layerwise.papers.shared.questions.choices import measured_choices
from layerwise.papers.shared.questions.states import STATES
from layerwise.papers.shared.rules.categories import asymmetry, categories, n_categories
from layerwise.statistics.estimates import (
    ONE_SIDED,
    Estimate,
    effect_size_estimate,
    mean_estimate,
    mean_estimate_from_moments,
    with_narrow_mean,
    without_interval,
)

BUSINESS = "business"


# --- categories -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Categories:
    """The cosines by category of one model."""

    name: str
    file: Entry

    @property
    def evidence(self) -> Evidence:
        return self.file.evidence

    def neutral(self) -> dict[str, float]:
        """UA by neutral category."""
        return self.asymmetries(self.neutral_names())

    def neutral_names(self) -> list[str]:
        return [name for name in categories(self.file) if name != NUMERIC]

    def asymmetries(self, names: Iterable[str]) -> dict[str, float]:
        return {name: asymmetry(self.file[name]) for name in names}


def paper_1_models(e: Evidence) -> dict[str, Categories]:
    """The four models of Paper 1, or the reader's."""
    return {model: Categories(model, file) for model, file in e.role("asymmetries").items()}


def of_ua(values: Mapping[str, float], where: str = "") -> Estimate:
    """Mean UA over categories; of one category without an interval."""
    return mean_estimate(list(values.values()), "categories", where=where)


def effect(values: Mapping[str, float], where: str = "") -> Estimate:
    """Cohen's d of UA over categories."""
    return effect_size_estimate(np.array(list(values.values())), "categories", where=where)


OfCategories = Callable[[Mapping[str, float]], Estimate]


def without_each(m: Categories, of: OfCategories) -> dict[str, Function]:
    """The same estimate without each neutral category in turn; each reads its own."""
    names = m.neutral_names()
    if len(names) < 3:
        raise NotMeasured(f"{len(names)} categories leave too few when one goes")

    def without(left_out: str) -> Estimate:
        return of(m.asymmetries([name for name in names if name != left_out]))

    return {name: partial(without, name) for name in names}


def second_run(m: Categories) -> dict[str, float]:
    """UA by neutral category in the supplement's run; a reader has none."""
    return rerun_of(m, m.neutral_names())


def mean_under(choice: str) -> Function:
    """Mean UA of the neutral categories in another reading of the states."""

    def rule(m: Categories) -> Estimate:
        test = measured_choices(m.evidence, m.name).calibration
        if choice not in test:
            raise NotMeasured(f"the reading {choice} is the same in every category")
        n = n_categories(m.file) - 1
        return mean_estimate_from_moments(test[choice].mean, test[choice].spread, n, "categories")

    return rule


def near_zero(values: Mapping[str, float]) -> Estimate:
    """Mean UA over categories, with the ends by which it can be shown to be near zero."""
    return with_narrow_mean(of_ua(values))


def near_zero_under(choice: str) -> Function:
    """The same in another reading of the states."""
    rule = mean_under(choice)
    return lambda m: with_narrow_mean(rule(m))


# --- neutral statements ---------------------------------------------------------------------------

# Categories whose effect size, if it is zero, could be shown to lie within the bound: the narrow
# interval of d = 0 has the half width 1.645 / sqrt(n - 1).
FOR_EFFECT = math.ceil((NormalDist().inv_cdf((1 + ONE_SIDED) / 2) / PASS_BELOW) ** 2) + 1


NEUTRAL = (
    Question(
        "calibration",
        1,
        "On neutral statements the asymmetry is near zero, within ±0.015.",
        "mean UA of the neutral categories",
        "categories",
        paper_1_models,
        {
            PUBLISHED: lambda m: near_zero(m.neutral()),
            "rerun": lambda m: near_zero(second_run(m)),
            **{choice: near_zero_under(choice) for choice in STATES},
        },
        Range(-BAND, BAND),
        OF_MEAN,
    ),
    Question(
        "positive_on_neutral",
        1,
        "On neutral statements the asymmetry is above zero.",
        "mean UA of the neutral categories",
        "categories",
        paper_1_models,
        {
            PUBLISHED: lambda m: of_ua(m.neutral()),
            "rerun": lambda m: of_ua(second_run(m)),
            **{choice: mean_under(choice) for choice in STATES},
        },
        Range(above=0.0),
        OF_MEAN,
    ),
    Question(
        "calibration_effect",
        1,
        "The effect size over the neutral categories is under 0.3, as a Pass requires.",
        "Cohen's d of UA over the neutral categories",
        "categories",
        paper_1_models,
        {
            PUBLISHED: lambda m: effect(m.neutral()),
            "category_out": lambda m: without_each(m, effect),
            "rerun": lambda m: effect(second_run(m)),
        },
        Range(-PASS_BELOW, PASS_BELOW),
        fewest=FOR_EFFECT,
    ),
)


def of_one_category(name: str) -> Function:
    """UA of a category, of which no interval was published."""

    def rule(m: Categories) -> Estimate:
        if name not in categories(m.file):
            raise NotMeasured(f"there is no category {name}")
        return of_ua(m.asymmetries([name]))

    return rule


def facts_over_others(asymmetries: Mapping[str, float]) -> Estimate:
    """|UA| of the scientific facts, less the largest of the other categories."""
    if FACTS not in asymmetries:
        raise NotMeasured(f"there is no category {FACTS}")
    sizes = {name: abs(ua) for name, ua in asymmetries.items()}
    facts = sizes.pop(FACTS)
    largest = max(sizes, key=sizes.__getitem__)
    return without_interval(facts - sizes[largest], 1, "categories", f"next: {largest}")


def rerun_of(m: Categories, names: Iterable[str]) -> dict[str, float]:
    if m.name not in m.evidence.role("reruns"):
        raise NotMeasured("a second run was not measured")
    return {name: ua_of_rerun(m.file, m.name, name) for name in names}


SINGLE = (
    Question(
        "numeric",
        1,
        "On numeric facts the asymmetry is strong and negative, below -0.14.",
        "UA of the numeric facts",
        "categories",
        paper_1_models,
        {
            PUBLISHED: of_one_category(NUMERIC),
            "rerun": lambda m: of_ua(rerun_of(m, [NUMERIC])),
        },
        Range(below=-BOUND),
    ),
    Question(
        "facts_largest",
        1,
        "The asymmetry of scientific facts is the model's largest.",
        "|UA| of the facts less the largest other",
        "categories",
        paper_1_models,
        {
            PUBLISHED: lambda m: facts_over_others(m.asymmetries(categories(m.file))),
            "rerun": lambda m: facts_over_others(rerun_of(m, categories(m.file))),
        },
        Range(above=0.0),
    ),
    Question(
        "business",
        1,
        "On business statements the asymmetry is positive.",
        "UA of the category business",
        "categories",
        paper_1_models,
        {
            PUBLISHED: of_one_category(BUSINESS),
            "rerun": lambda m: of_ua(rerun_of(m, [BUSINESS])),
        },
        Range(above=0.0),
    ),
)


QUESTIONS = (*NEUTRAL, *SINGLE)
