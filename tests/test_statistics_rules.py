"""Verdict words, effect size, curves and profiles: every threshold from both sides."""

import numpy as np
import pytest
from scipy import stats

from layerwise.statistics import curves, profile, rules


@pytest.mark.parametrize(
    ("asymmetry", "preference", "word"),
    [
        (0.1, 0.5, "YES"),
        (-0.1, -0.5, "YES"),
        (0.1, -0.5, "NO"),
        (0.019, -0.09, "YES"),
        (0.02, -0.09, "NO"),
        (0.019, -0.1, "NO"),
        (0.0, 0.2, "NO"),
    ],
)
def test_aligned(asymmetry, preference, word):
    assert rules.aligned(asymmetry, preference) == word


@pytest.mark.parametrize(
    ("r", "word"),
    [(0.51, "ALIGNED"), (0.5, "DECOUPLED"), (-0.3, "DECOUPLED"), (-0.31, "INVERTED")],
)
def test_coupling(r, word):
    assert rules.coupling(r) == word


def test_words_on_scientific_facts():
    labels = [rules.facts_label(ua) for ua in (0.05, 0.051, -0.06)]
    assert labels == ["NEUTRAL", "ALIGNED", "ALIGNED"]
    asked = [(0.019, 0.51), (0.019, 0.5), (0.02, 0.51), (-0.051, 0.6), (0.019, -0.6)]
    answers = [rules.key_question(*both) for both in asked]
    assert answers == ["YES", "UNCLEAR", "UNCLEAR", "NO", "YES"]
    assert [rules.summary_branch(r) for r in (0.31, 0.3, -0.9)] == ["alignment", "weak", "weak"]


def test_change_of_significance():
    across, above = (-0.1, 0.1), (0.1, 0.2)
    assert rules.change(across, above) == "NOW SIGNIFICANT!"
    assert rules.change(above, across) == "Lost significance"
    assert rules.change(above, above) == rules.change(across, across) == "No change"
    assert rules.change((0.0, 1.0), above) == "NOW SIGNIFICANT!"  # an end at 0 includes 0


def test_significant_layers_and_widths():
    ends = {4: (0.1, 0.3), 8: (-0.1, 0.5), 12: (-1.0, -0.6)}
    assert rules.count_significant(ends) == 2
    assert rules.mid_layer_significant(ends)
    assert not rules.mid_layer_significant({4: ends[4], 8: ends[8]})
    assert rules.mean_width(ends) == pytest.approx(0.4)
    halved = {layer: (low / 2, high / 2) for layer, (low, high) in ends.items()}
    assert rules.width_reduction(ends, halved) == pytest.approx(50)


def test_mid_and_late_layers():
    assert rules.mid_range(32) == (6, 16)
    assert rules.late_from(32) == 24
    ends = {8: (0.1, 0.2), 28: (-0.2, -0.1)}
    assert rules.some_stable({8: 0.15}, ends, positive=True)
    assert not rules.some_stable({8: 0.15}, ends, positive=False)
    assert rules.some_stable({28: -0.15}, ends, positive=False)
    assert not rules.some_stable({8: 0.15}, {8: (-0.1, 0.2)}, positive=True)


def test_sign_changes():
    found = curves.sign_changes([0, 4, 8, 12], [-0.1, 0.2, 0.0, -0.3], 16)
    assert found == [
        {"layer_before": 0, "layer_after": 4, "midpoint_pct": 12.5, "layers": [0, 4]}
    ]  # a zero makes no change
    assert curves.no_sign_change([-0.1, 0.2]) is None
    assert curves.no_sign_change([-0.1, -0.2]) == "NEGATIVE"
    assert curves.no_sign_change([0.1, 0.2]) == "POSITIVE"
    assert curves.no_sign_change([0.1, 0.0]) == "unclear"


def test_peak_takes_the_first_of_equals():
    assert curves.peak([0, 4, 8], [-0.3, -0.1, -0.1], largest=True) == (-0.1, 4)
    assert curves.peak([0, 4, 8], [-0.3, -0.1, -0.3], largest=False) == (-0.3, 0)
    assert curves.depth_pct(8, 32) == 25
    assert curves.peaks_stable([20.0, 39.9])
    assert not curves.peaks_stable([20.0, 40.0])


def test_bands_and_pooling():
    words = [curves.band(r).split()[0] for r in (-0.51, -0.5, -0.2, 0.199, 0.2, 0.5)]
    assert words == ["INVERSE", "Weak", "DECOUPLED", "DECOUPLED", "Weak", "ALIGNED"]
    assert curves.band(-0.5) == "Weak negative"
    assert curves.band(0.2) == "Weak positive"
    assert curves.pooling_verdict(-0.87, -0.34) == "more"  # weaker but larger
    assert curves.pooling_verdict(0.5, 0.29) == "less"
    assert curves.pooling_verdict(0.5, 0.69) == "minimal"


def test_line_fit_against_scipy():
    values = np.random.default_rng(0).normal(size=12).tolist()
    expected = stats.linregress(range(12), values)
    assert profile.line_fit(values) == pytest.approx((expected.slope, expected.rvalue), abs=1e-14)


@pytest.mark.parametrize("values", [[], [3.0], [0.1, 0.1, 0.1]])
def test_line_fit_degenerate(values):
    assert profile.line_fit(values) == (0, 0)


def test_bell_test_splits_at_the_first_maximum():
    found = profile.bell_test([0.1, 0.3, 0.9, 0.9, 0.5, 0.4])
    assert found.l_star == 2
    assert found.is_bell_curve
    before, after = stats.linregress([0, 1], [0.1, 0.3]), [0.9, 0.9, 0.5, 0.4]
    assert found.phase1_slope == pytest.approx(before.slope)
    assert found.phase2_slope == pytest.approx(stats.linregress(range(4), after).slope)
    assert not profile.bell_test([0.9, 0.5]).is_bell_curve  # nothing before the peak
    assert not profile.bell_test([0.1, 0.2, 0.3]).is_bell_curve  # nothing after it


def test_comparison_with_paper2():
    words = [profile.match_verdict(layer, 28).split()[0] for layer in (31, 25, 24, 23, 22)]
    assert words == ["EXCELLENT", "EXCELLENT", "GOOD", "GOOD", "DISCREPANCY"]
    assert profile.spectrum_layers(7, 32) == [0, 3, 7, 19, 32]
    assert list(profile.three_phases(7, 28, 32).values()) == ["0-7", "7-28", "28-32"]
    assert profile.three_phases(7, 28, 12) is None
