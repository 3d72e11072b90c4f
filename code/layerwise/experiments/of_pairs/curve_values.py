"""Paper 2 from values: r per layer, pair by pair, in the files of its models and in its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from layerwise.analyses.bins import BINS
from layerwise.analyses.bins import TYPED as TYPED_INTERVALS
from layerwise.analyses.category_bootstrap import BOOTSTRAP
from layerwise.analyses.layers import LAYERS
from layerwise.analyses.of_values import (
    bins,
    category_bootstrap,
    layers,
    pairs,
    scaling,
)
from layerwise.analyses.pair_curves import CONSOLIDATED, CURVES, METRIC, SUMMARY, PairCurve
from layerwise.analyses.pairs import PAIRS
from layerwise.analyses.scaling import SCALING
from layerwise.experiments import Fragments
from layerwise.inputs.published import Published, pointer
from layerwise.measures.pairwise import METRICS
from layerwise.measures.values import Values
from layerwise.statistics import phases
from layerwise.statistics.bootstrap import CorrelationInterval, advance

LLAMA_METRICS = tuple(METRICS)[:3]  # the Llama notebook stops after the cosines
DECIMALS = 2  # of the tables that Paper 2's figure is drawn from

Curve = Mapping[int, CorrelationInterval]


def pythia_scaling(values: Values, display: str, published: Published) -> Fragments:
    """One model of the family's file (notebook 002)."""
    of_layers = {
        layer: layers.analyse(values)["strategies"][f"layer_{layer}"] for layer in values.layers
    }
    r = [of_layers[layer]["correlation"] for layer in values.layers]
    summary = scaling.summarise_model(display, values.layers, r, values.n_layers)
    row = list(published.document(SCALING)["models"]).index(display)
    results = {
        str(layer): {name: entry[name] for name in ("correlation", "p_value")}
        for layer, entry in of_layers.items()
    }
    return {
        SCALING: {
            pointer("models", display): {"n_layers": values.n_layers, "layer_results": results},
            pointer("summary", row): {k: v for k, v in summary.items() if k != "model"},
        }
    }


def pythia_layers(values: Values, slug: str, **draws: Any) -> Fragments:
    """The four files on Pythia-6.9B's layers, and Paper 2's tables of its curve.

    The bins are compared, as in their notebook, with two-decimal intervals over categories.
    """
    by_pairs = pairs.analyse(values, **draws)
    by_bins = bins.analyse(values, **draws)
    rounded = {
        layer: {k: _rounded(v) if isinstance(v, float) else v for k, v in result.items()}
        for layer, result in by_bins["original_results"].items()
    }
    curve = {
        int(layer): CorrelationInterval(
            entry[METRIC]["ci_lower"],
            entry[METRIC]["ci_upper"],
            r=entry[METRIC]["r"],
            p_value=entry[METRIC]["p_value"],
            n_kept=0,
        )
        for layer, entry in by_pairs["results"].items()
    }
    return {
        LAYERS: {"": _numbers(layers.analyse(values))},
        BOOTSTRAP: {"": _numbers(category_bootstrap.analyse(values, **draws))},
        BINS: {"": _numbers(by_bins)},
        TYPED_INTERVALS: {"/original_results": _without_p(rounded)},
        PAIRS: {"": _numbers(by_pairs)},
        **tables(curve, CURVES[slug]),
    }


def _numbers(document: dict[str, Any]) -> dict[str, Any]:
    """A document without what it says about itself: files keep their own names and texts."""
    texts = ("model", "model_display", "method", "caveat")
    return {name: entry for name, entry in document.items() if name not in texts}


def _without_p(results: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        layer: {name: value for name, value in result.items() if name != "p_value"}
        for layer, result in results.items()
    }


def llama(values: Values, slug: str, **draws: Any) -> Fragments:
    """Llama's file: r over the categories, and three measures of the pairs from one stream."""
    found = _intervals(values, LLAMA_METRICS, 0, **draws)
    of_layers = layers.analyse(values)["strategies"]
    document = {
        "n_layers": values.n_layers,
        "layers_tested": list(values.layers),
        "n_pairs": values.n_pairs,
        "n_bootstrap": draws["n_resamples"],
        "category_level_results": {
            str(layer): {
                "r": of_layers[f"layer_{layer}"]["correlation"],
                "p_value": of_layers[f"layer_{layer}"]["p_value"],
            }
            for layer in values.layers
        },
        "pair_level_results": {
            str(layer): {metric: interval.as_result() for metric, interval in entry.items()}
            for layer, entry in found.items()
        },
    }
    curve = {layer: entry[METRIC] for layer, entry in found.items()}
    return {CURVES[slug].file: {"": document}, **tables(curve, CURVES[slug])}


