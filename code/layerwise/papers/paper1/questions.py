"""The questions of Paper 1: asymmetry by category."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist

import numpy as np

from layerwise.engine.derivation import Function
from layerwise.engine.evidence import Entry, Evidence
from layerwise.engine.published import OVER_MODELS, PUBLISHED, NotMeasured
from layerwise.engine.question import OF_MEAN, Question, Range
from layerwise.papers.paper1.rules.calibration import BAND, PASS_BELOW
from layerwise.papers.shared.names import FACTS, NUMERIC, STATES, Choice
from layerwise.papers.shared.questions import (
    measured_choices,
    rules_without_each,
    transform_estimates,
)
from layerwise.papers.shared.rules import asymmetry, categories, n_categories
from layerwise.statistics.estimates import (
    ONE_SIDED,
    Estimate,
    effect_size_estimate,
    family_level,
    mean_estimate,
    mean_estimate_from_moments,
    prediction_estimate,
    widened,
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


def measured_mean(model: Categories, choice: Choice) -> Estimate:
    """Return the mean neutral UA in another reading of the states."""
    test = measured_choices(model.evidence, model.name).calibration
    if choice not in test:
        raise NotMeasured(f"the reading {choice} is the same in every category")
    n = n_categories(model.file) - 1
    return mean_estimate_from_moments(test[choice].mean, test[choice].spread, n, "categories")


def family_size(evidence: Evidence) -> int:
    """Return the number of models that were asked together.

    Raises:
        NotMeasured: of one model alone, which is no family of tests.
    """
    n = len(evidence.role("asymmetries"))
    if n < 2:
        raise NotMeasured("one model is no family of tests")
    return n


def neutral_at_once(model: Categories) -> Estimate:
    """Return the mean neutral UA with an interval that holds for all models together."""
    return widened(mean_asymmetry(model.neutral()), family_size(model.evidence))


# --- neutral statements ---------------------------------------------------------------------------

# Categories whose effect size, if it is zero, could be shown to lie within the bound: the narrow
# interval of d = 0 has the half width 1.645 / sqrt(n - 1).
FEWEST_FOR_EFFECT = math.ceil((NormalDist().inv_cdf((1 + ONE_SIDED) / 2) / PASS_BELOW) ** 2) + 1


MEAN_RULES: dict[str, Function] = {
    PUBLISHED: lambda model: mean_asymmetry(model.neutral()),
    **{choice: partial(measured_mean, choice=choice) for choice in STATES},
}
NEUTRAL = (
    Question(
        name="calibration",
        paper=1,
        says="On neutral statements the asymmetry is near zero, within ±0.015.",
        number="mean asymmetry of the neutral categories",
        unit="categories",
        models=paper_1_models,
        choices=transform_estimates(with_narrow_mean, MEAN_RULES),
        within=Range(-BAND, BAND),
        effect=OF_MEAN,
    ),
    Question(
        name="positive_on_neutral",
        paper=1,
        says="On neutral statements the asymmetry is above zero.",
        number="mean asymmetry of the neutral categories",
        unit="categories",
        models=paper_1_models,
        choices={**MEAN_RULES, Choice.MODELS_AT_ONCE: neutral_at_once},
        within=Range(above=0.0),
        effect=OF_MEAN,
    ),
    Question(
        name="calibration_effect",
        paper=1,
        says="The effect size over the neutral categories is under 0.3, as a Pass requires.",
        number="Cohen's d of asymmetry over the neutral categories",
        unit="categories",
        models=paper_1_models,
        choices={
            PUBLISHED: lambda model: effect_size(model.neutral()),
            Choice.CATEGORY_OUT: effect_size_without_each,
        },
        within=Range(-PASS_BELOW, PASS_BELOW),
        fewest=FEWEST_FOR_EFFECT,
    ),
)


def asymmetry_without_interval(model: Categories, name: str) -> Estimate:
    """Return the UA of one category, which has no interval."""
    return mean_asymmetry({name: asymmetry_of(model, name)})


def asymmetry_of(model: Categories, name: str) -> float:
    """Return the UA of one category.

    Raises:
        NotMeasured: where the texts have no such category.
    """
    if name not in categories(model.file):
        raise NotMeasured(f"there is no category {name}")
    return model.asymmetries([name])[name]


def numeric_against_others(model: Categories, n_tests: int = 1) -> Estimate:
    """Return the UA of the numeric facts less the mean of the other categories.

    Its interval is that of one more category of the others' kind: their scatter is the only noise
    of a single category that was published.
    """
    numeric, others = asymmetry_of(model, NUMERIC), list(model.neutral().values())
    return prediction_estimate(numeric, others, "categories", family_level(n_tests))


def facts_over_others(asymmetries: Mapping[str, float]) -> Estimate:
    """Return |UA| of the scientific facts less the largest |UA| of the other categories."""
    if FACTS not in asymmetries:
        raise NotMeasured(f"there is no category {FACTS}")
    sizes = {name: abs(ua) for name, ua in asymmetries.items()}
    facts = sizes.pop(FACTS)
    largest = max(sizes, key=sizes.__getitem__)
    return without_interval(facts - sizes[largest], 1, "categories", f"next: {largest}")


def against_other_models(model: Categories, name: str, n_tests: int = 1) -> Estimate:
    """Return a model's UA of a category less the mean of the other models'.

    Its interval is that of one more model of the others' kind.
    """
    by_model = paper_1_models(model.evidence)
    if len(by_model) < 2:
        raise NotMeasured("there is no other model")
    others = [asymmetry_of(by_model[other], name) for other in by_model if other != model.name]
    return prediction_estimate(asymmetry_of(model, name), others, "models", family_level(n_tests))


def facts_at_once(model: Categories) -> Estimate:
    """Return the same for the facts, singled out of all categories and models."""
    n_tests = family_size(model.evidence) * n_categories(model.file)
    return against_other_models(model, FACTS, n_tests)


def several_models(evidence: Evidence) -> dict[str, Evidence]:
    """Return the evidence itself, for questions over models; a reader's one model has none."""
    return {OVER_MODELS: evidence} if len(evidence.role("asymmetries")) > 1 else {}


