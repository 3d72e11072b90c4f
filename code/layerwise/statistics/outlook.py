"""Whether an interval of n units would leave a border out, if an estimate were the truth.

A law says how wide the interval of n further units is to be expected, and how probable it is that
it lies inside a range. The units are taken to be independent and of the kind of those that the
estimate rests on.

Student's t (a mean, one more value), the law of r under ten points, chi-square and counts are
exact: the law is that of the interval itself. Two large groups are compared by the normal law. From
ten points on r is normal on Fisher's z, and so is an r of resamples, with the standard error that
its own interval shows. Any other estimate is taken as normal, with its own interval narrowing as
1 / sqrt(n).
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy  # and of it `stats`, half a second, where it is used

from layerwise.statistics.curves import fishers_z
from layerwise.statistics.estimates import (
    BOOTSTRAP,
    CHI_SQUARE,
    CLOPPER_PEARSON,
    EXACT,
    FEW,
    FISHERS_POINTS,
    FISHERS_TEST,
    FISHERS_Z,
    LEVEL,
    ONE_MORE,
    STUDENT,
    Estimate,
    correlation_estimate,
    share_below,
    share_estimate,
    two_sided_quantile,
)
from layerwise.statistics.power import MOST as MOST_COUNTED
from layerwise.statistics.power import POWER, chances_of_tables

DEVIATIONS = 400  # quantiles of the sample deviation that stand for its law
FURTHEST = 12.0  # on Fisher's z: an r of 1 - 1e-10
LINEAR = 60  # units up to which every number is tried, as counts go up and down
MOST = 10_000  # units that are tried

HalfWidth = Callable[[int, float], float]
ChanceInside = Callable[[int, float, float, float], float]


@dataclass(frozen=True)
class Law:
    """The law of an interval of n units.

    Attributes:
        name: what it is, in words.
        half_width: of n and a level: half the width that is to be expected.
        chance_inside: of n, the ends of an open range, and a level: how probable it is that the
            interval lies inside.
        fewest: units with which there is an interval at all.
        narrows: whether the interval narrows to nothing with more and more units.
    """

    name: str
    half_width: HalfWidth
    chance_inside: ChanceInside
    fewest: int = 2
    narrows: bool = True


def law_of(estimate: Estimate) -> Law | None:
    """Return the law of the interval of further units; None of what shows no spread."""
    if estimate.method == FISHERS_TEST:
        return law_of_tables(estimate.groups) if estimate.groups else None
    if estimate.method == CLOPPER_PEARSON:
        return law_of_share(estimate.value)
    if not estimate.has_interval:
        return None
    if estimate.method in (STUDENT, ONE_MORE):
        return law_of_mean(estimate)
    if estimate.method in (EXACT, FISHERS_Z):
        return law_of_r(estimate.value)
    if estimate.method == CHI_SQUARE:
        return law_of_deviation(estimate.value)
    if estimate.method == BOOTSTRAP:
        return law_of_resampled_r(estimate)
    return law_of_normal(estimate)


def fewest_units(
    chance: Callable[[int], float], fewest: int, *, wanted: float = POWER, most: int = MOST
) -> int | None:
    """Return the fewest units with which something is as probable as is wanted.

    Every number is tried up to `LINEAR`, then the probability is taken to rise. None over `most`.
    """
    for n in range(fewest, LINEAR + 1):
        if chance(n) >= wanted:
            return n
    low = max(LINEAR, fewest - 1)
    high = low + 1
    while chance(high) < wanted:
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if chance(middle) >= wanted else (middle, high)
    return high


# --- normal, and Student --------------------------------------------------------------------------


def chance_of_normal(
    mean: float, error: float, half: np.ndarray | float, above: float, below: float
) -> float:
    """Return how probable it is that x +- half lies between two ends, of a normal x.

    Of several half widths, each as probable as the others, it is the mean.
    """
    to_end, to_start = ((end - mean) / error for end in (below - half, above + half))
    inside = scipy.stats.norm.cdf(to_end) - scipy.stats.norm.cdf(to_start)
    return float(np.mean(np.maximum(inside, 0.0)))


def law_of_mean(estimate: Estimate) -> Law:
    """Return the law of Student's interval of a mean, or of a value less the mean of n others.

    The sample deviation has the chi-square law, beside it the mean is normal. Of a value less the
    mean of others the value stays as it is.
    """
    is_one_more = estimate.method == ONE_MORE

    def widening(n: int) -> float:
        return math.sqrt(1 + 1 / n) if is_one_more else math.sqrt(1 / n)

    def quantile(n: int, level: float) -> float:
        return float(scipy.stats.t.isf((1 - level) / 2, n - 1))

    half = (estimate.high - estimate.low) / 2
    deviation = half / quantile(estimate.n, LEVEL) / widening(estimate.n)

    def half_width(n: int, level: float) -> float:
        return quantile(n, level) * deviation * widening(n)

    def chance_inside(n: int, above: float, below: float, level: float) -> float:
        halves = half_width(n, level) * deviation_factors(n)
        return chance_of_normal(estimate.value, deviation / math.sqrt(n), halves, above, below)

    return Law("Student's law, exact", half_width, chance_inside, narrows=not is_one_more)


@functools.lru_cache(maxsize=512)
def deviation_factors(n: int) -> np.ndarray:
    """Return quantiles of the sample deviation of n normal values over the true one."""
    shares = (np.arange(DEVIATIONS) + 0.5) / DEVIATIONS
    factors: np.ndarray = np.sqrt(scipy.stats.chi2.ppf(shares, n - 1) / (n - 1))
    return factors


def law_of_normal(estimate: Estimate) -> Law:
    """Return the normal law of an estimate whose interval narrows as 1 / sqrt(n)."""
    half_now = (estimate.high - estimate.low) / 2

    def error(n: int) -> float:
        return half_now / two_sided_quantile() * math.sqrt(estimate.n / n)

    def half_width(n: int, level: float) -> float:
        return two_sided_quantile(level) * error(n)

    def chance_inside(n: int, above: float, below: float, level: float) -> float:
        return chance_of_normal(estimate.value, error(n), half_width(n, level), above, below)

    return Law("normal approximation", half_width, chance_inside)


# --- correlations ---------------------------------------------------------------------------------


def z_of_end(r: float) -> float:
    """Return an end of a range of r on Fisher's z; of one beyond every r, infinity."""
    return fishers_z(r) if abs(r) < 1 else math.copysign(math.inf, r)


