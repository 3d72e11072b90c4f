"""Intervals against SciPy's own, and counts of sides as the undecided are counted."""

import itertools
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


@pytest.mark.parametrize("level", [0.9, 0.95, 1 - 0.05 / 3])
def test_means_against_scipy(level: float) -> None:
    expected = tuple(stats.ttest_1samp(VALUES, 0).confidence_interval(level))
    found = estimates.mean_estimate(VALUES, "prompts")
    assert found.ends(level) == pytest.approx(expected)
    assert ends(estimates.mean_estimate(VALUES, "prompts", level)) == pytest.approx(expected)
    assert not estimates.mean_estimate([1.0], "prompts").has_interval


def test_the_intervals_of_a_family_hold_together_as_one_alone() -> None:
    """Bonferroni: of n tests each errs in a n-th of the cases."""
    assert 1 - estimates.family_level(4) == pytest.approx(0.05 / 4)
    assert 1 - estimates.family_level(4, estimates.ONE_SIDED) == pytest.approx(0.1 / 4)
    assert estimates.family_level(1) == pytest.approx(estimates.LEVEL)


def test_an_interval_without_a_law_is_known_at_one_level_alone() -> None:
    found = estimates.Estimate(0.3, 0.1, 0.4, 50, "pairs", method="someone's")
    assert found.ends(0.95) == (0.1, 0.4)
    with pytest.raises(LayerwiseError, match=r"known at 95% alone, 0\.975 was asked"):
        found.ends(0.975)


@pytest.mark.parametrize("function", [math.exp, lambda value: -value])
def test_a_mapped_number_takes_its_ends_along_at_every_level(function: Any) -> None:
    found = estimates.mean_estimate(VALUES, "prompts")
    mapped = found.mapped(function)
    assert mapped.value == function(found.value)
    for level in (0.9, 0.95, 0.99):
        assert mapped.ends(level) == pytest.approx(sorted(map(function, found.ends(level))))


def test_correlations_against_scipy() -> None:
    x, y = np.tile(VALUES, 2) + np.arange(12) / 50, np.tile(OTHER, 2)
    found = estimates.pearson_estimate(x, y, "models")
    test = stats.pearsonr(x, y)
    assert found.value == pytest.approx(test.statistic)
    assert ends(found) == pytest.approx(tuple(test.confidence_interval(0.95)))
    ranks = estimates.spearman_estimate(x, y, "models")
    assert ranks.value == pytest.approx(stats.spearmanr(x, y).statistic)
    # Bonett and Wright 2000, Psychometrika 65, 23
    half = stats.norm.isf(0.025) * math.sqrt((1 + ranks.value**2 / 2) / (12 - 3))
    z = math.atanh(ranks.value)
    assert np.arctanh(ends(ranks)) == pytest.approx([z - half, z + half])
    for r, n in ((1.0, 9), (0.5, 3)):
        assert not estimates.correlation_estimate(r, n, "models").has_interval


