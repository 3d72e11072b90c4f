"""Paper 2 from values: r per layer, pair by pair, in the files of its models and in its tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from layerwise.analyses.bins import TYPED as TYPED_INTERVALS
from layerwise.analyses.evidence import Draws
from layerwise.analyses.pair_curves import CURVES, METRIC, PairCurve
from layerwise.experiments import Fragments
from layerwise.experiments.of_pairs import documents
from layerwise.experiments.of_pairs.documents import Intervals
from layerwise.inputs.published import leaves, pointer
from layerwise.inputs.result_files import (
    ANISOTROPY,
    BINS,
    BOOTSTRAP,
    CONSOLIDATED,
    LAYERS,
    PAIRS,
    PHASE_SUMMARY,
    SCALING,
    UA_FILES,
)
from layerwise.measures.pairwise import METRICS
from layerwise.measures.values import Values
from layerwise.statistics import phases, rules

LLAMA_METRICS = tuple(METRICS)[:3]  # the Llama notebook stops after the cosines
DECIMALS = 2  # of the tables that Paper 2's figure is drawn from
UNSAVED = ("eigenvalue_variance", "var_top10", "var_top50", "spectra")  # of the anisotropy profile


def numbers(document: Mapping[str, Any], place: str = "", but: Collection[str] = ()) -> dict:
    """The numbers of a document by JSON Pointer, as they stand below a place.

    Arguments:
        but: where nothing is filled, for it follows from other numbers.
    """
    return {
        key: value
        for key, value in leaves(place, document)
        if not any(key == one or key.startswith(f"{one}/") for one in but)
    }


def pythia_scaling(values: Values, slug: str, display: str) -> Fragments:
    """One model of the family's file (notebook 002); the last r follows from the file on UA."""
    strategies = documents.layers(values)["strategies"]
    results = {
        str(layer): {"correlation": strategies[f"layer_{layer}"]["correlation"]}
        for layer in values.layers
        if slug not in UA_FILES or layer != values.n_layers
    }
    model = {"n_layers": values.n_layers, "layer_results": results}
    return {SCALING: numbers(model, pointer("models", display))}


def pythia_layers(values: Values, slug: str, draws: Draws) -> Fragments:
    """The files on Pythia-6.9B's layers, and Paper 2's tables of its curve.

    The last layer over the categories follows from the file on UA. The bins are compared, as in
    their notebook, with two-decimal intervals over categories.
    """
    by_category = documents.over_categories(values, draws)
    by_pair = documents.over_pairs(values, draws)
    last = [
        pointer("strategies", name, "correlation")
        for name in ("mean_pooled", f"layer_{values.n_layers}")
    ]
    found = {
        LAYERS: numbers(documents.layers(values), but=last),
        BOOTSTRAP: numbers(
            documents.category_bootstrap(values, draws, by_category),
            but=[pointer("layer_results", values.n_layers)],
        ),
        TYPED_INTERVALS: {
            pointer("original_results", layer, name): value
            for layer, interval in by_category.items()
            for name, value in typed(interval).items()
        },
        BINS: numbers(documents.bins(values, draws, documents.over_bins(values, draws))),
        PAIRS: numbers(documents.pairs(values, draws, by_pair)),
        **tables({layer: found[METRIC] for layer, found in by_pair.items()}, CURVES[slug]),
    }
    if values.n_prompts:
        profile = documents.anisotropy(values)
        found[ANISOTROPY] = numbers({name: profile[name] for name in UNSAVED})
    return found


def typed(interval: documents.CorrelationInterval) -> dict[str, float | bool]:
    """As notebook 000 typed its intervals: rounded, with a flag of the unrounded one."""
    ends = {name: rounded(value) for name, value in documents.r_and_ends(interval).items()}
    return {**ends, "includes_zero": rules.includes_zero(interval[:2])}


def llama(values: Values, slug: str, draws: Draws) -> Fragments:
    """Llama's file: r over the categories, and three measures of the pairs from one stream.

    The last r over the categories follows from Paper 1's cosines.
    """
    found = documents.over_pairs(values, draws, LLAMA_METRICS)
    strategies = documents.layers(values)["strategies"]
    document = {
        **_settings(values, draws),
        "category_level_results": {
            str(layer): {"r": strategies[f"layer_{layer}"]["correlation"]}
            for layer in values.layers[:-1]
        },
        "pair_level_results": documents.pairs(values, draws, found)["results"],
    }
    curve = {layer: entry[METRIC] for layer, entry in found.items()}
    return {CURVES[slug].file: numbers(document), **tables(curve, CURVES[slug])}


def one_curve(values: Values, slug: str, draws: Draws) -> Fragments:
    """Apertus' and Gemma's files: the centroid asymmetry only."""
    place, curve = CURVES[slug], _curve(values, draws)
    document = {**_settings(values, draws), place.group: _short(curve)}
    return {place.file: numbers(document), **tables(curve, place)}


def template(values: Values, condition: str, draws: Draws) -> Fragments:
    """One condition of the template notebook, whose one stream drew all of WITH, then WITHOUT."""
    place, with_template = CURVES[condition], condition.endswith("-template")
    curve = _curve(values, draws, tests_before=0 if with_template else len(values.layers))
    found = numbers(_short(curve), pointer(place.group))
    if with_template:
        found["/n_pairs"] = values.n_pairs
    return {place.file: found, **tables(curve, place)}


def tables(curve: Intervals, place: PairCurve) -> Fragments:
    """A curve's numbers in Paper 2's two tables, which give two decimals."""
    rows = {
        str(place.first_row + number): {
            "n_layers": max(curve),
            "r": rounded(interval.r),
            "ci_lo": rounded(interval.low),
            "ci_hi": rounded(interval.high),
        }
        for number, interval in enumerate(curve.values())
    }
    r = {layer: interval.r for layer, interval in curve.items()}
    means = {
        f"{phase}_mean": rounded(phases.phase_mean(r, layers))
        for phase, layers in phases.thirds_of_list(list(r)).items()
    }
    return {CONSOLIDATED: numbers(rows), PHASE_SUMMARY: numbers(means, pointer(place.summary_row))}


def rounded(value: float) -> float:
    """Two decimals; a rounded zero has no sign."""
    return round(value, DECIMALS) + 0.0


def _settings(values: Values, draws: Draws) -> dict[str, Any]:
    return {
        "n_layers": values.n_layers,
        "layers_tested": list(values.layers),
        "n_pairs": values.n_pairs,
        "n_bootstrap": draws.n_resamples,
    }


def _curve(values: Values, draws: Draws, tests_before: int = 0) -> Intervals:
    found = documents.over_pairs(values, draws, (METRIC,), tests_before=tests_before)
    return {layer: entry[METRIC] for layer, entry in found.items()}


def _short(curve: Intervals) -> dict[str, Any]:
    """The keys of the Apertus, Gemma and template files."""
    return {
        str(layer): {"r": interval.r, "ci_lo": interval.low, "ci_hi": interval.high}
        for layer, interval in curve.items()
    }
