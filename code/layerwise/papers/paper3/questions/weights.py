"""The questions of Paper 3 on profiles, matrices, traces of the sheaf and the critical layer."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from layerwise.engine.derivation import Function
from layerwise.engine.evidence import Entry, Evidence, floats
from layerwise.engine.published import BEYOND, NotMeasured
from layerwise.engine.questions.question import OF_MEAN, OF_R, PUBLISHED, Question, Range
from layerwise.papers.paper3.questions.gains import over_models
from layerwise.papers.paper3.rules import critical_layer, sheaf_trace
from layerwise.papers.paper3.rules.gain_files import gain, models
from layerwise.papers.paper3.rules.lab_heritage import ELEUTHER
from layerwise.papers.paper3.rules.spectral_norms import ratio
from layerwise.papers.shared.names.matrices import CORRECT, LEGACY
from layerwise.papers.shared.names.result_files import (
    CROSS,
    HUNT,
    PROFILES_FILE,
    SPECTRAL,
    SWEEP,
    V2,
)
from layerwise.papers.shared.questions.choices import (
    experiment_file,
    measured_entry,
)
from layerwise.statistics.estimates import (
    Estimate,
    difference_estimate,
    logarithms,
    mean_estimate,
    pearson_estimate,
    ratio_estimate,
    spearman_estimate,
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
        return self.file.intrinsic_dim_ratio[:].tolist()

    def before_norm(self) -> list[float]:
        """With the last layer in front of the final norm."""
        entry = measured_entry(self.file.evidence, PROFILES_FILE, self.name)
        return [*self.shares()[:-1], entry.last_share_before_norm]


def profiles(e: Evidence) -> dict[str, Profile]:
    return {model: Profile(model, file) for model, file in e.role("profiles").items()}


BELL = (
    Question(
        "bell",
        3,
        "Anisotropy rises up to the layer L* of its maximum and falls beyond it.",
        "the weaker of the two trends, in standard errors",
        "layers",
        profiles,
        {
            PUBLISHED: lambda profile: bell(np.array(profile.shares()), "layers"),
            "without_last": lambda profile: bell(np.array(profile.shares()[:-1]), "layers"),
            "before_norm": lambda profile: bell(np.array(profile.before_norm()), "layers"),
        },
        Range(above=0.0),
    ),
)

# --- spectral norms -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Norms:
    """The norms of one model's projections, block by block."""

    name: str
    entry: Entry

    def of(self, matrix: str, kind: str = "spectral_norm") -> np.ndarray:
        return floats(self.entry[f"{matrix}_{kind}"])

    def both(self, kind: str = "spectral_norm") -> tuple[np.ndarray, np.ndarray]:
        return self.of("W_V", kind), self.of("W_O", kind)


def normed(e: Evidence) -> dict[str, Norms]:
    by_name = dict(e.role("spectral"))
    for sample in e.role("norms").values():
        by_name |= {entry.model.rpartition("/")[2]: entry for entry in sample}
    return {name: Norms(name, entry) for name, entry in by_name.items()}


def mean_over_mean(m: Norms, kind: str = "spectral_norm") -> Estimate:
    """Mean of W_V over mean of W_O, as the papers take it."""
    return ratio_estimate(*m.both(kind), "blocks")


def mean_of_ratios(m: Norms) -> Estimate:
    above, below = m.both()
    return mean_estimate(above / below, "blocks")


def geometric_mean(m: Norms) -> Estimate:
    above, below = m.both()
    found = mean_estimate(logarithms(above / below), "blocks")
    value, low, high = map(math.exp, (found.value, found.low, found.high))
    return Estimate(value, low, high, found.n, "blocks")


def correctly_cut(m: Norms) -> Estimate:
    """Of the rows that the model computes with; a reader's are, and of means there is no spread."""
    if "slices" in m.entry and m.entry.slices == CORRECT:
        return mean_over_mean(m)
    slug = m.name.lower().replace(".", "p")
    found = measured_entry(m.entry.evidence, experiment_file("spectral"), slug, CORRECT)
    n = len(m.entry.W_V_spectral_norm)
    return without_interval(float(found["W_V"] / found["W_O"]), n, "blocks")


