"""The rise and the fall of profiles around the maximum of their mean, by prompt."""

import math

import numpy as np
import pytest
import scipy.stats

from layerwise.statistics.profiles import rise_and_fall


def test_slopes_are_those_of_lines_on_either_side_of_the_peak_of_the_mean() -> None:
    rng = np.random.default_rng(0)
    layers = np.arange(12)
    shares = 1 - 0.05 * np.abs(layers - 4) + rng.normal(scale=0.01, size=(6, 12))
    found = rise_and_fall(shares)
    assert found.peak == 4
    rises = [np.polyfit(layers[:4], row[:4], 1)[0] for row in shares]
    falls = [-np.polyfit(layers[4:], row[4:], 1)[0] for row in shares]
    assert found.rises == pytest.approx(rises)
    assert found.falls == pytest.approx(falls)


@pytest.mark.parametrize(("peak", "side"), [(0, "rises"), (1, "rises"), (9, "falls")])
def test_a_side_without_a_slope_has_that_of_the_whole_profile(peak: int, side: str) -> None:
    layers = np.arange(10)
    shares = np.stack([-np.abs(layers - peak) * (1.0 + k) for k in range(3)])
    found = rise_and_fall(shares)
    whole = [np.polyfit(layers, row, 1)[0] for row in shares]
    assert found.peak == peak
    expected = whole if side == "rises" else [-slope for slope in whole]
    assert getattr(found, side) == pytest.approx(expected)
    assert max(getattr(found, side)) < 0  # it does not rise before it falls, or not fall behind


@pytest.mark.parametrize("smooth", [0, 1, 2])  # independent layers, a walk, the sum of a walk
def test_profiles_of_nothing_seldom_seem_to_rise_and_fall(smooth: int) -> None:
    """The peak is looked for in the same profiles, and a no has two ways to come about."""
    rng, n, n_runs = np.random.default_rng(7310419), 16, 400
    yes = no = 0
    single, either = (scipy.stats.t.isf(tail, n - 1) for tail in (0.025, 0.0125))
    for _ in range(n_runs):
        shares = rng.normal(size=(n, 33))
        for _ in range(smooth):
            shares = shares.cumsum(axis=1)
        slopes = rise_and_fall(shares)
        t = min(
            np.mean(side) / np.std(side, ddof=1) * math.sqrt(n)
            for side in (slopes.rises, slopes.falls)
        )
        yes, no = yes + (t > single), no + (t < -either)
    most = 0.025 + 3 * math.sqrt(0.025 * 0.975 / n_runs)
    assert yes / n_runs <= most
    assert no / n_runs <= most
