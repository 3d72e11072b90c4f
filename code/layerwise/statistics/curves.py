"""Reading a curve of r over layers (notebooks 001 and 002)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

POOLING_MARGIN = 0.2
STABLE_STD_PCT = 10.0


def sign_changes(
    layers: Sequence[int], correlations: Sequence[float], n_layers: int
) -> list[dict[str, Any]]:
    """Neighbouring sampled layers whose r have a strictly negative product.

    `midpoint_pct` is the middle between the two layers in percent of n_layers.
    """
    points = list(zip(layers, correlations, strict=True))
    return [
        {
            "layer_before": int(before),
            "layer_after": int(after),
            "midpoint_pct": float((before + after) / 2 / n_layers * 100),
            "layers": [int(before), int(after)],
        }
        for (before, r_before), (after, r_after) in itertools.pairwise(points)
        if r_before * r_after < 0
    ]


def no_sign_change(correlations: Sequence[float]) -> str | None:
    """NEGATIVE or POSITIVE where all r are, `unclear` with a zero; None where the sign changes."""
    if sign_changes(list(range(len(correlations))), correlations, 1):
        return None
    if all(r < 0 for r in correlations):
        return "NEGATIVE"
    if all(r > 0 for r in correlations):
        return "POSITIVE"
    return "unclear"


def depth_pct(layer: int, n_layers: int) -> float:
    """A layer in percent of the number of blocks."""
    return float(layer / n_layers * 100)


def peak(
    layers: Sequence[int], correlations: Sequence[float], *, largest: bool
) -> tuple[float, int]:
    """(r, layer) of the largest or smallest r, the first of equals; its sign does not matter."""
    extreme = max(correlations) if largest else min(correlations)
    return float(extreme), int(layers[list(correlations).index(extreme)])


def peaks_stable(peak_pcts: Sequence[float]) -> bool:
    """True where the population SD of the peak depths is under 10 percent of depth."""
    return bool(np.std(peak_pcts) < STABLE_STD_PCT)


def band(r: float) -> str:
    """Word for a correlation (notebook 001)."""
    if r < -0.5:
        return "INVERSE (strong negative)"
    if r < -0.2:
        return "Weak negative"
    if r < 0.2:
        return "DECOUPLED (near zero)"
    if r < 0.5:
        return "Weak positive"
    return "ALIGNED (strong positive)"


def pooling_verdict(mean_pooled: float, last_token: float) -> str:
    """Does the last token correlate `more`, `less` or about as the mean (`minimal` difference)?

    Signed: a weaker negative r counts as more (notebook 001).
    """
    if last_token > mean_pooled + POOLING_MARGIN:
        return "more"
    if last_token < mean_pooled - POOLING_MARGIN:
        return "less"
    return "minimal"
