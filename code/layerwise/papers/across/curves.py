"""Curves over relative depth (layer over number of blocks) of the result documents of one model.

A curve is `[(depth, value), ...]`. `rules.depth_curves` has those of the papers' models.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from layerwise.engine.evidence import Entry
from layerwise.engine.question import Results
from layerwise.files import JsonObject
from layerwise.papers.shared.names import MATRICES
from layerwise.papers.shared.result_files import CATEGORIES
from layerwise.papers.shared.terms import GAIN, PAIRWISE, strategies_by_layer
from layerwise.present.figures.numbers import DepthCurve

PROFILE = ("intrinsic_dim_ratio", "effective_rank", "avg_cos_sim")


def curve_over_depth(layers: Mapping[int, Any], n_layers: int) -> DepthCurve:
    """Return a value by layer over the relative depth."""
    return [(layer / n_layers, float(value)) for layer, value in layers.items()]


def curve_behind_blocks(blocks: Iterable[Any]) -> DepthCurve:
    """Return a value by block, each at the layer behind it."""
    values = list(blocks)
    return curve_over_depth(dict(enumerate(values, start=1)), len(values))


def curves_by_quantity(documents: Mapping[str, JsonObject | Entry]) -> dict[str, DepthCurve]:
    """Return the curves of one model's profile, gains and norms that there are, by quantity."""
    curves = {}
    for key in PROFILE if "anisotropy" in documents else ():
        values = list(documents["anisotropy"][key])
        curves[key] = curve_over_depth(dict(enumerate(values)), len(values) - 1)
    if "gains" in documents:
        curves[GAIN] = curve_behind_blocks(documents["gains"]["all_layer_gains"])
    for matrix in MATRICES if "spectral" in documents else ():
        curves[matrix] = curve_behind_blocks(documents["spectral"][f"{matrix}_spectral_norm"])
    return curves


def own_curves(results: Results) -> dict[str, DepthCurve]:
    """Return the curves of one reader's model, by quantity that was measured."""
    n = results["layers"]["n_layers"]
    strategies = strategies_by_layer(results["layers"].get("strategies", {}))
    tests = results.get("pairs", {}).get("results", {})
    curves = {
        CATEGORIES: curve_over_depth(
            {layer: test["correlation"] for layer, test in strategies.items()}, n
        ),
        PAIRWISE: curve_over_depth(
            {int(layer): test[PAIRWISE]["r"] for layer, test in tests.items()}, n
        ),
        **curves_by_quantity(results),
    }
    return {quantity: curve for quantity, curve in curves.items() if curve}
