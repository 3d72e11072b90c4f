"""Verdict words of notebooks 000 and 003, by the rule that their code applies."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

MID_LAYERS = (8, 12)  # fixed in the notebooks, whatever the depth of the model
LATE_LAYERS = (28, 32)

Ends = tuple[float, float]


def aligned(asymmetry: float, preference: float) -> str:
    """YES where both share a strict sign, or |UA| < 0.02 and |preference| < 0.1; else NO."""
    same = (asymmetry > 0 and preference > 0) or (asymmetry < 0 and preference < 0)
    small = abs(asymmetry) < 0.02 and abs(preference) < 0.1
    return "YES" if same or small else "NO"


def coupling(r: float) -> str:
    """ALIGNED above 0.5, INVERTED below -0.3, DECOUPLED between."""
    if r > 0.5:
        return "ALIGNED"
    return "INVERTED" if r < -0.3 else "DECOUPLED"


def facts_label(asymmetry: float) -> str:
    """ALIGNED where |UA| on scientific facts exceeds 0.05, else NEUTRAL."""
    return "ALIGNED" if abs(asymmetry) > 0.05 else "NEUTRAL"


def key_question(asymmetry: float, preference: float) -> str:
    """Neutral states with a strong preference? YES, NO or UNCLEAR (scientific facts)."""
    if abs(asymmetry) < 0.02 and abs(preference) > 0.5:
        return "YES"
    return "NO" if abs(asymmetry) > 0.05 else "UNCLEAR"


def summary_branch(r: float) -> str:
    """Branch of the closing sentence: `alignment` above 0.3, else `weak`, also at r = -0.9."""
    return "alignment" if r > 0.3 else "weak"


def includes_zero(interval: Ends) -> bool:
    """Closed at both ends."""
    return bool(interval[0] <= 0 <= interval[1])


def change(original: Ends, new: Ends) -> str:
    """What the new interval does to significance (notebook 000)."""
    if includes_zero(original) and not includes_zero(new):
        return "NOW SIGNIFICANT!"
    if not includes_zero(original) and includes_zero(new):
        return "Lost significance"
    return "No change"


def count_significant(intervals: Mapping[int, Ends]) -> int:
    """Layers whose interval excludes zero."""
    return sum(not includes_zero(interval) for interval in intervals.values())


def mid_layer_significant(intervals: Mapping[int, Ends]) -> bool:
    """True where layer 8 or 12 excludes zero."""
    return any(not includes_zero(intervals[layer]) for layer in MID_LAYERS if layer in intervals)


def mean_width(intervals: Mapping[int, Ends]) -> float:
    """Mean width of the intervals over layers."""
    return float(np.mean([high - low for low, high in intervals.values()]))


def width_reduction(original: Mapping[int, Ends], new: Mapping[int, Ends]) -> float:
    """How much narrower the new intervals are on average, percent of the original mean width."""
    before = mean_width(original)
    return float((before - mean_width(new)) / before * 100)


def mid_range(n_layers: int) -> tuple[int, int]:
    """First and last mid layer: 20 and 50 percent of depth, rounded down."""
    return int(0.2 * n_layers), int(0.5 * n_layers)


def late_from(n_layers: int) -> int:
    """First late layer: 75 percent of depth, rounded down."""
    return int(0.75 * n_layers)


def some_stable(
    correlations: Mapping[int, float], intervals: Mapping[int, Ends], *, positive: bool
) -> bool:
    """True where some layer has r of the wanted sign and an interval that excludes zero."""
    return any(
        (r > 0 if positive else r < 0) and not includes_zero(intervals[layer])
        for layer, r in correlations.items()
    )
