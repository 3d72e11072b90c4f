"""The questions of Paper 3 over models: what depth, lab and density of heads say of the gain.

The side of 1 on which a model's gain lies is an answer like any other, so what counts sides counts
the undecided by the chance that they damp.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from layerwise.engine.answers import ALPHA
from layerwise.engine.derivation import Function, all_of
from layerwise.engine.evidence import Evidence
from layerwise.engine.published import PUBLISHED, NotMeasured
from layerwise.engine.question import OF_MEAN, OF_R, Question, Range
from layerwise.measures.residual_gain import GainReading
from layerwise.papers.paper3.questions.gains import (
    BELOW_ONE,
    FEWEST_FOR_MAJORITY,
    MAJORITY,
    N_LAWS,
    GainModel,
    all_models_together,
    hunt_models,
    inner_mean,
    pooled_models,
    sweep_models,
)
from layerwise.papers.paper3.rules.crowding import LIMIT
from layerwise.papers.paper3.rules.gain_files import Rows, dampens, density, final_gain, gain
from layerwise.papers.paper3.rules.lab_heritage import ELEUTHER, fisher_p
from layerwise.papers.shared.names import Choice
from layerwise.papers.shared.questions import rules_without_each
from layerwise.papers.shared.result_files import GPT2
from layerwise.statistics.estimates import (
    FISHERS_TEST,
    Estimate,
    chance_below,
    correlation_difference_estimate,
    difference_estimate,
    estimate_from_counts,
    family_level,
    mean_estimate,
    pearson_estimate,
    share_estimate,
    spearman_estimate,
)

Models = Mapping[str, GainModel]
Number = Callable[[GainModel], float]
Select = Callable[[Evidence], Models]
LEAVE_OUT: Mapping[str, Any] = {"leave_out": True}


def rules_over_models(
    estimate: Callable[..., Estimate], models: Select, choices: Mapping[str, Mapping[str, Any]]
) -> dict[str, Function]:
    """Return a rule per choice, from one estimate over models.

    Arguments:
        estimate: of models by name, with options.
        models: which models, where a choice names no others.
        choices: {choice: options of the estimate}; the option `models` selects other models, and
            `LEAVE_OUT` leaves each of them out in turn.
    """

    def rule(options: Mapping[str, Any], evidence: Evidence) -> Any:
        given = {name: value for name, value in options.items() if name != "models"}
        chosen = options.get("models", models)(evidence)
        if given.pop("leave_out", False):
            return rules_without_each(
                list(chosen),
                lambda names: estimate({name: chosen[name] for name in names}, **given),
            )
        return estimate(chosen, **given)

    return {choice: partial(rule, options) for choice, options in choices.items()}


def mean_gain(model: GainModel) -> float:
    """Return the mean gain of the second-last block."""
    return gain(model.entry)


def mean_final_gain(model: GainModel) -> float:
    """Return the mean gain of the last block, after the final norm."""
    return final_gain(model.entry)


def r_of_depth(
    models: Models, *, gain_of: Number = mean_gain, n_tests: int = 1, ranks: bool = False
) -> Estimate:
    """Return r of depth and gain over models, or Spearman's with `ranks`."""
    depths = np.array([float(model.depth) for model in models.values()])
    gains = np.array([gain_of(model) for model in models.values()])
    if ranks:
        return spearman_estimate(depths, gains, "models")
    return pearson_estimate(depths, gains, "models", family_level(n_tests))