def law_on_z(name: str, r: float, error: Callable[[int], float]) -> Law:
    """Return the law of an r that is normal on Fisher's z, with an error by n."""
    z = fishers_z(r)

    def half_width(n: int, level: float) -> float:
        half = two_sided_quantile(level) * error(n)
        return (math.tanh(z + half) - math.tanh(z - half)) / 2

    def chance_inside(n: int, above: float, below: float, level: float) -> float:
        half = two_sided_quantile(level) * error(n)
        return chance_of_normal(z, error(n), half, z_of_end(above), z_of_end(below))

    return Law(name, half_width, chance_inside, fewest=FISHERS_POINTS)


def law_of_r(r: float) -> Law:
    """Return the law of a correlation's own interval: exact under ten points, then Fisher's z."""
    on_z = law_on_z("", r, lambda n: 1 / math.sqrt(n - 3))

    def half_width(n: int, level: float) -> float:
        estimate = correlation_estimate(r, n, "", level)
        return (estimate.high - estimate.low) / 2

    def chance_inside(n: int, above: float, below: float, level: float) -> float:
        if n >= FEW:
            return on_z.chance_inside(n, above, below, level)
        tail = (1 - level) / 2

        def share_up_to(border: float, share: float) -> float:
            """Return how probable an r is under which that border would be an end."""
            end = z_of_end(border)
            if math.isinf(end):
                return float(end > 0)
            at = scipy.optimize.brentq(
                lambda z: share_below(z, n, end) - share, end - FURTHEST, end + FURTHEST
            )
            return share_below(at, n, fishers_z(r))

        return max(0.0, share_up_to(below, tail) - share_up_to(above, 1 - tail))

    name = "law of r: exact under ten points, Fisher's z from there on"
    return Law(name, half_width, chance_inside, fewest=FISHERS_POINTS)


