"""The formula for the critical layer L*, its fit and its validation (Paper 3, section 5.3)."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, count
from layerwise.engine.evidence import Entry, Evidence, floats
from layerwise.errors import LayerwiseError
from layerwise.papers.paper3.rules.sheaf_trace import extended_layer, trace_layer
from layerwise.papers.shared.names.result_files import CROSS, EXTENDED, SIGNS, V2
from layerwise.statistics.critical_layer import least_absolute_deviations
from layerwise.statistics.curves import word_below

PAPER = "Paper 3"  # the coefficients stand in its text
LEFT_OUT = "mistralai/Mistral-7B-v0.1"  # of the calibration: its L* is 0
LAYERS = "individual_L_stars"
WITHIN = 2  # layers that a calibration layer may be missed by

Predict = Callable[[Entry], float]


class Formula(NamedTuple):
    """L* = L (constant + depth L + heads / H) for L blocks of H heads (equation 6)."""

    constant: float
    depth: float
    heads: float

    def layer(self, n_layers: int, n_heads: int) -> float:
        """The predicted L*."""
        return n_layers * (self.constant + self.depth * n_layers + self.heads / n_heads)


def printed(paper: Entry) -> Formula:
    """The formula with the coefficients in print; measured layers are compared with the same."""
    return Formula(*(paper.l_star[c] for c in ("constant", "depth", "heads")))


def depth_error(predicted: float | int, layer: float | int, n_layers: int) -> float:
    """|predicted - L*| in percent of the number of blocks; the paper calls its mean MAPE."""
    return 100 * abs(predicted - layer) / n_layers


def relative_error(predicted: float | int, layer: float | int) -> float:
    """|predicted - L*| in percent of an L* other than 0."""
    if layer == 0:
        raise LayerwiseError("an error relative to L* needs an L* other than 0")
    return 100 * abs(predicted - layer) / layer


# --- the fit to the models of the trace runs ---


def calibrated(e: Evidence) -> list[Entry]:
    """The models that the formula was fitted to."""
    models = [*e[V2].results, *e[EXTENDED].extended_results]
    return [m for m in models if m.model != LEFT_OUT]


def layer(m: Entry) -> int:
    """L* of a calibration model, of whichever run."""
    return trace_layer(m) if "traces_multihead" in m else extended_layer(m)


def fit(e: Evidence) -> Formula:
    """The formula whose mean depth error is smallest."""
    of = [(m.n_layers, m.n_heads, layer(m)) for m in calibrated(e)]
    depth, heads, layers = floats(of).T
    columns = np.column_stack([np.ones(len(depth)), depth, 1 / heads])
    return Formula(*least_absolute_deviations(columns, layers / depth).tolist())


def by_formula(formula: Formula) -> Predict:
    """What a formula says of a calibration model."""
    return lambda m: formula.layer(m.n_layers, m.n_heads)


def middle(m: Entry) -> float:
    """L/2 of a calibration model."""
    return m.n_layers / 2


PREDICTIONS: dict[str, Callable[[Evidence], Predict]] = {
    "printed_coefficients": lambda e: by_formula(printed(e[PAPER])),
    "fitted_coefficients": lambda e: by_formula(fit(e)),
    "half_depth": lambda _: middle,
}


def mean_error(e: Evidence, of: str, miss: Callable[[float, Entry], float]) -> float:
    """Mean error of a prediction over the calibration models."""
    predict = PREDICTIONS[of](e)
    return float(np.mean([miss(predict(m), m) for m in calibrated(e)]))


def depth_miss(found: float, m: Entry) -> float:
    """By how much a prediction misses a calibration model, percent of depth."""
    return depth_error(found, layer(m), m.n_layers)


def relative_miss(found: float, m: Entry) -> float:
    """The same in percent of the model's L*."""
    return relative_error(found, layer(m))


MISSES = {"error": depth_miss, "relative_error": relative_miss}
CALIBRATION: Rules = {
    "constant": Rule(lambda e: fit(e).constant, "the constant of the fitted formula"),
    "depth": Rule(lambda e: fit(e).depth, "the fitted formula's coefficient of depth"),
    "heads": Rule(lambda e: fit(e).heads, "the fitted formula's coefficient of heads"),
    **{
        f"{name}/{of}": partial(mean_error, of=of, miss=miss)
        for name, miss in MISSES.items()
        for of in PREDICTIONS
    },
}

# --- the two validations: L the blocks, H the heads of a model ---


def predicted(m: Entry) -> float:
    """Return the L* that the formula gives."""
    return printed(m.of(PAPER)).layer(m.L, m.H)


def empirical(m: Entry) -> float:
    """Mean L* over the prompts; the arg-max run stores nothing below it."""
    return float(np.mean(m[LAYERS][:])) if LAYERS in m else m.L_star_empirical


