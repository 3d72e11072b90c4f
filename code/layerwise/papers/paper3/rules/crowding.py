"""Density of attention heads as a predictor of damping (Paper 3, section 5.4, appendix B)."""

from collections.abc import Callable
from functools import partial

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, count
from layerwise.engine.evidence import Entry, Evidence
from layerwise.errors import LayerwiseError
from layerwise.papers.paper3.rules.gain_files import (
    dampens,
    damps,
    density,
    final_gain,
    gain,
    models_by_name,
    percent_true,
    pooled_by_name,
    share,
)
from layerwise.papers.shared.result_files import CLEAN, HUNT, SWEEP
from layerwise.statistics.correlation import Correlation, pearson
from layerwise.statistics.curves import word_below

PAIR = ("pythia-6.9b", "gpt-j-6B")
LIMIT = 0.2  # at and above this density a model is predicted to damp


def all_models(results: Entry) -> list[Entry]:
    """Return the models of a file."""
    return list(models_by_name(results).values())


def predictions_met(models: list[Entry], gain_of: Callable[[Entry], float] = gain) -> list[bool]:
    """Return whether each model damps exactly where its density is at or above the limit."""
    return [(density(model) >= LIMIT) == dampens(gain_of(model)) for model in models]


def accuracy(results: Entry) -> float:
    """Return the share of a file's models whose density predicts rightly whether they damp."""
    return share(predictions_met(all_models(results)))


def accuracy_verdict(results: Entry) -> str:
    """Return the survey's word for the accuracy; PARTIAL begins at 0.5, VALIDATED at 0.75."""
    return word_below(accuracy(results), {0.5: "FALSIFIED", 0.75: "PARTIAL"}, "VALIDATED")


def density_rule(models: Callable[[], list[Entry]]) -> Rules:
    """The accuracy with which the density predicts damping, over some models."""

    def constant_accuracy() -> float:
        """Return the share that the better constant guess predicts."""
        damping = share([damps(model) for model in models()])
        return max(damping, 1 - damping)

    return {
        "density_rule/accuracy_pct": Rule(
            lambda: percent_true(predictions_met(models())),
            "percent of the models that the density rule predicts",
        ),
        "density_rule/constant_accuracy": constant_accuracy,
        "density_rule/explains": Rule(
            lambda: share(predictions_met(models())) > constant_accuracy(),
            "whether the density rule does better than the better constant guess",
        ),
    }


def densities_of_family(results: Entry) -> Rules:
    """The density of heads and the gains of the Pythia sizes."""
    models = partial(all_models, results)

    def correlation() -> Correlation:
        return pearson(*np.array([(density(model), gain(model)) for model in models()]).T)

    def share_as_predicted(*, is_dense: bool) -> float:
        """Return the share of the models on one side of the limit that are as it predicts."""
        chosen = [model for model in models() if (density(model) >= LIMIT) == is_dense]
        return share([damps(model) == is_dense for model in chosen])

    def separating_interval() -> list[float]:
        """Return the ends: any limit above the first and up to the second makes no error."""
        expanding, damping = (
            [density(model) for model in models() if damps(model) == side] for side in (False, True)
        )
        if not (expanding and damping and max(expanding) < min(damping)):
            raise LayerwiseError(
                f"no limit separates damping densities {damping} from expanding ones {expanding}; "
                "report an accuracy instead"
            )
        return [max(expanding), min(damping)]

    return {
        **density_rule(models),
        "analysis/rho_gain_correlation": Rule(
            lambda: correlation().r, "r of density of heads and gain"
        ),
        "analysis/correlation_p_value": Rule(
            lambda: correlation().p, "p of r of density of heads and gain"
        ),
        "analysis/high_rho_dampen_rate": Rule(
            lambda: share_as_predicted(is_dense=True), "share of the dense models that damp"
        ),
        "analysis/low_rho_expand_rate": Rule(
            lambda: share_as_predicted(is_dense=False), "share of the other models that expand"
        ),
        "separating_interval": Rule(
            separating_interval, "[largest density that expands, smallest density that damps]"
        ),
    }


def densities_of_survey(results: Entry) -> Rules:
    """The density rule over the models of the survey, and the densities of the paper's pair."""

    def density_ratio() -> float:
        """Return the head density of the pair's first model over that of the second."""
        first, second = (density(models_by_name(results)[name]) for name in PAIR)
        return first / second

    return {
        **density_rule(partial(all_models, results)),
        "density_rule/accuracy_pct_final_norm": Rule(
            lambda: percent_true(predictions_met(all_models(results), final_gain)),
            "percent of the models that the density rule predicts, gains after the final norm",
        ),
        "h25_accuracy": partial(accuracy, results),
        "h25_verdict": partial(accuracy_verdict, results),
        "density_ratio": density_ratio,
    }


def surveyed_model(model: Entry) -> Rules:
    """A model of the survey, and what its density predicts."""
    return {
        "rho": partial(density, model),
        "class": Rule(
            lambda: "DAMPEN" if damps(model) else "EXPAND",
            "whether the mean gain damps or expands",
        ),
        "h25_prediction_correct": Rule(
            lambda: predictions_met([model])[0], "whether the density rule predicts the model"
        ),
    }


def densities_of_clean_run(results: Entry) -> Rules:
    """The density rule over the two models of the clean run, whose accuracy is in percent."""
    return {
        **density_rule(partial(all_models, results)),
        "h25_accuracy": Rule(
            lambda: 100 * accuracy(results), "percent of the models that the density rule predicts"
        ),
        "h25_verdict": partial(accuracy_verdict, results),
    }


def densities_of_both(evidence: Evidence) -> Rules:
    """The density rule over the models of survey and sweep together."""

    def models() -> list[Entry]:
        return list(pooled_by_name(evidence).values())

    return {
        **density_rule(models),
        "n_models": Rule(lambda: count(models(), gain), "the models with a gain"),
    }


CLEAN_MODEL: Rules = {
    "rho": density,
    "gain_no_ln_mean": gain,
    "gain_with_ln_mean": final_gain,
    "is_dampening_no_ln": damps,
}
DOCUMENTS = {
    "family": Document(SWEEP, {"": densities_of_family, "models/*": {"rho": density}}),
    "hunt": Document(HUNT, {"": densities_of_survey, "tested_results/*": surveyed_model}),
    "clean": Document(CLEAN, {"": densities_of_clean_run, "results/*": CLEAN_MODEL}),
    "pooled": Document(None, {"": densities_of_both}),
}
