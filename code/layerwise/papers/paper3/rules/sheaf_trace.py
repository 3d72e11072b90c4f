"""Traces of the sheaf Laplacian (Paper 3, section 5.2)."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from layerwise.engine.derivation import Document, Function, Rule, Rules, words_of
from layerwise.engine.evidence import Entry, Evidence
from layerwise.errors import LayerwiseError
from layerwise.papers.paper3.rules.gain_files import (
    damps,
    entry_reader,
    pooled_by_name,
    short_name,
)
from layerwise.papers.shared.names.result_files import EXTENDED, V1, V2
from layerwise.statistics.critical_layer import bend_sizes, gradient_sizes, sharpest

TRACED = ("pythia-160m", "pythia-410m", "opt-125m", "gpt2")
# Of the extended run, and what is said of the mean trace: a NaN among the layers leaves a word.
PACKED = {
    "pythia-1b": "mean_trace_mh",
    "pythia-2.8b": "mean_trace_mh_word",
    "pythia-6.9b": "mean_trace_mh_word",
    "Mistral-7B-v0.1": "mean_trace_mh",
    "gemma-2b": "mean_trace_mh",
}
FACTOR = 2  # the script's rule: expanders' mean trace over twice that of dampeners


def mean_trace(model: Entry, series: str) -> float:
    """Return the mean over the layers of the run's traces, `traces_<series>`."""
    return float(np.mean(model[f"traces_{series}"][:]))


def trace_layer(model: Entry) -> int:
    """Return L* of the second run: the steepest layer of the single-slice trace."""
    return sharpest(gradient_sizes, model.traces_full[:])


def extended_layer(model: Entry) -> int:
    """Return L* of the extended run: the steepest layer of the multi-head trace."""
    return sharpest(gradient_sizes, model.traces_mh[:])


def apriori_layer(model: Entry) -> float:
    """Return the a-priori L* = (L/2)(1 + tanh(5 (G - 1))), with the typed gain G."""
    return model.n_layers / 2 * (1 + math.tanh(5 * (model.known_gain - 1)))


def gap_layer(model: Entry) -> int:
    """Return L* of either run's spectral gaps: the layer of the largest."""
    return int(np.argmax(model.spectral_gaps[:]))


def is_called_expander(model: Entry) -> bool:
    """Return whether the script calls a model an expander."""
    return bool(model.behavior == "EXPAND")


def is_expander_by_gain(model: Entry) -> bool:
    """Return whether a model's gain in sweep or survey expands; the script's word without one."""
    measured = pooled_by_name(model.evidence).get(short_name(model))
    return is_called_expander(model) if measured is None else not damps(measured)


def mean_traces(
    evidence: Evidence, series: str, expands: Callable[[Entry], bool] = is_called_expander
) -> tuple[Float[np.ndarray, " expander"], Float[np.ndarray, " dampener"]]:
    """Return the mean traces of the models that expand, and of those that damp."""
    traces = [(expands(model), mean_trace(model, series)) for model in evidence[V2].results]
    expanding = [trace for is_expander, trace in traces if is_expander]
    damping = [trace for is_expander, trace in traces if not is_expander]
    return np.array(expanding), np.array(damping)


def expand_over_dampen(
    evidence: Evidence, series: str, expands: Callable[[Entry], bool] = is_called_expander
) -> float:
    """Return the mean trace of the expanders over that of the dampeners."""
    expanding, damping = mean_traces(evidence, series, expands)
    if not (expanding.size and damping.size):
        raise LayerwiseError(
            "a ratio of expanders to dampeners needs models of both kinds, found "
            f"{expanding.size} and {damping.size}; trace models of the other kind"
        )
    return float(np.mean(expanding) / np.mean(damping))


def count_larger_expanders(evidence: Evidence, series: str) -> int:
    """Return the number of pairs of expander and dampener in which the expander's is larger."""
    expanding, damping = mean_traces(evidence, series)
    return int(np.sum(expanding[:, None] > damping))


def count_comparisons(evidence: Evidence) -> int:
    """Return the number of pairs of an expander and a dampener."""
    kinds = [model.behavior for model in evidence[V2].results]
    return kinds.count("EXPAND") * kinds.count("DAMPEN")


def gpt2_over_opt(evidence: Evidence) -> float:
    """Return the mean trace by heads of GPT-2 over that of OPT-125m, which the paper compares."""
    gpt2, opt = (
        mean_trace(entry_reader(V2, model)(evidence), "multihead") for model in ("gpt2", "opt-125m")
    )
    return gpt2 / opt


def mean_layer_error(evidence: Evidence) -> float:
    """Return the mean distance of the a-priori L* from that of the trace, layers."""
    models = evidence[V2].results
    return float(np.mean([abs(apriori_layer(model) - trace_layer(model)) for model in models]))


def ratio_sd(evidence: Evidence) -> float:
    """Return the population SD over the models of the trace by heads over the single-slice one."""
    models = evidence[V2].results
    ratios = [mean_trace(model, "multihead") / mean_trace(model, "full") for model in models]
    return float(np.std(ratios))


