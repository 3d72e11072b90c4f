"""Intervals against SciPy's own, and counts of sides as the undecided are counted."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from layerwise.errors import LayerwiseError
from layerwise.statistics import estimates

VALUES = np.array([0.91, 0.95, 0.9, 0.97, 0.93, 0.94])
OTHER = np.array([0.2, 0.5, 0.1, 0.8, 0.4, 0.9])


def ends(one: estimates.Estimate) -> tuple[float, float]:
    return one.low, one.high


def test_means_against_scipy() -> None:
    for n_tests, level in ((1, 0.95), (3, 1 - 0.05 / 3)):
        found = estimates.of_mean(VALUES, "prompts", estimates.family_level(n_tests))
        assert ends(found) == pytest.approx(
            tuple(stats.ttest_1samp(VALUES, 0).confidence_interval(level))
        )
        assert ends(estimates.widened(estimates.of_mean(VALUES, "p"), n_tests)) == pytest.approx(
            ends(found)
        )
    difference = estimates.of_difference(VALUES, OTHER, "models")
    test = stats.ttest_ind(VALUES, OTHER, equal_var=False)
    assert ends(difference) == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert not estimates.of_mean([1.0], "prompts").has_interval
    assert not estimates.of_difference(VALUES[:1], OTHER, "models").has_interval


def test_correlations_against_scipy() -> None:
    found = estimates.of_series(VALUES, OTHER, "models")
    test = stats.pearsonr(VALUES, OTHER)
    assert found.value == pytest.approx(test.statistic)
    assert ends(found) == pytest.approx(tuple(test.confidence_interval(0.95)))
    ranks = estimates.of_rank_series(VALUES, OTHER, "models")
    assert ranks.value == pytest.approx(stats.spearmanr(VALUES, OTHER).statistic)
    assert ranks.high - ranks.low > 0
    for r, n in ((1.0, 9), (0.5, 3)):
        assert not estimates.of_r(r, n, "models").has_interval


def test_slopes_against_scipy() -> None:
    line = stats.linregress(range(6), VALUES)
    found = estimates.of_slope(VALUES.tolist(), "layers")
    half = float(stats.t.ppf(0.975, 4)) * line.stderr
    assert (found.value, found.high - found.value) == pytest.approx((line.slope, half))
    assert not estimates.of_slope([1.0, 2.0], "layers").has_interval


def test_neighbours_that_wander_together_count_as_fewer() -> None:
    """Against the formula in NumPy; such series have no slope, and seldom seem to have one."""
    rng = np.random.default_rng(0)
    walks = rng.normal(size=(400, 30))
    for at in range(1, 30):
        walks[:, at] += walks[:, at - 1] / 2
    line = stats.linregress(range(30), walks[0])
    left = walks[0] - line.intercept - line.slope * np.arange(30)
    r1 = left[1:] @ left[:-1] / (left @ left)
    n = 30 * (1 - r1) / (1 + r1)
    error = math.sqrt(left @ left / (n - 2) / (30 * np.var(np.arange(30))))
    found = estimates.of_slope(walks[0].tolist(), "layers")
    assert found.high - found.value == pytest.approx(stats.t.isf(0.025, n - 2) * error)
    seem = [estimates.of_slope(walk.tolist(), "layers") for walk in walks]
    naive = [stats.linregress(range(30), walk).pvalue < 0.05 for walk in walks]
    assert np.mean([one.low > 0 or one.high < 0 for one in seem]) < np.mean(naive) / 2


def test_a_ratio_of_means_covers_the_truth_as_often_as_it_says() -> None:
    rng, hits = np.random.default_rng(0), 0
    for _ in range(400):
        below = rng.uniform(1, 2, 20)
        found = estimates.of_ratio(3 * below + rng.uniform(-0.5, 0.5, 20), below, "blocks")
        hits += found.low < 3 < found.high
    assert 0.92 < hits / 400 < 0.98
    with pytest.raises(LayerwiseError, match="a ratio of means needs numbers above zero, found"):
        estimates.of_ratio(VALUES - 1, VALUES, "blocks")


def test_an_effect_size_is_that_of_the_noncentral_t() -> None:
    found = estimates.of_effect(VALUES - 0.9, "categories")
    n, t = len(VALUES), stats.ttest_1samp(VALUES, 0.9).statistic
    assert found.value == pytest.approx(np.mean(VALUES - 0.9) / np.std(VALUES))
    for end, tail in ((found.low, 0.975), (found.high, 0.025)):
        assert stats.nct.cdf(t, n - 1, end * math.sqrt(n - 1)) == pytest.approx(tail, abs=1e-6)
    with pytest.raises(LayerwiseError, match="an effect size needs two values that vary"):
        estimates.of_effect(np.ones(4), "categories")


@pytest.mark.parametrize("shift", [8.0, 30.0, 4e3, 1e5])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_huge_effect_size_has_its_interval_at_once(shift: float, sign: int) -> None:
    """The inverse of the noncentral t takes minutes there; the limit of its law is chi-squared.

    At a shift of 8 the inverse still works, and gives as much.
    """
    values, n = sign * (VALUES + shift), len(VALUES)
    found = estimates.of_effect(values, "categories")
    spread = values.std() * np.sqrt((n - 1) / stats.chi2.isf([0.025, 0.975], n - 1))
    assert (found.low, found.high) == pytest.approx(sorted(values.mean() / spread), rel=1e-3)
    assert found.low < found.value < found.high


def test_what_varies_by_rounding_alone_has_no_effect_size() -> None:
    nearly = np.array([0.1 + 0.2, 0.3, 0.3, 0.3, 0.3])
    with pytest.raises(LayerwiseError, match="two values that vary by more than rounding"):
        estimates.of_effect(nearly, "categories")


def test_two_rules_differ_where_mcnemars_exact_test_says_so() -> None:
    for first in range(9):
        for second in range(9):
            found = estimates.of_two_rules(first, second, 20, "models")
            assert found.value == (first - second) / 20
            if first + second:
                p = stats.binomtest(first, first + second).pvalue
                assert (found.low > 0 or found.high < 0) == (p < 0.05)
            else:
                assert not found.has_interval


def test_no_difference_of_two_r_is_beyond_one() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        y, x, z = rng.normal(size=(3, 16))
        found = estimates.of_r_difference(y, x, z, "models")
        assert -1 <= found.low <= found.value <= found.high <= 1


def test_counts_run_over_every_way_to_count_the_undecided() -> None:
    def difference(first: int, second: int) -> Any:
        value = first / 5 - second / 4
        return estimates.Estimate(value, value, value, 9, "models")

    found = estimates.of_counts(difference, [(2, 1), (0, 2)], [3, 1], 9)
    assert (found.value, found.low, found.high) == (3 / 5 - 1 / 4, 2 / 5 - 2 / 4, 3 / 5)
    assert found.where == "3 undecided, counted either way"
    sure: Any = estimates.of_counts(difference, [(2, 0), (1, 0)], [2, 1], 9)
    assert sure.low == sure.value == sure.high
    assert sure.where == ""