DEPTH_GAIN = Question(
    name="depth_gain",
    paper=3,
    says="The deeper a model, the smaller its gain.",
    number="r of depth and mean gain",
    unit="models",
    models=all_models_together,
    choices=rules_over_models(
        r_of_depth,
        sweep_models,
        {
            PUBLISHED: {},
            Choice.MODEL_OUT: LEAVE_OUT,
            Choice.SPEARMAN: {"ranks": True},
            Choice.LAWS_AT_ONCE: {"n_tests": N_LAWS},
            GainReading.FINAL_NORM: {"gain_of": mean_final_gain},
            Choice.INNER_BLOCKS: {"gain_of": inner_mean},
        },
    ),
    within=Range(below=0.0),
    effect=OF_R,
)
DEPTH_GAIN_OF_SURVEY = Question(
    name="depth_gain_of_survey",
    paper=3,
    says="In the survey too, the deeper a model, the smaller its gain.",
    number="r of depth and mean gain",
    unit="models",
    models=all_models_together,
    choices=rules_over_models(
        r_of_depth, hunt_models, {PUBLISHED: {}, Choice.POOLED: {"models": pooled_models}}
    ),
    within=Range(below=0.0),
    effect=OF_R,
)


# --- sides of 1, and tests that count them --------------------------------------------------------


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


def count_sides(
    models: Iterable[GainModel], reading: GainReading = GainReading.PENULTIMATE
) -> Sides:
    """Return the sides of 1 on which the gains of models lie."""
    return sides_of([model.reading(reading) for model in models])


def sides_of(estimates: Sequence[Estimate]) -> Sides:
    """Return the sides of 1 on which estimates lie."""
    chances = tuple(chance_below(estimate, BELOW_ONE.below) for estimate in estimates)
    return Sides(chances, sum(dampens(estimate.value) for estimate in estimates))


def split_by_lab(models: Models) -> tuple[list[GainModel], list[GainModel]]:
    """Return EleutherAI's models, the sweep's among them, and all others."""
    eleuther = [model for model in models.values() if not is_other_lab(model)]
    return eleuther, [model for model in models.values() if is_other_lab(model)]


def fisher_of_labs(
    models: Models, reading: GainReading = GainReading.PENULTIMATE, n_tests: int = 1
) -> Estimate:
    """Return Fisher's p, EleutherAI against the others: see `fisher_of_sides`."""
    groups = [count_sides(group, reading) for group in split_by_lab(models)]
    return fisher_of_sides(groups, n_tests)


def fisher_of_sides(groups: Sequence[Sides], n_tests: int = 1) -> Estimate:
    """Return Fisher's p that the first of two groups damps more often, and its range.

    A model whose gain cannot be distinguished from 1 is counted by the chance that it damps. A
    table that leans the other way is no evidence for the claim, p = 1, and its own p is `opposite`.
    For several tests p is multiplied by their number (Bonferroni).
    """
    if not all_of(group.n for group in groups):
        raise NotMeasured("a group is left without models")

    total = sum(group.n for group in groups)

    def p(first: int, second: int) -> Estimate:
        table = np.array([[first, groups[0].n - first], [second, groups[1].n - second]])
        both_ways = min(1.0, n_tests * fisher_p(table))
        leans = first / groups[0].n >= second / groups[1].n
        towards, away = (both_ways, 1.0) if leans else (1.0, both_ways)
        ends = towards, towards, towards
        counted = (first, groups[0].n), (second, groups[1].n)
        return Estimate(*ends, total, "models", method=FISHERS_TEST, opposite=away, groups=counted)

    return estimate_from_counts(
        p, [group.chances for group in groups], [group.by_value for group in groups], total
    )


def fisher_with_gpt2(evidence: Evidence) -> Estimate:
    """Return Fisher's p over survey, sweep and the three GPT-2 sizes, these by their last gain."""
    eleuther, others = (count_sides(group) for group in split_by_lab(pooled_models(evidence)))
    tests = [
        mean_estimate(rows["Last_Gain"], "prompts")
        for rows in Rows(evidence[GPT2]).by("Model").values()
    ]
    return fisher_of_sides([eleuther, others + sides_of(tests)])


def difference_of_labs(models: Models, n_tests: int = 1) -> Estimate:
    """Return the mean gain of EleutherAI's models less that of the others."""
    first, second = (
        np.array([mean_gain(model) for model in group]) for group in split_by_lab(models)
    )
    return difference_estimate(first, second, "models", family_level(n_tests))


