"""The questions of Paper 3 over models: what depth, lab and density of heads say of the gain.

The side of 1 on which a model's gain lies is an answer like any other, so what counts sides counts
the undecided by the chance that they damp; the papers count by the mean gains.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from layerwise.engine.derivation import Function, all_of
from layerwise.engine.evidence import Evidence
from layerwise.engine.published import DECIDES, NotMeasured
from layerwise.engine.question import FamilyOfTests, Range
from layerwise.papers.paper3.questions.gains import (
    ABOVE_ZERO,
    BELOW_ONE,
    THREE_LAWS,
    GainModel,
    hunt_models,
    models_question,
    pooled_models,
    sweep_models,
)
from layerwise.papers.paper3.rules.crowding import LIMIT
from layerwise.papers.paper3.rules.gain_files import Rows, dampens, density, gain
from layerwise.papers.paper3.rules.prompts import prompts_estimate
from layerwise.papers.shared.names import Choice
from layerwise.papers.shared.questions import rules_without_each
from layerwise.papers.shared.result_files import GPT2
from layerwise.papers.shared.terms import ELEUTHER
from layerwise.statistics.estimates import (
    Estimate,
    chance_below,
    correlation_difference_estimate,
    estimate_from_counts,
    logarithms,
    pearson_estimate,
    share_difference_estimate,
    spearman_estimate,
)

GainModels = Mapping[str, GainModel]
NumberOf = Callable[[GainModel], float]
SelectModels = Callable[[Evidence], GainModels]
Options = Mapping[str, Any]  # keyword arguments of an estimate, and those of `rules_over_models`
OptionsByReading = Mapping[str, Options]
BELOW_ZERO = Range(below=0.0)
POOLED: OptionsByReading = {Choice.POOLED: {"models": pooled_models}}
MODEL_OUT: OptionsByReading = {Choice.MODEL_OUT: {"leave_out": True}}
BY_MEANS: OptionsByReading = {Choice.BY_MEANS: {"by_means": True}}


def rules_over_models(
    estimate: Callable[..., Estimate], models: SelectModels, readings: OptionsByReading
) -> dict[str, Function]:
    """Return the rule that decides, and a rule per other reading, from one estimate over models.

    Arguments:
        estimate: of models by name, with options.
        models: which models, where a reading names no others.
        readings: {reading: options of the estimate}; the option `models` selects other models, and
            `leave_out` leaves each of them out in turn.
    """

    def rule(options: Options, evidence: Evidence) -> Any:
        further = {**options}
        chosen = further.pop("models", models)(evidence)
        if further.pop("leave_out", False):
            return rules_without_each(
                list(chosen),
                lambda names: estimate({name: chosen[name] for name in names}, **further),
            )
        return estimate(chosen, **further)

    return {
        reading: partial(rule, options) for reading, options in {DECIDES: {}, **readings}.items()
    }


def mean_gain(model: GainModel) -> float:
    """Return the mean gain of the second-last block."""
    return gain(model.entry)


def inner_mean(model: GainModel) -> float:
    """Return the geometric mean of the gains between the first block and the last."""
    return math.exp(np.mean(logarithms(model.entry.all_layer_gains[1:-1])))


def r_of_depth(
    models: GainModels, *, gain_of: NumberOf = mean_gain, ranks: bool = False
) -> Estimate:
    """Return r of depth and gain over models, or Spearman's with `ranks`."""
    depths = np.array([float(model.depth) for model in models.values()])
    gains = np.array([gain_of(model) for model in models.values()])
    correlate = spearman_estimate if ranks else pearson_estimate
    return correlate(depths, gains, "models")


DEPTH_GAIN = models_question(
    name="depth_gain",
    says="The deeper a model, the smaller its gain.",
    number="r of depth and mean gain",
    readings=rules_over_models(
        r_of_depth,
        sweep_models,
        {
            **MODEL_OUT,
            Choice.SPEARMAN: {"ranks": True},
            Choice.INNER_BLOCKS: {"gain_of": inner_mean},
        },
    ),
    within=BELOW_ZERO,
    family=THREE_LAWS,
)
DEPTH_GAIN_OF_SURVEY = models_question(
    name="depth_gain_of_survey",
    says="In the survey too, the deeper a model, the smaller its gain.",
    number="r of depth and mean gain",
    readings=rules_over_models(r_of_depth, hunt_models, POOLED),
    within=BELOW_ZERO,
)


# --- sides of 1, and the shares of groups that damp -----------------------------------------------


@dataclass(frozen=True)
class Sides:
    """The sides of 1 on which the gains of a group of models lie.

    Attributes:
        chances: of each model, that it damps; 0 or 1 where the interval of its gain says so.
        by_value: how many damp by their values alone.
    """

    chances: tuple[float, ...]
    by_value: int

    @property
    def n(self) -> int:
        """The number of models."""
        return len(self.chances)

    def __add__(self, other: "Sides") -> "Sides":
        """Return the sides of two groups together."""
        return Sides(self.chances + other.chances, self.by_value + other.by_value)

    def by_means(self) -> "Sides":
        """Return the same with every model counted by its mean gain."""
        flags = (1.0,) * self.by_value + (0.0,) * (self.n - self.by_value)
        return Sides(flags, self.by_value)


def count_sides(models: Iterable[GainModel]) -> Sides:
    """Return the sides of 1 on which the gains of models lie."""
    return sides_of([model.gain() for model in models])


def sides_of(estimates: Sequence[Estimate]) -> Sides:
    """Return the sides of 1 on which estimates lie."""
    chances = tuple(chance_below(estimate, BELOW_ONE.below) for estimate in estimates)
    return Sides(chances, sum(dampens(estimate.value) for estimate in estimates))


