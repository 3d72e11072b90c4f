"""The questions of Paper 3 on profiles, matrices, traces of the sheaf and the critical layer."""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

import numpy as np

from layerwise.engine.derivation import Function
from layerwise.engine.evidence import Entry, Evidence, floats
from layerwise.engine.published import PUBLISHED
from layerwise.engine.question import OF_MEAN, OF_R, Question, Range
from layerwise.models.registry import slug_of
from layerwise.papers.paper3.questions.gains import N_LAWS, all_models_together
from layerwise.papers.paper3.rules import critical_layer, sheaf_trace
from layerwise.papers.paper3.rules.gain_files import gain, short_name
from layerwise.papers.paper3.rules.spectral_norms import (
    models_of_group,
    models_with_gains,
    value_over_output,
)
from layerwise.papers.shared.names import CORRECT, Choice
from layerwise.papers.shared.questions import (
    experiment_file,
    measured_entry,
    rules_without_each,
)
from layerwise.papers.shared.result_files import CROSS, PROFILES_FILE, SPECTRAL, V2
from layerwise.statistics.estimates import (
    PERMUTATIONS,
    Estimate,
    difference_estimate,
    family_level,
    logarithms,
    mean_estimate,
    on_log_scale,
    pearson_estimate,
    ratio_estimate,
    spearman_estimate,
    units_to_permute,
    without_interval,
)
from layerwise.statistics.profiles import bell

# --- the profile of anisotropy --------------------------------------------------------------------


@dataclass(frozen=True)
class Profile:
    """The share of the first component by layer."""

    name: str
    file: Entry

    def shares(self) -> list[float]:
        """Return the share of the first component by layer."""
        return self.file.intrinsic_dim_ratio[:].tolist()

    def before_norm(self) -> list[float]:
        """Return the shares with the last layer before the final norm."""
        entry = measured_entry(self.file.evidence, PROFILES_FILE, self.name)
        return [*self.shares()[:-1], entry.last_share_before_norm]


def profiles_by_model(evidence: Evidence) -> dict[str, Profile]:
    """Return the profiles of the papers' models, or of the reader's."""
    return {model: Profile(model, file) for model, file in evidence.role("profiles").items()}


BELL_QUESTIONS = (
    Question(
        name="bell",
        paper=3,
        says="Anisotropy rises up to the layer L* of its maximum and falls beyond it.",
        number="the weaker of the two trends, in standard errors",
        unit="layers",
        models=profiles_by_model,
        choices={
            PUBLISHED: lambda profile: bell(np.array(profile.shares()), "layers"),
            Choice.WITHOUT_LAST: lambda profile: bell(np.array(profile.shares()[:-1]), "layers"),
            Choice.BEFORE_NORM: lambda profile: bell(np.array(profile.before_norm()), "layers"),
        },
        within=Range(above=0.0),
    ),
)

# --- spectral norms -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Norms:
    """The norms of one model's projections, block by block."""

    name: str
    entry: Entry

    def by_block(self, matrix: str, kind: str = "spectral_norm") -> np.ndarray:
        """Return the norms of a matrix, shape (block,)."""
        return floats(self.entry[f"{matrix}_{kind}"])

    def both(self, kind: str = "spectral_norm") -> tuple[np.ndarray, np.ndarray]:
        """Return the norms of W_V and of W_O, each of shape (block,)."""
        return self.by_block("W_V", kind), self.by_block("W_O", kind)


def norms_by_model(evidence: Evidence) -> dict[str, Norms]:
    """Return the norms of the papers' models, or of the reader's."""
    by_name = dict(evidence.role("spectral"))
    for sample in evidence.role("norms").values():
        by_name |= {short_name(entry): entry for entry in sample}
    return {name: Norms(name, entry) for name, entry in by_name.items()}


def ratio_of_means(model: Norms, kind: str = "spectral_norm") -> Estimate:
    """Return the mean of W_V over the mean of W_O, as the papers take it."""
    return ratio_estimate(*model.both(kind), "blocks")


def mean_of_ratios(model: Norms) -> Estimate:
    """Return the mean over the blocks of W_V over W_O."""
    value, output = model.both()
    return mean_estimate(value / output, "blocks")


def geometric_mean(model: Norms) -> Estimate:
    """Return the geometric mean over the blocks of W_V over W_O."""
    value, output = model.both()
    return on_log_scale(mean_estimate(logarithms(value / output), "blocks"))


def ratio_of_correct_slices(model: Norms) -> Estimate:
    """Return W_V over W_O of the rows that the model computes with.

    A reader's norms are taken of these rows already; of the papers' models only the means were
    measured so, without a spread over the blocks.
    """
    if "slices" in model.entry and model.entry.slices == CORRECT:
        return ratio_of_means(model)
    file, slug = experiment_file("spectral"), slug_of(model.name)
    norms = measured_entry(model.entry.evidence, file, slug, CORRECT)
    n = len(model.entry.W_V_spectral_norm)
    return without_interval(float(norms["W_V"] / norms["W_O"]), n, "blocks")


