"""The questions of Paper 3 on profiles, matrices, traces of the sheaf and the critical layer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from layerwise.engine.derivation import Function
from layerwise.engine.evidence import Entry, Evidence, floats
from layerwise.engine.published import DECIDES, PUBLISHED, NotMeasured
from layerwise.engine.question import FamilyOfTests, Range
from layerwise.models.registry import slug_of
from layerwise.papers.paper3.questions.gains import (
    ABOVE_ZERO,
    THREE_LAWS,
    models_question,
    prompts_question,
)
from layerwise.papers.paper3.questions.samples import BELOW_ZERO
from layerwise.papers.paper3.rules import critical_layer, sheaf_trace
from layerwise.papers.paper3.rules.anisotropy import profile_bell
from layerwise.papers.paper3.rules.gain_files import gain, short_name
from layerwise.papers.paper3.rules.prompts import CATEGORIES, prompts_estimate
from layerwise.papers.paper3.rules.spectral_norms import models_with_gains, value_over_output
from layerwise.papers.shared.names import CORRECT, Choice
from layerwise.papers.shared.questions import (
    experiment_file,
    measured_entry,
    rules_without_each,
)
from layerwise.papers.shared.result_files import CROSS, PROFILES_FILE, V2
from layerwise.statistics.estimates import (
    PERMUTATIONS,
    Estimate,
    mean_estimate,
    pearson_estimate,
    spearman_estimate,
    units_to_permute,
    without_interval,
)
from layerwise.statistics.extremes import least_clear
from layerwise.statistics.profiles import rise_and_fall

# --- the profile of anisotropy --------------------------------------------------------------------


@dataclass(frozen=True)
class Profile:
    """The share of the first component by layer."""

    name: str
    file: Entry

    def slope_in_print(self) -> Estimate:
        """Return the weaker slope of the one profile that all prompts give together."""
        slopes = profile_bell(self.file)
        weaker = min(slopes.phase1_slope, -slopes.phase2_slope)
        return without_interval(weaker, 1, "profile", where=f"peak at layer {slopes.l_star}")

    def slope_by_prompt(self, last: int | None = None) -> Estimate:
        """Return the slope, over the prompts, of the side on which the trend is less clear.

        Arguments:
            last: the layer before which the profiles end; all layers, if left out.

        Raises:
            NotMeasured: for print, which has no prompt's own profile, and for prompts of so few
                tokens that none has one.
        """
        entry = measured_entry(self.file.evidence, PROFILES_FILE, self.name)
        shares = measured_entry(self.file.evidence, PROFILES_FILE, self.name, SHARES)
        if not len(shares):
            raise NotMeasured(
                f"no prompt of {self.name} has tokens enough for a profile of its own"
            )
        slopes = rise_and_fall(np.array([floats(profile)[:last] for profile in shares]))
        categories = list(entry[CATEGORIES]) if CATEGORIES in entry else None
        return least_clear(
            {
                f"rise to layer {slopes.peak}": prompts_estimate(slopes.rises, categories),
                f"fall from layer {slopes.peak}": prompts_estimate(slopes.falls, categories),
            }
        )


SHARES = "shares_by_prompt"  # in our file of profiles: by prompt, then by layer


def profiles_by_model(evidence: Evidence) -> dict[str, Profile]:
    """Return the profiles of the papers' models, or of the reader's."""
    return {model: Profile(model, file) for model, file in evidence.role("profiles").items()}


BELL = prompts_question(
    name="bell",
    says="On the whole anisotropy rises up to the layer L* of its maximum and falls from there.",
    number="less clear slope of the two, up to the peak and down from it",
    models=profiles_by_model,
    readings={
        DECIDES: Profile.slope_by_prompt,
        PUBLISHED: Profile.slope_in_print,
        Choice.WITHOUT_LAST: lambda profile: profile.slope_by_prompt(last=-1),
    },
    within=ABOVE_ZERO,
    family=FamilyOfTests(1, 2, "rise and fall: either of them refutes it"),
)

# --- spectral norms -------------------------------------------------------------------------------


def mean_value_norm(model: Entry) -> float:
    """Return the mean spectral norm of W_V over the blocks."""
    return float(np.mean(model.W_V_spectral_norm[:]))


def ratio_of_correct_slices(model: Entry) -> float:
    """Return W_V over W_O of the rows that the model computes with, as means over the blocks.

    Raises:
        NotMeasured: for print, whose norms of some models are of other rows.
    """
    slug = slug_of(str(model.model))
    norms = measured_entry(model.evidence, experiment_file("spectral"), slug, CORRECT)
    return float(norms["W_V"] / norms["W_O"])


def r_of_gains(
    evidence: Evidence,
    number: Callable[[Entry], float],
    names: Sequence[str] | None = None,
    rank: bool = False,
) -> Estimate:
    """Return r of a number of the norms and the gain, or Spearman's with `rank`."""
    models = models_with_gains(evidence)
    chosen = [models[name] for name in (models if names is None else names)]
    x = np.array([number(norms) for norms, _ in chosen])
    y = np.array([gain(gains) for _, gains in chosen])
    return (spearman_estimate if rank else pearson_estimate)(x, y, "models")


