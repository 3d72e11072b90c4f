"""Curves over relative depth (layer over number of blocks), so that models of any depth compare.

A curve is `[(depth, value), ...]`; curves are by quantity, then by model. `published` are those of
the papers' models, `own` those of the result documents of a reader's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from layerwise.analyses.answers import NAMES, Results
from layerwise.analyses.categories import SLUG
from layerwise.analyses.evidence import Evidence, by_layer
from layerwise.analyses.gain_files import models
from layerwise.analyses.pair_curves import CURVES
from layerwise.inputs import result_files as files

Curve = list[tuple[float, float]]
Curves = Mapping[str, Mapping[str, Curve]]
CATEGORIES, BINS, PAIRWISE, GAIN = "categories", "random bins", "centroid_asymmetry", "gain"
PROFILE = ("intrinsic_dim_ratio", "effective_rank", "avg_cos_sim")
MATRICES = ("W_V", "W_O", "W_Q", "W_K")


def over(layers: Mapping[int, Any], n_layers: int) -> Curve:
    """A value by layer over the depth."""
    return [(layer / n_layers, float(value)) for layer, value in layers.items()]


def behind(blocks: Iterable[Any]) -> Curve:
    """A value by block, each at the layer behind it."""
    values = list(blocks)
    return over(dict(enumerate(values, start=1)), len(values))


def profile(values: Iterable[Any]) -> Curve:
    """A value of every layer, 0 to the last."""
    of = list(values)
    return over(dict(enumerate(of)), len(of) - 1)


def published(evidence: Evidence) -> Curves:
    """Of the papers' models."""
    first = NAMES[SLUG]
    bins = by_layer(evidence[files.BINS].bootstrap_results)
    found: dict[str, dict[str, Curve]] = {
        CATEGORIES: {
            name: over(
                {n: test.correlation for n, test in by_layer(of.layer_results).items()}, of.n_layers
            )
            for name, of in evidence[files.SCALING].models.items()
        },
        BINS: {first: over({n: test.r for n, test in bins.items()}, max(bins))},
        PAIRWISE: {
            name: over(curve.r(), curve.layers[-1])
            for slug, name in NAMES.items()
            for curve in [CURVES[slug].of(evidence)]
        },
        GAIN: {
            name: behind(m.all_layer_gains[:]) for name, m in models(evidence[files.SWEEP]).items()
        },
    }
    tests = by_layer(evidence[files.PAIRS].results)
    for metric in tests[0]:  # the other measures of a pair: of one model alone
        curve = over({n: test[metric].r for n, test in tests.items()}, max(tests))
        found.setdefault(metric, {first: curve})
    for key in PROFILE:
        found[key] = {
            NAMES[slug]: profile(evidence[file][key][:]) for slug, file in files.PROFILES.items()
        }
    for matrix in MATRICES:
        found[matrix] = {
            m.model.rpartition("/")[2]: behind(m[f"{matrix}_spectral_norm"][:])
            for m in evidence[files.SPECTRAL].results
        }
    return found


def own(results: Results) -> dict[str, Curve]:
    """Of one reader's model: a curve of each quantity that was measured."""
    n = results["layers"]["n_layers"]
    strategies = results["layers"].get("strategies", {}).items()
    of_layers = {
        int(name.removeprefix("layer_")): of["correlation"]
        for name, of in strategies
        if name.startswith("layer_")
    }
    tests = results.get("pairs", {}).get("results", {})
    found = {
        CATEGORIES: over(of_layers, n),
        PAIRWISE: over({int(layer): of[PAIRWISE]["r"] for layer, of in tests.items()}, n),
        **{key: profile(results["anisotropy"][key]) for key in PROFILE if "anisotropy" in results},
        GAIN: behind(results.get("gains", {}).get("all_layer_gains", [])),
        **{
            matrix: behind(results.get("spectral", {}).get(f"{matrix}_spectral_norm", []))
            for matrix in MATRICES
        },
    }
    return {quantity: curve for quantity, curve in found.items() if curve}
