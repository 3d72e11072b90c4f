"""The questions of Paper 3 on the gains of single models: whether a model damps, and the bound.

The gain of a model is a mean over prompts.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from layerwise.engine.derivation import Function
from layerwise.engine.evidence import Entry, Evidence
from layerwise.engine.published import OVER_MODELS, PUBLISHED, NotMeasured
from layerwise.engine.question import Question, Range
from layerwise.measures.residual_gain import GainReading
from layerwise.models.registry import slug_of
from layerwise.papers.paper3.rules.gain_files import models_by_name
from layerwise.papers.shared.names.choices import Choice
from layerwise.papers.shared.names.result_files import HUNT, SWEEP
from layerwise.papers.shared.questions.choices import experiment_file, measured_entry
from layerwise.papers.shared.terms import depth_bound
from layerwise.statistics.estimates import (
    Estimate,
    logarithms,
    mean_estimate,
    mean_estimate_from_moments,
    on_log_scale,
    widened,
    without_interval,
)
from layerwise.statistics.power import units_all_alike

BELOW_ONE = Range(below=1.0)
HUNT_PROMPTS = 5  # of the notebook; its file has mean and deviation alone
N_LAWS = 3
MAJORITY = 0.5
FEWEST_FOR_MAJORITY = units_all_alike(MAJORITY)  # models which, all alike, show that most are so


@dataclass(frozen=True)
class GainModel:
    """A model of the sweep or the hunt, or the reader's.

    Attributes:
        experiment: the one that measures its gains by prompt, `sweep` or `hunt`.
    """

    name: str
    entry: Entry
    experiment: str

    @property
    def depth(self) -> int:
        """Return the number of blocks."""
        return len(self.entry.all_layer_gains)

    def reading(self, name: GainReading) -> Estimate:
        """Return the last gain in one definition, a mean over the prompts."""
        if name == GainReading.PENULTIMATE and "residual_gain_all" in self.entry:
            return mean_estimate(self.entry.residual_gain_all[:], "prompts")
        if "readings" in self.entry:  # a reader's
            return mean_estimate(self.entry.readings[name].all[:], "prompts")
        try:
            file = experiment_file(self.experiment)
            gains = measured_entry(self.entry.evidence, file, slug_of(self.name), "gains", name)
            return mean_estimate(gains[:], "prompts")
        except NotMeasured:
            return self.moments(name)

    def moments(self, name: GainReading) -> Estimate:
        """Return the last gain in one definition from the printed mean and deviation.

        Raises:
            NotMeasured: for a definition that is not in print.
        """
        if name not in IN_PRINT:
            raise NotMeasured(f"the gain {name!r} of {self.name} was not measured")
        block, key = IN_PRINT[name]
        mean, spread = self.entry.all_layer_gains[block], self.entry[key]
        swept = "residual_gain_all" in self.entry
        n = len(self.entry.residual_gain_all) if swept else HUNT_PROMPTS
        return mean_estimate_from_moments(mean, spread, n, "prompts")


# The definitions in print: the block, and the deviation over the prompts.
IN_PRINT = {
    GainReading.PENULTIMATE: (-2, "gain_no_ln_std"),
    GainReading.FINAL_NORM: (-1, "gain_with_ln_std"),
}
NO_SPREAD = "no spread over prompts was published"


def sweep_models(evidence: Evidence) -> dict[str, GainModel]:
    """Return the eight Pythia sizes of the sweep."""
    models = models_by_name(evidence[SWEEP])
    return {name: GainModel(name, model, "sweep") for name, model in models.items()}


def hunt_models(evidence: Evidence) -> dict[str, GainModel]:
    """Return the models of the survey."""
    models = models_by_name(evidence[HUNT])
    return {name: GainModel(name, model, "hunt") for name, model in models.items()}


def pooled_models(evidence: Evidence) -> dict[str, GainModel]:
    """Return the models of survey and sweep; a model in both is the sweep's, with more prompts."""
    return hunt_models(evidence) | sweep_models(evidence)


def single_models(evidence: Evidence) -> dict[str, GainModel]:
    """Return every model with gains, or the reader's."""
    own = {name: GainModel(name, entry, name) for name, entry in evidence.role("gains").items()}
    return (pooled_models(evidence) if evidence.role("sample") else {}) | own


