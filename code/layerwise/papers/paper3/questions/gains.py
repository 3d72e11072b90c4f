"""The questions of Paper 3 on gains: single models and the bound, the benchmark, tuned models.

The gain of a model is a mean over prompts.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from layerwise.engine.derivation import Function
from layerwise.engine.evidence import Entry, Evidence
from layerwise.engine.published import OVER_MODELS, PUBLISHED, NotMeasured
from layerwise.engine.question import OF_MEAN, Question, Range
from layerwise.measures.residual_gain import GainReading
from layerwise.models.registry import slug_of
from layerwise.papers.paper3.rules.gain_files import Rows, models_by_name
from layerwise.papers.paper3.rules.twins import VARIANTS, keeps_side, last_gains
from layerwise.papers.shared.names import Choice
from layerwise.papers.shared.questions import experiment_file, measured_entry
from layerwise.papers.shared.result_files import HUNT, SWEEP
from layerwise.papers.shared.terms import depth_bound
from layerwise.statistics.estimates import (
    Estimate,
    family_level,
    logarithms,
    mean_estimate,
    mean_estimate_from_moments,
    on_log_scale,
    share_estimate,
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


# --- the benchmark and tuned models ---


def rows_by_model(evidence: Evidence) -> dict[str, Rows]:
    """Return the rows of the four models, and those of the tuned families, by name and variant."""
    rows_by_name: dict[str, Rows] = {}
    for table in evidence.role("benchmark").values():
        rows_by_name |= Rows(table).by("Model")
    for family, twins in tuned_families(evidence).items():
        for variant, rows in twins.by("Variant").items():
            rows_by_name[f"{family} {variant}"] = rows
    return rows_by_name


EXPANSION = Question(
    name="expansion",
    paper=3,
    says="The last block, before the final norm, expands the residual stream.",
    number="mean last gain",
    unit="prompts",
    models=rows_by_model,
    choices={
        PUBLISHED: lambda rows: mean_estimate(rows["Last_Gain"], "prompts"),
        Choice.MODELS_AT_ONCE: lambda rows: mean_estimate(
            rows["Last_Gain"], "prompts", family_level(len(rows_by_model(rows.table.evidence)))
        ),
    },
    within=Range(above=1.0),
)


# --- the benchmark's order, and tuned models beside their bases -----------------------------------

# Neighbours in the abstract's order, and the name of each comparison.
ORDER = ("Pythia-6.9B", "Mistral-7B", "LLaMA-3.1-8B", "Gemma-7B")


@dataclass(frozen=True)
class Neighbours:
    """The rows of two models of the benchmark; the second is said to have the larger gain."""

    first: Rows
    second: Rows


def neighbouring_models(evidence: Evidence) -> dict[str, Neighbours]:
    """Return the neighbours in the printed order, by their comparison."""
    by_name = rows_by_model(evidence)
    pairs = pairwise(ORDER) if by_name else ()
    return {f"{a} < {b}": Neighbours(by_name[a], by_name[b]) for a, b in pairs}


def rise_of_gain(neighbours: Neighbours, n_tests: int = 1) -> Estimate:
    """Return the second's mean gain less the first's, paired: both saw the same prompts."""
    first, second = (
        np.asarray(rows["Last_Gain"], dtype=float) for rows in (neighbours.first, neighbours.second)
    )
    return mean_estimate(second - first, "prompts", family_level(n_tests))


GAIN_ORDER = Question(
    name="gain_order",
    paper=3,
    says="The last gains of the four benchmarked models stand in the printed order.",
    number="the larger mean last gain less the next smaller",
    unit="prompts",
    models=neighbouring_models,
    choices={
        PUBLISHED: rise_of_gain,
        Choice.MODELS_AT_ONCE: lambda neighbours: rise_of_gain(neighbours, len(ORDER) - 1),
    },
    within=Range(above=0.0),
    effect=OF_MEAN,
)


def tuned_families(evidence: Evidence) -> dict[str, Rows]:
    """Return the rows of a base model and its tuned twin, by family."""
    by_family: dict[str, Rows] = {}
    for table in evidence.role("tuned").values():
        by_family |= Rows(table).by("Family")
    return by_family


def share_of_families(evidence: Evidence) -> Estimate:
    """Return the share of the families whose tuned model stays on its base's side of 1.

    The unit is the family: a claim on what tuning can do is about models, not about prompts.
    """
    kept = [keeps_side(family) for family in tuned_families(evidence).values()]
    return share_estimate(kept, "families")


def tuned_from_one(family: Rows, n_tests: int = 1) -> Estimate:
    """Return the tuned model's mean gain less 1, counted towards the side of its base.

    It is negative where tuning turned the side; of a base whose interval includes 1 neither side
    is, and the ends say so.
    """
    level = family_level(n_tests)
    base, tuned = (
        mean_estimate(last_gains(family, variant), "prompts", level) for variant in VARIANTS
    )
    distance, low, high = tuned.value - 1, tuned.low - 1, tuned.high - 1
    if base.value < 1:
        distance, low, high = -distance, -high, -low
    if base.low <= 1 <= base.high:
        low, high = -max(abs(low), abs(high)), max(abs(low), abs(high))
    return replace(tuned, value=distance, low=low, high=high)


SIDE_KEPT = Question(
    name="side_kept",
    paper=3,
    says="The tuned model's gain stays on its base's side of 1.",
    number="distance of the tuned gain from 1, towards its base's side",
    unit="prompts",
    models=tuned_families,
    choices={
        PUBLISHED: tuned_from_one,
        Choice.MODELS_AT_ONCE: lambda family: tuned_from_one(
            family, len(tuned_families(family.table.evidence))
        ),
    },
    within=Range(above=0.0),
)


TUNED_FAMILIES = Question(
    name="tuned_families",
    paper=3,
    says="In most families of models tuning keeps the gain on its side of 1.",
    number="share of the families that do",
    unit="families",
    models=all_models_together,
    choices={PUBLISHED: share_of_families},
    within=Range(above=MAJORITY),
    fewest=FEWEST_FOR_MAJORITY,
)


QUESTIONS = (DAMPING, BOUND, EXPANSION, GAIN_ORDER, SIDE_KEPT, TUNED_FAMILIES)
