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
from layerwise.papers.shared.result_files import CROSS, EXTENDED, PAPER_3_TEXT, SIGNS, V2
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


def calibration_statistics(evidence: Evidence) -> Rules:
    """The formula fitted anew, and the errors of it, of the printed one and of half the depth."""
    fitted = partial(fit_formula, evidence)

    def predict_by(formula: Formula) -> Predict:
        return lambda model: formula.layer(model.n_layers, model.n_heads)

    predictions: dict[str, Callable[[], Predict]] = {
        "printed_coefficients": lambda: predict_by(printed_formula(evidence[PAPER_3_TEXT])),
        "fitted_coefficients": lambda: predict_by(fitted()),
        "half_depth": lambda: lambda model: model.n_layers / 2,
    }

    def error_of_depth(prediction: float, model: Entry) -> float:
        return depth_error(prediction, calibration_layer(model), model.n_layers)

    def error_of_layer(prediction: float, model: Entry) -> float:
        return relative_error(prediction, calibration_layer(model))

    def mean_miss(prediction: str, miss: Callable[[float, Entry], float]) -> float:
        predict = predictions[prediction]()
        models = calibration_models(evidence)
        return float(np.mean([miss(predict(model), model) for model in models]))

    return {
        "constant": Rule(lambda: fitted().constant, "the constant of the fitted formula"),
        "depth": Rule(lambda: fitted().depth, "the fitted formula's coefficient of depth"),
        "heads": Rule(lambda: fitted().heads, "the fitted formula's coefficient of heads"),
        **{
            f"{name}/{prediction}": Rule(
                partial(mean_miss, prediction, miss),
                "the mean error of a prediction over the calibration models",
            )
            for name, miss in (("error", error_of_depth), ("relative_error", error_of_layer))
            for prediction in predictions
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


def mean_error(models: Iterable[Entry], error: Callable[[Entry], float] = formula_error) -> float:
    """Return the mean error over models, of the formula unless another is given."""
    return float(np.mean([error(model) for model in models]))


def models_not_fitted(validation: Entry) -> dict[str, Entry]:
    """Return the models of a validation that the formula was not fitted to, by name."""
    seen = {short_name(model) for model in calibration_models(validation.evidence)}
    models = {short_name(model): model for model in validation.results if model.L}
    return {name: model for name, model in models.items() if name not in seen}


def predicted_model(model: Entry) -> Rules:
    """The statistics of a model in both validations."""
    return {
        "L_star_predicted": partial(predicted_layer, model),
        "error_pct": partial(formula_error, model),
    }


def argmax_model(model: Entry) -> Rules:
    """A model of the arg-max run, and what is drawn of it."""

    def percent_of_depth(layer: Callable[[Entry], float], says: str) -> Rule:
        return Rule(lambda: float(100 * layer(model) / model.L), says)

    percent = "a layer in percent of the number of blocks"
    return {
        **predicted_model(model),
        "drawn/predicted": percent_of_depth(predicted_layer, percent),
        "drawn/empirical": percent_of_depth(empirical_layer, percent),
        "drawn/std": percent_of_depth(
            lambda model: model.L_star_std, "SD of L* in percent of depth"
        ),
    }


def sign_change_model(model: Entry) -> Rules:
    """A model of the run that looks for the sign change, prompt by prompt."""
    return {
        **predicted_model(model),
        "L_star_empirical": partial(empirical_layer, model),
        "L_star_std": Rule(lambda: np.std(model[LAYERS]), "population SD of L* over the prompts"),
    }


def validation_statistics(validation: Entry) -> Rules:
    """The statistics of all models in both validations."""

    def verdict() -> str:
        # only the last word was ever printed; the notebooks differ in the other two
        error = mean_error(validation.results)
        return word_below(error, {10: "VALIDATED", 15: "PARTIAL"}, "CALIBRATION NEEDED")

    return {
        "overall_mape": Rule(
            lambda: mean_error(validation.results), "mean error of the formula, percent of depth"
        ),
        "verdict": Rule(verdict, "the notebooks' word for the mean error"),
        "n_models": Rule(
            lambda: count(validation.results, formula_error), "the models with an error"
        ),
    }


def unseen_statistics(validation: Entry) -> Rules:
    """The models of the arg-max run that the formula was fitted to, and those that it was not."""
    unseen = partial(models_not_fitted, validation)
    return {
        "n_seen": Rule(
            lambda: len(validation.results) - len(unseen()),
            "the models that the formula was fitted to",
        ),
        "unseen/models": Rule(
            lambda: list(unseen()), "the models that the formula was not fitted to"
        ),
        "unseen/formula": Rule(
            lambda: mean_error(unseen().values()),
            "mean error of the formula on models that it was not fitted to, percent of depth",
        ),
        "unseen/half_depth": Rule(
            lambda: mean_error(unseen().values(), half_depth_error),
            "mean error of half the depth on models that the formula was not fitted to",
        ),
    }


def argmax_statistics(validation: Entry) -> Rules:
    """The arg-max run: errors over all models, fitted or not, ALiBi and labs."""

    def error_in_layers(model: Entry) -> float:
        return relative_error(predicted_layer(model), empirical_layer(model))

    def with_alibi(flag: bool) -> list[Entry]:
        """Return the models with ALiBi, which are BLOOM's, or those without."""
        return [model for model in validation.results if ("bloom" in model.model) == flag]

    return {
        **validation_statistics(validation),
        "overall_relative_error": Rule(
            lambda: mean_error(validation.results, error_in_layers),
            "mean error of the formula, percent of L*",
        ),
        "half_depth": Rule(
            lambda: mean_error(validation.results, half_depth_error),
            "mean error of half the depth, percent of depth",
        ),
        **unseen_statistics(validation),
        "without_alibi": Rule(
            lambda: mean_error(with_alibi(False)), "the mean error over the models without ALiBi"
        ),
        "labs_with_alibi": Rule(
            lambda: "included" if count(with_alibi(True), formula_error) else "excluded",
            "whether models with ALiBi, which are BLOOM's, were predicted",
        ),
        "n_labs": Rule(
            lambda: count(validation.results, formula_error, named=lambda model: model.lab),
            "the number of labs whose models were predicted",
        ),
    }


def sign_change_statistics(validation: Entry) -> Rules:
    """The run that looks for the sign change, beside the arg-max run and the calibration."""

    def count_met_layers() -> str:
        """Say how many of the known calibration layers are met."""
        known = [model for model in validation.results if model.L_star_calibration is not None]
        misses = [abs(empirical_layer(model) - model.L_star_calibration) for model in known]
        return f"{sum(miss < WITHIN for miss in misses)}/{len(known)}"

    return {
        **validation_statistics(validation),
        "improvement_pp": Rule(
            lambda: validation.comparison_v2_argmax - mean_error(validation.results),
            "by how much the mean error fell, percentage points",
        ),
        "calibration_consistency": count_met_layers,
    }


DOCUMENTS = {
    "calibration": Document(None, {"": calibration_statistics}),
    "argmax": Document(CROSS, {"results/*": argmax_model, "": argmax_statistics}),
    "sign_change": Document(SIGNS, {"results/*": sign_change_model, "": sign_change_statistics}),
}
