"""Leaving out one unit: of a mean the error is that of Student, of two means that of Welch."""

import numpy as np
import pytest
from scipy import stats

from layerwise.statistics.jackknife import (
    Jackknifed,
    combine_jackknifed,
    jackknife,
    jackknife_estimate,
)

LEVELS = (0.9, 0.95, 0.99)


def mean_of(values):
    """The jackknife of a mean."""
    return jackknife(
        values.mean(), np.array([np.delete(values, i).mean() for i in range(len(values))])
    )


@pytest.mark.parametrize("level", LEVELS)
def test_of_a_mean_it_is_students_interval(level):
    values = np.random.default_rng(0).normal(size=9)
    found = jackknife_estimate(mean_of(values), "pairs")
    assert found.ends(level) == pytest.approx(
        stats.ttest_1samp(values, 0).confidence_interval(level)
    )
    assert (found.value, found.n) == (values.mean(), 9)


@pytest.mark.parametrize("level", LEVELS)
def test_of_two_means_it_is_welchs_interval(level):
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=7), 3 * rng.normal(size=12)
    difference = combine_jackknifed([(1.0, mean_of(first)), (-1.0, mean_of(second))])
    welch = stats.ttest_ind(first, second, equal_var=False).confidence_interval(level)
    found = jackknife_estimate(difference, "pairs")
    assert found.ends(level) == pytest.approx(tuple(welch))
    assert (found.value, found.n) == (pytest.approx(first.mean() - second.mean()), 19)


@pytest.mark.parametrize("truth", [(0.0, 0.0), (1.0, 1.0), (1.0, -1.0), (6.0, -6.0)])
def test_two_equal_sizes_are_told_apart_no_more_often_than_the_level_says(truth):
    """Also where the sign of neither is known; a rate of 2.5% has a Monte-Carlo error of 0.05."""
    x, y = np.random.default_rng(2).normal(size=(100_000, 2)).T + np.array(truth)[:, None]
    sizes = [Jackknifed(value[0], 1.0, 1e9, 100).size for value in (x, y)]
    found = jackknife_estimate(combine_jackknifed([(1.0, sizes[0]), (-1.0, sizes[1])]), "pairs")
    assert found.value == pytest.approx(abs(x[0]) - abs(y[0]))
    assert np.mean(abs(x) - abs(y) > found.value - found.low) < 0.025 + 3 * 0.0005
