"""What the notebooks read off curves of r and profiles over layers, and the words they give them.

Every limit is that of the notebook's code; a layer fixed there is fixed whatever a model's depth.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

MID_LAYERS = (8, 12)  # of notebook 000
LATE_LAYERS = (28, 32)
POOLING_MARGIN = 0.2

Ends = tuple[float, float]
Curve = Mapping[int, float]  # r by sampled layer, ascending


def includes_zero(interval: Ends) -> bool:
    """Closed at both ends."""
    return bool(interval[0] <= 0 <= interval[1])


def change(original: Ends, new: Ends) -> str:
    """What the new interval does to significance (notebook 000)."""
    if includes_zero(original) == includes_zero(new):
        return "No change"
    return "Lost significance" if includes_zero(new) else "NOW SIGNIFICANT!"


def mean_width(intervals: Mapping[int, Ends]) -> float:
    return float(np.mean([high - low for low, high in intervals.values()]))


def width_reduction(original: Mapping[int, Ends], new: Mapping[int, Ends]) -> float:
    """How much narrower the new intervals are on average, percent of the original mean width."""
    before = mean_width(original)
    return float((before - mean_width(new)) / before * 100)


def some_stable(curve: Curve, intervals: Mapping[int, Ends], *, positive: bool) -> bool:
    """True where some layer has r of the wanted sign and an interval that excludes zero."""
    return any(
        (r > 0 if positive else r < 0) and not includes_zero(intervals[layer])
        for layer, r in curve.items()
    )


def sign_changes(curve: Curve, n_layers: int) -> list[dict[str, Any]]:
    """Neighbouring sampled layers whose r have a strictly negative product.

    `midpoint_pct` is the middle between the two layers in percent of n_layers.
    """
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


def no_sign_change(curve: Curve) -> str | None:
    """NEGATIVE or POSITIVE where all r are, `unclear` with a zero; None where the sign changes."""
    if sign_changes(curve, 1):
        return None
    if all(r < 0 for r in curve.values()):
        return "NEGATIVE"
    return "POSITIVE" if all(r > 0 for r in curve.values()) else "unclear"


# --- words ----------------------------------------------------------------------------------------


def aligned(asymmetry: float, preference: float) -> str:
    """YES where both share a strict sign, or |UA| < 0.02 and |preference| < 0.1; else NO."""
    small = abs(asymmetry) < 0.02 and abs(preference) < 0.1
    return "YES" if asymmetry * preference > 0 or small else "NO"


def coupling(r: float) -> str:
    """ALIGNED above 0.5, INVERTED below -0.3, DECOUPLED between (notebook 003)."""
    if r > 0.5:
        return "ALIGNED"
    return "INVERTED" if r < -0.3 else "DECOUPLED"


def key_question(asymmetry: float, preference: float) -> str:
    """Neutral states with a strong preference? YES, NO or UNCLEAR (scientific facts)."""
    if abs(asymmetry) < 0.02 and abs(preference) > 0.5:
        return "YES"
    return "NO" if abs(asymmetry) > 0.05 else "UNCLEAR"


def band(r: float) -> str:
    """Word for a correlation (notebook 001)."""
    if r < -0.5:
        return "INVERSE (strong negative)"
    if r < -0.2:
        return "Weak negative"
    if r < 0.2:
        return "DECOUPLED (near zero)"
    return "Weak positive" if r < 0.5 else "ALIGNED (strong positive)"


def pooling_verdict(mean_pooled: float, last_token: float) -> str:
    """Does the last token correlate `more`, `less` or about as the mean (`minimal` difference)?

    Signed: a weaker negative r counts as more (notebook 001).
    """
    if last_token > mean_pooled + POOLING_MARGIN:
        return "more"
    return "less" if last_token < mean_pooled - POOLING_MARGIN else "minimal"


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
        math.fsum(a * b for a, b in zip(*of, strict=True)) for of in ((x, y), (x, x), (y, y))
    )
    return xy / xx, max(-1.0, min(1.0, xy / math.sqrt(xx * yy)))


def bell_test(values: Sequence[float]) -> BellTest:
    """Does the profile rise up to its maximum (the first of equals) and fall from there on?"""
    l_star = int(np.argmax(values))
    before, after = line_fit(values[:l_star]), line_fit(values[l_star:])
    return BellTest(l_star, before[0] > 0 > after[0], *before, *after)


def match_verdict(l_star: int, paper2_layer: int) -> str:
    """Distance of the peak to Paper 2's layer: up to 3 excellent, up to 5 good."""
    distance = abs(l_star - paper2_layer)
    if distance <= 3:
        return "EXCELLENT MATCH"
    return "GOOD MATCH" if distance <= 5 else "DISCREPANCY"


def spectrum_layers(l_star: int, n_layers: int) -> list[int]:
    """Layers whose spectra are drawn; on a small model some coincide."""
    return [0, l_star // 2, l_star, (l_star + n_layers) // 2, n_layers]


def three_phases(l_star: int, paper2_layer: int, n_layers: int) -> dict[str, str] | None:
    """Layer ranges of the three-phase reading; None unless L* <= Paper 2's layer <= last layer."""
    if not l_star <= paper2_layer <= n_layers:
        return None
    cuts = (0, l_star, paper2_layer, n_layers)
    return {f"phase{n}": f"{a}-{b}" for n, (a, b) in enumerate(itertools.pairwise(cuts), 1)}
