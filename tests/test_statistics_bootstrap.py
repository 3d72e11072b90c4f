"""Bootstrap intervals from the legacy stream; print holds them in `test_analyses_of_print`."""

import numpy as np
import pytest
from scipy import stats

from layerwise.errors import LayerwiseError
from layerwise.statistics import bootstrap
from layerwise.statistics.bootstrap import (
    advance,
    correlation_interval,
    correlation_intervals,
    mean_interval,
)


def series(seed=0, n=20):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return x, x + 1.5 * rng.normal(size=n)


def naive(x, y, stream, n_resamples):
    """One resample at a time, with scipy."""
    kept = []
    for _ in range(n_resamples):
        rows = stream.choice(len(x), len(x), replace=True)
        if len(set(x[rows])) > 1 and len(set(y[rows])) > 1:
            kept.append(stats.pearsonr(x[rows], y[rows])[0])
    alpha = 1 - 0.95
    return np.percentile(kept, [alpha / 2 * 100, (1 - alpha / 2) * 100]), len(kept)


def test_mean_interval_against_naive():
    values, stream = series(n=7)[0], np.random.RandomState(5)
    means = [np.mean(stream.choice(values, len(values))) for _ in range(500)]
    found = mean_interval(values, 500, 0.9, 5)
    assert [found.low, found.high] == pytest.approx(np.percentile(means, [5, 95]), abs=1e-15)
    assert mean_interval(values, 500, 0.9, 6) != found


@pytest.mark.parametrize("n", [3, 6, 20, 230])
def test_correlation_interval_against_scipy_loop(n):
    x, y = series(n, n)
    mine, theirs = np.random.RandomState(7), np.random.RandomState(7)
    found = correlation_interval(x, y, mine, 300)
    (low, high), kept = naive(x, y, theirs, 300)
    assert [found.low, found.high] == pytest.approx([low, high], abs=1e-15)
    assert found.n_kept == kept
    assert found.r == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-15)
    assert mine.randint(1 << 30) == theirs.randint(1 << 30)


@pytest.mark.parametrize("chunk", [1, 100, 1 << 20])
def test_chunks_do_not_change_the_answer(monkeypatch, chunk):
    x, y = series()
    expected = correlation_interval(x, y, np.random.RandomState(1), 300), mean_interval(x, 300)
    monkeypatch.setattr(bootstrap, "CHUNK", chunk)
    stream = np.random.RandomState(1)
    assert (correlation_interval(x, y, stream, 300), mean_interval(x, 300)) == expected


def test_several_series_share_one_stream():
    one, two = series(1), series(2)
    found = correlation_intervals([one, two], np.random.RandomState(3), 200)
    stream = np.random.RandomState(3)
    assert found[0] == correlation_interval(*one, stream, 200)
    assert found[1] == correlation_interval(*two, stream, 200)
    late = np.random.RandomState(3)
    advance(late, 20, 200 * 20)
    assert found[1] == correlation_interval(*two, late, 200)


def test_all_equal_resamples_are_skipped_though_their_std_is_not_zero():
    """Six copies of 0.1 have a standard deviation of 1e-17, not 0."""
    x, y = np.array([0.1, 0.1, 0.1, 0.7, 0.1, 0.1]), np.array([1.0, 5, 2, 9, 4, 7])
    copies = np.full(6, 0.1)
    assert np.std(copies) > 0
    stream, count = np.random.RandomState(0), np.random.RandomState(0)
    found = correlation_interval(x, y, stream, 1000)
    rows = count.randint(0, 6, (1000, 6))
    assert found.n_kept == np.sum((rows == 3).any(axis=1) & (rows != 3).any(axis=1))
    assert np.isfinite([found.low, found.high]).all()


def test_signs_and_ends():
    x, y = series()
    up = correlation_interval(x, y, np.random.RandomState(0), 500)
    down = correlation_interval(x, -y, np.random.RandomState(0), 500)
    assert (down.low, down.high) == pytest.approx((-up.high, -up.low), abs=1e-14)
    assert -1 <= up.low < up.r < up.high <= 1
    assert up.width == up.high - up.low
    narrow = correlation_interval(x, y, np.random.RandomState(0), 500, 0.5)
    assert up.low < narrow.low < narrow.high < up.high


def test_includes_zero_is_closed():
    assert bootstrap.Interval(0.0, 0.3).includes_zero
    assert bootstrap.Interval(-0.3, 0.0).includes_zero
    assert not bootstrap.Interval(1e-9, 0.3).includes_zero


def test_scarce_resamples_degenerate():
    x, y = np.array([1.0, 2, 3]), np.array([1.0, 2, 2])
    settings = {"n_resamples": 90, "level": 0.95}
    with pytest.raises(LayerwiseError, match=r"at least 100 resamples.*of 90; raise n_resamples"):
        correlation_interval(x, y, np.random.RandomState(0), **settings)
    found = correlation_interval(
        x, y, np.random.RandomState(0), **settings, whole_range_if_scarce=True
    )
    assert (found.low, found.high) == (-1, 1)
    assert found.r == pytest.approx(stats.pearsonr(x, y).statistic)


def test_under_three_points_degenerate():
    pair = np.array([1.0, 2])
    with pytest.raises(LayerwiseError, match="at least 3 points, found 2"):
        correlation_interval(pair, pair, np.random.RandomState(0))
    found = correlation_interval(
        pair, pair, np.random.RandomState(0), whole_range_if_scarce=True
    ).as_result()
    assert found == {
        "r": 0, "ci_lower": -1, "ci_upper": 1, "p_value": 1, "includes_zero": True
    }  # fmt: skip


def test_settings_iv():
    x, y = series()
    stream = np.random.RandomState(0)
    with pytest.raises(LayerwiseError, match="n_resamples must be at least 1, found 0"):
        correlation_interval(x, y, stream, 0)
    with pytest.raises(LayerwiseError, match="level must lie between 0 and 1, found 95"):
        mean_interval(x, 100, 95.0)
    with pytest.raises(LayerwiseError, match="y is constant"):
        correlation_interval(x, np.ones(20), stream)
    with pytest.raises(LayerwiseError, match="needs finite values"):
        mean_interval(np.array([1.0, np.nan]))
