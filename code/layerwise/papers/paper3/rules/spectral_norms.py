"""Spectral norms of the attention projections (Paper 3, section 4.3), and the OPT investigation."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float64

from layerwise.engine.derivation import Document, Rule, Rules, words_of
from layerwise.engine.evidence import Entry, Evidence, measured_among
from layerwise.engine.published import pointer
from layerwise.papers.paper3.rules.gain_files import dampens, gain, models, row_of
from layerwise.papers.shared.names.matrices import MATRICES
from layerwise.papers.shared.names.result_files import HUNT, OPT, SPECTRAL, SWEEP, own_file
from layerwise.statistics.correlation import Correlation, pearson
from layerwise.statistics.samples import mann_whitney

MODELS = (
    "pythia-160m", "pythia-410m", "gpt-neo-125M", "opt-125m", "opt-350m", "bloom-560m", "gpt2",
)  # fmt: skip
INVESTIGATED = ("facebook/opt-125m", "gpt2", "EleutherAI/pythia-160m")
Norms = Sequence[float] | np.ndarray


# --- of a model ---


def moment(
    m: Entry, matrix: str = "W_V", of: Callable[[np.ndarray], np.floating] = np.mean
) -> float:
    """Mean (or population SD) over the layers, in single precision like the norms."""
    return single(m[f"{matrix}_spectral_norm"][:], of)


def single(norms: Norms, of: Callable[[np.ndarray], np.floating] = np.mean) -> float:
    return float(of(np.asarray(norms, dtype=np.float32)))


def mean_over_blocks(m: Entry | Mapping[str, Any], series: str) -> float:
    """Of norms or ranks that are taken in double precision."""
    return float(np.mean(m[series][:]))


def mean_over_mean(norms: Norms, others: Norms) -> float:
    """Of two matrices: what the paper calls their ratio."""
    return single(norms) / single(others)


def ratio(m: Entry) -> float:
    """Of W_V and W_O."""
    return mean_over_mean(m.W_V_spectral_norm[:], m.W_O_spectral_norm[:])


def late_square(m: Entry) -> float:
    """Mean squared spectral norm of W_V over the last third of the layers."""
    n = len(m.W_V_spectral_norm)
    return float(np.mean(m.W_V_spectral_norm[n - n // 3 :] ** 2))


def attention_mean(m: Entry, series: str) -> float:
    """In the OPT investigation, over the layers that have a number: half precision left some NaN.

    NaN where none has.
    """
    values = m[f"{series}_by_layer"][:]
    numbers = values[~np.isnan(values)]
    return float(np.mean(numbers)) if len(numbers) else np.nan


# --- over the models ---


GROUPS: dict[str, Callable[[Entry], bool]] = {
    "pythia": lambda m: "/pythia-" in m.model,
    "eleuther": lambda m: m.lab == "EleutherAI",
    "others": lambda m: m.lab != "EleutherAI",
    "meta": lambda m: m.lab == "Meta",
}


def values_of_group(
    e: Evidence, of: Callable[[Entry], float], group: str
) -> Float64[np.ndarray, " model"]:
    """A statistic of the models of a group."""
    return np.array([of(m) for m in e[SPECTRAL].results if GROUPS[group](m)])


def quotient(of: Callable[[Entry], float], above: str, below: str) -> Rule:
    """Return a rule for the mean over one group over the mean over another."""
    return Rule(
        lambda e: float(
            np.mean(values_of_group(e, of, above)) / np.mean(values_of_group(e, of, below))
        ),
        f"mean over {above} over mean over {below}: {words_of(of)}",
    )


def lab_test(e: Evidence) -> tuple[float, float]:
    """U and p of the mean W_V norm, EleutherAI against the others."""
    return mann_whitney(
        values_of_group(e, moment, "eleuther"), values_of_group(e, moment, "others")
    )


def clusters(e: Evidence) -> str:
    """Whether EleutherAI's smallest mean W_V norm is above the largest of the others."""
    lowest, highest = (
        min(values_of_group(e, moment, "eleuther")),
        max(values_of_group(e, moment, "others")),
    )
    return "clusters high" if lowest > highest else "overlaps the others"


def ratios_and_gains(e: Evidence) -> dict[str, tuple[float, float]]:
    """The ratio and the mean gain of the second-last block, of the models in sweep or hunt."""
    gained = models(e[HUNT]) | models(e[SWEEP])
    named = {m.model.rpartition("/")[2]: m for m in e[SPECTRAL].results}
    return {name: (ratio(m), gain(gained[name])) for name, m in named.items() if name in gained}


