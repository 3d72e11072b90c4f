"""Pearson's r and its p-value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from layerwise.errors import LayerwiseError
from layerwise.statistics.correlation import pearson_p, pearson_r, power_law


def series(seed, n=20):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return x, 0.4 * x + rng.normal(size=n)


@given(st.integers(0, 10**6), st.integers(3, 300))
def test_r_and_p_against_scipy(seed, n):
    x, y = series(seed, n)
    expected = stats.pearsonr(x, y)
    r = pearson_r(x, y)
    assert r == pytest.approx(expected.statistic, abs=2e-15)
    assert pearson_p(expected.statistic, n) == pytest.approx(expected.pvalue, rel=1e-13)


@given(st.integers(0, 10**6), st.floats(0.1, 100), st.floats(-50, 50))
def test_r_is_invariant_to_shift_and_scale(seed, scale, shift):
    x, y = series(seed)
    r = pearson_r(x, y)
    assert pearson_r(scale * x + shift, y) == pytest.approx(r, abs=1e-11)
    assert pearson_r(-x, y) == -r
    assert pearson_r(y, x) == pytest.approx(r, abs=1e-15)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_extreme_scales_degenerate(factor):
    x, y = series(0)
    assert pearson_r(factor * x, y) == pytest.approx(pearson_r(x, y), abs=1e-14)


def test_perfect_line_is_exactly_one():
    x = np.random.default_rng(0).normal(size=50)
    assert abs(pearson_r(x, 3 * x + 1)) <= 1
    assert pearson_r(x, 3 * x + 1) == pytest.approx(1, abs=1e-15)
    assert pearson_p(1.0, 50) == 0


def test_p_takes_rows():
    r, n = np.array([0.1, -0.5, 0.9]), np.array([6, 20, 230])
    expected = [float(pearson_p(float(a), int(b))) for a, b in zip(r, n, strict=True)]
    np.testing.assert_array_equal(pearson_p(r, n), expected)


@pytest.mark.parametrize(
    ("r", "n", "p"),
    [
        # Results/pythia/pythia_scaling_20260102_131212.json, Pythia-410M, layer 0
        (-0.831263162366431, 6, 0.040306032785501864),
        # Results/pythia/option_a_bins_20260102_140002.json, layer 0
        (0.5470442109466076, 20, 0.01255299085803137),
        # Results/pythia/option_b_pair_level_20260102_142148.json, layer 0, margin_asymmetry
        (-0.6765047993884388, 230, 3.954549877538527e-32),
    ],
)
def test_p_against_published(r, n, p):
    assert pearson_p(r, n) == pytest.approx(p, rel=1e-11)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1, 2], [1, 3], "at least 3 points, found 2"),
        ([1, 1, 1], [1, 2, 3], "left is constant"),
        ([1, 2, 3], [0.1, 0.1, 0.1], "right is constant"),
        ([1, 2, np.nan], [1, 2, 3], "left holds a NaN"),
        ([1, 2, 3], [1, np.inf, 3], "right holds a NaN or an infinity"),
    ],
)
def test_r_iv(x, y, message):
    with pytest.raises(LayerwiseError, match=message):
        pearson_r(np.array(x, dtype=float), np.array(y, dtype=float), ("left", "right"))


def test_p_iv():
    with pytest.raises(LayerwiseError, match="at least 3 points, found 2"):
        pearson_p(0.5, 2)
    with pytest.raises(LayerwiseError, match=r"must lie in \[-1, 1\], found 1.5"):
        pearson_p(1.5, 6)


def test_a_power_law_against_its_exponent_and_least_squares():
    x = np.array([1.0, 10.0, 50.0, 200.0])
    fit = power_law(x, 3 * x**0.35)
    assert (fit.slope, 10**fit.intercept) == pytest.approx((0.35, 3), rel=1e-12)
    y = np.array([1.0, 2.0, 9.0, 8.0])
    noisy, expected = power_law(x, y), stats.linregress(np.log10(x), np.log10(y))
    assert noisy[:4] == pytest.approx(expected[:4], rel=1e-12)
    assert noisy.slope_error == pytest.approx(expected.stderr, rel=1e-12)
    with pytest.raises(LayerwiseError, match="above zero, the smallest are 1 and -9"):
        power_law(x, -y)
