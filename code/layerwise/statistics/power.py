"""The units with which an interval would answer, at 80% power, by normal theory.

A correlation is taken on Fisher's z, any other number as it is; the standard error is the one that
its interval shows.
"""

import math
from collections.abc import Sequence

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
BY_STUDENT = (STUDENT, BY_CATEGORY, JACKKNIFE)  # whose interval is Student's over its units


def shift() -> float:
    """Standard errors between zero and what is found with that power: 1.96 + 0.84."""
    tails = (1 - LEVEL) / 2, 1 - POWER
    return float(sum(scipy.stats.norm.isf(tail) for tail in tails))


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


def units_to_answer(
    estimate: Estimate, borders: Sequence[float], level: float = LEVEL, *, is_r: bool = False
) -> float:
    """Return the units whose interval leaves out borders with 80% power, if the value is the truth.

    n * ((1.96 + 0.84) * error / distance)^2, with the quantile of the level and the distance to the
    nearest border; of an r on Fisher's z, with n - 3 in the place of n. Infinite on a border.

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
    if not distance:
        return math.inf
    return lost + (n - lost) * ((quantile + further) * error / distance) ** 2


def error_of_interval(estimate: Estimate) -> float:
    """Return the standard error behind a 95% interval: Student's with n - 1, else by the normal."""
    half = (estimate.high - estimate.low) / 2
    if estimate.method in BY_STUDENT:
        return half / float(scipy.stats.t.isf((1 - LEVEL) / 2, estimate.n - 1))
    return half / two_sided_quantile()


def units_all_alike(bound: float) -> int:
    """The fewest units which, all alike, put the exact interval of their share above a bound.

    Of n in n units its low end is tail^(1/n): six units for a half, as 0.025^(1/6) = 0.54.
    """
    return math.floor(math.log((1 - LEVEL) / 2) / math.log(bound)) + 1