def share_on_side(
    models: Iterable[GainModel], *, damping: bool, reading: GainReading = GainReading.PENULTIMATE
) -> Estimate:
    """Return the share of a group that damps, or expands, the undecided by their chances."""
    counts = count_sides(models, reading)

    def share(n_damping: int) -> Estimate:
        flags = [(place < n_damping) == damping for place in range(counts.n)]
        return share_estimate(flags, "models")

    return estimate_from_counts(share, [counts.chances], [counts.by_value], counts.n)


def share_that_damps(models: Models, reading: GainReading = GainReading.PENULTIMATE) -> Estimate:
    """Return the share of EleutherAI's models that damp."""
    return share_on_side(split_by_lab(models)[0], damping=True, reading=reading)


def share_that_expands(models: Models, reading: GainReading = GainReading.PENULTIMATE) -> Estimate:
    """Return the share of the other labs' models that expand."""
    return share_on_side(split_by_lab(models)[1], damping=False, reading=reading)


HERITAGE = (
    Question(
        name="heritage",
        paper=3,
        says="EleutherAI's models damp more often than the others: Fisher's p is below 0.05.",
        number="Fisher's p",
        unit="models",
        models=all_models_together,
        choices={
            **rules_over_models(
                fisher_of_labs,
                hunt_models,
                {PUBLISHED: {}, Choice.POOLED: {"models": pooled_models}},
            ),
            Choice.WITH_GPT2: fisher_with_gpt2,
            **rules_over_models(
                fisher_of_labs,
                hunt_models,
                {
                    GainReading.FINAL_NORM: {"reading": GainReading.FINAL_NORM},
                    Choice.LAWS_AT_ONCE: {"n_tests": N_LAWS},
                    Choice.MODEL_OUT: LEAVE_OUT,
                },
            ),
        },
        within=Range(below=ALPHA),
    ),
    Question(
        name="lab_difference",
        paper=3,
        says="EleutherAI's mean gain lies below that of the others.",
        number="difference of the mean gains",
        unit="models",
        models=all_models_together,
        choices=rules_over_models(
            difference_of_labs,
            hunt_models,
            {
                PUBLISHED: {},
                Choice.POOLED: {"models": pooled_models},
                Choice.LAWS_AT_ONCE: {"n_tests": N_LAWS},
                Choice.MODEL_OUT: LEAVE_OUT,
            },
        ),
        within=Range(below=0.0),
        effect=OF_MEAN,
    ),
    Question(
        name="eleuther_damps",
        paper=3,
        says="Most of EleutherAI's models damp.",
        number="share of EleutherAI's models that damp",
        unit="models",
        models=all_models_together,
        choices=rules_over_models(
            share_that_damps,
            hunt_models,
            {
                PUBLISHED: {},
                Choice.FAMILY: {"models": sweep_models},
                Choice.POOLED: {"models": pooled_models},
                GainReading.FINAL_NORM: {"reading": GainReading.FINAL_NORM},
            },
        ),
        within=Range(above=MAJORITY),
        fewest=FEWEST_FOR_MAJORITY,
    ),
    Question(
        name="others_expand",
        paper=3,
        says="Most models of the other labs expand.",
        number="share of the others that expand",
        unit="models",
        models=all_models_together,
        choices=rules_over_models(
            share_that_expands,
            hunt_models,
            {PUBLISHED: {}, GainReading.FINAL_NORM: {"reading": GainReading.FINAL_NORM}},
        ),
        within=Range(above=MAJORITY),
        fewest=FEWEST_FOR_MAJORITY,
    ),
)


# --- does the density of heads predict damping? ---------------------------------------------------


