"""Spectral norms of the attention projections (Paper 3, section 4.3)."""

from collections.abc import Callable
from functools import partial

import numpy as np
from jaxtyping import Float64

from layerwise.engine.derivation import Document, Rule, Rules
from layerwise.engine.evidence import Entry, Evidence
from layerwise.files import JsonObject
from layerwise.papers.paper3.rules.gain_files import (
    dampens,
    entry_reader,
    gain,
    pooled_by_name,
    r_and_p,
    short_name,
)
from layerwise.papers.shared.names import MATRICES
from layerwise.papers.shared.result_files import SPECTRAL, own_file
from layerwise.papers.shared.rules import join_sections
from layerwise.statistics.correlation import pearson
from layerwise.statistics.samples import mann_whitney

MODELS = (
    "pythia-160m",
    "pythia-410m",
    "gpt-neo-125M",
    "opt-125m",
    "opt-350m",
    "bloom-560m",
    "gpt2",
)


# --- of a model ---


def layer_moment(
    model: Entry, matrix: str = "W_V", moment: Callable[[np.ndarray], np.floating] = np.mean
) -> float:
    """Return the mean (or another moment) of spectral norms over the layers, single precision."""
    return float(moment(np.asarray(model[f"{matrix}_spectral_norm"][:], dtype=np.float32)))


def mean_over_blocks(model: Entry | JsonObject, series: str) -> float:
    """Return the mean of norms or ranks over the blocks, in double precision."""
    return float(np.mean(model[series][:]))


def value_over_output(model: Entry) -> float:
    """Return the mean spectral norm of W_V over that of W_O."""
    return layer_moment(model, "W_V") / layer_moment(model, "W_O")


