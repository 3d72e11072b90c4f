"""Effects that a number of units can tell at 80% power, two-sided at 5%, by normal theory.

A correlation is taken on Fisher's z, any other number as it is; the standard error is the one that
its interval shows, by normal quantiles. Two shares use the law of Fisher's exact test itself.
"""

import math
from collections.abc import Iterator

import numpy as np
import scipy  # and of it `stats`, half a second, where it is used

from layerwise.statistics.curves import fishers_z
from layerwise.statistics.estimates import (
    FISHERS_POINTS,
    LEVEL,
    ONE_SIDED,
    Estimate,
    two_sided_quantile,
)

POWER = 0.8
MOST = 60  # units per group up to which two shares are tried
TIES = 1e-7  # tables that are as likely but for rounding


def shift() -> float:
    """Standard errors between zero and what is found with that power: 1.96 + 0.84."""
    tails = (1 - LEVEL) / 2, 1 - POWER
    return float(sum(scipy.stats.norm.isf(tail) for tail in tails))


def smallest_r(estimate: Estimate) -> float | None:
    """The smallest |r| whose interval, as wide as this one on Fisher's z, leaves out 0.

    By Fisher's own where there is none; None under four points.
    """
    error = standard_error(estimate)
    return None if error is None else math.tanh(shift() * error)


def standard_error(estimate: Estimate) -> float | None:
    """The standard error on Fisher's z that the interval of an r shows; Fisher's where it has none.

    None under four points.
    """
    if estimate.n < FISHERS_POINTS:
        return None
    if not estimate.has_interval or max(abs(estimate.low), abs(estimate.high)) >= 1:
        return 1 / math.sqrt(estimate.n - 3)
    wide = fishers_z(estimate.high) - fishers_z(estimate.low)
    return wide / 2 / two_sided_quantile()


def times_fishers(estimate: Estimate) -> float | None:
    """Return that error over Fisher's: more than one where points are not independent."""
    error = standard_error(estimate)
    return None if error is None else error * math.sqrt(estimate.n - 3)


def points_for(r: float, like: Estimate) -> int | None:
    """Return the points that tell r from 0, each worth as much as those of another estimate.

    None where r is 1, or 0 but for rounding.
    """
    z, times = fishers_z(abs(r)) if abs(r) < 1 else 0.0, times_fishers(like)
    if times is None or not z:
        return None
    return math.ceil((shift() * times / z) ** 2 + 3)


def smallest_shift(estimate: Estimate) -> float | None:
    """Return the distance at which an interval leaves out a bound; None without an interval."""
    if not estimate.has_interval:
        return None
    return (estimate.high - estimate.low) / 2 * shift() / two_sided_quantile()


def shift_of_two_tests() -> float:
    """Standard errors from zero to the bounds within which two one-sided tests show a true zero.

    1.64 + 1.28: both tests must succeed, so that each may fail in a tenth of all cases.
    """
    tails = (1 - ONE_SIDED) / 2, (1 - POWER) / 2
    return float(sum(scipy.stats.norm.isf(tail) for tail in tails))


def narrowest_zone(estimate: Estimate) -> float | None:
    """The narrowest zone around zero in which a mean of zero can be shown to lie."""
    smallest = smallest_shift(estimate)
    return None if smallest is None else smallest * shift_of_two_tests() / shift()


def narrowest_r(estimate: Estimate) -> float | None:
    """The same of a correlation; None under four points."""
    error = standard_error(estimate)
    return None if error is None else math.tanh(shift_of_two_tests() * error)


def power_of_shares(first: float, second: float, m: int, n: int) -> float:
    """Return the power of Fisher's exact test of m and n units at these true shares."""
    power = 0.0
    for _, _, chance in significant_tables(first, second, m, n):
        power += chance
    return power


def chances_of_tables(first: float, second: float, m: int, n: int) -> tuple[float, float]:
    """Return the power to find the first share the larger one, and to find it the smaller one.

    Beyond `MOST` units in either group by the normal law, with the correction for continuity.
    """
    if max(m, n) > MOST:
        error = math.sqrt(first * (1 - first) / m + second * (1 - second) / n)
        together = (m * first + n * second) / (m + n)
        pooled = math.sqrt(together * (1 - together) * (1 / m + 1 / n))
        beyond = two_sided_quantile() * pooled + (1 / m + 1 / n) / 2
        if not error:  # shares of 0 or 1, which no sample misses
            return float(first - second > beyond), float(second - first > beyond)
        sides = ((sign * (first - second) - beyond) / error for sign in (1, -1))
        larger, smaller = (float(scipy.stats.norm.cdf(side)) for side in sides)
        return larger, smaller
    tables = [*significant_tables(first, second, m, n)]
    larger = math.fsum(chance for count, other, chance in tables if count / m > other / n)
    smaller = math.fsum(chance for count, other, chance in tables if count / m < other / n)
    return larger, smaller


def significant_tables(
    first: float, second: float, m: int, n: int
) -> Iterator[tuple[int, int, float]]:
    """Yield the counts in two groups that Fisher's exact test tells apart, and their probability.

    Arguments:
        first, second: the true shares.
        m, n: the units of the groups.
    """
    chances = [
        scipy.stats.binom.pmf(np.arange(size + 1), size, share)
        for size, share in ((m, first), (n, second))
    ]
    for total in range(m + n + 1):  # of both groups, which the test takes as given
        counts = np.arange(max(0, total - n), min(m, total) + 1)
        likely = scipy.stats.hypergeom.pmf(counts, m + n, m, total)
        for count, chance in zip(counts, likely, strict=True):
            if likely[likely <= chance * (1 + TIES)].sum() < 1 - LEVEL:
                in_both = chances[0][count] * chances[1][total - count]
                yield int(count), int(total - count), float(in_both)


def units_for_shares(first: float, second: float) -> int | None:
    """Return the units in each of two equal groups that tell these shares apart.

    None over `MOST`. Power by counts goes up and down: the first number from which it is reached.
    """
    for n in range(2, MOST + 1):
        if power_of_shares(first, second, n, n) >= POWER:
            return n
    return None


def units_all_alike(bound: float) -> int:
    """The fewest units which, all alike, put the exact interval of their share above a bound.

    Of n in n units its low end is tail^(1/n): six units for a half, as 0.025^(1/6) = 0.54.
    """
    return math.floor(math.log((1 - LEVEL) / 2) / math.log(bound)) + 1
