"""Readings that the notebooks take from curves of r and from profiles over layers.

Every limit is that of the notebook's code; a layer fixed there is fixed whatever a model's depth.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypedDict

import numpy as np

MID_LAYERS = (8, 12)  # of notebook 000
LATE_LAYERS = (28, 32)

Ends = tuple[float, float]
Curve = Mapping[int, float]  # r by sampled layer, ascending


def word_below(value: float | int, words: Mapping[float | int, str], beyond: str) -> str:
    """The word of the first of ascending bounds that the value lies under; `beyond` the last."""
    return next((word for bound, word in words.items() if value < bound), beyond)


def includes_zero(interval: Ends) -> bool:
    """Closed at both ends."""
    return bool(interval[0] <= 0 <= interval[1])


def has_stable_layer(curve: Curve, intervals: Mapping[int, Ends], *, positive: bool) -> bool:
    """True where some layer has r of the wanted sign and an interval that excludes zero."""
    return any(
        (r > 0 if positive else r < 0) and not includes_zero(intervals[layer])
        for layer, r in curve.items()
    )


class SignChange(TypedDict):
    """Two neighbouring sampled layers, and the middle between them in percent of the blocks."""

    layer_before: int
    layer_after: int
    midpoint_pct: float
    layers: list[int]


def sign_changes(curve: Curve, n_layers: int) -> list[SignChange]:
    """Neighbouring sampled layers whose r have a strictly negative product."""
    return [
        {
            "layer_before": before,
            "layer_after": after,
            "midpoint_pct": (before + after) / 2 / n_layers * 100,
            "layers": [before, after],
        }
        for before, after in itertools.pairwise(curve)
        if curve[before] * curve[after] < 0
    ]


# --- a profile around its peak (notebook 004) -----------------------------------------------------


class BellTest(NamedTuple):
    """Least-squares lines before the peak (peak left out) and from the peak on."""

    l_star: int
    is_bell_curve: bool
    phase1_slope: float
    phase1_r: float
    phase2_slope: float
    phase2_r: float


def line_fit(values: Sequence[float]) -> tuple[float, float]:
    """(slope, r) of the least-squares line over 0, 1, 2, ...; (0, 0) for fewer than two values.

    r is 0 for constant values.
    """
    if len(values) < 2 or min(values) == max(values):
        return 0.0, 0.0
    # exact sums: those of a BLAS end in other digits on another processor
    n = len(values)
    middle = math.fsum(values) / n
    x, y = [row - (n - 1) / 2 for row in range(n)], [value - middle for value in values]
    xy, xx, yy = (
        math.fsum(a * b for a, b in zip(*pair, strict=True)) for pair in ((x, y), (x, x), (y, y))
    )
    return xy / xx, max(-1.0, min(1.0, xy / math.sqrt(xx * yy)))


def bell_test(values: Sequence[float]) -> BellTest:
    """Test whether the profile rises to its maximum (the first of equals) and falls from there."""
    l_star = int(np.argmax(values))
    before, after = line_fit(values[:l_star]), line_fit(values[l_star:])
    return BellTest(l_star, before[0] > 0 > after[0], *before, *after)


def spectrum_layers(l_star: int, n_layers: int) -> list[int]:
    """Layers whose spectra are drawn; on a small model some coincide."""
    return [0, l_star // 2, l_star, (l_star + n_layers) // 2, n_layers]


def fishers_z(r: float) -> float:
    """artanh r by its logarithm: `math.atanh` has other last digits from glibc 2.43 on."""
    return math.log((1 + r) / (1 - r)) / 2
