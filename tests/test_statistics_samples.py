"""Correlations, effect sizes and tests, against SciPy and against theory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from layerwise.errors import LayerwiseError
from layerwise.statistics import samples
from layerwise.statistics.correlation import pearson_p, pearson_r, power_law

ONE = np.array([0.3, -0.1, 0.25, 0.4])
FLAT = np.array([2.0, 2.0])


def series(seed, n=20):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return x, 0.4 * x + rng.normal(size=n)


@given(st.integers(0, 10**6), st.integers(3, 300))
def test_r_and_p_against_scipy(seed, n):
    x, y = series(seed, n)
    expected = stats.pearsonr(x, y)
    assert pearson_r(x, y) == pytest.approx(expected.statistic, abs=2e-15)
    assert pearson_p(expected.statistic, n) == pytest.approx(expected.pvalue, rel=1e-13)


@given(st.integers(0, 10**6), st.floats(0.1, 100), st.floats(-50, 50))
def test_r_knows_neither_shift_nor_scale(seed, scale, shift):
    x, y = series(seed)
    r = pearson_r(x, y)
    assert pearson_r(scale * x + shift, y) == pytest.approx(r, abs=1e-11)
    assert pearson_r(-x, y) == -r
    for factor in (1e-200, 1e200):
        assert pearson_r(factor * x, y) == pytest.approx(r, abs=1e-14)


def test_perfect_line_is_exactly_one():
    x = np.random.default_rng(0).normal(size=50)
    assert abs(pearson_r(x, 3 * x + 1)) <= 1
    assert pearson_r(x, 3 * x + 1) == pytest.approx(1, abs=1e-15)
    assert pearson_p(1.0, 50) == 0


def test_p_takes_rows():
    r, n = np.array([0.1, -0.5, 0.9]), np.array([6, 20, 230])
    expected = [float(pearson_p(float(a), int(b))) for a, b in zip(r, n, strict=True)]
    np.testing.assert_array_equal(pearson_p(r, n), expected)


def test_effect_sizes_against_theory():
    """The population SD of 0, 2 and 4 is the root of 8/3; t of one sample is d times root n."""
    assert samples.cohens_d(np.array([0.0, 2, 4])) == pytest.approx(2 / np.sqrt(8 / 3))
    assert samples.cohens_d(FLAT) == 2 / 1e-10
    t = stats.ttest_1samp(ONE, 0).statistic
    assert samples.sample_d(ONE) == pytest.approx(t / 2, rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_pooled_t_against_scipy(dtype):
    stream = np.random.RandomState(3)
    first, second = stream.normal(0.3, 1, 7).astype(dtype), stream.normal(0, 2, 11).astype(dtype)
    expected = list(map(float, stats.ttest_ind(first, second)))
    found = samples.pooled_t(first, second)
    assert list(found) == pytest.approx(expected, rel=float(np.finfo(dtype).eps) * 16)
    assert samples.pooled_t(second, first) == (-found[0], found[1])
    spread = np.sqrt((np.var(first, ddof=1) + np.var(second, ddof=1)) / 2)
    d = (np.mean(first) - np.mean(second)) / spread
    assert samples.pooled_d(first, second) == pytest.approx(float(d), rel=1e-6)
    in_double = samples.pooled_t(first.astype(np.float64), second.astype(np.float64))
    assert (found == in_double) == (dtype is np.float64)


def test_holm_against_hand():
    assert samples.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert samples.holm([0.9, 0.8]) == [1.0, 1.0]


def r(*x, y=(1.0, 2.0, 3.0)):
    return pearson_r(np.array(x), np.array(y[: len(x)]), ("left", "right"))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: r(1.0, 2.0), "at least 3 points, found 2"),
        (lambda: r(1.0, 1.0, 1.0), "left is constant"),
        (lambda: r(1.0, 2.0, 3.0, y=(0.1, 0.1, 0.1)), "right is constant"),
        (lambda: r(1.0, 2.0, np.nan), "left holds a NaN"),
        (lambda: r(1.0, 2.0, 3.0, y=(1.0, np.inf, 3.0)), "right holds a NaN or an infinity"),
        (lambda: pearson_p(0.5, 2), "at least 3 points, found 2"),
        (lambda: pearson_p(1.5, 6), r"must lie in \[-1, 1\], found 1.5"),
        (lambda: power_law(np.arange(1.0, 4.0), -np.arange(1.0, 4.0)),
         "above zero, the smallest are 1 and -3"),
        (lambda: samples.cohens_d(np.array([np.nan])), "at least 1 finite values, found 1"),
        (lambda: samples.cohens_d(np.array([])), "at least 1 finite values, found 0"),
        (lambda: samples.sample_d(FLAT), "at least 2 finite values that vary, found 2"),
        (lambda: samples.require_sample(np.array([1.0, np.inf])), "finite values that vary"),
        (lambda: samples.pooled_t(np.array([1.0]), ONE), "at least 2 finite values, found 1"),
        (lambda: samples.pooled_t(FLAT, FLAT + 1), "both samples are constant"),
        (lambda: samples.spearman(ONE, np.ones(4)), "y is constant"),
        (lambda: samples.mann_whitney(ONE, ONE[:1]), "numbers that all differ"),
        (lambda: samples.mann_whitney(np.array([]), ONE), "at least 1 finite values, found 0"),
    ],
)  # fmt: skip
def test_samples_iv(call, said):
    with pytest.raises(LayerwiseError, match=said):
        call()
