"""Traces of the sheaf Laplacian and of the restriction maps (Paper 3, section 5.2)."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from layerwise.engine.derivation import Document, Function, Rule, Rules
from layerwise.engine.evidence import Entry, Evidence
from layerwise.papers.paper3.rules.gain_files import row_of
from layerwise.papers.shared.names.result_files import EXTENDED, MAPS, V1, V2
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


def mean(m: Entry, series: str) -> float:
    """Mean over the layers of the run's traces, `traces_<series>`."""
    return float(np.mean(m[f"traces_{series}"][:]))


def trace_layer(m: Entry) -> int:
    """L* of the second run: the steepest layer of the single-slice trace."""
    return sharpest(gradient_sizes, m.traces_full[:])


def extended_layer(m: Entry) -> int:
    """L* of the extended run: the steepest layer of the multi-head trace."""
    return sharpest(gradient_sizes, m.traces_mh[:])


def prior(m: Entry) -> float:
    """The a-priori L* = (L/2)(1 + tanh(5 (G - 1))), from the gain G typed into the script."""
    return m.n_layers / 2 * (1 + math.tanh(5 * (m.known_gain - 1)))


def gap_layer(m: Entry) -> int:
    """L* of either run's spectral gaps: the largest."""
    return int(np.argmax(m.spectral_gaps[:]))


def expand_over_dampen(e: Evidence, series: str) -> float:
    """Mean trace of the models that the script calls expanders over that of the dampeners."""
    above, below = (
        np.mean([mean(m, series) for m in e[V2].results if m.behavior == kind])
        for kind in ("EXPAND", "DAMPEN")
    )
    return float(above / below)


def expander_larger(e: Evidence, series: str) -> int:
    """How many times an expander's mean trace is larger, each compared with each dampener."""
    above, below = (
        np.array([mean(m, series) for m in e[V2].results if m.behavior == kind])
        for kind in ("EXPAND", "DAMPEN")
    )
    return int(np.sum(above[:, None] > below))


def n_comparisons(e: Evidence) -> int:
    """Every model that the script calls an expander with every one that it calls a dampener."""
    kinds = [m.behavior for m in e[V2].results]
    return kinds.count("EXPAND") * kinds.count("DAMPEN")


def gpt2_over_opt(e: Evidence) -> float:
    """Mean trace by heads of GPT-2 over that of OPT-125m, which the paper compares."""
    gpt2, opt = (mean(row_of(V2, model)(e), "multihead") for model in ("gpt2", "opt-125m"))
    return gpt2 / opt


def mean_layer_error(e: Evidence) -> float:
    """Mean distance of the a-priori L* from that of the trace."""
    return float(np.mean([abs(prior(m) - trace_layer(m)) for m in e[V2].results]))


def ratio_sd(e: Evidence) -> float:
    """Population SD over the models of the trace by heads over the single-slice trace."""
    return float(np.std([mean(m, "multihead") / mean(m, "full") for m in e[V2].results]))


def first_mean_depth(e: Evidence) -> float:
    """Mean relative depth of the first run's L*."""
    return float(np.mean([gap_layer(m) / m.n_layers for m in e[V1].results]))


