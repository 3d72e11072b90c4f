"""The chance of an interval: by its law, against drawing samples and asking the interval itself."""

import bisect
import itertools
import math
import random

import numpy as np
import pytest
import scipy.stats

from layerwise.statistics import estimates as estimate
from layerwise.statistics import power
from layerwise.statistics.outlook import MOST, fewest_units, law_of
from layerwise.statistics.power import chances_of_tables, power_of_shares

DRAWS = 4000
NEAR = 4 * 0.5 / math.sqrt(DRAWS)  # four standard errors of a share of them, at most
NOWHERE = math.inf


def drawn_share(draw, above, below, *, narrow=False):
    """The share of drawn estimates whose interval lies inside a range."""
    inside = 0
    for _ in range(DRAWS):
        drawn = draw()
        low, high = drawn.narrow if narrow else (drawn.low, drawn.high)
        inside += above < low and high < below
    return inside / DRAWS


def normal_samples(seed, mean, sd, n):
    """Draw means of n normal values, with the interval of an equivalence beside Student's."""
    stream = random.Random(seed)
    return lambda: estimate.with_narrow_mean(
        estimate.mean_estimate([stream.gauss(mean, sd) for _ in range(n)], "units")
    )


def shown(mean, sd, n):
    """The estimate whose printed spread is that of the truth."""
    return estimate.mean_estimate_from_moments(mean, sd * math.sqrt((n - 1) / n), n, "units")


@pytest.mark.parametrize("n", [3, 5, 12])
@pytest.mark.parametrize(("above", "below"), [(0.0, NOWHERE), (-NOWHERE, 0.9), (-0.6, 1.4)])
def test_the_chance_of_a_mean_is_that_of_drawn_samples(n, above, below):
    law = law_of(shown(0.4, 0.5, 5))
    chance = law.chance_inside(n, above, below, estimate.ONE_SIDED)
    drawn = drawn_share(normal_samples(n, 0.4, 0.5, n), above, below, narrow=True)
    assert chance == pytest.approx(drawn, abs=NEAR)


def test_the_half_width_of_a_mean_is_students():
    law = law_of(shown(0.4, 0.5, 5))
    for n in (5, 8, 100):
        naive = scipy.stats.t.ppf(0.975, n - 1) * 0.5 / math.sqrt(n)
        assert law.half_width(n, 0.95) == pytest.approx(naive)


def test_a_single_value_does_not_come_nearer_with_more_others():
    values, others = 0.6, [0.1, -0.1, 0.2, -0.2, 0.0]
    given = estimate.prediction_estimate(values, others, "models")
    sd, stream = float(np.std(others, ddof=1)), random.Random(3)

    def draw():
        more = [stream.gauss(0.0, sd) for _ in range(8)]
        return estimate.prediction_estimate(values, more, "models")

    law = law_of(given)
    assert not law.narrows
    assert law.half_width(10**6, 0.95) == pytest.approx(1.96 * sd, rel=1e-3)
    chance = law.chance_inside(8, 0.0, NOWHERE, 0.95)
    assert chance == pytest.approx(drawn_share(draw, 0.0, NOWHERE), abs=NEAR)


@pytest.mark.parametrize(("n", "above", "below"), [(6, 0.0, 1.0), (8, -1.0, 0.0), (8, -0.5, 0.95)])
def test_the_chance_of_r_is_that_of_drawn_series(n, above, below):
    x, noise = np.random.RandomState(n).normal(size=(2, DRAWS, n))
    y = 0.7 * x + math.sqrt(1 - 0.49) * noise
    drawn = sorted(np.corrcoef(*pair)[0, 1] for pair in zip(x, y, strict=True))

    def interval(r):
        return estimate.correlation_estimate(r, n, "categories")

    first = bisect.bisect_right(drawn, above, key=lambda r: interval(r).low)  # ends rise with r
    last = bisect.bisect_left(drawn, below, key=lambda r: interval(r).high)
    law = law_of(estimate.correlation_estimate(0.7, 6, "categories"))
    chance = law.chance_inside(n, above, below, 0.95)
    assert chance == pytest.approx(max(0, last - first) / DRAWS, abs=NEAR)


