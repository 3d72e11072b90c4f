"""Estimates by category: against naive loops, and against what a category must not do."""

import math

import numpy as np
import pytest
import scipy.stats

from layerwise.statistics.by_category import (
    Correlations,
    half_width,
    jackknife_r,
    mean_over_categories,
    r_by_category,
    z_difference_by_category,
)

LEVELS = (0.9, 0.95, 1 - 0.05 / 23)
SIZES = {"a": 30, "b": 20, "c": 50, "d": 4}


def correlations(r, sizes=SIZES, over_all=0.1, without=None):
    return Correlations(dict(zip(sizes, r, strict=True)), sizes, over_all, without or {})


def naive_ends(values, variances, level):
    """The unweighted mean of numbers with the wider of two intervals, as the docstring says."""
    n = len(values)
    mean = sum(values) / n
    between = math.sqrt(sum((value - mean) ** 2 for value in values) / (n - 1) / n)
    wide = scipy.stats.t.ppf((1 + level) / 2, n - 1) * between
    alike = scipy.stats.norm.ppf((1 + level) / 2) * math.sqrt(sum(variances)) / n
    return mean - max(wide, alike), mean + max(wide, alike)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("spread", [0.0, 0.01, 1.0])  # the interval if all are alike; of t
def test_a_mean_over_categories_is_that_of_a_loop(level, spread):
    values = [0.3 + spread * step for step in (-1.0, 0.5, 2.0, -0.2)]
    variances = [0.01, 0.02, 0.005, 0.4]
    estimate = mean_over_categories(values, variances)
    assert (estimate.n, estimate.unit) == (4, "categories")
    assert estimate.value == pytest.approx(sum(values) / 4)
    assert estimate.ends(level) == pytest.approx(naive_ends(values, variances, level))


def test_many_data_sets_have_the_widths_of_each():
    rng = np.random.default_rng(1)
    values, variances = rng.normal(size=(7, 5)), rng.uniform(0.1, 3, size=(7, 5))
    together = half_width(values, variances)
    for row, mean_of in enumerate(values):
        low, high = naive_ends(list(mean_of), list(variances[row]), 0.95)
        assert together[row] == pytest.approx((high - low) / 2)


def test_r_by_category_is_a_mean_of_z_over_layers_first():
    layers = [correlations((0.1, 0.5, -0.3, 0.7)), correlations((0.3, 0.4, 0.2, -0.6))]
    z = [
        (math.atanh(layers[0].by_category[name]) + math.atanh(layers[1].by_category[name])) / 2
        for name in SIZES
    ]
    variances = [1 / (n - 3) for n in SIZES.values()]
    estimate = r_by_category(layers)
    assert estimate.value == pytest.approx(math.tanh(sum(z) / 4))
    for level in LEVELS:
        ends = [math.tanh(end) for end in naive_ends(z, variances, level)]
        assert estimate.ends(level) == pytest.approx(ends)


def test_one_category_gives_the_interval_over_pairs_and_decides_nothing():
    one = correlations((0.5,), {"a": 30}, over_all=0.5)
    estimate = r_by_category([one])
    half = scipy.stats.norm.ppf(0.975) / math.sqrt(27)
    ends = math.tanh(math.atanh(0.5) - half), math.tanh(math.atanh(0.5) + half)
    assert (estimate.low, estimate.high) == pytest.approx(ends)
    assert (estimate.n, estimate.unit, estimate.uncategorised) == (30, "pairs", True)
    assert not r_by_category([correlations((0.1, 0.2, 0.3, 0.4))]).uncategorised


def test_a_category_without_an_r_in_some_layer_is_left_out():
    whole, part = correlations((0.1, 0.5, -0.3, 0.7)), correlations((0.3, 0.4), {"a": 30, "c": 50})
    assert r_by_category([whole, part]).n == 2


def test_a_difference_adds_the_errors_of_both():
    first, second = correlations((0.6, 0.5, 0.7, 0.6)), correlations((0.1, 0.2, 0.1, 0.3))
    z = [
        math.atanh(first.by_category[name]) - math.atanh(second.by_category[name]) for name in SIZES
    ]
    estimate = z_difference_by_category([first], [second])
    ends = naive_ends(z, [2 / (n - 3) for n in SIZES.values()], 0.95)
    assert (estimate.low, estimate.high) == pytest.approx(ends)


def test_a_difference_is_taken_within_the_categories_that_both_have():
    """Where each side lacks another category, the two have as many."""
    first = correlations((0.6, 0.5, 0.7), {"a": 30, "b": 20, "c": 50})
    second = correlations((0.1, 0.2, 0.3), {"b": 20, "c": 50, "d": 4})
    z = [math.atanh(0.5) - math.atanh(0.1), math.atanh(0.7) - math.atanh(0.2)]
    estimate = z_difference_by_category([first], [second])
    assert (estimate.value, estimate.n) == (pytest.approx(sum(z) / 2), 2)


@pytest.mark.parametrize("level", LEVELS)
def test_the_jackknife_is_that_of_a_loop(level):
    rng = np.random.default_rng(2)
    x = rng.normal(size=40)
    y = 0.5 * x + rng.normal(size=40)
    group = np.arange(40) % 6
    r = np.corrcoef(x, y)[0, 1]
    without = [np.corrcoef(x[group != k], y[group != k])[0, 1] for k in range(6)]
    pseudo = [6 * math.atanh(r) - 5 * math.atanh(other) for other in without]
    error = np.std(pseudo, ddof=1) / math.sqrt(6)
    half = scipy.stats.t.ppf((1 + level) / 2, 5) * error
    estimate = jackknife_r(r, without)
    expected = math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)
    assert estimate.ends(level) == pytest.approx(expected)
    assert (estimate.n, estimate.unit) == (6, "categories")


def test_four_categories_are_too_few_for_the_jackknife():
    few = jackknife_r(0.5, [0.4, 0.5, 0.6, 0.5])
    assert (few.has_interval, few.fewest) == (False, 5)
    assert jackknife_r(0.5, [0.4, 0.5, 0.6, 0.5, 0.4]).has_interval


@pytest.mark.parametrize("spread", [0.0, 0.2, 0.4])
@pytest.mark.parametrize("sizes", [(30, 20, 50, 50, 50, 30), (4, 4, 5, 6, 8, 100), (100, 5, 5)])
def test_the_interval_by_category_keeps_its_level(spread, sizes):
    """r of zero in the mean category: wrong yes and wrong no, each 2.5% at most.

    1,000 data sets; three Monte-Carlo errors of 2.5% are 1.5 points.
    """
    rng = np.random.default_rng(3)
    variances = 1 / (np.array(sizes) - 3.0)
    z = rng.normal(0, spread, size=(1000, len(sizes))) + rng.normal(
        0, np.sqrt(variances), size=(1000, len(sizes))
    )
    mean, half = z.mean(axis=1), half_width(z, variances)
    assert np.mean(mean - half > 0) <= 0.04
    assert np.mean(mean + half < 0) <= 0.04
