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


def test_means_against_scipy() -> None:
    for n_tests, level in ((1, 0.95), (3, 1 - 0.05 / 3)):
        found = estimates.mean_estimate(VALUES, "prompts", estimates.family_level(n_tests))
        assert ends(found) == pytest.approx(
            tuple(stats.ttest_1samp(VALUES, 0).confidence_interval(level))
        )
        assert ends(
            estimates.widened(estimates.mean_estimate(VALUES, "p"), n_tests)
        ) == pytest.approx(ends(found))
    narrow = estimates.with_narrow_mean(estimates.mean_estimate(VALUES, "prompts")).narrow
    assert narrow == pytest.approx(tuple(stats.ttest_1samp(VALUES, 0).confidence_interval(0.9)))
    assert not estimates.mean_estimate([1.0], "prompts").has_interval


def test_a_difference_holds_the_shifts_that_no_permutation_test_rejects() -> None:
    found = estimates.difference_estimate(VALUES, OTHER[:4], "models")

    def p(shift: float) -> float:
        return float(
            stats.permutation_test(
                (VALUES - shift, OTHER[:4]),
                lambda a, b, axis: np.mean(a, axis=axis) - np.mean(b, axis=axis),
                n_resamples=np.inf,
                vectorized=True,
            ).pvalue
        )

    for end, outwards in ((found.low, -1e-6), (found.high, 1e-6)):
        assert p(end + outwards) <= 0.05 < p(end - outwards)
    assert not estimates.difference_estimate(
        VALUES[:3], OTHER[:4], "models"
    ).has_interval  # 35 ways
    assert not estimates.difference_estimate(VALUES[:1], OTHER, "models").has_interval
    many = np.concatenate([VALUES, VALUES + 0.01, OTHER])
    welch = stats.ttest_ind(many, OTHER, equal_var=False).confidence_interval(0.95)
    assert ends(estimates.difference_estimate(many, OTHER, "models")) == pytest.approx(tuple(welch))


def test_correlations_against_scipy() -> None:
    x, y = np.tile(VALUES, 2) + np.arange(12) / 50, np.tile(OTHER, 2)
    found = estimates.pearson_estimate(x, y, "models")
    test = stats.pearsonr(x, y)
    assert found.value == pytest.approx(test.statistic)
    assert ends(found) == pytest.approx(tuple(test.confidence_interval(0.95)))
    ranks = estimates.spearman_estimate(x, y, "models")
    assert ranks.value == pytest.approx(stats.spearmanr(x, y).statistic)
    assert ranks.high - ranks.low > 0
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


def test_an_interval_of_r_is_widened_and_narrowed_on_z_by_the_quantiles() -> None:
    skewed = estimates.Estimate(0.3, 0.1, 0.4, 50, "pairs")

    def z(of: tuple[float, float]) -> list[float]:
        return [math.atanh(end) - math.atanh(0.3) for end in of]

    for moved, level in (
        (ends(estimates.widened_r(skewed, 9)), 1 - 0.05 / 9),
        (estimates.with_narrow_r(skewed).narrow, 0.9),
    ):
        assert moved is not None
        ratio = stats.norm.ppf((1 + level) / 2) / stats.norm.ppf(0.975)
        assert z(moved) == pytest.approx([ratio * end for end in z(ends(skewed))])
    on_a_line = estimates.Estimate(0.9, 0.5, 1.0, 5, "pairs")
    assert estimates.widened_r(on_a_line, 9).high == 1.0


def test_a_deviation_covers_the_truth_as_often_as_it_says() -> None:
    rng, hits = np.random.default_rng(5), 0
    for _ in range(1000):
        found = estimates.deviation_estimate(rng.normal(scale=2, size=8).tolist(), "models")
        # of the population's own n values: its interval is that of the law behind them
        hits += found.low < 2 < found.high
    assert hits / 1000 == pytest.approx(0.95, abs=0.02)


def test_a_ratio_of_means_covers_the_truth_as_often_as_it_says() -> None:
    rng, hits = np.random.default_rng(0), 0
    for _ in range(400):
        below = rng.uniform(1, 2, 20)
        found = estimates.ratio_estimate(3 * below + rng.uniform(-0.5, 0.5, 20), below, "blocks")
        hits += found.low < 3 < found.high
    assert 0.92 < hits / 400 < 0.98
    with pytest.raises(LayerwiseError, match="a ratio of means needs numbers above zero, found"):
        estimates.ratio_estimate(VALUES - 1, VALUES, "blocks")


def test_an_effect_size_is_that_of_the_noncentral_t() -> None:
    found = estimates.effect_size_estimate(VALUES - 0.9, "categories")
    n, t = len(VALUES), stats.ttest_1samp(VALUES, 0.9).statistic
    assert found.value == pytest.approx(np.mean(VALUES - 0.9) / np.std(VALUES))
    for end, tail in ((found.low, 0.975), (found.high, 0.025)):
        assert stats.nct.cdf(t, n - 1, end * math.sqrt(n - 1)) == pytest.approx(tail, abs=1e-6)
    nearly_equal = np.array([0.1 + 0.2, 0.3, 0.3, 0.3, 0.3])
    for constant in (np.ones(4), nearly_equal):
        with pytest.raises(LayerwiseError, match="two values that vary by more than rounding"):
            estimates.effect_size_estimate(constant, "categories")


@pytest.mark.parametrize("shift", [8.0, 30.0, 4e3, 1e5])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_huge_effect_size_has_its_interval_at_once(shift: float, sign: int) -> None:
    """The inverse of the noncentral t takes minutes there; the limit of its law is chi-squared.

    At a shift of 8 the inverse still works, and gives as much.
    """
    values, n = sign * (VALUES + shift), len(VALUES)
    found = estimates.effect_size_estimate(values, "categories")
    spread = values.std() * np.sqrt((n - 1) / stats.chi2.isf([0.025, 0.975], n - 1))
    assert (found.low, found.high) == pytest.approx(sorted(values.mean() / spread), rel=1e-3)
    assert found.low < found.value < found.high


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


def test_one_more_of_a_sample_lies_within_its_prediction_interval_as_often_as_it_says() -> None:
    rng = np.random.default_rng(2)
    samples = rng.normal(3.0, 2.0, size=(4000, 6))
    inside = 0
    for *others, one in samples:
        found = estimates.prediction_estimate(one, others, "categories")
        assert found.value == pytest.approx(one - np.mean(others))
        inside += found.low < 0 < found.high
    assert inside / len(samples) == pytest.approx(0.95, abs=0.01)
    assert not estimates.prediction_estimate(1.0, [2.0], "categories").has_interval


def test_the_fewest_units_that_permutations_need() -> None:
    for first in (3, 4, 5):
        n = estimates.units_to_permute(first)
        assert math.comb(n - 1, first) * 0.025 < 1 <= math.comb(n, first) * 0.025
    assert estimates.units_to_permute() == 8
