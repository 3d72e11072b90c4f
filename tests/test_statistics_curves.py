"""What is read off a curve over layers: phases, sign changes, lines, a peak, intervals."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from layerwise.statistics import curves, phases

ABOVE, BELOW = (0.1, 0.2), (-0.2, -0.1)


@given(st.integers(3, 40))
def test_thirds_keep_every_layer(n):
    layers = list(range(n))
    for parts in (phases.thirds_of_list(layers), phases.thirds_of_depth(layers, n - 1)):
        assert list(itertools.chain(*parts.values())) == layers
        assert all(phases.phase_of(layer, parts) == name for name, of in parts.items()
                   for layer in of)  # fmt: skip


def test_thirds_of_what_was_sampled_and_of_the_depth():
    nine, ten = list(range(0, 33, 4)), list(range(0, 19, 2))
    spans = {"early": [0, 4, 8], "mid": [12, 16, 20], "late": [24, 28, 32]}
    assert phases.thirds_of_list(nine) == phases.thirds_of_depth(nine, 32) == spans
    assert [len(part) for part in phases.thirds_of_list(ten).values()] == [3, 3, 4]
    assert [len(part) for part in phases.thirds_of_depth(ten, 18).values()] == [4, 3, 3]


def test_transition_is_the_first_from_positive_to_negative():
    assert phases.transition({0: -0.4, 2: 0.4, 4: 0.1, 6: -0.1, 8: 0.2, 10: -0.3}) == "L4-6"
    assert phases.transition({0: -0.4, 2: 0.4}) == "---"
    assert phases.transition({0: 0.4, 4: 0.0, 8: -0.4}) == "---"
    assert phases.first_not_positive({0: 0.4, 4: 0.0, 8: -0.4}) == "L4"
    assert phases.first_not_positive({0: 0.4}) == "---"
    assert phases.equal_signs({0: 0.1, 4: -0.1, 8: 0.0}, {0: 0.2, 4: 0.2, 8: 0.0}) == 1


def test_a_zero_makes_no_sign_change():
    found = curves.sign_changes({0: -0.1, 4: 0.2, 8: 0.0, 12: -0.3}, 16)
    assert found == [{"layer_before": 0, "layer_after": 4, "midpoint_pct": 12.5, "layers": [0, 4]}]
    series = ((-0.1, 0.2), (-0.1, -0.2), (0.1, 0.2), (0.1, 0.0))
    words = [curves.no_sign_change(dict(enumerate(r))) for r in series]
    assert words == [None, "NEGATIVE", "POSITIVE", "unclear"]


def test_fisher_interval_against_scipy():
    found = stats.pearsonr(*np.random.RandomState(3).normal(size=(2, 40)))
    low, high = found.confidence_interval(0.95)
    assert phases.fisher_interval(float(found.statistic), 40) == pytest.approx((low, high))


@pytest.mark.parametrize(("r", "interval"), [(0.15, ABOVE), (-0.15, BELOW), (0.05, (-0.1, 0.1))])
def test_a_stable_layer_has_the_sign_and_excludes_zero(r, interval):
    found = [curves.some_stable({8: r}, {8: interval}, positive=of) for of in (True, False)]
    assert found == [interval is ABOVE, interval is BELOW]


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
