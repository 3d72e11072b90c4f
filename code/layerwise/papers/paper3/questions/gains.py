"""The questions of Paper 3 on gains: single models and the bound, the benchmark, tuned models.

The gain of a model is a mean over prompts, by category of these where the categories are told.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from layerwise.engine.derivation import Function
from layerwise.engine.evidence import Entry, Evidence, floats
from layerwise.engine.published import DECIDES, OVER_MODELS, NotMeasured
from layerwise.engine.question import FamilyOfTests, Question, Range
from layerwise.measures.residual_gain import GainReading
from layerwise.models.registry import slug_of
from layerwise.papers.paper3.rules.gain_files import Rows, models_by_name
from layerwise.papers.paper3.rules.prompts import UNIT, categories_of, prompts_estimate
from layerwise.papers.paper3.rules.sequence_gains import BENCHMARKED, last_gain, mistral_stream
from layerwise.papers.paper3.rules.twins import VARIANTS
from layerwise.papers.shared.questions import experiment_file, measured_entry
from layerwise.papers.shared.result_files import FOUR, HUNT, INPUTS, SWEEP
from layerwise.papers.shared.terms import depth_bound
from layerwise.statistics.estimates import (
    LEVEL,
    Estimate,
    at_any_level,
    chance_below,
    estimate_from_counts,
    mean_estimate_from_moments,
    share_estimate,
    without_interval,
)
from layerwise.statistics.extremes import least_clear
from layerwise.statistics.power import units_all_alike

BELOW_ONE, ABOVE_ONE, ABOVE_ZERO = Range(below=1.0), Range(above=1.0), Range(above=0.0)
HUNT_PROMPTS = 5  # of the notebook; its file has mean and deviation alone
N_POOLED = 23  # models with gains in print
THREE_LAWS = FamilyOfTests(3, 3, "one of three laws, told by its result")
MAJORITY = 0.5
FEWEST_FOR_MAJORITY = units_all_alike(MAJORITY)  # models which, all alike, show that most are so
# The definitions of one block's gain; after the final norm, which the paper leaves out, is none.
DEFINITIONS = (
    GainReading.LAST_BLOCK,
    GainReading.LAST_BLOCK_ROUNDED,
    GainReading.SEQUENCE,
    GainReading.TOKEN,
)


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

    def gain(self) -> Estimate:
        """Return the gain of the second-last block, a mean over the prompts."""
        if "residual_gain_all" in self.entry:
            return self._mean_over_prompts(self.entry.residual_gain_all)
        try:
            return self.gain_by(GainReading.PENULTIMATE)
        except NotMeasured:  # print has the survey's mean and deviation alone
            mean, spread = self.entry.all_layer_gains[-2], self.entry.gain_no_ln_std
            estimate = mean_estimate_from_moments(mean, spread, HUNT_PROMPTS, "prompts")
            return replace(estimate, uncategorised=True)

    def gain_by(self, definition: GainReading) -> Estimate:
        """Return the last gain by a definition, a mean over the prompts.

        Raises:
            NotMeasured: for print, which has none of it by prompt.
        """
        if "readings" in self.entry:  # a reader's
            if definition not in self.entry.readings:
                raise NotMeasured(f"the gain {definition!r} of {self.name} was not measured")
            return self._mean_over_prompts(self.entry.readings[definition].all)
        file, slug = experiment_file(self.experiment), slug_of(self.name)
        return self._mean_over_prompts(
            measured_entry(self.entry.evidence, file, slug, "gains", definition)
        )

    def _mean_over_prompts(self, gains: Entry) -> Estimate:
        return prompts_estimate(floats(gains), categories_of(self.entry))


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


prompts_question = partial(Question, paper=3, unit=UNIT)
models_question = partial(Question, paper=3, unit="models", models=all_models_together)

# --- of one model ---------------------------------------------------------------------------------


def relative_to_bound(model: GainModel, estimate: Estimate) -> Estimate:
    """Return a gain as a multiple of equation 3's bound at the model's depth."""
    bound = depth_bound(model.depth)
    return estimate.mapped(lambda gain: gain / bound)


def rules_by_definition(
    transform: Callable[[GainModel, Estimate], Estimate],
) -> dict[str, Function]:
    """Return the rule that decides, and one for each other definition of the last gain."""

    def rule(definition: GainReading, model: GainModel) -> Estimate:
        return transform(model, model.gain_by(definition))

    return {
        DECIDES: lambda model: transform(model, model.gain()),
        **{definition: partial(rule, definition) for definition in DEFINITIONS},
    }


DAMPING = prompts_question(
    name="damping",
    says="The second-last block damps the residual stream: its gain is below 1.",
    number="mean gain",
    models=single_models,
    readings=rules_by_definition(lambda _, estimate: estimate),
    within=BELOW_ONE,
)
BOUND = prompts_question(
    name="bound",
    says="No gain exceeds 10^(1/L), with L blocks.",
    number="mean gain over 10^(1/L)",
    models=single_models,
    readings=rules_by_definition(relative_to_bound),
    within=BELOW_ONE,
    family=FamilyOfTests(1, N_POOLED, f"no gain of {N_POOLED} models: any of them refutes it"),
)


# --- the benchmark --------------------------------------------------------------------------------

# The abstract's order, and of each model the side that it names.
ORDER = ("Pythia-6.9B", "Mistral-7B", "LLaMA-3.1-8B", "Gemma-7B")
# Where print has gains of whole-sequence norms for several texts, each of a kind of its own.
SEVERAL_TEXTS = "LLaMA-3.1-8B"


@dataclass(frozen=True)
class PromptRows:
    """The rows of one model in a table of gains by prompt."""

    name: str
    rows: Rows

    @property
    def categories(self) -> list[str]:
        """The category of each prompt."""
        return [str(name) for name in self.rows.column("Category")]

    @property
    def gains(self) -> np.ndarray:
        """The last gain of each prompt: last token, before the final norm."""
        return self.rows["Last_Gain"]

    def gains_by(self, definition: GainReading) -> np.ndarray:
        """Return the last gain of each prompt by another definition.

        Raises:
            NotMeasured: for print, which has none of it.
        """
        evidence, file = self.rows.table.evidence, experiment_file("bench")
        return floats(measured_entry(evidence, file, slug_of(self.name), "gains", definition))

    def mean(self) -> Estimate:
        """Return the mean last gain over the prompts."""
        return prompts_estimate(self.gains, self.categories)

    def mean_by(self, definition: GainReading) -> Estimate:
        """Return the mean last gain over the prompts by another definition."""
        return prompts_estimate(self.gains_by(definition), self.categories)

    def mean_of_sequence(self) -> Estimate:
        """Return the mean last gain of whole-sequence norms.

        Over the benchmark's prompts where these were measured; print has other texts, of which
        there are several for Llama alone, each of a kind of its own.

        Raises:
            NotMeasured: for a model of which there is neither.
        """
        try:
            return self.mean_by(GainReading.SEQUENCE)
        except NotMeasured:
            return self._mean_over_texts()

    def _mean_over_texts(self) -> Estimate:
        evidence = self.rows.table.evidence
        if self.name == SEVERAL_TEXTS:
            texts = evidence[INPUTS].results
            gains = [text.gains[-1] for text in texts.values()]
            return prompts_estimate(gains, texts.keys(), where="a text each")
        if self.name == "Mistral-7B":
            return without_interval(last_gain(mistral_stream(evidence)), 1, UNIT)
        if self.name not in BENCHMARKED:
            raise NotMeasured(f"no norm of a whole sequence was measured for {self.name}")
        stream = evidence[FOUR].results[BENCHMARKED[self.name]]
        return without_interval(last_gain(stream), 1, UNIT)


def benchmarked_models(evidence: Evidence) -> dict[str, PromptRows]:
    """Return the models of the benchmark."""
    return {
        name: PromptRows(name, rows)
        for table in evidence.role("benchmark").values()
        for name, rows in Rows(table).by("Model").items()
    }


def tuned_models(evidence: Evidence) -> dict[str, PromptRows]:
    """Return the base and the tuned model of each family, "Gemma-7B instruct"."""
    return {
        f"{family} {variant}": PromptRows(f"{family} {variant}", rows)
        for family, twins in tuned_families(evidence).items()
        for variant, rows in twins.by("Variant").items()
    }


OF_BENCHMARK = FamilyOfTests(
    1, len(ORDER), f"the sides of {len(ORDER)} models: any of them refutes it"
)
last_block_question = partial(
    prompts_question,
    number="mean last gain",
    readings={
        DECIDES: PromptRows.mean,
        GainReading.SEQUENCE: PromptRows.mean_of_sequence,
        GainReading.TOKEN: lambda model: model.mean_by(GainReading.TOKEN),
    },
    family=OF_BENCHMARK,
)
EXPANSION = last_block_question(
    name="expansion",
    says="The last block, before the final norm, expands the residual stream.",
    models=lambda evidence: benchmarked_models(evidence) | tuned_models(evidence),
    within=ABOVE_ONE,
)
LAST_DAMPING = last_block_question(
    name="last_damping",
    says="The last block, before the final norm, damps the residual stream.",
    models=benchmarked_models,
    within=BELOW_ONE,
)


# --- the benchmark's order ------------------------------------------------------------------------


def benchmark_together(evidence: Evidence) -> dict[str, dict[str, PromptRows]]:
    """Return the models of the benchmark as one entry; nothing for a source without one."""
    models = benchmarked_models(evidence)
    return {OVER_MODELS: models} if models else {}


def least_clear_step(
    models: dict[str, PromptRows], gains_of: Callable[[PromptRows], np.ndarray]
) -> Estimate:
    """Return the step between neighbours in the printed order that is least clearly a rise.

    Each is paired, as all models saw the same prompts.
    """
    steps = {
        f"{first} to {second}": prompts_estimate(
            gains_of(models[second]) - gains_of(models[first]), models[first].categories
        )
        for first, second in pairwise(ORDER)
    }
    return least_clear(steps)


def order_rule(definition: GainReading) -> Function:
    """Return the rule on the same order by another definition of the gain."""
    return lambda models: least_clear_step(models, lambda model: model.gains_by(definition))


GAIN_ORDER = prompts_question(
    name="gain_order",
    says="The last gains of the four benchmarked models stand in the printed order.",
    number="least clear step from a model's mean last gain to that of the next",
    models=benchmark_together,
    readings={
        DECIDES: lambda models: least_clear_step(models, lambda model: model.gains),
        **{name: order_rule(name) for name in (GainReading.SEQUENCE, GainReading.TOKEN)},
    },
    within=ABOVE_ZERO,
    family=FamilyOfTests(1, len(ORDER) - 1, "all three steps: any of them refutes it"),
)


# --- tuned models beside their bases --------------------------------------------------------------


def tuned_families(evidence: Evidence) -> dict[str, Rows]:
    """Return the rows of a base model and its tuned twin, by family."""
    by_family: dict[str, Rows] = {}
    for table in evidence.role("tuned").values():
        by_family |= Rows(table).by("Family")
    return by_family


def families_together(evidence: Evidence) -> dict[str, dict[str, Rows]]:
    """Return the tuned families as one entry; nothing for a source without any."""
    families = tuned_families(evidence)
    return {OVER_MODELS: families} if families else {}


def base_and_tuned(family: Rows) -> tuple[Estimate, Estimate]:
    """Return the mean last gain of a base model and of its tuned twin."""
    base, tuned = (PromptRows("", family.where(Variant=variant)).mean() for variant in VARIANTS)
    return base, tuned


@at_any_level
def distance_from_one(base: Estimate, tuned: Estimate, level: float = LEVEL) -> Estimate:
    """Return the tuned model's mean gain less 1, counted towards the side of its base.

    It is negative where tuning turned the side. Of a base whose interval includes 1 neither side
    is shown, and the ends say so.
    """
    sign = 1 if base.value > 1 else -1
    low, high = sorted(sign * (end - 1) for end in tuned.ends(level))
    if base.ends(level)[0] <= 1 <= base.ends(level)[1]:
        high = max(abs(low), abs(high))
        low = -high
    return replace(tuned, value=sign * (tuned.value - 1), low=low, high=high)


def least_clear_side(families: dict[str, Rows]) -> Estimate:
    """Return the distance from 1 of the family whose tuned model keeps its side least clearly."""
    return least_clear(
        {name: distance_from_one(*base_and_tuned(family)) for name, family in families.items()}
    )


def share_of_families(families: dict[str, Rows]) -> Estimate:
    """Return the share of the families whose tuned model stays on its base's side of 1.

    The unit is the family: a claim on what tuning can do is about models, not about prompts. Where
    a gain cannot be distinguished from 1, its family is counted by the chance that it keeps the
    side.
    """
    chances, by_value = [], 0
    for family in families.values():
        base, tuned = base_and_tuned(family)
        damps = [chance_below(gain, BELOW_ONE.below) for gain in (base, tuned)]
        chances.append(damps[0] * damps[1] + (1 - damps[0]) * (1 - damps[1]))
        by_value += (base.value > 1) == (tuned.value > 1)

    def share(n_kept: int) -> Estimate:
        return share_estimate([place < n_kept for place in range(len(chances))], "families")

    counted = estimate_from_counts(share, [chances], [by_value], len(chances))
    n_open = sum(0 < chance < 1 for chance in chances)
    return replace(counted, where=f"{n_open} counted by the chance that they do" if n_open else "")


SIDES_KEPT = prompts_question(
    name="sides_kept",
    says="In every family the tuned model's gain stays on its base's side of 1.",
    number="least clear distance of a tuned model's gain from 1, on its base's side",
    models=families_together,
    readings={DECIDES: least_clear_side},
    within=ABOVE_ZERO,
    family=FamilyOfTests(1, 3, "all three families: any of them refutes it"),
)
TUNING_NEVER = models_question(
    name="tuning_never",
    says="In most families of models tuning keeps the gain on its side of 1.",
    number="share of the families whose tuned model keeps its base's side of 1",
    unit="families",
    models=families_together,
    readings={DECIDES: share_of_families},
    within=Range(above=MAJORITY),
    fewest=FEWEST_FOR_MAJORITY,
)

QUESTIONS = (DAMPING, BOUND, EXPANSION, LAST_DAMPING, GAIN_ORDER, SIDES_KEPT, TUNING_NEVER)
