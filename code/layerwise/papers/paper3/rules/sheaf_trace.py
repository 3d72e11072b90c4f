"""Traces of the sheaf Laplacian (Paper 3, section 5.2)."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from jaxtyping import Float

from layerwise.engine.derivation import Document, Rule, Rules
from layerwise.engine.evidence import Entry, Evidence
from layerwise.errors import LayerwiseError
from layerwise.papers.paper3.rules.gain_files import (
    damps,
    entry_reader,
    pooled_by_name,
    short_name,
)
from layerwise.papers.shared.result_files import EXTENDED, V1, V2
from layerwise.papers.shared.rules import join_sections
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


# --- a model ---


def trace_statistics(runs: tuple[Entry, Entry]) -> Rules:
    """The spectral gaps of a model's first run, and the traces of its second."""
    first, second = runs
    return {
        "mean_trace_full": Rule(
            lambda: mean_trace(second, "full"), "mean single-slice trace over the layers"
        ),
        "mean_trace_multihead": Rule(
            lambda: mean_trace(second, "multihead"), "mean trace by heads over the layers"
        ),
        "shape": Rule(
            lambda: (
                "monotonic" if np.all(np.diff(second.traces_multihead[:]) > 0) else "up and down"
            ),
            "whether the trace by heads only rises",
        ),
        "L_star_trace": partial(trace_layer, second),
        "L_star_spectral": partial(gap_layer, second),
        "L_star_apriori": partial(apriori_layer, second),
        "L_star_ratio_apriori": Rule(
            lambda: apriori_layer(second) / second.n_layers,
            "the a-priori L* in shares of the depth",
        ),
        "L_star_ratio_trace": Rule(
            lambda: trace_layer(second) / second.n_layers, "the trace's L* in shares of the depth"
        ),
        "first/L_star_gap_max": partial(gap_layer, first),
        "first/L_star_lambda2_max": Rule(
            lambda: np.argmax(first.lambda_2[:]), "the layer of the largest second eigenvalue"
        ),
        "first/L_star_inflection": Rule(
            lambda: sharpest(bend_sizes, first.spectral_gaps[:]),
            "the layer where the curve bends most",
        ),
        "first/max_spectral_gap": Rule(
            lambda: np.max(first.spectral_gaps[:]), "the largest spectral gap"
        ),
        "first/mean_spectral_gap": Rule(
            lambda: np.mean(first.spectral_gaps[:]), "mean spectral gap"
        ),
        "first/spectral_gap_at_half": Rule(
            lambda: first.spectral_gaps[len(first.spectral_gaps) // 2],
            "the spectral gap at half the depth",
        ),
    }


def trace_document(model: str) -> Document:
    """Return the document of a model of the two trace scripts."""
    first, second = entry_reader(V1, model), entry_reader(V2, model)
    return Document(
        lambda evidence: (first(evidence), second(evidence)),
        {"": trace_statistics},
        places=lambda evidence: {"": second(evidence).cell, "/first": first(evidence).cell},
        derived_only=True,
    )


def extended_statistics(model: Entry, name: str) -> Rules:
    """The traces of a model of the extended run; `name` is that of the mean trace."""

    def mean_or_nan() -> float | str:
        mean = mean_trace(model, "mh")
        return "NaN" if np.isnan(mean) else mean

    return {
        "L_star": partial(extended_layer, model),
        name: Rule(mean_or_nan, "the mean trace by heads, or the file's word for a missing one"),
    }


# --- the models together ---


SERIES = {"full": "mean single-slice trace", "multihead": "mean trace by heads"}
KINDS: dict[str, tuple[Callable[[Entry], bool], str]] = {
    "": (is_called_expander, ""),
    "_by_gain": (is_expander_by_gain, ", by the gains that were measured"),
}


def traces_of_kinds(evidence: Evidence) -> Rules:
    """The traces of expanders beside those of dampeners (section 5.2)."""

    def gpt2_over_opt() -> float:
        models = evidence[V2].results
        gpt2, opt = (models.row(model=model) for model in ("gpt2", "opt-125m"))
        return mean_trace(gpt2, "multihead") / mean_trace(opt, "multihead")

    def exceeds_factor(series: str) -> bool:
        return expand_over_dampen(evidence, series) > FACTOR

    def count_larger_expanders() -> int:
        """Return how often an expander's mean trace is larger than a dampener's."""
        expanding, damping = mean_traces(evidence, "multihead")
        return int(np.sum(expanding[:, None] > damping))

    def count_pairs() -> int:
        """Return the number of pairs of an expander and a dampener."""
        kinds = [model.behavior for model in evidence[V2].results]
        return kinds.count("EXPAND") * kinds.count("DAMPEN")

    return {
        "gpt2_over_opt": Rule(
            gpt2_over_opt,
            "the mean trace by heads of GPT-2 over that of OPT-125m, which the paper compares",
        ),
        **{
            f"expand_over_dampen/{series}{kind}": Rule(
                partial(expand_over_dampen, evidence, series, expands),
                f"expanders' {trace} over the dampeners'{by_gain}",
            )
            for kind, (expands, by_gain) in KINDS.items()
            for series, trace in SERIES.items()
        },
        "expander_larger/multihead": count_larger_expanders,
        "expander_larger/pairs": count_pairs,
        "discriminates/full": Rule(
            lambda: exceeds_factor("full"), "whether the single-slice ratio exceeds two"
        ),
        "discriminates/multihead": Rule(
            lambda: exceeds_factor("multihead"), "whether the ratio by heads exceeds two"
        ),
    }


def traces_over_models(evidence: Evidence) -> Rules:
    """L* and traces over all models, whatever their kind (section 5.2)."""

    def layer_error(model: Entry) -> float:
        return abs(apriori_layer(model) - trace_layer(model))

    def heads_over_slice(model: Entry) -> float:
        return mean_trace(model, "multihead") / mean_trace(model, "full")

    return {
        "mean_layer_error": Rule(
            lambda: np.mean([layer_error(model) for model in evidence[V2].results]),
            "the mean distance of the a-priori L* from that of the trace, layers",
        ),
        "ratio_sd": Rule(
            lambda: np.std([heads_over_slice(model) for model in evidence[V2].results]),
            "the population SD over the models of the trace by heads over the single-slice one",
        ),
        "first_mean_depth": Rule(
            lambda: np.mean([gap_layer(model) / model.n_layers for model in evidence[V1].results]),
            "the mean relative depth of the first run's L*",
        ),
    }


DOCUMENTS = {
    **{model: trace_document(model) for model in TRACED},
    **{
        model: Document(
            entry_reader(EXTENDED, model, "extended_results"),
            {"": partial(extended_statistics, name=name)},
            derived_only=True,
        )
        for model, name in PACKED.items()
    },
    "study": Document(None, {"": join_sections(traces_of_kinds, traces_over_models)}),
}
