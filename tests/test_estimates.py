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


def test_counts_run_over_every_way_to_count_the_undecided() -> None:
    def difference(first: int, second: int) -> float:
        return first / 5 - second / 4

    found = estimates.of_counts(difference, [(2, 1), (0, 2)], [3, 1], 9)
    assert (found.value, found.low, found.high) == (3 / 5 - 1 / 4, 2 / 5 - 2 / 4, 3 / 5)
    assert found.where == "3 undecided, counted either way"
    sure: Any = estimates.of_counts(difference, [(2, 0), (1, 0)], [2, 1], 9)
    assert sure.low == sure.value == sure.high
    assert sure.where == ""
