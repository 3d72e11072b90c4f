"""Curves over relative depth (layer over number of blocks), comparable between all models.

A curve is `[(depth, value), ...]`; curves are by quantity, then by model. `published` are those of
the papers' models, `own` those of the result documents of a reader's.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from layerwise.engine.curves import Curve, Curves
from layerwise.engine.evidence import Evidence, by_layer
from layerwise.engine.questions.answers import Results
from layerwise.papers.paper2.rules.pair_curves import CURVES
from layerwise.papers.paper2.rules.scaling import by_name
from layerwise.papers.paper3.rules.gain_files import models
from layerwise.papers.shared.names import result_files as files
from layerwise.papers.shared.names.curves import BINS, CATEGORIES
from layerwise.papers.shared.names.matrices import MATRICES
from layerwise.papers.shared.names.models import NAMES, SLUG

PAIRWISE, GAIN = "centroid_asymmetry", "gain"
PROFILE = ("intrinsic_dim_ratio", "effective_rank", "avg_cos_sim")


def curve_over_depth(layers: Mapping[int, Any], n_layers: int) -> Curve:
    """A value by layer over the depth."""
    return [(layer / n_layers, float(value)) for layer, value in layers.items()]


def curve_behind_blocks(blocks: Iterable[Any]) -> Curve:
    """A value by block, each at the layer behind it."""
    values = list(blocks)
    return curve_over_depth(dict(enumerate(values, start=1)), len(values))


def of_model(documents: Mapping[str, Any]) -> dict[str, Curve]:
    """By quantity, of the profile, gains and norms of one model, where they are."""
    found = {}
    for key in PROFILE if "anisotropy" in documents else ():
        values = list(documents["anisotropy"][key])
        found[key] = curve_over_depth(dict(enumerate(values)), len(values) - 1)
    if "gains" in documents:
        found[GAIN] = curve_behind_blocks(documents["gains"]["all_layer_gains"])
    for matrix in MATRICES if "spectral" in documents else ():
        found[matrix] = curve_behind_blocks(documents["spectral"][f"{matrix}_spectral_norm"])
    return found


def published(evidence: Evidence) -> Curves:
    """Of the papers' models."""
    first = NAMES[SLUG]
    bins = by_layer(evidence[files.BINS].bootstrap_results)
    found: dict[str, dict[str, Curve]] = {
        CATEGORIES: {
            name: curve_over_depth(
                {n: test.correlation for n, test in by_layer(of.layer_results).items()}, of.n_layers
            )
            for name, of in evidence[files.SCALING].models.items()
        },
        BINS: {first: curve_over_depth({n: test.r for n, test in bins.items()}, max(bins))},
        PAIRWISE: {
            name: curve_over_depth(curve.r(), curve.layers[-1])
            for slug, name in NAMES.items()
            for curve in [CURVES[slug].of(evidence)]
        },
    }
    tests = by_layer(evidence[files.PAIRS].results)
    for metric in tests[0]:  # the other measures of a pair: of one model alone
        curve = curve_over_depth({n: test[metric].r for n, test in tests.items()}, max(tests))
        found.setdefault(metric, {first: curve})
    measured = [(NAMES[slug], "anisotropy", evidence[of]) for slug, of in files.PROFILES.items()]
    measured += [(name, "gains", m) for name, m in models(evidence[files.SWEEP]).items()]
    measured += [(m.model.rpartition("/")[2], "spectral", m)
                 for m in evidence[files.SPECTRAL].results]  # fmt: skip
    for name, analysis, of in measured:
        for quantity, curve in of_model({analysis: of}).items():
            found.setdefault(quantity, {})[name] = curve
    return found


def own(results: Results) -> dict[str, Curve]:
    """Of one reader's model: a curve of each quantity that was measured."""
    n = results["layers"]["n_layers"]
    strategies = by_name(results["layers"].get("strategies", {}))
    tests = results.get("pairs", {}).get("results", {})
    found = {
        CATEGORIES: curve_over_depth(
            {layer: of["correlation"] for layer, of in strategies.items()}, n
        ),
        PAIRWISE: curve_over_depth(
            {int(layer): of[PAIRWISE]["r"] for layer, of in tests.items()}, n
        ),
        **of_model(results),
    }
    return {quantity: curve for quantity, curve in found.items() if curve}
