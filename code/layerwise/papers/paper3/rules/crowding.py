"""Density of attention heads as a predictor of damping (Paper 3, section 5.4, appendix B)."""

from collections.abc import Callable
from typing import Any

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
    percent,
    pooled_by_name,
    share,
)
from layerwise.papers.shared.names.result_files import CLEAN, HUNT, SWEEP
from layerwise.statistics.correlation import Correlation, pearson
from layerwise.statistics.curves import word_below

PAIR = ("pythia-6.9b", "gpt-j-6B")
LIMIT = 0.2  # at and above this density a model is predicted to damp


def all_models(results: Entry) -> list[Entry]:
    """Return the models of a file."""
    return list(models_by_name(results).values())


def pooled_models(evidence: Evidence) -> list[Entry]:
    """Return the models of survey and sweep together."""
    return list(pooled_by_name(evidence).values())


def density_gain_correlation(results: Entry) -> Correlation:
    """Return r of head density and mean gain over the models of a file, with its p."""
    return pearson(*np.array([(density(model), gain(model)) for model in all_models(results)]).T)


def predictions_met(models: list[Entry], gain_of: Callable[[Entry], float] = gain) -> list[bool]:
    """Return whether each model damps exactly where its density is at or above the limit."""
    return [(density(model) >= LIMIT) == dampens(gain_of(model)) for model in models]


def accuracy(results: Entry) -> float:
    """Return the share of a file's models whose density predicts rightly whether they damp."""
    return share(predictions_met(all_models(results)))


def notebook_verdict(results: Entry) -> str:
    """Return the survey's word for the accuracy; PARTIAL begins at 0.5, VALIDATED at 0.75."""
    return word_below(accuracy(results), {0.5: "FALSIFIED", 0.75: "PARTIAL"}, "VALIDATED")


def separating_interval(results: Entry) -> list[float]:
    """Return [largest density that expands, smallest density that damps].

    Any limit above the first and up to the second separates the models without error.

    Raises:
        LayerwiseError: where no limit does.
    """
    expanding, damping = (
        [density(model) for model in all_models(results) if damps(model) == side]
        for side in (False, True)
    )
    if not (expanding and damping and max(expanding) < min(damping)):
        raise LayerwiseError(
            f"no limit separates damping densities {damping} from expanding ones {expanding}; "
            "report an accuracy instead"
        )
    return [max(expanding), min(damping)]


def constant_guess_accuracy(models: list[Entry]) -> float:
    """Return the accuracy of the better constant guess."""
    damping = share([damps(model) for model in models])
    return max(damping, 1 - damping)


def share_as_predicted(results: Entry, high: bool) -> float:
    """Return the share of the models on one side of the limit that are as it predicts."""
    models = [model for model in all_models(results) if (density(model) >= LIMIT) == high]
    return share([damps(model) == high for model in models])


def density_ratio(results: Entry) -> float:
    """Return the head density of the pair's first model over that of the second."""
    first, second = (density(models_by_name(results)[name]) for name in PAIR)
    return first / second


def density_rules(select: Callable[[Any], list[Entry]]) -> Rules:
    """Return the rules on how well the density predicts damping, over the selected models."""
    rules: Rules = {
        "accuracy_pct": Rule(
            lambda results: percent(predictions_met(select(results))),
            "percent of the models that the density rule predicts",
        ),
        "constant_accuracy": Rule(
            lambda results: constant_guess_accuracy(select(results)),
            "the share that the better constant guess predicts",
        ),
        "explains": Rule(
            lambda results: (
                share(predictions_met(select(results))) > constant_guess_accuracy(select(results))
            ),
            "whether the density rule does better than the better constant guess",
        ),
    }
    return {f"density_rule/{name}": rule for name, rule in rules.items()}


MODEL_RULES: Rules = {"rho": density}
FAMILY_RULES: Rules = {
    **density_rules(all_models),
    "analysis/rho_gain_correlation": Rule(
        lambda results: density_gain_correlation(results).r, "r of density of heads and gain"
    ),
    "analysis/correlation_p_value": Rule(
        lambda results: density_gain_correlation(results).p, "p of r of density of heads and gain"
    ),
    "analysis/high_rho_dampen_rate": Rule(
        lambda results: share_as_predicted(results, high=True),
        "share of the dense models that damp",
    ),
    "analysis/low_rho_expand_rate": Rule(
        lambda results: share_as_predicted(results, high=False),
        "share of the other models that expand",
    ),
    "separating_interval": separating_interval,
}
HUNT_RULES: Rules = {
    **density_rules(all_models),
    "density_rule/accuracy_pct_final_norm": Rule(
        lambda results: percent(predictions_met(all_models(results), final_gain)),
        "percent of the models that the density rule predicts, gains behind the final norm",
    ),
    "h25_accuracy": accuracy,
    "h25_verdict": notebook_verdict,
    "density_ratio": density_ratio,
}
HUNTED_RULES: Rules = {
    **MODEL_RULES,
    "class": Rule(
        lambda model: "DAMPEN" if damps(model) else "EXPAND",
        "whether the mean gain damps or expands",
    ),
    "h25_prediction_correct": Rule(
        lambda model: predictions_met([model])[0], "whether the density rule predicts the model"
    ),
}
PAIR_RULES: Rules = {
    **density_rules(all_models),
    "h25_accuracy": Rule(
        lambda results: 100 * accuracy(results),
        "percent of the models that the density rule predicts",
    ),
    "h25_verdict": notebook_verdict,
}
CLEAN_RULES: Rules = {
    **MODEL_RULES,
    "gain_no_ln_mean": gain,
    "gain_with_ln_mean": final_gain,
    "is_dampening_no_ln": damps,
}
POOLED_RULES: Rules = {
    **density_rules(pooled_models),
    "n_models": Rule(
        lambda evidence: count(pooled_models(evidence), gain), "the models with a gain"
    ),
}
DOCUMENTS = {
    "family": Document(SWEEP, {"": FAMILY_RULES, "models/*": MODEL_RULES}),
    "hunt": Document(HUNT, {"": HUNT_RULES, "tested_results/*": HUNTED_RULES}),
    "clean": Document(CLEAN, {"": PAIR_RULES, "results/*": CLEAN_RULES}),
    "pooled": Document(None, {"": POOLED_RULES}),
}