SECOND_RUN: Rules = {
    "mean_trace_full": Rule(lambda m: mean(m, "full"), "mean single-slice trace over the layers"),
    "mean_trace_multihead": Rule(
        lambda m: mean(m, "multihead"), "mean trace by heads over the layers"
    ),
    "shape": Rule(
        lambda m: "monotonic" if np.all(np.diff(m.traces_multihead[:]) > 0) else "up and down",
        "whether the trace by heads only rises",
    ),
    "L_star_trace": trace_layer,
    "L_star_spectral": gap_layer,
    "L_star_apriori": prior,
    "L_star_ratio_apriori": Rule(
        lambda m: prior(m) / m.n_layers, "the a-priori L* in shares of the depth"
    ),
    "L_star_ratio_trace": Rule(
        lambda m: trace_layer(m) / m.n_layers, "the trace's L* in shares of the depth"
    ),
}
FIRST_RUN: Rules = {
    "L_star_gap_max": gap_layer,
    "L_star_lambda2_max": Rule(
        lambda m: int(np.argmax(m.lambda_2[:])), "the layer of the largest second eigenvalue"
    ),
    "L_star_inflection": Rule(
        lambda m: sharpest(bend_sizes, m.spectral_gaps[:]), "the layer where the curve bends most"
    ),
    "max_spectral_gap": Rule(lambda m: np.max(m.spectral_gaps[:]), "the largest spectral gap"),
    "mean_spectral_gap": Rule(lambda m: np.mean(m.spectral_gaps[:]), "mean spectral gap"),
    "spectral_gap_at_half": Rule(
        lambda m: m.spectral_gaps[len(m.spectral_gaps) // 2], "the spectral gap at half the depth"
    ),
}
STUDY: Rules = {
    "gpt2_over_opt": gpt2_over_opt,
    "expand_over_dampen/full": Rule(
        lambda e: expand_over_dampen(e, "full"),
        "expanders' mean single-slice trace over the dampeners'",
    ),
    "expand_over_dampen/multihead": Rule(
        lambda e: expand_over_dampen(e, "multihead"),
        "expanders' mean trace by heads over the dampeners'",
    ),
    "expander_larger/multihead": Rule(
        lambda e: expander_larger(e, "multihead"),
        "how often an expander's mean trace is larger than a dampener's",
    ),
    "expander_larger/pairs": n_comparisons,
    "discriminates/full": Rule(
        lambda e: expand_over_dampen(e, "full") > FACTOR,
        "whether the single-slice ratio exceeds two",
    ),
    "discriminates/multihead": Rule(
        lambda e: expand_over_dampen(e, "multihead") > FACTOR,
        "whether the ratio by heads exceeds two",
    ),
    "mean_layer_error": mean_layer_error,
    "ratio_sd": ratio_sd,
    "first_mean_depth": first_mean_depth,
}


# NaN of half-precision attention takes part where it did: it wins `argmin`, and is no number.
def ratios(f: Entry) -> Float[np.ndarray, " layer"]:
    """Contraction ratios of the restriction maps."""
    return f.restriction_maps.contraction_ratios[:]


def halves(f: Entry) -> tuple[float, float]:
    """Mean ratio before the layer of the smallest (NaN where nothing is), and from it on."""
    before, after = np.split(ratios(f), [np.argmin(ratios(f))])
    return float(np.mean(before)) if len(before) else np.nan, float(np.mean(after))


RATIOS: Rules = {
    "restriction_maps/L_star_min_contraction": Rule(
        lambda f: np.argmin(ratios(f)), "the layer of the smallest contraction ratio"
    ),
    "restriction_maps/L_star_inflection": Rule(
        lambda f: sharpest(bend_sizes, ratios(f)), "the layer where the ratios bend most"
    ),
    "validation/contraction_before_Lstar": Rule(
        lambda f: halves(f)[0] < 1, "whether the mean ratio before that layer is under 1"
    ),
    "validation/expansion_after_Lstar": Rule(
        lambda f: halves(f)[1] > halves(f)[0], "whether the mean ratio rises from that layer on"
    ),
    "nan_layers": Rule(lambda f: np.sum(np.isnan(ratios(f))), "the layers without a ratio"),
}


def beside(m: Entry, row: Callable[[Entry], Entry], rule: Function) -> Any:
    """What a rule gives of a row that stands in another file."""
    return rule(row(m))


def traced(model: str) -> Document:
    """A model of the two trace scripts."""
    first, second = row_of(V1, model), row_of(V2, model)
    of_first = {
        f"first/{name}": partial(beside, row=first, rule=rule) for name, rule in FIRST_RUN.items()
    }
    return Document(
        second,
        {"": {**SECOND_RUN, **of_first}},
        places=lambda e: {"": second(e).cell, "/first": first(e).cell},
        shows=False,
    )


def mean_or_nan(m: Entry) -> float | str:
    """Mean trace by heads, or the word that the file has for none."""
    found = mean(m, "mh")
    return "NaN" if np.isnan(found) else found


def packed(model: str, name: str) -> Document:
    """A model of the extended run."""
    rules: Rules = {"L_star": extended_layer, name: mean_or_nan}
    return Document(row_of(EXTENDED, model, "extended_results"), {"": rules}, shows=False)


DOCUMENTS = {
    **{model: traced(model) for model in TRACED},
    **{model: packed(model, name) for model, name in PACKED.items()},
    "study": Document(None, {"": STUDY}),
    "pythia-1.4b": Document(MAPS, {"": RATIOS}, shows=False),
}