def mean_value_norm(model: Entry) -> float:
    """Return the mean spectral norm of W_V over the blocks."""
    return float(np.mean(model.W_V_spectral_norm[:]))


def log_difference(
    evidence: Evidence,
    number: Callable[[Entry], float],
    others: str = "others",
    names: Collection[str] | None = None,
) -> Estimate:
    """Return the mean logarithm of a number at EleutherAI less that at others, of these models."""

    def logarithms_of(group: str) -> np.ndarray:
        models = models_of_group(evidence, group)
        chosen = [model for model in models if names is None or short_name(model) in names]
        return np.array([math.log(number(model)) for model in chosen])

    return difference_estimate(logarithms_of("eleuther"), logarithms_of(others), "models")


def log_difference_without_each(evidence: Evidence) -> dict[str, Function]:
    """Return a rule per model: the difference without it."""
    return rules_without_each(
        [short_name(model) for model in evidence[SPECTRAL].results],
        lambda names: log_difference(evidence, value_over_output, names=names),
    )


def r_of_gains(
    evidence: Evidence,
    number: Callable[[Entry], float],
    names: list[str] | None = None,
    rank: bool = False,
    n_tests: int = 1,
) -> Estimate:
    """Return r of a number of the norms and the gain, or Spearman's with `rank`."""
    models = models_with_gains(evidence)
    chosen = [models[name] for name in (models if names is None else names)]
    x = np.array([number(norms) for norms, _ in chosen])
    y = np.array([gain(gains) for _, gains in chosen])
    if rank:
        return spearman_estimate(x, y, "models")
    return pearson_estimate(x, y, "models", family_level(n_tests))


def r_of_gains_without_each(evidence: Evidence) -> dict[str, Function]:
    """Return a rule per model: r without it."""
    return rules_without_each(
        list(models_with_gains(evidence)), partial(r_of_gains, evidence, value_over_output)
    )


SPECTRAL_QUESTIONS = (
    Question(
        name="spectral_norms",
        paper=3,
        says="W_V stretches more than W_O.",
        number="ratio of the mean spectral norms",
        unit="blocks",
        models=norms_by_model,
        choices={
            PUBLISHED: ratio_of_means,
            Choice.MEAN_OF_RATIOS: mean_of_ratios,
            Choice.GEOMETRIC: geometric_mean,
            Choice.FROBENIUS: lambda model: ratio_of_means(model, "frobenius_norm"),
            Choice.CORRECT_SLICES: ratio_of_correct_slices,
        },
        within=Range(above=1.0),
    ),
    Question(
        name="spectral_labs",
        paper=3,
        says="W_V over W_O is larger at EleutherAI than at the other labs.",
        number="difference of the mean logarithms",
        unit="models",
        models=all_models_together,
        choices={
            PUBLISHED: lambda evidence: log_difference(evidence, value_over_output),
            Choice.META_ALONE: lambda evidence: log_difference(evidence, value_over_output, "meta"),
            Choice.VALUE_NORMS: lambda evidence: log_difference(evidence, mean_value_norm),
            Choice.MODEL_OUT: log_difference_without_each,
        },
        within=Range(above=0.0),
    ),
    Question(
        name="spectral_predicts",
        paper=3,
        says="The larger W_V over W_O, the smaller the gain.",
        number="r of that ratio and the mean gain",
        unit="models",
        models=all_models_together,
        choices={
            PUBLISHED: lambda evidence: r_of_gains(evidence, value_over_output),
            Choice.VALUE_NORMS: lambda evidence: r_of_gains(evidence, mean_value_norm),
            Choice.SPEARMAN: lambda evidence: r_of_gains(evidence, value_over_output, rank=True),
            Choice.LAWS_AT_ONCE: lambda evidence: r_of_gains(
                evidence, value_over_output, n_tests=N_LAWS
            ),
            Choice.MODEL_OUT: r_of_gains_without_each,
        },
        within=Range(below=0.0),
        effect=OF_R,
    ),
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
    Question(
        name="trace",
        paper=3,
        says="The mean trace of expanding models is over twice that of damping ones.",
        number="expanders' mean trace over dampeners'",
        unit="models",
        models=all_models_together,
        choices={
            PUBLISHED: lambda evidence: trace_factor(evidence, "full"),
            Choice.MULTIHEAD: lambda evidence: trace_factor(evidence, "multihead"),
        },
        within=Range(above=float(sheaf_trace.FACTOR)),
    ),
    Question(
        name="lstar",
        paper=3,
        says="The error of the formula for L* is smaller than that of L/2.",
        number="its error less that of L/2, percent of depth",
        unit="models",
        models=all_models_together,
        choices={
            PUBLISHED: lambda evidence: formula_against_half(list(evidence[CROSS].results)),
            Choice.UNSEEN: lambda evidence: formula_against_half(
                list(critical_layer.models_not_fitted(evidence[CROSS]).values())
            ),
            Choice.MODEL_OUT: formula_without_each,
        },
        within=Range(below=0.0),
        effect=OF_MEAN,
    ),
)
QUESTIONS = (*BELL_QUESTIONS, *SPECTRAL_QUESTIONS, *LAYER_QUESTIONS)
