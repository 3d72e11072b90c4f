"""Power and the estimates behind it: against simulation, SciPy and the textbook's own numbers."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from layerwise.errors import LayerwiseError
from layerwise.statistics import power
from layerwise.statistics.estimates import (
    correlation_difference_estimate,
    correlation_estimate,
    mean_estimate,
    share_estimate,
    with_narrow_mean,
    without_interval,
)


@pytest.mark.long
def test_the_smallest_r_is_found_four_times_of_five_against_simulation():
    rng, n, n_runs = np.random.default_rng(0), 60, 4000
    r = power.smallest_r(correlation_estimate(0.3, n, "pairs"))
    x = rng.normal(size=(n_runs, n))
    y = r * x + math.sqrt(1 - r**2) * rng.normal(size=(n_runs, n))
    found = [
        correlation_estimate(float(np.corrcoef(a, b)[0, 1]), n, "x").low > 0
        for a, b in zip(x, y, strict=True)
    ]
    assert np.mean(found) == pytest.approx(power.POWER, abs=0.03)


def test_points_and_smallest_r_are_inverse():
    for n in (12, 16, 230):
        like = correlation_estimate(0.3, n, "pairs")
        assert power.points_for(power.smallest_r(like) * (1 + 1e-9), like) == n
    like = correlation_estimate(0.3, 230, "pairs")
    assert power.points_for(0.3, like) == power.points_for(-0.3, like) == 85  # Cohen's table
    assert power.smallest_r(correlation_estimate(0.3, 3, "pairs")) is None
    assert {power.points_for(r, like) for r in (0.0, 1.0, 1e-17, 1e-200)} == {None}


def test_the_smallest_r_is_that_of_the_interval_which_answers():
    """Resamples may give a wider one than Fisher's: then so many pairs detect less."""
    fishers = correlation_estimate(0.1, 230, "pairs")
    z = [math.atanh(end) for end in (fishers.low, fishers.high)]
    middle, half = sum(z) / 2, z[1] - z[0]  # twice as wide
    low, high = (math.tanh(middle + sign * half) for sign in (-1, 1))
    wider = replace(fishers, low=low, high=high)
    one, twice = (math.atanh(power.smallest_r(of)) for of in (fishers, wider))
    assert twice == pytest.approx(2 * one)
    assert power.smallest_r(fishers) == pytest.approx(math.tanh(power.shift() / math.sqrt(227)))
    assert power.times_fishers(wider) == pytest.approx(2)
    # and it takes four times as many to tell the same r
    many = [power.points_for(0.2, of) - 3 for of in (fishers, wider)]
    assert many[1] / many[0] == pytest.approx(4, rel=0.02)


def test_the_smallest_shift_is_that_of_the_standard_error():
    values = np.random.default_rng(1).normal(size=400)
    error = values.std(ddof=1) / math.sqrt(len(values))
    assert power.smallest_shift(mean_estimate(values, "x")) == pytest.approx(
        2.8016 * error, rel=5e-3
    )
    assert power.smallest_shift(without_interval(1.0, 9, "x")) is None


def test_two_one_sided_tests_show_a_true_zero_four_times_of_five():
    rng, n, n_runs = np.random.default_rng(4), 200, 3000
    values = rng.normal(size=(n_runs, n))
    zone = power.shift_of_two_tests() / math.sqrt(n)
    shown = [
        -zone < narrow[0] and narrow[1] < zone
        for narrow in (with_narrow_mean(mean_estimate(row, "x")).narrow for row in values)
    ]
    assert np.mean(shown) == pytest.approx(power.POWER, abs=0.03)
    estimate = mean_estimate(values[0], "x")
    error = values[0].std(ddof=1) / math.sqrt(n)
    assert power.narrowest_zone(estimate) == pytest.approx(
        power.shift_of_two_tests() * error, rel=0.01
    )
    assert power.narrowest_r(correlation_estimate(0.1, 230, "x")) == pytest.approx(
        math.tanh(power.shift_of_two_tests() / math.sqrt(227))
    )


@pytest.mark.long
def test_power_of_two_shares_against_simulation():
    rng = np.random.default_rng(2)
    a, b = rng.binomial(5, 0.8, 3000), rng.binomial(11, 0.2, 3000)
    found = [
        stats.fisher_exact([[x, 5 - x], [y, 11 - y]]).pvalue < 0.05
        for x, y in zip(a, b, strict=True)
    ]
    assert power.power_of_shares(0.8, 0.2, 5, 11) == pytest.approx(np.mean(found), abs=0.03)
    n = power.units_for_shares(0.8, 0.2)
    assert (
        power.power_of_shares(0.8, 0.2, n, n) >= 0.8 > power.power_of_shares(0.8, 0.2, n - 1, n - 1)
    )
    assert power.units_for_shares(0.5, 0.51) is None


def test_a_share_against_scipy():
    found = share_estimate([True] * 178 + [False] * 22, "pairs")
    exact = stats.beta.ppf(0.025, 178, 23), stats.beta.ppf(0.975, 179, 22)
    assert (found.value, found.n) == (0.89, 200)
    assert (found.low, found.high) == pytest.approx(exact)
    with pytest.raises(LayerwiseError, match="at least one unit"):
        share_estimate([], "pairs")


@pytest.mark.long
def test_a_difference_of_dependent_r_covers_the_truth_as_often_as_it_says():
    rng, n, hits = np.random.default_rng(3), 40, 0
    cov = np.array([[1, 0.6, 0.3], [0.6, 1, 0.5], [0.3, 0.5, 1]])
    for _ in range(600):
        y, a, b = rng.multivariate_normal(np.zeros(3), cov, n).T
        found = correlation_difference_estimate(
            y, -a, b, "x"
        )  # the sign of a series does not matter
        hits += found.low < 0.3 < found.high
    assert hits / 600 == pytest.approx(0.95, abs=0.025)


def test_a_difference_of_a_series_with_itself_is_none():
    x = np.arange(9.0)
    y = np.array([1, 3, 2, 5, 4, 6, 9, 7, 8.0])
    assert correlation_difference_estimate(y, x, -2 * x + 1, "x").value == pytest.approx(0)
    assert not correlation_difference_estimate(
        y[:3], x[:3], y[:3] ** 2, "x"
    ).has_interval  # three points


@pytest.mark.parametrize("bound", [0.5, 0.75])
def test_units_all_alike_are_the_fewest_against_scipy(bound):
    n = power.units_all_alike(bound)
    assert stats.beta.ppf(0.025, n, 1) > bound >= stats.beta.ppf(0.025, n - 1, 1)
    assert (
        share_estimate([True] * n, "families").low
        > bound
        >= share_estimate([True] * (n - 1), "x").low
    )
