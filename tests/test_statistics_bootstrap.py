"""Bootstrap intervals from the legacy stream; print holds them in `test_analyses_of_print`."""

import numpy as np
import pytest
from scipy import stats

from layerwise.errors import LayerwiseError
from layerwise.statistics import bootstrap
from layerwise.statistics.bootstrap import (
    advance,
    correlation_interval,
    ends,
    mean_interval,
    resampled_correlations,
)

# Decimals that no float64 holds: the sums of a constant resample miss zero by rounding.
REPEATING = np.array([0.1, 0.1, 0.1, 0.7, 0.7, 1.3])
VARYING = np.array([0.3, 0.9, 0.2, 1.7, 0.6, 1.1])


def series(seed=0, n=20):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return x, x + 1.5 * rng.normal(size=n)


def stream(seed=0):
    return np.random.RandomState(seed)


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
    values, drawn = series(n=7)[0], stream(5)
    means = [np.mean(drawn.choice(values, len(values))) for _ in range(500)]
    found = mean_interval(values, 500, 0.9, 5)
    assert found == pytest.approx(np.percentile(means, [5, 95]), abs=1e-15)
    assert mean_interval(values, 500, 0.9, 6) != found


@pytest.mark.parametrize("n", [3, 6, 20, 230])
def test_correlation_interval_against_scipy_loop(n):
    x, y = series(n, n)
    mine, theirs = stream(7), stream(7)
    found = correlation_interval(x, y, mine, 300)
    (low, high), kept = naive(x, y, theirs, 300)
    assert found[:2] == pytest.approx((low, high), abs=1e-15)
    assert found.n_kept == kept
    assert found.r == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-15)
    assert mine.randint(1 << 30) == theirs.randint(1 << 30)


@pytest.mark.parametrize("chunk", [1, 100, 1 << 20])
def test_chunks_do_not_change_the_answer(monkeypatch, chunk):
    x, y = series()

    def found():
        return correlation_interval(x, y, stream(1), 300), mean_interval(x, 300)

    expected = found()
    monkeypatch.setattr(bootstrap, "CHUNK", chunk)
    assert found() == expected


def test_a_stream_that_was_advanced_gives_the_next_interval():
    running, late = stream(3), stream(3)
    correlation_interval(*series(1), running, 200)
    advance(late, 20, 200 * 20)
    assert correlation_interval(*series(2), running, 200) == correlation_interval(
        *series(2), late, 200
    )


def test_all_equal_resamples_are_skipped_though_their_std_is_not_zero():
    """Six copies of 0.1 have a standard deviation of 1e-17, not 0."""
    x, y = np.array([0.1, 0.1, 0.1, 0.7, 0.1, 0.1]), np.array([1.0, 5, 2, 9, 4, 7])
    assert np.std(np.full(6, 0.1)) > 0
    rows = stream().randint(0, 6, (1000, 6))
    found = correlation_interval(x, y, stream(), 1000)
    assert found.n_kept == np.sum((rows == 3).any(axis=1) & (rows != 3).any(axis=1))
    assert np.isfinite(found).all()


def test_signs_and_ends():
    x, y = series()
    up, down = (correlation_interval(x, side, stream(), 500) for side in (y, -y))
    assert (down.low, down.high) == pytest.approx((-up.high, -up.low), abs=1e-14)
    assert -1 <= up.low < up.r < up.high <= 1
    narrow = correlation_interval(x, y, stream(), 500, 0.5)
    assert up.low < narrow.low < narrow.high < up.high


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
    with pytest.raises(LayerwiseError, match="y is constant"):
        correlation_interval(x, np.ones(20), stream())
    with pytest.raises(LayerwiseError, match="needs finite values"):
        mean_interval(np.array([1.0, np.nan]))


# --- several series at once, by point or by cluster ---------------------------------------------


@pytest.mark.parametrize(
    "units", [np.arange(31), np.repeat(np.arange(5), (4, 9, 7, 6, 5))], ids=["points", "clusters"]
)
def test_joint_resamples_against_a_loop(units):
    rng = np.random.default_rng(0)
    many = rng.normal(size=(3, 31)) + units + 1e6
    y = 0.5 * many[0] + rng.normal(size=31)
    have = resampled_correlations(many, y, units, stream(7), 40)
    drawn, m = stream(7), int(units.max()) + 1
    for row in have:
        points = np.concatenate([np.flatnonzero(units == unit) for unit in drawn.choice(m, m)])
        want = [np.corrcoef(x[points], y[points])[0, 1] for x in many]
        np.testing.assert_allclose(row, want, atol=1e-9)


def resampled(x, y):
    return resampled_correlations(x[None], y, np.arange(len(x)), stream(3), 4000)[:, 0]


def constant(values):
    drawn, n = stream(3), len(values)
    return [len(set(values[drawn.randint(0, n, n)])) == 1 for _ in range(4000)]


def test_a_resample_has_no_r_where_either_side_repeats_one_value():
    assert constant(VARYING) != constant(REPEATING)  # it mostly varies on the other side
    assert sum(constant(REPEATING)) > 20
    assert np.isnan(resampled(REPEATING, VARYING)).tolist() == constant(REPEATING)
    assert np.isnan(resampled(VARYING, REPEATING)).tolist() == constant(REPEATING)


def test_a_side_that_varies_little_has_an_r():
    """A hundred-thousandth of its largest deviation is variation, not rounding."""
    x = np.array([0.1, 0.1 + 1e-5, 0.1 - 1e-5, 0.1 + 2e-5, 0.1 - 2e-5, 1.1])
    for have in (resampled(x, VARYING), resampled(VARYING, x)):
        assert np.isnan(have).tolist() == constant(x)


def test_an_interval_needs_a_hundred_resamples():
    values = np.concatenate([np.linspace(-1, 1, 100), [np.nan, np.nan]])
    assert ends(values, 0.5) == pytest.approx((-0.5, 0.5))
    with pytest.raises(LayerwiseError, match=r"at least 100 resamples.* found 99 of 101"):
        ends(values[1:], 0.5)
    with pytest.raises(LayerwiseError, match="series 0 is constant"):
        resampled(np.ones(6), VARYING)
