"""Bounds and words that rules write into statistics and figures read there; no rule.

Figures import these and documents alone, so that a change of a rule redraws nothing.
"""

import re
from collections.abc import Iterable
from typing import Any

from layerwise.files import JsonObject

BAND = 0.015  # Paper 1: |UA| on lifestyle, figure 1
AXIS = (0.82, 1.38)  # Paper 3: the gains that figure A4 shows; others are clipped to its edges
ELEUTHER, OTHERS = "EleutherAI", "other labs"  # Paper 3: the two groups of section 4.2
# Quantities of which there are curves over relative depth.
PAIRWISE, GAIN = "centroid_asymmetry", "gain"
STARS = {0.001: "***", 0.01: "**", 0.05: "*"}  # of a p below
NO_STARS = "(none)"
LAYER_PREFIX = "layer_"  # begins the name of a layer among the poolings
OVER_MODELS = "over models"  # the analysis that says what holds of several readers' models together


def models_in_words(flags: Iterable[bool]) -> str:
    """Return in how many models something holds: `all models`, or `3 of 4 models`."""
    values = list(flags)
    n = sum(values)
    return "all models" if n == len(values) else f"{n} of {len(values)} models"


def depth_bound(n_layers: int) -> float:
    """Return 10^(1/n): n blocks of this gain multiply to 10 (Paper 3, equation 3)."""
    return float(10.0 ** (1 / n_layers))


def strategies_by_layer(strategies: JsonObject) -> dict[int, Any]:
    """Return what stands under `layer_<number>`, by layer, ascending."""
    names = [re.fullmatch(rf"{LAYER_PREFIX}(0|[1-9]\d{{0,5}})", name) for name in strategies]
    layers = sorted(int(name[1]) for name in names if name)
    return {layer: strategies[f"{LAYER_PREFIX}{layer}"] for layer in layers}