def labs(e: Evidence) -> tuple[list[Entry], list[Entry]]:
    """EleutherAI's models with norms, and the others."""
    found = list(e[SPECTRAL].results)
    eleuther = [m for m in found if m.lab == ELEUTHER]
    return eleuther, [m for m in found if m.lab != ELEUTHER]


def value_norm(m: Entry) -> float:
    return float(np.mean(m.W_V_spectral_norm[:]))


def log_difference(
    e: Evidence, of: Callable[[Entry], float], *, meta_alone: bool = False, left_out: str = ""
) -> Estimate:
    """Mean logarithm at EleutherAI less that of the others."""
    eleuther, others = (
        [math.log(of(m)) for m in group if m.model != left_out] for group in labs(e)
    )
    if meta_alone:
        others = [math.log(of(m)) for m in labs(e)[1] if m.lab == "Meta"]
    return difference_estimate(np.array(eleuther), np.array(others), "models")


def without_each_norm(e: Evidence) -> dict[str, Function]:
    return {
        m.model.rpartition("/")[2]: partial(log_difference, e, ratio, left_out=m.model)
        for m in e[SPECTRAL].results
    }


def with_gains(e: Evidence) -> list[str]:
    """The models that have norms and a gain."""
    gained = models(e[HUNT]) | models(e[SWEEP])
    return [name for name in normed(e) if name in gained]


