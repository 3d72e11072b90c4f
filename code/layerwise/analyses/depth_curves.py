"""Curves over relative depth (layer over number of blocks), so that models of any depth compare.

A curve is `[(depth, value), ...]`; curves are by quantity, then by model. `published` are those of
the papers' models, `own` those of the result documents of a reader's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from layerwise.analyses.answers import NAMES, Results
from layerwise.analyses.evidence import Evidence, by_layer
from layerwise.analyses.gain_files import models
from layerwise.analyses.pair_curves import CURVES
from layerwise.inputs.result_files import LLAMA, PAIRS, PROFILES, SCALING, SPECTRAL, SWEEP

Curve = list[tuple[float, float]]
Curves = Mapping[str, Mapping[str, Curve]]
CATEGORIES, PAIRWISE, GAIN = "categories", "centroid_asymmetry", "gain"
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
    last = {slug: CURVES[slug].of(evidence) for slug in NAMES}
    found: dict[str, dict[str, Curve]] = {
        CATEGORIES: {
            name: over(
                {n: test.correlation for n, test in by_layer(of.layer_results).items()}, of.n_layers
            )
            for name, of in evidence[SCALING].models.items()
        },
        PAIRWISE: {NAMES[slug]: over(of.r(), of.layers[-1]) for slug, of in last.items()},
        GAIN: {name: behind(m.all_layer_gains[:]) for name, m in models(evidence[SWEEP]).items()},
    }
    for slug, file in (("pythia-6p9b", PAIRS), ("llama-3p1-8b", LLAMA)):
        group = "results" if file == PAIRS else "pair_level_results"
        tests = by_layer(evidence[file][group])
        for metric in tests[0]:
            curve = over({n: test[metric].r for n, test in tests.items()}, max(tests))
            found.setdefault(metric, {}).setdefault(NAMES[slug], curve)
    for key in PROFILE:
        of_models = {NAMES[slug]: evidence[file][key] for slug, file in PROFILES.items()}
        found[key] = {name: profile(of[:]) for name, of in of_models.items()}
    for matrix in MATRICES:
        found[matrix] = {
            m.model.rpartition("/")[2]: behind(m[f"{matrix}_spectral_norm"][:])
            for m in evidence[SPECTRAL].results
            if f"{matrix}_spectral_norm" in m
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
