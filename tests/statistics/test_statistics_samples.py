"""Correlations, tests and effect sizes against SciPy; resamples and random bins of the stream."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from layerwise.errors import LayerwiseError
from layerwise.statistics import bootstrap, random_bins, samples
from layerwise.statistics.bootstrap import (
    correlation_interval,
    ends,
    mean_interval,
)
from layerwise.statistics.correlation import (
    pearson_p,
    pearson_r,
    power_law,
    shares_of_r,
    unit_scale,
)
from layerwise.statistics.random_bins import binnings, sweep, sweep_streams

ONE = np.array([0.3, -0.1, 0.25, 0.4])
FLAT = np.array([2.0, 2.0])
# Decimals that no float64 holds: the sums of a constant resample miss zero by rounding.
REPEATING = np.array([0.1, 0.1, 0.1, 0.7, 0.7, 1.3])
VARYING = np.array([0.3, 0.9, 0.2, 1.7, 0.6, 1.1])


def series(seed=0, n=20):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return x, x + 1.5 * rng.normal(size=n)


def stream(seed=0):
    return np.random.RandomState(seed)


# --- correlations and tests -------------------------------------------------------------------


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


@given(st.integers(0, 10**6), st.integers(3, 300))
def test_shares_are_those_of_standardised_series_and_sum_to_r(seed, n):
    x, y = series(seed, n)
    shares = shares_of_r(x, y)
    assert shares == pytest.approx(stats.zscore(x) * stats.zscore(y) / n, abs=1e-14)
    assert shares.sum() == pytest.approx(pearson_r(x, y), abs=1e-14)


def test_perfect_line_is_exactly_one():
    x = np.random.default_rng(0).normal(size=50)
    assert abs(pearson_r(x, 3 * x + 1)) <= 1
    assert pearson_r(x, 3 * x + 1) == pytest.approx(1, abs=1e-15)
    assert pearson_p(1.0, 50) == 0


def test_effect_sizes_against_theory():
    """The population SD of 0, 2 and 4 is the root of 8/3; t of one sample is d times root n."""
    assert samples.cohens_d(np.array([0.0, 2, 4])) == pytest.approx(2 / np.sqrt(8 / 3))
    assert samples.cohens_d(FLAT) == 2 / 1e-10
    t = stats.ttest_1samp(ONE, 0).statistic
    assert samples.sample_d(ONE) == pytest.approx(t / 2, rel=1e-12)


def test_holm_against_hand():
    assert samples.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert samples.holm([0.9, 0.8]) == [1.0, 1.0]


# --- resamples ----------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [1, 100, 1 << 20])
def test_chunks_do_not_change_the_answer(monkeypatch, chunk):
    x, y = series()

    def found():
        return correlation_interval(x, y, stream(1), 300), mean_interval(x, 300)

    expected = found()
    monkeypatch.setattr(bootstrap, "CHUNK", chunk)
    assert found() == expected


def test_all_equal_resamples_are_skipped_though_their_std_is_not_zero():
    """Six copies of 0.1 have a standard deviation of 1e-17, not 0."""
    x, y = np.array([0.1, 0.1, 0.1, 0.7, 0.1, 0.1]), np.array([1.0, 5, 2, 9, 4, 7])
    assert np.std(np.full(6, 0.1)) > 0
    rows = stream().randint(0, 6, (1000, 6))
    found = correlation_interval(x, y, stream(), 1000)
    assert found.n_kept == np.sum((rows == 3).any(axis=1) & (rows != 3).any(axis=1))
    assert np.isfinite(found).all()


def test_too_little_gives_the_whole_range_where_the_notebook_does():
    x, y = np.array([1.0, 2, 3]), np.array([1.0, 2, 2])
    found = correlation_interval(x, y, stream(), 90, whole_range_if_scarce=True)
    assert found[:3] == (-1, 1, pytest.approx(stats.pearsonr(x, y).statistic))
    found = correlation_interval(x[:2], y[:2], stream(), whole_range_if_scarce=True)
    assert found == (-1, 1, 0, 0)


# --- resamples without an r ---------------------------------------------------------------------


def resampled(x, y):
    rows = stream(3).randint(0, len(x), (4000, len(x)))
    return bootstrap._resampled_r(unit_scale(x), unit_scale(y), rows)


def constant(values):
    drawn, n = stream(3), len(values)
    return [len(set(values[drawn.randint(0, n, n)])) == 1 for _ in range(4000)]


def test_a_resample_has_no_r_where_either_side_repeats_one_value():
    """A hundred-thousandth of its largest deviation is variation, not rounding."""
    little = np.array([0.1, 0.1 + 1e-5, 0.1 - 1e-5, 0.1 + 2e-5, 0.1 - 2e-5, 1.1])
    assert constant(VARYING) != constant(REPEATING)  # it mostly varies on the other side
    assert sum(constant(REPEATING)) > 20
    for x in (REPEATING, little):
        for have in (resampled(x, VARYING), resampled(VARYING, x)):
            assert np.isnan(have).tolist() == constant(x)


# --- random bins --------------------------------------------------------------------------------


@pytest.mark.parametrize("at_a_time", [1, 13, 40, 10_000])
def test_labels_are_drawn_by_k_then_layer_then_binning(monkeypatch, at_a_time):
    monkeypatch.setattr(random_bins, "LABELS_AT_A_TIME", at_a_time)
    np.random.seed(9)
    expected = {
        k: [[np.random.randint(0, k, size=13) for _ in range(5)] for _ in range(3)] for k in (4, 7)
    }
    streams = sweep_streams(13, (4, 7), n_layers=3, n_permutations=5, seed=9)
    for layer in (2, 0, 1):  # in any order, whatever else was drawn before
        for k in (7, 4):
            drawn = np.concatenate(list(binnings(streams[k][layer], 13, k, 5)))
            np.testing.assert_array_equal(drawn, expected[k][layer])


def test_sweep_against_scipy():
    x, y = np.random.default_rng(0).normal(size=(2, 30, 8))
    x[3, :2] = y[3, :2] = np.nan
    x[4, 2:] = y[4, 2:] = np.nan  # two bins: dropped
    found = sweep(x, y)
    kept = [(a[np.isfinite(a)], b[np.isfinite(a)]) for a, b in zip(x, y, strict=True)]
    r, p = np.transpose([stats.pearsonr(*both) for both in kept if len(both[0]) >= 3])
    assert found.n_valid == len(r) == 29
    assert found.r_mean == pytest.approx(np.mean(r), abs=1e-14)
    assert found.r_std == pytest.approx(np.std(r), abs=1e-14)
    assert found.p_mean == pytest.approx(np.mean(p), rel=1e-12)
    few = np.full((3, 4), np.nan)
    for none in (sweep(few, few), sweep(x, np.full_like(x, 0.1)), sweep(np.zeros_like(x), y)):
        assert (none.r_mean, none.r_std, none.p_mean, none.n_valid) == (0, 0, 1, 0)
    x[5] = 0.1  # is the same in every bin of one binning: that one is dropped
    assert sweep(x, y).n_valid == 28
    constant = correlation_interval(np.ones(5), x[0, 3:], stream(), whole_range_if_scarce=True)
    assert constant == (-1.0, 1.0, 0.0, 0)


@pytest.mark.parametrize(("n_bins", "n_valid"), [(2, 0), (3, 1), (4, 1)])
def test_a_binning_counts_if_and_only_if_three_of_its_bins_have_a_value(n_bins, n_valid):
    x, y = np.full((2, 1, 6), np.nan)
    x[0, :n_bins], y[0, :n_bins] = [1.0, 2.0, 4.0, 3.0][:n_bins], [5.0, 1.0, 2.0, 4.0][:n_bins]
    found = sweep(x, y)
    assert found.n_valid == n_valid
    if n_valid:
        r = stats.pearsonr(x[0, :n_bins], y[0, :n_bins])
        assert (found.r_mean, found.p_mean) == pytest.approx((r.statistic, r.pvalue))


# --- what has no value --------------------------------------------------------------------------

X, Y = series()
ENOUGH = np.concatenate([np.linspace(-1, 1, 100), [np.nan, np.nan]])


def test_an_interval_needs_a_hundred_resamples():
    assert ends(ENOUGH, 0.5) == pytest.approx((-0.5, 0.5))


def r(*x, y=(1.0, 2.0, 3.0)):
    return pearson_r(np.array(x), np.array(y[: len(x)]), ("left", "right"))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: r(1.0, 2.0), "at least 3 points, found 2"),
        (lambda: r(1.0, 1.0, 1.0), "left is constant"),
        (lambda: r(1.0, 2.0, 3.0, y=(0.1, 0.1, 0.1)), "right is constant"),
        (lambda: r(1.0, 2.0, 3.0, y=(1.0, np.inf, 3.0)), "right holds a NaN or an infinity"),
        (lambda: pearson_p(0.5, 2), "at least 3 points, found 2"),
        (lambda: pearson_p(1.5, 6), r"must lie in \[-1, 1\], found 1.5"),
        (
            lambda: power_law(np.arange(1.0, 4.0), -np.arange(1.0, 4.0)),
            "above zero, the smallest are 1 and -3",
        ),
        (lambda: samples.cohens_d(np.array([np.nan])), "at least 1 finite values, found 1"),
        (lambda: samples.sample_d(FLAT), "at least 2 finite values that vary, found 2"),
        (lambda: samples.pooled_t(FLAT, FLAT + 1), "both samples are constant"),
        (lambda: samples.spearman(ONE, np.ones(4)), "y is constant"),
        (lambda: samples.mann_whitney(ONE, ONE[:1]), "numbers that all differ"),
        (
            lambda: correlation_interval(X[:3], Y[:3], stream(), 90),
            r"at least 100 resamples.*of 90; raise n_resamples",
        ),
        (lambda: correlation_interval(X, Y, stream(), 0), "n_resamples must be at least 1"),
        (lambda: mean_interval(np.array([1.0, np.nan])), "needs finite values"),
        (lambda: correlation_interval(np.ones(6), VARYING, stream()), "x is constant"),
    ],
)
def test_samples_refused(call, said):
    with pytest.raises(LayerwiseError, match=said):
        call()