def one_curve(values: Values, slug: str, **draws: Any) -> Fragments:
    """Apertus' and Gemma's files: the centroid asymmetry only."""
    curve = _curve(values, 0, **draws)
    document = {
        "n_layers": values.n_layers,
        "layers_tested": list(values.layers),
        "n_pairs": values.n_pairs,
        "n_bootstrap": draws["n_resamples"],
        CURVES[slug].group: _short(curve),
    }
    return {CURVES[slug].file: {"": document}, **tables(curve, CURVES[slug])}


def template(values: Values, condition: str, **draws: Any) -> Fragments:
    """One condition of the template notebook, whose one stream drew all of WITH, then WITHOUT."""
    place = CURVES[condition]
    with_template = condition.endswith("-template")
    curve = _curve(values, 0 if with_template else len(values.layers), **draws)
    found: Fragments = {place.file: {pointer(place.group): _short(curve)}}
    if with_template:
        found[place.file]["/n_pairs"] = values.n_pairs
    return {**found, **tables(curve, place)}


def template_once(values: Values, slug: str, **draws: Any) -> Fragments:
    """The template with a single BOS, beside the published condition and never in its place."""
    curve = _curve(values, 0, **draws)
    means = phase_means(curve)
    return {
        "beyond/p2_template": {
            pointer(slug): {
                "results_with_template_once": _short(curve),
                "phase_with_once": {**means, "pattern": phases.template_label(**means)},
            }
        }
    }


def phase_means(curve: Curve) -> dict[str, float]:
    """Mean r of each third of the sampled layers."""
    r = {layer: interval.r for layer, interval in curve.items()}
    partition = phases.thirds_of_list(list(r))
    return {phase: phases.phase_mean(r, partition[phase]) for phase in phases.PHASES}


def tables(curve: Curve, place: PairCurve) -> Fragments:
    """A curve's rows in Paper 2's two tables: two decimals, a flag from the unrounded interval."""
    partition = phases.thirds_of_list(list(curve))
    rows = {
        pointer(place.first_row + number): {
            "n_layers": max(curve),
            "r": _rounded(interval.r),
            "ci_lo": _rounded(interval.low),
            "ci_hi": _rounded(interval.high),
            "significant": _word(not interval.includes_zero),
            "phase": phases.phase_of(layer, partition),
        }
        for number, (layer, interval) in enumerate(curve.items())
    }
    means = phase_means(curve)
    summary: dict[str, Any] = {f"{phase}_mean": _rounded(mean) for phase, mean in means.items()}
    summary |= {"late_inversion": phases.late_inversion(means["late"])}
    return {CONSOLIDATED: rows, SUMMARY: {pointer(place.summary_row): summary}}


def _rounded(value: float) -> float:
    return round(value, DECIMALS) + 0.0  # a rounded zero has no sign


def _word(flag: bool) -> str:
    return "TRUE" if flag else "FALSE"


def _curve(values: Values, tests_before: int, **draws: Any) -> dict[int, CorrelationInterval]:
    found = _intervals(values, (METRIC,), tests_before, **draws)
    return {layer: entry[METRIC] for layer, entry in found.items()}


def _intervals(
    values: Values,
    metrics: Sequence[str],
    tests_before: int,
    *,
    n_resamples: int,
    level: float,
    seed: int,
) -> dict[int, dict[str, CorrelationInterval]]:
    """Intervals from a stream that already served `tests_before` tests of as many pairs."""
    stream = np.random.RandomState(seed)
    advance(stream, values.n_pairs, tests_before * n_resamples * values.n_pairs)
    return pairs.intervals(values, metrics, stream, n_resamples=n_resamples, level=level)


def _short(curve: Curve) -> dict[str, Any]:
    """The keys of the Apertus, Gemma and template files."""
    return {
        str(layer): {
            "r": interval.r,
            "ci_lo": interval.low,
            "ci_hi": interval.high,
            "sig": not interval.includes_zero,
        }
        for layer, interval in curve.items()
    }
