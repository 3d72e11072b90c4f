"""The formula for the critical layer L*, its fit and its validation (Paper 3, section 5.3)."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, count
from layerwise.engine.evidence import Entry, Evidence, floats
from layerwise.errors import LayerwiseError
from layerwise.papers.paper3.rules.gain_files import short_name
from layerwise.papers.paper3.rules.sheaf_trace import extended_layer, trace_layer
from layerwise.papers.shared.names.result_files import CROSS, EXTENDED, PAPER_3_TEXT, SIGNS, V2
from layerwise.statistics.critical_layer import least_absolute_deviations
from layerwise.statistics.curves import word_below

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
        """Return the predicted L*."""
        return n_layers * (self.constant + self.depth * n_layers + self.heads / n_heads)


def printed_formula(paper: Entry) -> Formula:
    """Return the formula with the printed coefficients, for measured layers too."""
    return Formula(*(paper.l_star[name] for name in ("constant", "depth", "heads")))


def depth_error(predicted: float | int, layer: float | int, n_layers: int) -> float:
    """Return |predicted - L*| in percent of the blocks; the paper calls its mean MAPE."""
    return 100 * abs(predicted - layer) / n_layers


def relative_error(predicted: float | int, layer: float | int) -> float:
    """Return |predicted - L*| in percent of L*.

    Raises:
        LayerwiseError: for an L* of 0.
    """
    if layer == 0:
        raise LayerwiseError("an error relative to L* needs an L* other than 0")
    return 100 * abs(predicted - layer) / layer


# --- the fit to the models of the trace runs ---


def calibration_models(evidence: Evidence) -> list[Entry]:
    """Return the models that the formula was fitted to."""
    models = [*evidence[V2].results, *evidence[EXTENDED].extended_results]
    return [model for model in models if model.model != LEFT_OUT]


def calibration_layer(model: Entry) -> int:
    """Return L* of a calibration model, by the rule of its run."""
    return trace_layer(model) if "traces_multihead" in model else extended_layer(model)


def fit_formula(evidence: Evidence) -> Formula:
    """Return the formula whose mean depth error is smallest."""
    rows = [
        (model.n_layers, model.n_heads, calibration_layer(model))
        for model in calibration_models(evidence)
    ]
    depth, heads, critical_layers = floats(rows).T
    columns = np.column_stack([np.ones(len(depth)), depth, 1 / heads])
    return Formula(*least_absolute_deviations(columns, critical_layers / depth).tolist())


def formula_prediction(formula: Formula) -> Predict:
    """Return the prediction of a formula for a calibration model."""
    return lambda model: formula.layer(model.n_layers, model.n_heads)


def half_of_blocks(model: Entry) -> float:
    """Return L/2 of a calibration model."""
    return model.n_layers / 2


PREDICTIONS: dict[str, Callable[[Evidence], Predict]] = {
    "printed_coefficients": lambda evidence: formula_prediction(
        printed_formula(evidence[PAPER_3_TEXT])
    ),
    "fitted_coefficients": lambda evidence: formula_prediction(fit_formula(evidence)),
    "half_depth": lambda _: half_of_blocks,
}


def mean_miss(evidence: Evidence, prediction: str, miss: Callable[[float, Entry], float]) -> float:
    """Return the mean error of a prediction over the calibration models."""
    predict = PREDICTIONS[prediction](evidence)
    return float(np.mean([miss(predict(model), model) for model in calibration_models(evidence)]))


def depth_miss(prediction: float, model: Entry) -> float:
    """Return the error of a prediction for a calibration model, percent of depth."""
    return depth_error(prediction, calibration_layer(model), model.n_layers)


def relative_miss(prediction: float, model: Entry) -> float:
    """Return the error of a prediction for a calibration model, percent of its L*."""
    return relative_error(prediction, calibration_layer(model))


MISSES = {"error": depth_miss, "relative_error": relative_miss}
CALIBRATION_RULES: Rules = {
    "constant": Rule(
        lambda evidence: fit_formula(evidence).constant, "the constant of the fitted formula"
    ),
    "depth": Rule(
        lambda evidence: fit_formula(evidence).depth, "the fitted formula's coefficient of depth"
    ),
    "heads": Rule(
        lambda evidence: fit_formula(evidence).heads, "the fitted formula's coefficient of heads"
    ),
    **{
        f"{name}/{prediction}": partial(mean_miss, prediction=prediction, miss=miss)
        for name, miss in MISSES.items()
        for prediction in PREDICTIONS
    },
}

# --- the two validations: L the blocks, H the heads of a model ---


def predicted_layer(model: Entry) -> float:
    """Return the L* that the formula gives."""
    return printed_formula(model.of(PAPER_3_TEXT)).layer(model.L, model.H)


def empirical_layer(model: Entry) -> float:
    """Return the mean L* over the prompts, or the stored one of the arg-max run."""
    return float(np.mean(model[LAYERS][:])) if LAYERS in model else model.L_star_empirical


def formula_error(model: Entry) -> float:
    """Return the error of the formula, percent of depth."""
    return depth_error(predicted_layer(model), empirical_layer(model), model.L)


def half_depth_error(model: Entry) -> float:
    """Return the error of half the depth, percent of depth."""
    return depth_error(model.L / 2, empirical_layer(model), model.L)


def mean_over(number: Callable[[Entry], float], models: Iterable[Entry]) -> float:
    """Return the mean of a number over models."""
    return float(np.mean([number(model) for model in models]))


def count_met_layers(validation: Entry) -> str:
    """Say how many of the known calibration layers are met."""
    known = [model for model in validation.results if model.L_star_calibration is not None]
    misses = [abs(empirical_layer(model) - model.L_star_calibration) for model in known]
    return f"{sum(miss < WITHIN for miss in misses)}/{len(known)}"


def relative_formula_error(model: Entry) -> float:
    """Return the error of the formula in percent of the model's L*."""
    return relative_error(predicted_layer(model), empirical_layer(model))