def r_of_gains_without_each(evidence: Evidence) -> dict[str, Function]:
    """Return a rule per model: r without it."""
    return rules_without_each(
        list(models_with_gains(evidence)), partial(r_of_gains, evidence, value_over_output)
    )


SPECTRAL = models_question(
    name="spectral_predicts",
    says="The larger W_V over W_O, the smaller the gain.",
    number="r of W_V over W_O and the mean gain",
    readings={
        DECIDES: lambda evidence: r_of_gains(evidence, value_over_output),
        Choice.VALUE_NORMS: lambda evidence: r_of_gains(evidence, mean_value_norm),
        Choice.CORRECT_SLICES: lambda evidence: r_of_gains(evidence, ratio_of_correct_slices),
        Choice.SPEARMAN: lambda evidence: r_of_gains(evidence, value_over_output, rank=True),
        Choice.MODEL_OUT: r_of_gains_without_each,
    },
    within=BELOW_ZERO,
    family=THREE_LAWS,
)

# --- traces, and the formula for L* ---------------------------------------------------------------


def trace_factor(evidence: Evidence, series: str) -> Estimate:
    """Return the expanders' mean trace over the dampeners'; so few models have no interval.

    That of all permutations would take as many models as `units_to_permute` says, half of them
    expanding.
    """
    factor = sheaf_trace.expand_over_dampen(evidence, series)
    n, fewest = len(evidence[V2].results), units_to_permute()
    return without_interval(factor, n, "models", method=PERMUTATIONS, fewest=fewest)


def formula_against_half(models: list[Entry]) -> Estimate:
    """Return the mean over models of the formula's error less that of L/2, percent of depth."""
    differences = [
        critical_layer.formula_error(model) - critical_layer.half_depth_error(model)
        for model in models
    ]
    return mean_estimate(differences, "models")


def formula_without_each(evidence: Evidence) -> dict[str, Function]:
    """Return a rule per model: that difference without it."""
    models = {short_name(model): model for model in evidence[CROSS].results}
    return rules_without_each(
        list(models), lambda names: formula_against_half([models[name] for name in names])
    )


LAYER_QUESTIONS = (
    models_question(
        name="trace",
        says="The mean trace of expanding models is over twice that of damping ones.",
        number="expanders' mean trace over dampeners'",
        readings={
            DECIDES: lambda evidence: trace_factor(evidence, "full"),
            Choice.MULTIHEAD: lambda evidence: trace_factor(evidence, "multihead"),
        },
        within=Range(above=float(sheaf_trace.FACTOR)),
    ),
    models_question(
        name="lstar",
        says="The error of the formula for L* is smaller than that of L/2.",
        number="formula's error less that of L/2, percent of depth",
        readings={
            DECIDES: lambda evidence: formula_against_half(list(evidence[CROSS].results)),
            Choice.UNSEEN: lambda evidence: formula_against_half(
                list(critical_layer.models_not_fitted(evidence[CROSS]).values())
            ),
            Choice.MODEL_OUT: formula_without_each,
        },
        within=BELOW_ZERO,
    ),
)
QUESTIONS = (BELL, SPECTRAL, *LAYER_QUESTIONS)
