"""Verdict words, curves and profiles: every threshold from both sides."""

import numpy as np
import pytest
from scipy import stats

from layerwise.statistics import curves

ACROSS, ABOVE, BELOW = (-0.1, 0.1), (0.1, 0.2), (-0.2, -0.1)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        (curves.aligned, {"YES": [(0.1, 0.5), (-0.1, -0.5), (0.019, -0.09)]}),
        (curves.aligned, {"NO": [(0.1, -0.5), (0.02, -0.09), (0.019, -0.1), (0.0, 0.2)]}),
        (curves.coupling, {"ALIGNED": [0.51], "DECOUPLED": [0.5, -0.3], "INVERTED": [-0.31]}),
        (curves.key_question, {"YES": [(0.019, 0.51), (0.019, -0.6)], "NO": [(-0.051, 0.6)]}),
        (curves.key_question, {"UNCLEAR": [(0.019, 0.5), (0.02, 0.51)]}),
        (curves.band, {"INVERSE (strong negative)": [-0.51], "Weak negative": [-0.5, -0.201]}),
        (curves.band, {"DECOUPLED (near zero)": [-0.2, 0.199], "Weak positive": [0.2, 0.499]}),
        (curves.band, {"ALIGNED (strong positive)": [0.5]}),
        # a weaker negative r is larger
        (curves.pooling_verdict, {"more": [(-0.87, -0.34)], "less": [(0.5, 0.29)]}),
        (curves.pooling_verdict, {"minimal": [(0.5, 0.69), (0.5, 0.31)]}),
        (curves.change, {"NOW SIGNIFICANT!": [(ACROSS, ABOVE), ((0.0, 1.0), ABOVE)]}),
        (curves.change, {"Lost significance": [(ABOVE, ACROSS)]}),
        (curves.change, {"No change": [(ABOVE, BELOW), (ACROSS, ACROSS)]}),
        (curves.match_verdict, {"EXCELLENT MATCH": [(31, 28), (25, 28)]}),
        (curves.match_verdict, {"GOOD MATCH": [(24, 28), (23, 28)], "DISCREPANCY": [(22, 28)]}),
    ],
)
def test_words(word, found):
    for expected, given in found.items():
        for one in given:
            assert word(*(one if isinstance(one, tuple) else (one,))) == expected


def test_widths_of_intervals():
    ends = {4: (0.1, 0.3), 8: (-0.1, 0.5), 12: (-1.0, -0.6)}
    assert curves.mean_width(ends) == pytest.approx(0.4)
    halved = {layer: (low / 2, high / 2) for layer, (low, high) in ends.items()}
    assert curves.width_reduction(ends, halved) == pytest.approx(50)


def test_a_stable_layer_has_the_sign_and_excludes_zero():
    ends = {8: ABOVE, 28: BELOW}
    assert curves.some_stable({8: 0.15}, ends, positive=True)
    assert not curves.some_stable({8: 0.15}, ends, positive=False)
    assert curves.some_stable({28: -0.15}, ends, positive=False)
    assert not curves.some_stable({8: 0.05}, {8: ACROSS}, positive=True)


def test_sign_changes():
    found = curves.sign_changes({0: -0.1, 4: 0.2, 8: 0.0, 12: -0.3}, 16)
    assert found == [
        {"layer_before": 0, "layer_after": 4, "midpoint_pct": 12.5, "layers": [0, 4]}
    ]  # a zero makes no change
    series = ((-0.1, 0.2), (-0.1, -0.2), (0.1, 0.2), (0.1, 0.0))
    words = [curves.no_sign_change(dict(enumerate(r))) for r in series]
    assert words == [None, "NEGATIVE", "POSITIVE", "unclear"]


def test_line_fit_against_scipy():
    values = np.random.default_rng(0).normal(size=12).tolist()
    expected = stats.linregress(range(12), values)
    assert curves.line_fit(values) == pytest.approx((expected.slope, expected.rvalue), abs=1e-14)
    for constant in ([], [3.0], [0.1, 0.1, 0.1]):
        assert curves.line_fit(constant) == (0, 0)


def test_bell_test_splits_at_the_first_maximum():
    found = curves.bell_test([0.1, 0.3, 0.9, 0.9, 0.5, 0.4])
    assert found.l_star == 2
    assert found.is_bell_curve
    before, after = stats.linregress([0, 1], [0.1, 0.3]), [0.9, 0.9, 0.5, 0.4]
    assert found.phase1_slope == pytest.approx(before.slope)
    assert found.phase2_slope == pytest.approx(stats.linregress(range(4), after).slope)
    assert not curves.bell_test([0.9, 0.5]).is_bell_curve  # nothing before the peak
    assert not curves.bell_test([0.1, 0.2, 0.3]).is_bell_curve  # nothing after it


def test_layers_of_the_profile():
    assert curves.spectrum_layers(7, 32) == [0, 3, 7, 19, 32]
    assert list(curves.three_phases(7, 28, 32).values()) == ["0-7", "7-28", "28-32"]
    assert curves.three_phases(7, 28, 12) is None