def norms_and_gains(
    e: Evidence, of: Callable[[Entry], float], names: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """A number of the norms, and the mean gain, of these models."""
    gained, norms = models(e[HUNT]) | models(e[SWEEP]), normed(e)
    x = np.array([of(norms[name].entry) for name in names])
    return x, np.array([gain(gained[name]) for name in names])


def r_of_gains(
    e: Evidence, of: Callable[[Entry], float], rank: bool = False, left_out: str = ""
) -> Estimate:
    names = [name for name in with_gains(e) if name != left_out]
    x, y = norms_and_gains(e, of, names)
    return spearman_estimate(x, y, "models") if rank else pearson_estimate(x, y, "models")


def r_without_each(e: Evidence) -> dict[str, Function]:
    return {name: partial(r_of_gains, e, ratio, left_out=name) for name in with_gains(e)}


# Models of two labs whose arrangements leave 2.5% beyond either end of an interval: 56 of three
# and five, against 35 of three and four.
FOR_LABS = 8

SPECTRAL_QUESTIONS = (
    Question(
        "spectral_norms",
        3,
        "W_V stretches more than W_O.",
        "ratio of the mean spectral norms",
        "blocks",
        normed,
        {
            PUBLISHED: mean_over_mean,
            "mean_of_ratios": mean_of_ratios,
            "geometric": geometric_mean,
            "frobenius": lambda m: mean_over_mean(m, "frobenius_norm"),
            "correct_slices": correctly_cut,
        },
        Range(above=1.0),
    ),
    Question(
        "spectral_labs",
        3,
        "W_V over W_O is larger at EleutherAI than at the other labs.",
        "difference of the mean logarithms",
        "models",
        over_models,
        {
            PUBLISHED: lambda e: log_difference(e, ratio),
            "meta_alone": lambda e: log_difference(e, ratio, meta_alone=True),
            "value_norms": lambda e: log_difference(e, value_norm),
            "model_out": without_each_norm,
        },
        Range(above=0.0),
        fewest=FOR_LABS,
    ),
    Question(
        "spectral_predicts",
        3,
        "The larger W_V over W_O, the smaller the gain.",
        "r of that ratio and the mean gain",
        "models",
        over_models,
        {
            PUBLISHED: lambda e: r_of_gains(e, ratio),
            "value_norms": lambda e: r_of_gains(e, value_norm),
            "spearman": lambda e: r_of_gains(e, ratio, rank=True),
            "model_out": r_without_each,
        },
        Range(below=0.0),
        OF_R,
    ),
)

# --- traces, and the formula for L* ---------------------------------------------------------------


# Models, half of them expanding, whose every arrangement leaves 2.5% of all beyond either end of
# an interval: 70 arrangements of four and four, against 20 of three and three.
FOR_TRACE = 8


def trace_factor(e: Evidence, series: str) -> Estimate:
    """Expanders' mean trace over that of dampeners; between so few models no interval is drawn."""
    models_there = list(e[V2].results)
    return without_interval(sheaf_trace.expand_over_dampen(e, series), len(models_there), "models")


def formula_against_half(models_there: list[Entry]) -> Estimate:
    """Error of the formula less that of L/2, percent of depth, model by model."""
    found = [critical_layer.error(m) - critical_layer.half_depth(m) for m in models_there]
    return mean_estimate(found, "models")


def formula_without_each(e: Evidence) -> dict[str, Function]:
    found = {m.model.rpartition("/")[2]: m for m in e[CROSS].results}

    def without(left_out: str) -> Estimate:
        return formula_against_half([m for name, m in found.items() if name != left_out])

    return {name: partial(without, name) for name in found}


GUARDED = "_guarded"  # ends the name of a critical layer that was found without NaN
NAME = "L_star"  # begins that of every one, and of no other number


@dataclass(frozen=True)
class Readings:
    """The critical layers of one model, by experiment, of both slicings."""

    experiments: Mapping[str, Entry]

    def shifts(self, slicing: str, suffix: str = "") -> Estimate:
        """Mean distance, over the definitions, from the layer that the papers' reading gives."""
        found = []
        for entry in self.experiments.values():
            legacy, other = entry[LEGACY], entry[slicing]
            for name in legacy:
                is_layer = name.startswith(NAME) or f"{name}{GUARDED}" in legacy
                if is_layer and not name.endswith(GUARDED) and f"{name}{suffix}" in other:
                    moved = other[f"{name}{suffix}"]
                    found.append(np.nan if moved is None else float(abs(moved - legacy[name])))
        known = [shift for shift in found if np.isfinite(shift)]
        if not known:
            raise NotMeasured("no critical layer was found both ways")
        return mean_estimate(known, "definitions")


def with_both_slicings(e: Evidence) -> dict[str, Readings]:
    """Models whose critical layers were measured with both slicings; print has none."""
    found: dict[str, dict[str, Entry]] = {}
    for file in e.cells.files():
        for slug, entry in e[file].items() if file.startswith(BEYOND) else ():
            if {LEGACY, CORRECT} <= set(entry):
                found.setdefault(slug, {})[file] = entry
    return {slug: Readings(of) for slug, of in found.items()}


LAYERS = (
    Question(
        "critical_layer",
        3,
        "The critical layer does not depend on how weights are cut or a NaN is read.",
        "mean shift in layers",
        "definitions",
        with_both_slicings,
        {
            "correct_slices": lambda m: m.shifts(CORRECT),
            "without_nan": lambda m: m.shifts(LEGACY, GUARDED),
        },
        Range(below=1.0),
    ),
    Question(
        "trace",
        3,
        "The mean trace of expanding models is over twice that of damping ones.",
        "expanders' mean trace over dampeners'",
        "models",
        over_models,
        {
            PUBLISHED: lambda e: trace_factor(e, "full"),
            "multihead": lambda e: trace_factor(e, "multihead"),
        },
        Range(above=float(sheaf_trace.FACTOR)),
        fewest=FOR_TRACE,
    ),
    Question(
        "lstar",
        3,
        "The error of the formula for L* is smaller than that of L/2.",
        "its error less that of L/2, percent of depth",
        "models",
        over_models,
        {
            PUBLISHED: lambda e: formula_against_half(list(e[CROSS].results)),
            "unseen": lambda e: formula_against_half(
                list(critical_layer.models_not_fitted(e[CROSS]).values())
            ),
            "model_out": formula_without_each,
        },
        Range(below=0.0),
        OF_MEAN,
    ),
)
QUESTIONS = (*BELL, *SPECTRAL_QUESTIONS, *LAYERS)
