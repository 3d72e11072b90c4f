"""The units with which an interval would answer, at 80% power, by normal theory.

A correlation is taken on Fisher's z, any other number as it is; the standard error is the one that
its interval shows.
"""

import math
from collections.abc import Sequence
from itertools import count
from statistics import NormalDist

import scipy  # and of it `stats`, half a second, where it is used

from layerwise.statistics.by_category import BY_CATEGORY, JACKKNIFE
from layerwise.statistics.curves import fishers_z
from layerwise.statistics.estimates import (
    FISHERS_POINTS,
    LEVEL,
    STUDENT,
    Estimate,
    two_sided_quantile,
)

POWER = 0.8
MANY = 1000  # units, with which Student's t is normal
FURTHER = NormalDist().inv_cdf(POWER)  # standard errors beyond the quantile of the level
BY_STUDENT = (STUDENT, BY_CATEGORY, JACKKNIFE)  # whose interval is Student's over its units


def units_to_answer(
    estimate: Estimate, borders: Sequence[float], level: float = LEVEL, *, is_r: bool = False
) -> float:
    """Return the units whose interval leaves out borders with 80% power, if the value is the truth.

    n * ((1.96 + 0.84) * error / distance)^2, with the quantile of the level and the distance to the
    nearest border; of an r on Fisher's z, with n - 3 in the place of n. Where the interval is
    Student's, the fewest units whose test has that power by the noncentral t. Infinite on a border.

    Arguments:
        estimate: with a 95% interval.
        borders: infinite where there is none.
    """
    value, n, lost = estimate.value, estimate.n, 0
    error = error_of_interval(estimate)
    by_student = estimate.method in BY_STUDENT
    ends = [border for border in borders if math.isfinite(border)]
    if is_r and n >= FISHERS_POINTS and max(map(abs, (value, *ends))) < 1:
        value, *ends = map(fishers_z, (value, *ends))
        lost = 0 if by_student else 3
        if estimate.has_interval and max(abs(estimate.low), abs(estimate.high)) < 1:
            error = error_of_interval(estimate.mapped(fishers_z))
        else:
            error = 1 / math.sqrt(n - 3)
    distance = min(abs(value - end) for end in ends)
    if not distance:
        return math.inf
    units = lost + (n - lost) * ((two_sided_quantile(level) + FURTHER) * error / distance) ** 2
    if not by_student or units > MANY:
        return units
    effect = distance / (error * math.sqrt(n))
    return next(
        m for m in count(max(2, math.floor(units))) if power_of_t(effect, m, level) >= POWER
    )


def error_of_interval(estimate: Estimate) -> float:
    """Return the standard error behind a 95% interval: Student's with n - 1, else by the normal."""
    half = (estimate.high - estimate.low) / 2
    if estimate.method in BY_STUDENT:
        return half / float(scipy.stats.t.isf((1 - LEVEL) / 2, estimate.n - 1))
    return half / two_sided_quantile()


def power_of_t(effect: float, n: int, level: float = LEVEL) -> float:
    """Return how often Student's interval of n units leaves out a border on the right side.

    Arguments:
        effect: the distance to the border, in standard deviations of a unit.
    """
    quantile = scipy.stats.t.isf((1 - level) / 2, n - 1)
    return float(scipy.stats.nct.sf(quantile, n - 1, effect * math.sqrt(n)))


def units_all_alike(bound: float) -> int:
    """The fewest units which, all alike, put the exact interval of their share above a bound.

    Of n in n units its low end is tail^(1/n): six units for a half, as 0.025^(1/6) = 0.54.
    """
    return math.floor(math.log((1 - LEVEL) / 2) / math.log(bound)) + 1