def notebook_word(validation: Entry) -> str:
    """Return the notebooks' word for the mean error.

    Only the last of the three was ever printed; the notebooks differ in the other two.
    """
    mean_error = mean_over(formula_error, validation.results)
    return word_below(mean_error, {10: "VALIDATED", 15: "PARTIAL"}, "CALIBRATION NEEDED")


def percent_of_depth(layer: Callable[[Entry], float]) -> Rule:
    """Return a rule for a layer in percent of the number of blocks."""
    return Rule(
        lambda model: float(100 * layer(model) / model.L),
        "a layer in percent of the number of blocks",
    )


def alibi_word(validation: Entry) -> str:
    """Say whether models with ALiBi, which are BLOOM's, were predicted."""
    n = count([model for model in validation.results if "bloom" in model.model], formula_error)
    return "included" if n else "excluded"


def error_without_alibi(validation: Entry) -> float:
    """Return the mean error over the models without ALiBi."""
    return mean_over(
        formula_error, [model for model in validation.results if "bloom" not in model.model]
    )


def count_labs(validation: Entry) -> int:
    """Return the number of labs whose models were predicted."""
    return count(validation.results, formula_error, named=lambda model: model.lab)


def models_not_fitted(validation: Entry) -> dict[str, Entry]:
    """Return the models of a validation that the formula was not fitted to, by name."""
    seen = {short_name(model) for model in calibration_models(validation.evidence)}
    models = {short_name(model): model for model in validation.results if model.L}
    return {name: model for name, model in models.items() if name not in seen}


MODEL_RULES: Rules = {
    "L_star_predicted": predicted_layer,
    "error_pct": formula_error,
}
PROMPT_RULES: Rules = {
    "L_star_empirical": empirical_layer,
    "L_star_std": Rule(lambda model: np.std(model[LAYERS]), "population SD of L* over the prompts"),
}
VALIDATION_RULES: Rules = {
    "overall_mape": Rule(
        lambda validation: mean_over(formula_error, validation.results),
        "mean error of the formula, percent of depth",
    ),
    "verdict": notebook_word,
    "n_models": Rule(
        lambda validation: count(validation.results, formula_error), "the models with an error"
    ),
}
ARGMAX_RULES: Rules = {
    "overall_relative_error": Rule(
        lambda validation: mean_over(relative_formula_error, validation.results),
        "mean error of the formula, percent of L*",
    ),
    "half_depth": Rule(
        lambda validation: mean_over(half_depth_error, validation.results),
        "mean error of half the depth, percent of depth",
    ),
    "n_seen": Rule(
        lambda validation: len(validation.results) - len(models_not_fitted(validation)),
        "the models that the formula was fitted to",
    ),
    "unseen/models": Rule(
        lambda validation: list(models_not_fitted(validation)),
        "the models that the formula was not fitted to",
    ),
    "unseen/formula": Rule(
        lambda validation: mean_over(formula_error, models_not_fitted(validation).values()),
        "mean error of the formula on models that it was not fitted to, percent of depth",
    ),
    "unseen/half_depth": Rule(
        lambda validation: mean_over(half_depth_error, models_not_fitted(validation).values()),
        "mean error of half the depth on models that the formula was not fitted to",
    ),
    "without_alibi": error_without_alibi,
    "labs_with_alibi": alibi_word,
    "n_labs": count_labs,
}
SIGN_CHANGE_RULES: Rules = {
    "improvement_pp": Rule(
        lambda validation: (
            validation.comparison_v2_argmax - mean_over(formula_error, validation.results)
        ),
        "by how much the mean error fell, percentage points",
    ),
    "calibration_consistency": count_met_layers,
}
DRAWN: Rules = {
    "drawn/predicted": percent_of_depth(predicted_layer),
    "drawn/empirical": percent_of_depth(empirical_layer),
    "drawn/std": Rule(
        percent_of_depth(lambda model: model.L_star_std), "SD of L* in percent of depth"
    ),
}
DOCUMENTS = {
    "calibration": Document(None, {"": CALIBRATION_RULES}),
    "argmax": Document(
        CROSS,
        {"results/*": {**MODEL_RULES, **DRAWN}, "": {**VALIDATION_RULES, **ARGMAX_RULES}},
    ),
    "sign_change": Document(
        SIGNS,
        {
            "results/*": {**MODEL_RULES, **PROMPT_RULES},
            "": {**VALIDATION_RULES, **SIGN_CHANGE_RULES},
        },
    ),
}