def law_of_resampled_r(estimate: Estimate) -> Law:
    """Return the law of an r of resamples: normal on Fisher's z, as wide as its own interval."""
    if max(abs(estimate.low), abs(estimate.high)) >= 1:
        return law_of_normal(estimate)
    wide = fishers_z(estimate.high) - fishers_z(estimate.low)
    error = wide / 2 / two_sided_quantile() * math.sqrt(estimate.n)
    return law_on_z("normal on Fisher's z", estimate.value, lambda n: error / math.sqrt(n))


# --- deviations, shares, tables -------------------------------------------------------------------


def law_of_deviation(sd: float) -> Law:
    """Return the law of a deviation's chi-square interval, if normal values vary by `sd`."""

    def quantiles(n: int, level: float) -> tuple[float, float]:
        tails = (1 - level) / 2, (1 + level) / 2
        upper, lower = (float(scipy.stats.chi2.isf(tail, n - 1)) for tail in tails)
        return upper, lower

    def half_width(n: int, level: float) -> float:
        low, high = (sd * math.sqrt(n / quantile) for quantile in quantiles(n, level))
        return (high - low) / 2

    def chance_inside(n: int, above: float, below: float, level: float) -> float:
        upper, lower = quantiles(n, level)  # the sum of squares over sd^2 has this law too
        least, most = max(above, 0.0) ** 2 / sd**2 * upper, max(below, 0.0) ** 2 / sd**2 * lower
        shares = (scipy.stats.chi2.cdf(bound, n - 1) for bound in (most, least))
        up_to_most, up_to_least = map(float, shares)
        return max(0.0, up_to_most - up_to_least)

    return Law("chi-square law, exact", half_width, chance_inside)


def law_of_share(share: float) -> Law:
    """Return the law of Clopper and Pearson's interval of a share."""

    def interval(count: int, n: int) -> Estimate:
        return share_estimate([place < count for place in range(n)], "")

    def half_width(n: int, level: float) -> float:
        estimate = interval(round(share * n), n)
        return (estimate.high - estimate.low) / 2

    def chance_inside(n: int, above: float, below: float, level: float) -> float:
        counts = range(n + 1)
        likely = scipy.stats.binom.pmf(counts, n, share)
        intervals = [interval(count, n) if likely[count] else None for count in counts]
        return math.fsum(
            float(chance)
            for chance, estimate in zip(likely, intervals, strict=True)
            if estimate and above < estimate.low and estimate.high < below
        )

    return Law("binomial law, exact", half_width, chance_inside, fewest=1)


def law_of_tables(groups: tuple[tuple[int, int], tuple[int, int]]) -> Law:
    """Return the law of Fisher's test of two groups as large, to each other, as these.

    A range of p that begins at zero is that of a table that leans the way of the shares claimed;
    one that does not, of a table that leans the other way and is as rare.
    """
    (first, m), (second, n_second) = groups

    def chance_inside(n: int, above: float, below: float, level: float) -> float:
        size = min(max(round(n * m / (m + n_second)), 1), n - 1)
        towards, away = chances_of_tables(first / m, second / n_second, size, n - size)
        return towards if above < 0 else away

    name = f"Fisher's test: exact up to {MOST_COUNTED} units a group, normal from there on"
    return Law(name, lambda n, level: math.nan, chance_inside)