def test_from_ten_points_on_r_is_normal_on_fishers_z():
    law = law_of(estimate.correlation_estimate(0.47, 6, "categories"))
    error = 1 / math.sqrt(37 - 3)
    naive = 1 - scipy.stats.norm.cdf(1.959964 - math.atanh(0.47) / error)
    assert law.chance_inside(37, 0.0, 1.0, 0.95) == pytest.approx(naive, abs=1e-6)
    sized = estimate.correlation_estimate(0.47, 37, "categories")
    assert law.half_width(37, 0.95) == pytest.approx((sized.high - sized.low) / 2)


def test_resamples_keep_the_width_of_their_own_interval():
    low, high = math.tanh(0.3 - 0.2), math.tanh(0.3 + 0.2)
    given = estimate.Estimate(math.tanh(0.3), low, high, 230, "pairs", method=estimate.BOOTSTRAP)
    law = law_of(given)
    assert law.half_width(230, 0.95) == pytest.approx((high - low) / 2)
    wide = (math.tanh(0.4) - math.tanh(0.2)) / 2  # four times the pairs: half as wide on z
    assert law.half_width(920, 0.95) == pytest.approx(wide)
    naive = scipy.stats.norm.sf(1.959964 - 0.3 / (0.1 / 1.959964))
    assert law.chance_inside(920, 0.0, 1.0, 0.95) == pytest.approx(naive, abs=1e-6)


def test_the_chance_of_a_deviation_is_that_of_drawn_samples():
    law, stream = law_of(estimate.deviation_estimate([-2.0, 2.0], "models")), random.Random(5)

    def draw():
        return estimate.deviation_estimate([stream.gauss(0.0, 2.0) for _ in range(9)], "models")

    for above, below in ((1.4, NOWHERE), (1.0, 4.0)):
        chance = law.chance_inside(9, above, below, 0.95)
        assert chance == pytest.approx(drawn_share(draw, above, below), abs=NEAR)


def test_the_chance_of_a_share_counts_every_outcome():
    law = law_of(estimate.share_estimate([True, True, False], "families"))
    naive = 0.0
    for flags in itertools.product([True, False], repeat=9):
        interval = estimate.share_estimate(flags, "families")
        naive += math.prod(2 / 3 if flag else 1 / 3 for flag in flags) * (interval.low > 0.5)
    assert law.chance_inside(9, 0.5, NOWHERE, 0.95) == pytest.approx(naive)
    sure = law_of(estimate.share_estimate([True] * 3, "families"))
    assert [round(sure.chance_inside(n, 0.5, NOWHERE, 0.95)) for n in (5, 6)] == [0, 1]


def test_the_chance_of_two_groups_counts_every_table():
    m, n, first, second = 5, 7, 0.8, 0.3
    naive = {True: 0.0, False: 0.0}
    for count in range(m + 1):
        for other in range(n + 1):
            p = scipy.stats.fisher_exact([[count, m - count], [other, n - other]]).pvalue
            if p < 0.05:
                chance = scipy.stats.binom.pmf(count, m, first)
                chance *= scipy.stats.binom.pmf(other, n, second)
                naive[count / m > other / n] += chance
    towards, away = chances_of_tables(first, second, m, n)
    assert (towards, away) == pytest.approx((naive[True], naive[False]))
    assert towards + away == pytest.approx(power_of_shares(first, second, m, n))


@pytest.mark.parametrize(("first", "second"), [(0.33, 0.6), (0.9, 0.7), (1.0, 0.8)])
def test_large_groups_are_nearly_as_normal(first, second, monkeypatch):
    exact = chances_of_tables(first, second, 50, 60)
    monkeypatch.setattr(power, "MOST", 10)
    assert chances_of_tables(first, second, 50, 60) == pytest.approx(exact, abs=0.1)


def test_what_shows_no_spread_has_no_law():
    assert law_of(estimate.without_interval(0.3, 1, "prompts")) is None


@pytest.mark.parametrize("wanted", [7, 60, 61, 431])
def test_the_fewest_units_are_found_on_either_side_of_the_first_ones(wanted):
    assert fewest_units(lambda n: float(n >= wanted), 2) == wanted
    assert fewest_units(lambda n: float(n >= wanted), 100) == max(wanted, 100)


def test_there_may_be_no_number_of_units():
    assert fewest_units(lambda n: 0.5, 2) is None
    assert fewest_units(lambda n: float(n >= MOST), 2) == MOST
    assert fewest_units(lambda n: float(n > MOST), 2) is None