def first_mean_depth(evidence: Evidence) -> float:
    """Return the mean relative depth of the first run's L*."""
    return float(np.mean([gap_layer(model) / model.n_layers for model in evidence[V1].results]))


SECOND_RUN_RULES: Rules = {
    "mean_trace_full": Rule(
        lambda model: mean_trace(model, "full"), "mean single-slice trace over the layers"
    ),
    "mean_trace_multihead": Rule(
        lambda model: mean_trace(model, "multihead"), "mean trace by heads over the layers"
    ),
    "shape": Rule(
        lambda model: (
            "monotonic" if np.all(np.diff(model.traces_multihead[:]) > 0) else "up and down"
        ),
        "whether the trace by heads only rises",
    ),
    "L_star_trace": trace_layer,
    "L_star_spectral": gap_layer,
    "L_star_apriori": apriori_layer,
    "L_star_ratio_apriori": Rule(
        lambda model: apriori_layer(model) / model.n_layers,
        "the a-priori L* in shares of the depth",
    ),
    "L_star_ratio_trace": Rule(
        lambda model: trace_layer(model) / model.n_layers, "the trace's L* in shares of the depth"
    ),
}
FIRST_RUN_RULES: Rules = {
    "L_star_gap_max": gap_layer,
    "L_star_lambda2_max": Rule(
        lambda model: int(np.argmax(model.lambda_2[:])),
        "the layer of the largest second eigenvalue",
    ),
    "L_star_inflection": Rule(
        lambda model: sharpest(bend_sizes, model.spectral_gaps[:]),
        "the layer where the curve bends most",
    ),
    "max_spectral_gap": Rule(
        lambda model: np.max(model.spectral_gaps[:]), "the largest spectral gap"
    ),
    "mean_spectral_gap": Rule(lambda model: np.mean(model.spectral_gaps[:]), "mean spectral gap"),
    "spectral_gap_at_half": Rule(
        lambda model: model.spectral_gaps[len(model.spectral_gaps) // 2],
        "the spectral gap at half the depth",
    ),
}
STUDY_RULES: Rules = {
    "gpt2_over_opt": gpt2_over_opt,
    "expand_over_dampen/full": Rule(
        lambda evidence: expand_over_dampen(evidence, "full"),
        "expanders' mean single-slice trace over the dampeners'",
    ),
    "expand_over_dampen/multihead": Rule(
        lambda evidence: expand_over_dampen(evidence, "multihead"),
        "expanders' mean trace by heads over the dampeners'",
    ),
    "expand_over_dampen/full_by_gain": Rule(
        lambda evidence: expand_over_dampen(evidence, "full", is_expander_by_gain),
        "expanders' mean single-slice trace over the dampeners', by the gains that were measured",
    ),
    "expand_over_dampen/multihead_by_gain": Rule(
        lambda evidence: expand_over_dampen(evidence, "multihead", is_expander_by_gain),
        "expanders' mean trace by heads over the dampeners', by the gains that were measured",
    ),
    "expander_larger/multihead": Rule(
        lambda evidence: count_larger_expanders(evidence, "multihead"),
        "how often an expander's mean trace is larger than a dampener's",
    ),
    "expander_larger/pairs": count_comparisons,
    "discriminates/full": Rule(
        lambda evidence: expand_over_dampen(evidence, "full") > FACTOR,
        "whether the single-slice ratio exceeds two",
    ),
    "discriminates/multihead": Rule(
        lambda evidence: expand_over_dampen(evidence, "multihead") > FACTOR,
        "whether the ratio by heads exceeds two",
    ),
    "mean_layer_error": mean_layer_error,
    "ratio_sd": ratio_sd,
    "first_mean_depth": first_mean_depth,
}


def apply_to_row(model: Entry, row: Callable[[Entry], Entry], rule: Function) -> Any:
    """Return what a rule gives for a row that stands in another file."""
    return rule(row(model))


def trace_document(model: str) -> Document:
    """Return the document of a model of the two trace scripts."""
    first, second = entry_reader(V1, model), entry_reader(V2, model)
    of_first = {
        f"first/{name}": Rule(partial(apply_to_row, row=first, rule=rule), words_of(rule))
        for name, rule in FIRST_RUN_RULES.items()
    }
    return Document(
        second,
        {"": {**SECOND_RUN_RULES, **of_first}},
        places=lambda evidence: {"": second(evidence).cell, "/first": first(evidence).cell},
        derived_only=True,
    )


def mean_or_nan(model: Entry) -> float | str:
    """Return the mean trace by heads, or the file's word for a missing one."""
    mean = mean_trace(model, "mh")
    return "NaN" if np.isnan(mean) else mean


def extended_document(model: str, name: str) -> Document:
    """Return the document of a model of the extended run."""
    rules: Rules = {"L_star": extended_layer, name: mean_or_nan}
    return Document(
        entry_reader(EXTENDED, model, "extended_results"), {"": rules}, derived_only=True
    )


DOCUMENTS = {
    **{model: trace_document(model) for model in TRACED},
    **{model: extended_document(model, name) for model, name in PACKED.items()},
    "study": Document(None, {"": STUDY_RULES}),
}