def prediction(e: Evidence) -> Correlation:
    return pearson(*np.array(list(ratios_and_gains(e).values())).T)


def sorted_rightly(e: Evidence, decimals: int | None = None) -> tuple[int, int]:
    """How many models the best threshold of the ratio sorts rightly, damping above it, and how many
    the better constant guess does. Above or below all models a threshold is such a guess.
    """
    found = [(r, dampens(g, decimals)) for r, g in ratios_and_gains(e).values()]
    thresholds = [-np.inf, *(r for r, _ in found)]
    damping = sum(damps for _, damps in found)
    right = max(sum((r > threshold) == damps for r, damps in found) for threshold in thresholds)
    return right, max(damping, len(found) - damping)


def predicts(e: Evidence, decimals: int | None = None) -> bool:
    """Whether some threshold of the ratio is right more often than one answer for all models."""
    right, constant = sorted_rightly(e, decimals)
    return right > constant


def name_at(e: Evidence, end: Callable[..., str]) -> str:
    """The model with the largest or the smallest of these ratios."""
    found = ratios_and_gains(e)
    return end(found, key=lambda name: found[name][0])


def measured_ratios(e: Evidence) -> list[float]:
    """The ratio of every model that was measured."""
    named = {m.model: m for m in e[SPECTRAL].results}
    return [ratio(m) for m in measured_among(named, ratio).values()]


OF_NORMS: Rules = {
    f"{matrix}_{name}_spectral": partial(moment, matrix=matrix, of=of)
    for name, of in (("mean", np.mean), ("std", np.std))
    for matrix in MATRICES
}
OF_MODEL: Rules = {
    **OF_NORMS,
    "W_V_over_W_O": ratio,
    # of the layer means as figure 3 prints them
    "W_V_mean_frobenius": partial(mean_over_blocks, series="W_V_frobenius_norm"),
}
OF_ATTENTION: Rules = {
    "mean_entropy": Rule(lambda m: attention_mean(m, "entropy"), "mean entropy of the attention"),
    "mean_sparsity": Rule(
        lambda m: attention_mean(m, "sparsity"), "mean sparsity of the attention"
    ),
}
STUDY: Rules = {
    "clusters": clusters,
    "value_ratio": quotient(moment, "eleuther", "meta"),
    "value_to_output_ratio": quotient(ratio, "pythia", "meta"),
    "value_to_output_ratio_of_labs": quotient(ratio, "eleuther", "meta"),
    "mann_whitney/u": Rule(
        lambda e: lab_test(e)[0], "U of the rank test, EleutherAI against the other labs"
    ),
    "mann_whitney/p": Rule(lambda e: lab_test(e)[1], "p of that rank test"),
    "prediction/r": Rule(lambda e: prediction(e).r, "r of the ratio of norms and the gain"),
    "prediction/p": Rule(lambda e: prediction(e).p, "p of that r"),
    "prediction/predicts": predicts,
    "prediction/predicts_rounded": Rule(
        lambda e: predicts(e, 2),
        "whether a threshold predicts better than a constant guess, after rounding",
    ),
    "prediction/right": Rule(
        lambda e: sorted_rightly(e)[0], "how many models the best threshold sorts rightly"
    ),
    "prediction/constant": Rule(
        lambda e: sorted_rightly(e)[1], "how many models the better constant guess sorts rightly"
    ),
    "prediction/largest": Rule(lambda e: name_at(e, max), "the model of the largest ratio"),
    "prediction/smallest": Rule(lambda e: name_at(e, min), "the model of the smallest ratio"),
    "late_square_ratio/others": quotient(late_square, "pythia", "others"),
    "late_square_ratio/meta": quotient(late_square, "pythia", "meta"),
    "drawn/n_models": Rule(lambda e: len(measured_ratios(e)), "the measured models"),
    "drawn/n_value_larger": Rule(
        lambda e: sum(one > 1 for one in measured_ratios(e)),
        "the measured models whose W_V is larger than W_O",
    ),
}

READER = Document(own_file("spectral"), {"": {**OF_NORMS, "W_V_over_W_O": ratio}})
DOCUMENTS = {
    **{model: Document(row_of(SPECTRAL, model), {"": OF_MODEL}) for model in MODELS},
    **{
        f"{name.rpartition('/')[2]}-attention": Document(
            f"{OPT}#/attention_analysis{pointer(name)}", {"": OF_ATTENTION}, shows=False
        )
        for name in INVESTIGATED
    },
    "study": Document(None, {"": STUDY}),
}
