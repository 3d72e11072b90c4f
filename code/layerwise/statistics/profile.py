"""Shape of a profile over layers: where it peaks, and the lines around the peak (notebook 004)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class BellTest:
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
    if len(values) < 2:
        return 0.0, 0.0
    if min(values) == max(values):
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
    l_star = int(np.argmax(np.asarray(values)))
    slope1, r1 = line_fit(values[:l_star])
    slope2, r2 = line_fit(values[l_star:])
    return BellTest(l_star, bool(slope1 > 0 and slope2 < 0), slope1, r1, slope2, r2)


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
    cuts = [0, l_star, paper2_layer, n_layers]
    return {f"phase{i + 1}": f"{cuts[i]}-{cuts[i + 1]}" for i in range(3)}