@pytest.mark.parametrize("n", [5, 6, 9])
def test_few_points_have_the_exact_interval_of_r(n: int) -> None:
    """At either end the true r shows one as far out as this in 2.5% of a simulation."""
    rng = np.random.default_rng(n)
    noise = rng.normal(size=(2, 100_000, n))
    low, high = ends(estimates.correlation_estimate(0.6, n, "models"))
    for true, side in ((low, 1), (high, -1)):
        x, y = noise[0], true * noise[0] + math.sqrt(1 - true**2) * noise[1]
        x, y = (one - one.mean(axis=1, keepdims=True) for one in (x, y))
        r = (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
        assert np.mean(side * r > side * 0.6) == pytest.approx(0.025, abs=0.0025)


@pytest.mark.parametrize("r", [0.999, 0.9999999, -0.9999999])
def test_nearly_perfect_r_have_an_interval_too(r: float) -> None:
    found = estimates.correlation_estimate(r, 8, "models")
    assert -1 < found.low <= r <= found.high < 1


def test_the_exact_interval_and_the_t_test_of_r_agree_on_zero() -> None:
    rng = np.random.default_rng(7)
    for _ in range(40):
        x, y = rng.normal(size=(2, 6))
        found = estimates.pearson_estimate(x, y + x, "models")
        assert (found.low > 0 or found.high < 0) == (stats.pearsonr(x, y + x).pvalue < 0.05)


def test_ranks_of_few_points_have_the_p_of_all_permutations() -> None:
    for y in (OTHER, np.array([1, 1, 2, 2, 3, 9.0])):  # with ties too
        found = estimates.spearman_estimate(VALUES, y, "models")
        exact = stats.permutation_test(
            (VALUES,),
            lambda x, y=y: stats.spearmanr(x, y).statistic,
            permutation_type="pairings",
            n_resamples=np.inf,
        )
        assert found.p == pytest.approx(exact.pvalue)
        assert not found.has_interval


@pytest.mark.parametrize("level", [0.9, 1 - 0.05 / 9])
def test_an_interval_of_resamples_moves_on_z_by_the_quantiles(level: float) -> None:
    skewed = estimates.published_correlation(0.3, (0.1, 0.4), 50, "pairs")

    def z(of: tuple[float, float]) -> list[float]:
        return [math.atanh(end) - math.atanh(0.3) for end in of]

    assert ends(skewed) == (0.1, 0.4)
    ratio = stats.norm.ppf((1 + level) / 2) / stats.norm.ppf(0.975)
    assert z(skewed.ends(level)) == pytest.approx([ratio * end for end in z((0.1, 0.4))])
    on_a_line = estimates.published_correlation(0.9, (0.5, 1.0), 5, "pairs")
    assert on_a_line.ends(level)[1] == 1.0


def test_a_difference_of_shares_is_newcombes() -> None:
    """Newcombe 1998, Stat. Med. 17, 873, table II: method 10 of 56 of 70 and 48 of 80."""
    found = estimates.share_difference_estimate((56, 48), (70, 80), "models")
    assert (found.value, found.n) == (pytest.approx(0.2), 150)
    assert ends(found) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    turned = estimates.share_difference_estimate((48, 56), (80, 70), "models")
    assert ends(turned) == pytest.approx((-found.high, -found.low))


def test_no_difference_of_two_r_is_beyond_one() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        y, x, z = rng.normal(size=(3, 16))
        found = estimates.correlation_difference_estimate(y, x, z, "models")
        assert -1 <= found.low <= found.value <= found.high <= 1


def test_counts_run_over_the_likeliest_ways_to_count() -> None:
    def difference(first: int, second: int) -> Any:
        value = first / 5 - second / 4
        return estimates.Estimate(value, value, value, 9, "models")

    groups = [(1.0, 1.0, 0.5, 0.0, 0.0), (0.5, 0.02, 0.0, 0.0)]
    found = estimates.estimate_from_counts(difference, groups, [3, 0], 9)
    # of six tables the four without the second model of the second group hold 98%
    assert (found.value, found.low, found.high) == (3 / 5, 2 / 5 - 1 / 4, 3 / 5)
    sure: Any = estimates.estimate_from_counts(difference, [(1.0, 1.0), (1.0,)], [2, 1], 9)
    assert sure.low == sure.value == sure.high
    assert sure.where == ""


def test_the_law_of_a_count_and_the_chance_of_a_side() -> None:
    chances = [0.2, 0.5, 0.9]
    expected = np.zeros(4)
    for sides in itertools.product((0, 1), repeat=3):
        weight = [p if side else 1 - p for p, side in zip(chances, sides, strict=True)]
        expected[sum(sides)] += np.prod(weight)
    np.testing.assert_allclose(estimates.law_of_count(chances), expected)
    values = [0.9, 1.1, 1.0, 1.3, 1.0]
    chance = estimates.chance_below(estimates.mean_estimate(values, "prompts"), 1.0)
    assert chance == pytest.approx(stats.ttest_1samp(values, 1.0, alternative="greater").pvalue)
    surely = estimates.mean_estimate([0.5, 0.51, 0.52], "prompts")
    assert (estimates.chance_below(surely, 1.0), estimates.chance_below(surely, 0.2)) == (1.0, 0.0)


def test_the_fewest_units_that_permutations_need() -> None:
    """One of all arrangements must be rarer than either tail."""
    for level in (0.95, 0.99):
        n = estimates.units_to_permute(level)
        arrangements = [math.comb(units, units // 2) for units in (n - 1, n)]
        assert arrangements[0] * (1 - level) / 2 < 1 <= arrangements[1] * (1 - level) / 2
