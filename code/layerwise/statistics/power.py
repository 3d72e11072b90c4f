"""Effects that a number of units can tell at 80% power, two-sided at 5%, by normal theory.

A correlation is taken on Fisher's z, any other number as it is; the standard error is the one that
its interval shows, by normal quantiles. Two shares use the law of Fisher's exact test itself.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import scipy  # and of it `stats`, half a second, where it is used

from layerwise.statistics.curves import fishers_z
from layerwise.statistics.estimates import (
    FISHERS_POINTS,
    LEVEL,
    ONE_MORE,
    ONE_SIDED,
    STUDENT,
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


def units_to_answer(
    estimate: Estimate, borders: Sequence[float], level: float = LEVEL, *, is_r: bool = False
) -> float:
    """Return the units whose interval leaves out borders with 80% power, if the value is the truth.

    n * ((1.96 + 0.84) * error / distance)^2, with the quantile of the level and the distance to the
    nearest border; of an r on Fisher's z, with n - 3 in the place of n. Infinite where no number of
    units does it: on a border, and of one value beside others that scatter as far as the border.

    Arguments:
        estimate: with a 95% interval.
        borders: infinite where there is none.
    """
    value, n, error = estimate.value, estimate.n, standard_error(estimate)
    ends = [border for border in borders if math.isfinite(border)]
    if is_r and error is not None and max(map(abs, (value, *ends))) < 1:
        value, *ends = map(fishers_z, (value, *ends))
        lost = 3
    else:
        error, lost = error_of_interval(estimate), 0
    distance = min(abs(value - end) for end in ends)
    quantile, further = two_sided_quantile(level), shift() - two_sided_quantile()
    if estimate.method != ONE_MORE:
        if not distance:
            return math.inf
        return lost + (n - lost) * ((quantile + further) * error / distance) ** 2
    # Of one more value the interval is quantile * sd * sqrt(1 + 1/n), which does not narrow to
    # nothing: x = 1 / sqrt(n) solves quantile * sqrt(1 + x^2) + further * x = distance / sd.
    away = distance / (error / math.sqrt(1 + 1 / n))
    if away <= quantile:
        return math.inf
    rest = quantile**2 - further**2
    root = math.sqrt((further * away) ** 2 + rest * (away**2 - quantile**2))
    return float((rest / (root - further * away)) ** 2)


def error_of_interval(estimate: Estimate) -> float:
    """Return the standard error behind a 95% interval: Student's with n - 1, else by the normal."""
    half = (estimate.high - estimate.low) / 2
    if estimate.method in (STUDENT, ONE_MORE):
        return half / float(scipy.stats.t.isf((1 - LEVEL) / 2, estimate.n - 1))
    return half / two_sided_quantile()


def units_to_tell_shares_apart(first: float, second: float, m: int, n: int) -> float:
    """Return the units, in groups as large to each other as m to n, that tell two shares apart.

    The same formula, of the difference of the shares.
    """
    if first == second:
        return math.inf
    error = math.sqrt(first * (1 - first) / m + second * (1 - second) / n)
    return (m + n) * (shift() * error / (first - second)) ** 2


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
    for chance in significant_tables(first, second, m, n):
        power += chance
    return power


def significant_tables(first: float, second: float, m: int, n: int) -> Iterator[float]:
    """Yield the probability of each table of two groups that Fisher's exact test tells apart.

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
                yield float(chances[0][count] * chances[1][total - count])


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