def fisher_of_densities(models: Models, reading: GainReading = GainReading.PENULTIMATE) -> Estimate:
    """Return Fisher's p that models with dense heads damp more often: see `fisher_of_sides`."""
    dense = [model for model in models.values() if head_density(model) >= LIMIT]
    sparse = [model for model in models.values() if head_density(model) < LIMIT]
    return fisher_of_sides([count_sides(group, reading) for group in (dense, sparse)])


def r_of_density(models: Models) -> Estimate:
    """Return r of head density and gain over models."""
    densities = np.array([head_density(model) for model in models.values()])
    gains = np.array([mean_gain(model) for model in models.values()])
    return pearson_estimate(densities, gains, "models")


CROWDING = (
    Question(
        name="crowding",
        paper=3,
        says="Models with dense heads damp more often than the others: Fisher's p is below 0.05.",
        number="Fisher's p",
        unit="models",
        models=all_models_together,
        choices=rules_over_models(
            fisher_of_densities,
            hunt_models,
            {
                PUBLISHED: {},
                Choice.FAMILY: {"models": sweep_models},
                Choice.POOLED: {"models": pooled_models},
                GainReading.FINAL_NORM: {"reading": GainReading.FINAL_NORM},
                Choice.MODEL_OUT: LEAVE_OUT,
            },
        ),
        within=Range(below=ALPHA),
    ),
    Question(
        name="density_gain",
        paper=3,
        says="The denser the heads, the smaller the gain.",
        number="r of head density and mean gain",
        unit="models",
        models=all_models_together,
        choices=rules_over_models(
            r_of_density,
            sweep_models,
            {
                PUBLISHED: {},
                Choice.HUNT: {"models": hunt_models},
                Choice.POOLED: {"models": pooled_models},
                Choice.MODEL_OUT: LEAVE_OUT,
            },
        ),
        within=Range(below=0.0),
        effect=OF_R,
    ),
)


# --- which of them explains more? -----------------------------------------------------------------


def is_other_lab(model: GainModel) -> float:
    """Return 1 for a model of a lab that is not EleutherAI; the sweep's models name no lab."""
    return float(model.experiment != "sweep" and model.entry.lab != ELEUTHER)


def log_size(model: GainModel) -> float:
    """Return the logarithm of the blocks' parameters, 12 times depth times width squared."""
    return math.log(12 * model.depth * model.entry.d_model**2)


def difference_of_r(models: Models, first: Number, second: Number) -> Estimate:
    """Return |r| of the gain and a number of the models less |r| of the gain and another."""
    gains, first_numbers, second_numbers = (
        np.array([number(model) for model in models.values()])
        for number in (mean_gain, first, second)
    )
    return correlation_difference_estimate(gains, first_numbers, second_numbers, "models")


def head_density(model: GainModel) -> float:
    """Return the number of heads over the size of a head."""
    return density(model.entry)


def hierarchy_question(
    name: str, says: str, number: str, first: Number, second: Number
) -> Question:
    """Return the question whether the gain correlates more closely with the first number."""
    return Question(
        name=name,
        paper=3,
        says=says,
        number=number,
        unit="models",
        models=all_models_together,
        choices=rules_over_models(
            partial(difference_of_r, first=first, second=second),
            hunt_models,
            {PUBLISHED: {}, Choice.POOLED: {"models": pooled_models}, Choice.MODEL_OUT: LEAVE_OUT},
        ),
        within=Range(above=0.0),
    )


HIERARCHY = (
    hierarchy_question(
        "heritage_over_geometry",
        "The gain correlates more closely with the lab than with the density of heads.",
        "|r| of lab and gain less |r| of density and gain",
        is_other_lab,
        head_density,
    ),
    hierarchy_question(
        "geometry_over_scale",
        "The gain correlates more closely with the density of heads than with the size.",
        "|r| of density and gain less |r| of size and gain",
        head_density,
        log_size,
    ),
)

QUESTIONS = (DEPTH_GAIN, DEPTH_GAIN_OF_SURVEY, *HERITAGE, *CROWDING, *HIERARCHY)