def all_models_together(evidence: Evidence) -> dict[str, Evidence]:
    """Return the evidence itself, for questions over models; a reader's single model has none."""
    return {OVER_MODELS: evidence} if evidence.role("sample") else {}


# --- of one model ---------------------------------------------------------------------------------


def relative_to_bound(model: GainModel, estimate: Estimate) -> Estimate:
    """Return a gain as a multiple of equation 3's bound at the model's depth."""
    bound = depth_bound(model.depth)
    ends = {name: getattr(estimate, name) / bound for name in ("value", "low", "high")}
    return replace(estimate, **ends)


def block_gain(model: GainModel, block: int, where: str) -> Estimate:
    """Return the mean gain of a block; few files have its spread over the prompts."""
    mean = model.entry.all_layer_gains[block]
    if "all_layer_gains_std" not in model.entry:
        return without_interval(mean, 1, "prompts", f"{where}; {NO_SPREAD}")
    n = len(model.entry.residual_gain_all)
    return mean_estimate_from_moments(
        mean, model.entry.all_layer_gains_std[block], n, "prompts", where=where
    )


def largest_block_gain(model: GainModel) -> Estimate:
    """Return the largest mean gain of a block."""
    block = int(np.argmax(model.entry.all_layer_gains[:]))
    return block_gain(model, block, f"block {block}")


def inner_mean(model: GainModel) -> float:
    """Return the geometric mean of the gains between the first block and the last."""
    return math.exp(np.mean(logarithms(model.entry.all_layer_gains[1:-1])))


def inner_blocks_gain(model: GainModel) -> Estimate:
    """Return the geometric mean of the inner blocks' gains with its interval over the blocks."""
    logs = logarithms(model.entry.all_layer_gains[1:-1])
    return on_log_scale(mean_estimate(logs, "blocks"))


def rules_by_reading(transform: Callable[[GainModel, Estimate], Estimate]) -> dict[str, Function]:
    """Return a rule per definition of the last gain besides the published one."""

    def rule(name: GainReading, model: GainModel) -> Estimate:
        return transform(model, model.reading(name))

    return {
        name: partial(rule, name) for name in GainReading if name is not GainReading.PENULTIMATE
    }


def gain_at_once(model: GainModel) -> Estimate:
    """Return the gain with an interval that holds for all pooled models together."""
    if not model.entry.evidence.role("sample"):
        raise NotMeasured("one model is no family of tests")
    return widened(model.reading(GainReading.PENULTIMATE), len(pooled_models(model.entry.evidence)))


DAMPING = Question(
    name="damping",
    paper=3,
    says="The second-last block damps the residual stream: its gain is below 1.",
    number="mean gain",
    unit="prompts",
    models=single_models,
    choices={
        PUBLISHED: lambda model: model.reading(GainReading.PENULTIMATE),
        Choice.MODELS_AT_ONCE: gain_at_once,
        Choice.INNER_BLOCKS: inner_blocks_gain,
        **rules_by_reading(lambda _, estimate: estimate),
    },
    within=BELOW_ONE,
)
WITHOUT_PRODUCT = {
    name: rule
    for name, rule in rules_by_reading(relative_to_bound).items()
    if name != GainReading.TOTAL_AMPLIFICATION  # a product of all blocks is no gain of one
}
BOUND = Question(
    name="bound",
    paper=3,
    says="No gain exceeds 10^(1/L), with L blocks.",
    number="mean gain over that bound",
    unit="prompts",
    models=single_models,
    choices={
        PUBLISHED: lambda model: relative_to_bound(model, model.reading(GainReading.PENULTIMATE)),
        Choice.MODELS_AT_ONCE: lambda model: relative_to_bound(model, gain_at_once(model)),
        Choice.LARGEST_BLOCK: lambda model: relative_to_bound(model, largest_block_gain(model)),
        Choice.INNER_BLOCKS: lambda model: relative_to_bound(model, inner_blocks_gain(model)),
        **WITHOUT_PRODUCT,
    },
    within=BELOW_ONE,
)


QUESTIONS = (DAMPING, BOUND)
