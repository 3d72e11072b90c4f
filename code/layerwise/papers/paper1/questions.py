"""The questions of Paper 1: asymmetry by category.

What is said of the neutral categories together has Student's t over them. A single category has the
error of leaving out one of its pairs in turn, which takes the states of the pairs: print has its
value alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from jaxtyping import Float

from layerwise.engine.derivation import Function
from layerwise.engine.evidence import Entry, Evidence
from layerwise.engine.published import DECIDES, OVER_MODELS, PUBLISHED, NotMeasured
from layerwise.engine.question import FamilyOfTests, Question, Range
from layerwise.papers.shared.names import FACTS, NUMERIC, STATES, Choice
from layerwise.papers.shared.questions import measured_choices, require_any, rules_without_each
from layerwise.papers.shared.rules import asymmetry, categories
from layerwise.papers.shared.terms import BAND
from layerwise.statistics.bootstrap import mean_interval
from layerwise.statistics.by_category import ALIKE
from layerwise.statistics.estimates import (
    BOOTSTRAP,
    LEVEL,
    Estimate,
    at_any_level,
    mean_estimate,
    mean_estimate_from_moments,
    without_interval,
)
from layerwise.statistics.extremes import highest, lowest
from layerwise.statistics.jackknife import (
    FEWEST_LEFT_OUT,
    Jackknifed,
    combine_jackknifed,
    jackknife,
    jackknife_estimate,
)

BUSINESS = "business"
UNIT = "pairs"  # of what is said of a single category
N_MODELS, N_CATEGORIES = 4, 6  # of the paper

# --- categories -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Categories:
    """The cosines by category of one model."""

    name: str
    file: Entry

    @property
    def evidence(self) -> Evidence:
        return self.file.evidence

    def names(self) -> list[str]:
        return categories(self.file)

    def neutral_names(self) -> list[str]:
        """Return the neutral categories: those marked so, else all but the numeric facts."""
        return self.marked() or self.other_names() or self.names()

    def other_names(self) -> list[str]:
        """Return all but the numeric facts."""
        return [name for name in self.names() if name != NUMERIC]

    def marked(self) -> list[str]:
        """Return the categories that a reader's file marks as neutral; none in print."""
        try:
            measured = measured_choices(self.evidence, self.name)
        except NotMeasured:
            return []
        return list(measured.neutral) if "neutral" in measured else []

    def which_neutral(self) -> str:
        """Return what is taken as neutral, where it is not what the papers take."""
        if self.marked():
            return "the categories marked neutral"
        return "" if NUMERIC in self.names() else "your categories"

    def asymmetry(self, name: str) -> float:
        """Return the UA of a category.

        Raises:
            NotMeasured: where the texts have no such category.
        """
        if name not in self.names():
            raise NotMeasured(f"there is no category {name}")
        return asymmetry(self.file[name])

    def asymmetries(self, names: Iterable[str]) -> list[float]:
        return [self.asymmetry(name) for name in names]

    def without_each_pair(self, name: str) -> Float[np.ndarray, " pair"]:
        """Return the UA of a category without each of its pairs.

        Raises:
            NotMeasured: where the pairs are not there, as in print, or are too few.
        """
        without = np.array(measured_choices(self.evidence, self.name).by_pair[name].ua_without_pair)
        if len(without) < FEWEST_LEFT_OUT:
            raise NotMeasured(
                f"the category {name} has {len(without)} pairs, its error takes {FEWEST_LEFT_OUT}"
            )
        return without

    def jackknifed(self, name: str) -> Jackknifed:
        """Return the UA of a category with its error."""
        return jackknife(self.asymmetry(name), self.without_each_pair(name))


def paper_1_models(evidence: Evidence) -> dict[str, Categories]:
    """Return the four models of Paper 1, or the reader's."""
    return {model: Categories(model, file) for model, file in evidence.role("asymmetries").items()}


def single_value(value: float, where: str = "") -> Estimate:
    """Return a number of a single category as print has it: without an interval."""
    return without_interval(value, 1, "categories", where)


# --- neutral statements ---------------------------------------------------------------------------


def mean_over(model: Categories, names: Iterable[str]) -> Estimate:
    """Return the mean UA over categories."""
    return mean_estimate(model.asymmetries(names), "categories", where=model.which_neutral())


def neutral_mean(model: Categories) -> Estimate:
    """Return the mean UA over the neutral categories; of pairs in none, the UA of all of them."""
    names = model.names()
    if len(names) == 1:
        estimate = jackknife_estimate(model.jackknifed(names[0]), UNIT)
        return replace(estimate, method=ALIKE, uncategorised=True)
    return mean_over(model, model.neutral_names())


