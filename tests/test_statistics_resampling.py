"""Resamples and random bins from the legacy stream; print holds its own in `of_print`."""

import numpy as np
import pytest
from scipy import stats

from layerwise.errors import LayerwiseError
from layerwise.statistics import bootstrap, random_bins
from layerwise.statistics.bootstrap import (
    correlation_interval,
    ends,
    mean_interval,
    resampled_correlations,
)
from layerwise.statistics.random_bins import binnings, sweep, sweep_streams

# Decimals that no float64 holds: the sums of a constant resample miss zero by rounding.
REPEATING = np.array([0.1, 0.1, 0.1, 0.7, 0.7, 1.3])
VARYING = np.array([0.3, 0.9, 0.2, 1.7, 0.6, 1.1])


def series(seed=0, n=20):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return x, x + 1.5 * rng.normal(size=n)


def stream(seed=0):
    return np.random.RandomState(seed)


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
    with pytest.raises(LayerwiseError, match=r"at least 100 resamples.*of 90; raise n_resamples"):
        correlation_interval(x, y, stream(), 90)
    found = correlation_interval(x, y, stream(), 90, whole_range_if_scarce=True)
    assert found[:3] == (-1, 1, pytest.approx(stats.pearsonr(x, y).statistic))
    with pytest.raises(LayerwiseError, match="at least 3 points, found 2"):
        correlation_interval(x[:2], y[:2], stream())
    found = correlation_interval(x[:2], y[:2], stream(), whole_range_if_scarce=True)
    assert found == (-1, 1, 0, 0)


def test_settings_iv():
    x, y = series()
    with pytest.raises(LayerwiseError, match="n_resamples must be at least 1, found 0"):
        correlation_interval(x, y, stream(), 0)
    with pytest.raises(LayerwiseError, match="level must lie between 0 and 1, found 95"):
        mean_interval(x, 100, 95.0)
    with pytest.raises(LayerwiseError, match="needs finite values"):
        mean_interval(np.array([1.0, np.nan]))


# --- several series at once, by point or by cluster ---------------------------------------------


def resampled(x, y):
    return resampled_correlations(x[None], y, np.arange(len(x)), stream(3), 4000)[:, 0]


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


def test_an_interval_needs_a_hundred_resamples():
    values = np.concatenate([np.linspace(-1, 1, 100), [np.nan, np.nan]])
    assert ends(values, 0.5) == pytest.approx((-0.5, 0.5))
    with pytest.raises(LayerwiseError, match=r"at least 100 resamples.* found 99 of 101"):
        ends(values[1:], 0.5)
    with pytest.raises(LayerwiseError, match="series 0 is constant"):
        resampled(np.ones(6), VARYING)


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
    none = sweep(few, few)
    assert (none.r_mean, none.r_std, none.p_mean, none.n_valid) == (0, 0, 1, 0)


def test_sweep_iv():
    x = np.random.default_rng(0).normal(size=(3, 5))
    with pytest.raises(LayerwiseError, match="preference is the same in every bin"):
        sweep(x, np.full((3, 5), 0.1))
    with pytest.raises(LayerwiseError, match="asymmetry is the same in every bin"):
        sweep(np.zeros((3, 5)), x)
