"""Power and the estimates behind it: against simulation, SciPy and the textbook's own numbers."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from layerwise.errors import LayerwiseError
from layerwise.statistics import power
from layerwise.statistics.by_category import mean_over_categories
from layerwise.statistics.estimates import (
    correlation_difference_estimate,
    mean_estimate,
    share_estimate,
)


@pytest.mark.parametrize("n_categories", [5, 8])
def test_the_error_of_an_interval_over_categories_is_that_of_their_means(n_categories):
    means = np.random.default_rng(1).normal(size=n_categories)
    found = mean_over_categories([*means], [0.0] * n_categories)
    assert power.error_of_interval(found) == pytest.approx(stats.sem(means))
    assert power.error_of_interval(mean_estimate(means, "x")) == pytest.approx(stats.sem(means))


@pytest.mark.parametrize(("effect", "n"), [(1.0, 10), (0.8, 15), (0.5, 34), (0.3, 90)])
def test_units_of_a_t_test_are_those_of_the_tables(effect, n):
    """Of a two-sided t test of one sample at 5% with 80% power (Cohen 1988, by G*Power)."""
    found = mean_estimate(effect + np.sqrt(0.9) * np.array([-1.5, -0.5, 0.5, 1.5]), "x")
    found = replace(found, value=effect, low=effect - 1, high=effect + 1)
    sd = power.error_of_interval(found) * 2
    assert power.units_to_answer(replace(found, value=effect * sd), [0.0]) == n


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