@at_any_level
def resampled_mean(model: Categories, level: float = LEVEL) -> Estimate:
    """Return the mean UA over the neutral categories with the paper's bootstrap interval.

    Raises:
        NotMeasured: for one category, of which every resample is the same.
    """
    ua, draws = np.array(model.asymmetries(model.neutral_names())), model.evidence.draws
    if len(ua) < 2:
        raise NotMeasured("one category has no resamples that differ")
    ends = mean_interval(ua, draws.n_resamples, level, draws.seed)
    return Estimate(float(ua.mean()), *ends, len(ua), "categories", method=BOOTSTRAP)


def mean_of_states(model: Categories, states: Choice) -> Estimate:
    """Return the mean neutral UA in another reading of the states."""
    test = measured_choices(model.evidence, model.name).calibration
    if states not in test:
        raise NotMeasured(f"the reading {states} is the same in every category")
    if len(model.names()) == 1:
        raise NotMeasured(f"the pairs in the reading {states} come in no categories")
    n = len(model.neutral_names())
    return mean_estimate_from_moments(test[states].mean, test[states].spread, n, "categories")


def mean_without_each(model: Categories) -> dict[str, Function]:
    """Return a rule per neutral category: the mean UA over the others."""
    names = model.neutral_names()
    if len(names) < 3:
        raise NotMeasured(f"{len(names)} categories leave too few when one goes")
    return rules_without_each(names, partial(mean_over, model))


neutral_question = partial(
    Question,
    paper=1,
    number="mean asymmetry over the neutral categories",
    unit="categories",
    models=paper_1_models,
    readings={
        DECIDES: neutral_mean,
        PUBLISHED: resampled_mean,
        **{states: partial(mean_of_states, states=states) for states in STATES},
        Choice.CATEGORY_OUT: mean_without_each,
    },
)
NEUTRAL = (
    neutral_question(
        name="calibration",
        says="On neutral statements the asymmetry is near zero, within ±0.015.",
        says_of_readers="In the mean over the categories the asymmetry is near zero, within "
        "±0.015.",
        within=Range(-BAND, BAND),
        family=FamilyOfTests(N_MODELS, N_MODELS, "at least three of four models"),
    ),
    neutral_question(
        name="positive_on_neutral",
        says="On neutral statements the asymmetry is above zero.",
        says_of_readers="In the mean over the categories the asymmetry is above zero.",
        within=Range(above=0.0),
        family=FamilyOfTests(N_MODELS, N_MODELS, "two of four models, picked by the result"),
    ),
)


# --- a single category ----------------------------------------------------------------------------


require_others = partial(require_any, missing="there is no other category")


def numeric_less_others(model: Categories) -> Estimate:
    """Return the UA of the numeric facts less the mean of the other categories."""
    others = require_others(model.other_names())
    parts = [(-1 / len(others), model.jackknifed(name)) for name in others]
    return jackknife_estimate(combine_jackknifed([(1.0, model.jackknifed(NUMERIC)), *parts]), UNIT)


def numeric_in_print(model: Categories) -> Estimate:
    """Return the same difference as print has it."""
    others = np.mean(model.asymmetries(require_others(model.other_names())))
    return single_value(model.asymmetry(NUMERIC) - float(others))


def other_models(model: Categories) -> list[Categories]:
    """Return the other models of the source.

    Raises:
        NotMeasured: where there is none.
    """
    by_name = paper_1_models(model.evidence)
    others = [other for name, other in by_name.items() if name != model.name]
    return require_any(others, "there is no other model")


def less_models(
    model: Categories, others: list[Categories], name: str, where: str = ""
) -> Estimate:
    """Return a model's UA of a category less the mean of others, each pair left out in all."""
    value = model.asymmetry(name) - float(np.mean([other.asymmetry(name) for other in others]))
    without = np.mean([other.without_each_pair(name) for other in others], axis=0)
    number = jackknife(value, model.without_each_pair(name) - without)
    return jackknife_estimate(number, UNIT, where)


def facts_less_others(model: Categories) -> Estimate:
    """Return a model's UA of the facts less the mean of the other models."""
    return less_models(model, other_models(model), FACTS)


def facts_in_print(model: Categories) -> Estimate:
    """Return the same difference as print has it."""
    others = np.mean([other.asymmetry(FACTS) for other in other_models(model)])
    return single_value(model.asymmetry(FACTS) - float(others))


def business_less_lowest(model: Categories) -> Estimate:
    """Return a model's UA of business less the lowest of the other models."""
    return highest(
        [
            less_models(model, [other], BUSINESS, comparison_in_words(other.name.capitalize()))
            for other in other_models(model)
        ]
    )


