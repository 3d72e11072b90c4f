"""What a number of units can tell: effects at 80 % power, two-sided at 5 %, by normal theory.

Of a correlation on Fisher's z, and of any other number as it is, from the standard error that its
interval shows, by normal quantiles; of two shares by the law of Fisher's exact test itself.
"""

import math

import numpy as np
import scipy  # and of it `stats`, half a second, where it is used

from layerwise.statistics.curves import fishers_z
from layerwise.statistics.estimates import FISHERS_POINTS, LEVEL, Estimate

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
    if estimate.n < FISHERS_POINTS:
        return None
    error = 1 / math.sqrt(estimate.n - 3)
    if estimate.has_interval and max(abs(estimate.low), abs(estimate.high)) < 1:
        wide = fishers_z(estimate.high) - fishers_z(estimate.low)
        error = wide / 2 / float(scipy.stats.norm.isf((1 - LEVEL) / 2))
    return math.tanh(shift() * error)


def points_for(r: float) -> int | None:
    """How many points tell an r of this size from 0; None where it is 1, or 0 but for rounding."""
    z = fishers_z(abs(r)) if abs(r) < 1 else 0.0
    return math.ceil((shift() / z) ** 2 + 3) if z else None


def smallest_shift(estimate: Estimate) -> float | None:
    """How far from a bound a number must lie for its interval to leave it out; None without one."""
    if not estimate.has_interval:
        return None
    quantile = float(scipy.stats.norm.isf((1 - LEVEL) / 2))
    return (estimate.high - estimate.low) / 2 * shift() / quantile


def power_of_shares(first: float, second: float, m: int, n: int) -> float:
    """How often Fisher's exact test of m and n units finds these true shares to differ."""
    chances = [
        scipy.stats.binom.pmf(np.arange(size + 1), size, share)
        for size, share in ((m, first), (n, second))
    ]
    found = 0.0
    for total in range(m + n + 1):  # of both groups, which the test takes as given
        counts = np.arange(max(0, total - n), min(m, total) + 1)
        likely = scipy.stats.hypergeom.pmf(counts, m + n, m, total)
        for count, one in zip(counts, likely, strict=True):
            if likely[likely <= one * (1 + TIES)].sum() < 1 - LEVEL:
                found += chances[0][count] * chances[1][total - count]
    return float(found)


def units_for_shares(first: float, second: float) -> int | None:
    """How many units in each of two equal groups tell these shares apart; None over `MOST`.

    Power by counts goes up and down: the first number from which it is reached.
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