def split_by_lab(models: GainModels) -> tuple[list[GainModel], list[GainModel]]:
    """Return EleutherAI's models, the sweep's among them, and all others."""
    eleuther = [model for model in models.values() if not is_other_lab(model)]
    return eleuther, [model for model in models.values() if is_other_lab(model)]


def split_by_density(models: GainModels) -> tuple[list[GainModel], list[GainModel]]:
    """Return the models with crowded heads, as the paper's limit has it, and all others."""
    dense = [model for model in models.values() if head_density(model) >= LIMIT]
    return dense, [model for model in models.values() if head_density(model) < LIMIT]


def difference_of_shares(first: Sides, second: Sides, *, by_means: bool = False) -> Estimate:
    """Return the share of a group that damps less that of another.

    A model whose gain cannot be distinguished from 1 is counted by the chance that it damps.

    Arguments:
        by_means: count every model by its mean gain, as the papers do.

    Raises:
        NotMeasured: if a group is left without models.
    """
    if not all_of((first.n, second.n)):
        raise NotMeasured("a group is left without models")
    if by_means:
        first, second = first.by_means(), second.by_means()
    n = first.n, second.n

    def difference(*counted: int) -> Estimate:
        return share_difference_estimate((counted[0], counted[1]), n, "models")

    counts = first.by_value, second.by_value
    estimate = estimate_from_counts(difference, [first.chances, second.chances], counts, sum(n))
    shares = f"{counts[0]} of {n[0]} against {counts[1]} of {n[1]}"
    return replace(estimate, where=", ".join(filter(None, (shares, estimate.where))))


def difference_between(
    split: Callable[[GainModels], tuple[list[GainModel], list[GainModel]]],
) -> Callable[..., Estimate]:
    """Return the estimate over models of that difference between two groups of them."""

    def estimate(models: GainModels, *, by_means: bool = False) -> Estimate:
        first, second = (count_sides(group) for group in split(models))
        return difference_of_shares(first, second, by_means=by_means)

    return estimate


def difference_of_labs_with_gpt2(evidence: Evidence) -> Estimate:
    """Return the difference of labs over survey, sweep and the three GPT-2 sizes.

    These have a last gain, over the prompts of another notebook.
    """
    eleuther, others = (count_sides(group) for group in split_by_lab(pooled_models(evidence)))
    tests = [
        prompts_estimate(rows["Last_Gain"], rows.column("Category"))
        for rows in Rows(evidence[GPT2]).by("Model").values()
    ]
    return difference_of_shares(eleuther, others + sides_of(tests))


HERITAGE = models_question(
    name="heritage",
    says="A larger share of EleutherAI's models damps than of all others.",
    number="share of EleutherAI's models that damp less that of the others",
    readings={
        **rules_over_models(
            difference_between(split_by_lab),
            hunt_models,
            {**BY_MEANS, **POOLED, **MODEL_OUT},
        ),
        Choice.WITH_GPT2: difference_of_labs_with_gpt2,
    },
    within=ABOVE_ZERO,
    family=THREE_LAWS,
)
CROWDING = models_question(
    name="crowding",
    says="A larger share of the models with crowded heads damps than of the others.",
    number="share of crowded models that damp less that of the others",
    readings=rules_over_models(
        difference_between(split_by_density),
        hunt_models,
        {**BY_MEANS, Choice.FAMILY: {"models": sweep_models}, **POOLED, **MODEL_OUT},
    ),
    within=ABOVE_ZERO,
)


# --- which of them explains more? -----------------------------------------------------------------


def is_other_lab(model: GainModel) -> float:
    """Return 1 for a model of a lab that is not EleutherAI; the sweep's models name no lab."""
    return float(model.experiment != "sweep" and model.entry.lab != ELEUTHER)


def head_density(model: GainModel) -> float:
    """Return the number of heads over the size of a head."""
    return density(model.entry)


def log_size(model: GainModel) -> float:
    """Return the logarithm of the blocks' parameters, 12 times depth times width squared."""
    return math.log(12 * model.depth * model.entry.d_model**2)


def difference_of_r(models: GainModels, first: NumberOf, second: NumberOf) -> Estimate:
    """Return |r| of the gain and a number of the models less |r| of the gain and another."""
    gains, first_numbers, second_numbers = (
        np.array([number(model) for model in models.values()])
        for number in (mean_gain, first, second)
    )
    return correlation_difference_estimate(gains, first_numbers, second_numbers, "models")


def rules_of_hierarchy(first: NumberOf, second: NumberOf) -> dict[str, Function]:
    """Return the rules on whether the gain correlates more closely with the first number."""
    estimate = partial(difference_of_r, first=first, second=second)
    return rules_over_models(estimate, hunt_models, {**POOLED, **MODEL_OUT})


BOTH = FamilyOfTests(1, 2, "both comparisons: either of them refutes the hierarchy")
HIERARCHY = (
    models_question(
        name="heritage_over_geometry",
        says="The gain correlates more closely with the lab than with the density of heads.",
        number="|r| of lab and gain less |r| of density and gain",
        readings=rules_of_hierarchy(is_other_lab, head_density),
        within=ABOVE_ZERO,
        family=BOTH,
    ),
    models_question(
        name="geometry_over_scale",
        says="The gain correlates more closely with the density of heads than with the size.",
        number="|r| of density and gain less |r| of size and gain",
        readings=rules_of_hierarchy(head_density, log_size),
        within=ABOVE_ZERO,
        family=BOTH,
    ),
)

QUESTIONS = (DEPTH_GAIN, DEPTH_GAIN_OF_SURVEY, HERITAGE, CROWDING, *HIERARCHY)