def business_place_in_print(model: Categories) -> Estimate:
    """Return the same difference as print has it."""
    nearest = min(other_models(model), key=lambda other: other.asymmetry(BUSINESS))
    value = model.asymmetry(BUSINESS) - nearest.asymmetry(BUSINESS)
    return single_value(value, comparison_in_words(nearest.name.capitalize()))


def comparison_in_words(name: str) -> str:
    """Return in words what a number is held against: a category, or a model."""
    return f"against {name}"


def facts_less_largest(model: Categories) -> Estimate:
    """Return |UA| of the facts less the largest |UA| of the other categories."""
    facts = model.jackknifed(FACTS).size
    differences = {
        name: combine_jackknifed([(1.0, facts), (-1.0, model.jackknifed(name).size)])
        for name in require_others([name for name in model.names() if name != FACTS])
    }
    return lowest(
        [
            jackknife_estimate(difference, UNIT, comparison_in_words(name))
            for name, difference in differences.items()
        ]
    )


def facts_place_in_print(model: Categories) -> Estimate:
    """Return the same difference as print has it."""
    sizes = {name: abs(model.asymmetry(name)) for name in model.names()}
    facts = abs(model.asymmetry(FACTS))
    others = require_others([name for name in sizes if name != FACTS])
    largest = max(others, key=sizes.__getitem__)
    return single_value(facts - sizes[largest], comparison_in_words(largest))


def business_estimate(model: Categories) -> Estimate:
    """Return the UA of business."""
    return jackknife_estimate(model.jackknifed(BUSINESS), UNIT)


def business_in_print(model: Categories) -> Estimate:
    """Return the same as print has it."""
    return single_value(model.asymmetry(BUSINESS))


def several_models(evidence: Evidence) -> dict[str, Evidence]:
    """Return the evidence itself, for questions over models; a reader's one model has none."""
    return {OVER_MODELS: evidence} if len(evidence.role("asymmetries")) > 1 else {}


def business_over_models(evidence: Evidence) -> Estimate:
    """Return the mean over models of the UA of business."""
    values = [model.asymmetry(BUSINESS) for model in paper_1_models(evidence).values()]
    return mean_estimate(values, "models")


pairs_question = partial(Question, paper=1, unit=UNIT, models=paper_1_models)
SINGLE = (
    pairs_question(
        name="numeric",
        says="On numeric facts the asymmetry lies below that of the other categories.",
        number="asymmetry of the numeric facts less the mean of the other categories",
        readings={DECIDES: numeric_less_others, PUBLISHED: numeric_in_print},
        within=Range(below=0.0),
        family=FamilyOfTests(N_MODELS, N_MODELS, "four models, the exception picked by the result"),
    ),
    pairs_question(
        name="facts_above_models",
        says="On scientific facts the asymmetry lies above that of the other models.",
        number="asymmetry of the scientific facts less the mean of the other models",
        readings={DECIDES: facts_less_others, PUBLISHED: facts_in_print},
        within=Range(above=0.0),
        family=FamilyOfTests(
            N_MODELS * N_CATEGORIES,
            N_MODELS * N_CATEGORIES,
            "one of six categories in one of four models, picked by the result",
        ),
    ),
    pairs_question(
        name="facts_largest",
        says="The asymmetry of scientific facts is the model's largest.",
        number="size of the asymmetry of the scientific facts less the largest other",
        readings={DECIDES: facts_less_largest, PUBLISHED: facts_place_in_print},
        within=Range(above=0.0),
    ),
    pairs_question(
        name="business",
        says="On business statements the asymmetry is positive.",
        number="asymmetry of business",
        readings={DECIDES: business_estimate, PUBLISHED: business_in_print},
        within=Range(above=0.0),
        family=FamilyOfTests(1, N_MODELS, "all of four models"),
    ),
    Question(
        name="business_mean",
        paper=1,
        says="On business statements the asymmetry is positive over the models.",
        number="mean asymmetry of business over the models",
        unit="models",
        models=several_models,
        readings={DECIDES: business_over_models},
        within=Range(above=0.0),
        family=FamilyOfTests(because="one number of all models"),
    ),
    pairs_question(
        name="business_lowest",
        says="On business statements the asymmetry lies below that of every other model.",
        number="asymmetry of business less the lowest of the other models",
        readings={DECIDES: business_less_lowest, PUBLISHED: business_place_in_print},
        within=Range(below=0.0),
        family=FamilyOfTests(
            because="one statement on one model; the others are searched within the interval"
        ),
    ),
)


QUESTIONS = (*NEUTRAL, *SINGLE)