def mean_over_models(evidence: Evidence, name: str) -> Estimate:
    """Return the mean over models of the UA of a category."""
    values = [asymmetry_of(model, name) for model in paper_1_models(evidence).values()]
    return mean_estimate(values, "models")


SINGLE = (
    Question(
        name="numeric",
        paper=1,
        says="On numeric facts the asymmetry lies below what the other categories show.",
        number="asymmetry of the numeric facts less the mean of the other categories",
        unit="categories",
        models=paper_1_models,
        choices={
            PUBLISHED: numeric_against_others,
            Choice.MODELS_AT_ONCE: lambda model: numeric_against_others(
                model, family_size(model.evidence)
            ),
        },
        within=Range(below=0.0),
    ),
    Question(
        name="facts_above_models",
        paper=1,
        says="On scientific facts the asymmetry lies above what the other models show.",
        number="asymmetry of the facts less the mean of the other models",
        unit="models",
        models=paper_1_models,
        choices={
            PUBLISHED: partial(against_other_models, name=FACTS),
            Choice.TESTS_AT_ONCE: facts_at_once,
        },
        within=Range(above=0.0),
    ),
    Question(
        name="facts_largest",
        paper=1,
        says="The asymmetry of scientific facts is the model's largest.",
        number="|asymmetry| of the facts less the largest other",
        unit="categories",
        models=paper_1_models,
        choices={
            PUBLISHED: lambda model: facts_over_others(model.asymmetries(categories(model.file)))
        },
        within=Range(above=0.0),
    ),
    Question(
        name="business",
        paper=1,
        says="On business statements the asymmetry is positive.",
        number="asymmetry of the category business",
        unit="categories",
        models=paper_1_models,
        choices={PUBLISHED: partial(asymmetry_without_interval, name=BUSINESS)},
        within=Range(above=0.0),
    ),
    Question(
        name="business_mean",
        paper=1,
        says="On business statements the asymmetry is positive over the models.",
        number="mean asymmetry of the category business",
        unit="models",
        models=several_models,
        choices={PUBLISHED: partial(mean_over_models, name=BUSINESS)},
        within=Range(above=0.0),
    ),
    Question(
        name="business_below_models",
        paper=1,
        says="On business statements the asymmetry lies below what the other models show.",
        number="asymmetry of business less the mean of the other models",
        unit="models",
        models=paper_1_models,
        choices={PUBLISHED: partial(against_other_models, name=BUSINESS)},
        within=Range(below=0.0),
    ),
)


QUESTIONS = (*NEUTRAL, *SINGLE)