def late_square(model: Entry) -> float:
    """Return the mean squared spectral norm of W_V over the last third of the layers."""
    n = len(model.W_V_spectral_norm)
    return float(np.mean(model.W_V_spectral_norm[n - n // 3 :] ** 2))


# --- over the models ---


GROUPS: dict[str, Callable[[Entry], bool]] = {
    "pythia": lambda model: "/pythia-" in model.model,
    "eleuther": lambda model: model.lab == "EleutherAI",
    "others": lambda model: model.lab != "EleutherAI",
    "meta": lambda model: model.lab == "Meta",
}


def models_of_group(evidence: Evidence, group: str) -> list[Entry]:
    """Return the models with norms that belong to a group."""
    return [model for model in evidence[SPECTRAL].results if GROUPS[group](model)]


def group_values(
    evidence: Evidence, number: Callable[[Entry], float], group: str
) -> Float64[np.ndarray, " model"]:
    """Return a number of each model of a group."""
    return np.array([number(model) for model in models_of_group(evidence, group)])


def ratio_of_groups(
    evidence: Evidence, number: Callable[[Entry], float], above: str, below: str
) -> float:
    """Return the mean of a number over one group over its mean over another."""
    means = [np.mean(group_values(evidence, number, group)) for group in (above, below)]
    return float(means[0] / means[1])


def ratio_rule(
    evidence: Evidence, number: Callable[[Entry], float], above: str, below: str, says: str
) -> Rule:
    """Return the rule on the mean of a number over one group over its mean over another."""
    return Rule(
        lambda: ratio_of_groups(evidence, number, above, below),
        f"{says}: the mean of {above} over the mean of {below}",
    )


def lab_test(evidence: Evidence) -> tuple[float, float]:
    """Return U and p of the mean W_V norms, EleutherAI against the others."""
    return mann_whitney(
        group_values(evidence, layer_moment, "eleuther"),
        group_values(evidence, layer_moment, "others"),
    )


def models_with_gains(evidence: Evidence) -> dict[str, tuple[Entry, Entry]]:
    """Return the models that have norms and a gain, by name: the entries of both."""
    gained = pooled_by_name(evidence)
    models = {short_name(model): model for model in evidence[SPECTRAL].results}
    return {name: (model, gained[name]) for name, model in models.items() if name in gained}


def own_norms(model: Entry) -> Rules:
    """The norms of a reader's model."""
    return {
        **{
            f"{matrix}_{name}_spectral": partial(layer_moment, model, matrix, moment)
            for name, moment in (("mean", np.mean), ("std", np.std))
            for matrix in MATRICES
        },
        "W_V_over_W_O": partial(value_over_output, model),
    }


def model_norms(model: Entry) -> Rules:
    """The norms of one model (table of spectral norms)."""
    return {
        "W_V_mean_spectral": Rule(
            lambda: layer_moment(model, "W_V"), "mean spectral norm of W_V over the layers"
        ),
        "W_O_mean_spectral": Rule(
            lambda: layer_moment(model, "W_O"), "mean spectral norm of W_O over the layers"
        ),
        "W_V_over_W_O": partial(value_over_output, model),
    }


def norms_of_labs(evidence: Evidence) -> Rules:
    """The norms of the labs beside each other."""

    ratio = partial(ratio_rule, evidence)

    def clusters() -> str:
        """Say whether EleutherAI's smallest mean W_V norm is above the largest of the others."""
        lowest = min(group_values(evidence, layer_moment, "eleuther"))
        highest = max(group_values(evidence, layer_moment, "others"))
        return "clusters high" if lowest > highest else "overlaps the others"

    return {
        "clusters": clusters,
        "value_ratio": ratio(layer_moment, "eleuther", "meta", "W_V"),
        "value_to_output_ratio": ratio(value_over_output, "pythia", "meta", "W_V over W_O"),
        "value_to_output_ratio_of_labs": ratio(
            value_over_output, "eleuther", "meta", "W_V over W_O"
        ),
        "mann_whitney/p": Rule(
            lambda: lab_test(evidence)[1],
            "p of the rank test of the W_V norms, EleutherAI against the other labs",
        ),
    }


# --- the ratio of norms as a predictor of the gain ---


def ratios_and_gains(evidence: Evidence) -> dict[str, tuple[float, float]]:
    """Return W_V over W_O and the mean gain of the models that have both, by name."""
    return {
        name: (value_over_output(norms), gain(gains))
        for name, (norms, gains) in models_with_gains(evidence).items()
    }


def best_threshold(evidence: Evidence, decimals: int | None = None) -> tuple[int, int]:
    """Return the number of models that the best threshold sorts rightly, damping above it.

    Beside it stands that of the better constant guess, which a threshold beyond all is too.
    """
    sides = [
        (ratio, dampens(gain, decimals)) for ratio, gain in ratios_and_gains(evidence).values()
    ]
    thresholds = [-np.inf, *(ratio for ratio, _ in sides)]
    n_damping = sum(damps for _, damps in sides)
    n_right = max(
        sum((ratio > threshold) == damps for ratio, damps in sides) for threshold in thresholds
    )
    return n_right, max(n_damping, len(sides) - n_damping)


def predictions(evidence: Evidence) -> Rules:
    """The gain as predicted by the ratio of norms."""

    def predicts(decimals: int | None = None) -> bool:
        """Return whether the best threshold is right more often than one answer for all models."""
        right, constant = best_threshold(evidence, decimals)
        return right > constant

    def model_at_end(end: Callable[..., str]) -> str:
        by_name = ratios_and_gains(evidence)
        return end(by_name, key=lambda name: by_name[name][0])

    return {
        **r_and_p(
            lambda: pearson(*np.array(list(ratios_and_gains(evidence).values())).T),
            "prediction/",
            "r of the ratio of norms and the gain",
        ),
        "prediction/predicts": predicts,
        "prediction/predicts_rounded": Rule(
            lambda: predicts(2),
            "whether a threshold predicts better than a constant guess, after rounding",
        ),
        "prediction/right": Rule(
            lambda: best_threshold(evidence)[0], "how many models the best threshold sorts rightly"
        ),
        "prediction/constant": Rule(
            lambda: best_threshold(evidence)[1],
            "how many models the better constant guess sorts rightly",
        ),
        "prediction/largest": Rule(lambda: model_at_end(max), "the model of the largest ratio"),
        "prediction/smallest": Rule(lambda: model_at_end(min), "the model of the smallest ratio"),
    }


def late_norms_of_labs(evidence: Evidence) -> Rules:
    """The norms of W_V in the last third of the layers (figure A5)."""
    says = "squared W_V norm over the last third of the layers"
    return {
        f"late_square_ratio/{group}": ratio_rule(evidence, late_square, "pythia", group, says)
        for group in ("others", "meta")
    }


READER = Document(own_file("spectral"), {"": own_norms})
DOCUMENTS = {
    **{model: Document(entry_reader(SPECTRAL, model), {"": model_norms}) for model in MODELS},
    "study": Document(None, {"": join_sections(norms_of_labs, predictions, late_norms_of_labs)}),
}
