"""The questions of Paper 1: asymmetry by category."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from layerwise.engine.derivation import Function
from layerwise.engine.evidence import Entry, Evidence
from layerwise.engine.published import NotMeasured
from layerwise.engine.questions.question import OF_MEAN, Question, Range
from layerwise.engine.questions.words import PUBLISHED
from layerwise.papers.paper1.rules.calibration import BAND, BOUND, PASS_BELOW
from layerwise.papers.paper1.rules.output_correlation import rerun_asymmetry as ua_of_rerun
from layerwise.papers.shared.names.categories import FACTS, NUMERIC
from layerwise.papers.shared.questions.choices import (
    STATES,
    measured_choices,
    rules_without_each,
)
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
        """Return UA by neutral category."""
        return self.asymmetries(self.neutral_names())

    def neutral_names(self) -> list[str]:
        return [name for name in categories(self.file) if name != NUMERIC]

    def asymmetries(self, names: Iterable[str]) -> dict[str, float]:
        return {name: asymmetry(self.file[name]) for name in names}


def paper_1_models(evidence: Evidence) -> dict[str, Categories]:
    """Return the four models of Paper 1, or the reader's."""
    return {model: Categories(model, file) for model, file in evidence.role("asymmetries").items()}


def mean_asymmetry(values: Mapping[str, float], where: str = "") -> Estimate:
    """Return the mean UA over categories; a single category has no interval."""
    return mean_estimate(list(values.values()), "categories", where=where)


def effect_size(values: Mapping[str, float], where: str = "") -> Estimate:
    """Return Cohen's d of UA over categories."""
    return effect_size_estimate(np.array(list(values.values())), "categories", where=where)


def effect_size_without_each(model: Categories) -> dict[str, Function]:
    """Return a rule per neutral category: Cohen's d without it."""
    names = model.neutral_names()
    if len(names) < 3:
        raise NotMeasured(f"{len(names)} categories leave too few when one goes")
    return rules_without_each(names, lambda others: effect_size(model.asymmetries(others)))


def neutral_rerun(model: Categories) -> dict[str, float]:
    """Return UA by neutral category in the supplement's run; a reader has none."""
    return rerun_asymmetries(model, model.neutral_names())


def mean_under(choice: str) -> Function:
    """Return the rule for the mean neutral UA in another reading of the states."""

    def rule(model: Categories) -> Estimate:
        test = measured_choices(model.evidence, model.name).calibration
        if choice not in test:
            raise NotMeasured(f"the reading {choice} is the same in every category")
        n = n_categories(model.file) - 1
        return mean_estimate_from_moments(test[choice].mean, test[choice].spread, n, "categories")

    return rule


def narrowed(rule: Callable[[Categories], Estimate]) -> Function:
    """Return the rule with the narrow interval of an equivalence test."""
    return lambda model: with_narrow_mean(rule(model))


# --- neutral statements ---------------------------------------------------------------------------

# Categories whose effect size, if it is zero, could be shown to lie within the bound: the narrow
# interval of d = 0 has the half width 1.645 / sqrt(n - 1).
FEWEST_FOR_EFFECT = math.ceil((NormalDist().inv_cdf((1 + ONE_SIDED) / 2) / PASS_BELOW) ** 2) + 1


MEAN_RULES: dict[str, Callable[[Categories], Estimate]] = {
    PUBLISHED: lambda model: mean_asymmetry(model.neutral()),
    "rerun": lambda model: mean_asymmetry(neutral_rerun(model)),
    **{choice: mean_under(choice) for choice in STATES},
}
NEUTRAL = (
    Question(
        name="calibration",
        paper=1,
        says="On neutral statements the asymmetry is near zero, within ±0.015.",
        number="mean UA of the neutral categories",
        unit="categories",
        models=paper_1_models,
        choices={choice: narrowed(rule) for choice, rule in MEAN_RULES.items()},
        within=Range(-BAND, BAND),
        effect=OF_MEAN,
    ),
    Question(
        name="positive_on_neutral",
        paper=1,
        says="On neutral statements the asymmetry is above zero.",
        number="mean UA of the neutral categories",
        unit="categories",
        models=paper_1_models,
        choices=MEAN_RULES,
        within=Range(above=0.0),
        effect=OF_MEAN,
    ),
    Question(
        name="calibration_effect",
        paper=1,
        says="The effect size over the neutral categories is under 0.3, as a Pass requires.",
        number="Cohen's d of UA over the neutral categories",
        unit="categories",
        models=paper_1_models,
        choices={
            PUBLISHED: lambda model: effect_size(model.neutral()),
            "category_out": effect_size_without_each,
            "rerun": lambda model: effect_size(neutral_rerun(model)),
        },
        within=Range(-PASS_BELOW, PASS_BELOW),
        fewest=FEWEST_FOR_EFFECT,
    ),
)


def category_rule(name: str) -> Function:
    """Return the rule for the UA of one category, which has no interval."""

    def rule(model: Categories) -> Estimate:
        if name not in categories(model.file):
            raise NotMeasured(f"there is no category {name}")
        return mean_asymmetry(model.asymmetries([name]))

    return rule


def facts_over_others(asymmetries: Mapping[str, float]) -> Estimate:
    """Return |UA| of the scientific facts less the largest |UA| of the other categories."""
    if FACTS not in asymmetries:
        raise NotMeasured(f"there is no category {FACTS}")
    sizes = {name: abs(ua) for name, ua in asymmetries.items()}
    facts = sizes.pop(FACTS)
    largest = max(sizes, key=sizes.__getitem__)
    return without_interval(facts - sizes[largest], 1, "categories", f"next: {largest}")


def rerun_asymmetries(model: Categories, names: Iterable[str]) -> dict[str, float]:
    """Return UA by category in the supplement's run.

    Raises:
        NotMeasured: for a model without a second run.
    """
    if model.name not in model.evidence.role("reruns"):
        raise NotMeasured("a second run was not measured")
    return {name: ua_of_rerun(model.file, model.name, name) for name in names}


SINGLE = (
    Question(
        name="numeric",
        paper=1,
        says="On numeric facts the asymmetry is strong and negative, below -0.14.",
        number="UA of the numeric facts",
        unit="categories",
        models=paper_1_models,
        choices={
            PUBLISHED: category_rule(NUMERIC),
            "rerun": lambda model: mean_asymmetry(rerun_asymmetries(model, [NUMERIC])),
        },
        within=Range(below=-BOUND),
    ),
    Question(
        name="facts_largest",
        paper=1,
        says="The asymmetry of scientific facts is the model's largest.",
        number="|UA| of the facts less the largest other",
        unit="categories",
        models=paper_1_models,
        choices={
            PUBLISHED: lambda model: facts_over_others(model.asymmetries(categories(model.file))),
            "rerun": lambda model: facts_over_others(
                rerun_asymmetries(model, categories(model.file))
            ),
        },
        within=Range(above=0.0),
    ),
    Question(
        name="business",
        paper=1,
        says="On business statements the asymmetry is positive.",
        number="UA of the category business",
        unit="categories",
        models=paper_1_models,
        choices={
            PUBLISHED: category_rule(BUSINESS),
            "rerun": lambda model: mean_asymmetry(rerun_asymmetries(model, [BUSINESS])),
        },
        within=Range(above=0.0),
    ),
)


QUESTIONS = (*NEUTRAL, *SINGLE)