def error(m: Entry) -> float:
    """Of the formula, in percent of depth."""
    return depth_error(predicted(m), empirical(m), m.L)


def half_depth(m: Entry) -> float:
    """Error of the middle of the network, in percent of depth."""
    return depth_error(m.L / 2, empirical(m), m.L)


def mean(of: Callable[[Entry], float], models: Iterable[Entry]) -> float:
    return float(np.mean([of(m) for m in models]))


def count_met(f: Entry) -> str:
    """How many of the calibration layers that there are."""
    known = [m for m in f.results if m.L_star_calibration is not None]
    return f"{sum(abs(empirical(m) - m.L_star_calibration) < WITHIN for m in known)}/{len(known)}"


def relative(m: Entry) -> float:
    """Error of the formula in percent of the model's L*."""
    return relative_error(predicted(m), empirical(m))


def word(f: Entry) -> str:
    """The notebooks' word for the mean error: only the last of the three was ever printed.

    They differ in the other two.
    """
    found = mean(error, f.results)
    return word_below(found, {10: "VALIDATED", 15: "PARTIAL"}, "CALIBRATION NEEDED")


def of_depth(layer: Callable[[Entry], float]) -> Rule:
    """Return a rule for a layer in percent of the number of blocks."""
    return Rule(lambda m: float(100 * layer(m) / m.L), "a layer in percent of the number of blocks")


def alibis(f: Entry) -> str:
    """Whether models with an ALiBi position code were predicted, BLOOM's."""
    n = count([m for m in f.results if "bloom" in m.model], error)
    return "included" if n else "excluded"


def without_alibi(f: Entry) -> float:
    """Mean error over the other models."""
    return mean(error, [m for m in f.results if "bloom" not in m.model])


def n_labs(f: Entry) -> int:
    """How many labs' models were predicted."""
    return count(f.results, error, named=lambda m: m.lab)


def models_not_fitted(f: Entry) -> dict[str, Entry]:
    """The models of a validation that the formula was not fitted to."""
    seen = {m.model.rpartition("/")[2] for m in calibrated(f.evidence)}
    named = {m.model.rpartition("/")[2]: m for m in f.results if m.L}
    return {name: m for name, m in named.items() if name not in seen}


OF_MODEL: Rules = {
    "L_star_predicted": predicted,
    "error_pct": error,
    "drawn/predicted": of_depth(predicted),
    "drawn/empirical": of_depth(empirical),
}
OF_PROMPTS: Rules = {
    "L_star_empirical": empirical,
    "L_star_std": Rule(lambda m: np.std(m[LAYERS]), "population SD of L* over the prompts"),
}
OVER_MODELS: Rules = {
    "overall_mape": Rule(
        lambda f: mean(error, f.results), "mean error of the formula, percent of depth"
    ),
    "overall_relative_error": Rule(
        lambda f: mean(relative, f.results), "mean error of the formula, percent of L*"
    ),
    "verdict": word,
    "half_depth": Rule(
        lambda f: mean(half_depth, f.results), "mean error of half the depth, percent of depth"
    ),
    "n_seen": Rule(
        lambda f: len(f.results) - len(models_not_fitted(f)),
        "the models that the formula was fitted to",
    ),
    "unseen/models": Rule(
        lambda f: list(models_not_fitted(f)), "the models that it was not fitted to"
    ),
    "unseen/formula": Rule(
        lambda f: mean(error, models_not_fitted(f).values()), "mean error of the formula on these"
    ),
    "unseen/half_depth": Rule(
        lambda f: mean(half_depth, models_not_fitted(f).values()),
        "mean error of half the depth on these",
    ),
    "without_alibi": without_alibi,
    "labs_with_alibi": alibis,
    "n_models": Rule(lambda f: count(f.results, error), "the models with an error"),
    "n_labs": n_labs,
}
OF_THE_DRAFT: Rules = {}
AGAINST_OTHERS: Rules = {
    "improvement_pp": Rule(
        lambda f: f.comparison_v2_argmax - mean(error, f.results),
        "by how much the mean error fell, percentage points",
    ),
    "calibration_consistency": count_met,
}
SPREAD: Rules = {
    "drawn/std": Rule(of_depth(lambda m: m.L_star_std), "SD of L* in percent of depth")
}
DOCUMENTS = {
    "calibration": Document(None, {"": CALIBRATION}),
    "argmax": Document(
        CROSS, {"results/*": {**OF_MODEL, **SPREAD}, "": {**OVER_MODELS, **OF_THE_DRAFT}}
    ),
    "sign_change": Document(
        SIGNS, {"results/*": {**OF_MODEL, **OF_PROMPTS}, "": {**OVER_MODELS, **AGAINST_OTHERS}}
    ),
}
