"""Effect sizes and tests of samples, against SciPy and against theory."""

import numpy as np
import pytest
from scipy import stats

from layerwise.errors import LayerwiseError
from layerwise.statistics import samples

ONE = np.array([0.3, -0.1, 0.25, 0.4])
FLAT = np.array([2.0, 2.0])


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
    assert samples.pooled_t(second, first) == (-found.t, found.p_value)
    spread = np.sqrt((np.var(first, ddof=1) + np.var(second, ddof=1)) / 2)
    d = (np.mean(first) - np.mean(second)) / spread
    assert samples.pooled_d(first, second) == pytest.approx(float(d), rel=1e-6)
    in_double = samples.pooled_t(first.astype(np.float64), second.astype(np.float64))
    assert (found == in_double) == (dtype is np.float64)


def test_spearman_sees_order_only():
    x = np.array([0.1, 3.0, 3.0, -2.0, 8.0])
    assert samples.spearman(x, x**3).r == pytest.approx(1)
    assert samples.spearman(x, -x).r == pytest.approx(-1)


def test_holm_against_hand():
    assert samples.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert samples.holm([0.9, 0.8]) == [1.0, 1.0]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: samples.cohens_d(np.array([np.nan])), "at least 1 finite values, found 1"),
        (lambda: samples.cohens_d(np.array([])), "at least 1 finite values, found 0"),
        (lambda: samples.sample_d(FLAT), "at least 2 finite values that vary, found 2"),
        (lambda: samples.sample_d(np.array([1.0])), "at least 2 finite values that vary, found 1"),
        (lambda: samples.require_sample(np.array([1.0, np.inf])), "finite values that vary"),
        (lambda: samples.pooled_t(np.array([1.0]), ONE), "at least 2 finite values, found 1"),
        (lambda: samples.pooled_t(FLAT, FLAT + 1), "both samples are constant"),
        (lambda: samples.spearman(ONE, np.ones(4)), "y is constant"),
        (lambda: samples.mann_whitney(ONE, ONE[:1]), "numbers that all differ"),
        (lambda: samples.mann_whitney(np.array([]), ONE), "at least 1 finite values, found 0"),
        (lambda: samples.mann_whitney(np.array([np.nan]), ONE), "finite values, found 1"),
    ],
)
def test_samples_iv(call, said):
    with pytest.raises(LayerwiseError, match=said):
        call()
