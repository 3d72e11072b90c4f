"""A number with its interval: means, correlations, ratios, slopes, effect sizes, and counts.

Every interval is two-sided and textbook, at a level that a family of tests may widen; where models
are counted, it spans those of every way to count them. What has no interval is open at both ends,
so that no value alone can answer a question.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy  # and of it `stats`, half a second, where it is used
from jaxtyping import Float
from scipy import special

from layerwise.errors import LayerwiseError
from layerwise.statistics import curves
from layerwise.statistics.correlation import pearson_r

LEVEL = 0.95
ROUNDING = 1e-8  # of the largest value: what varies by less is constant, as far as can be told
LARGE_T = 1e3  # beyond it the inverse of the noncentral t is slow, then wrong
FISHERS_POINTS = 4  # fewer give Fisher's z no standard error


def logarithms(values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Natural logarithms of the C library: NumPy's own differ by processor in the last digit."""
    return np.array([math.log(one) for one in values])


@dataclass(frozen=True)
class Estimate:
    """A number with the ends of its 95% interval and the n units that it rests on.

    Attributes:
        low, high: infinite where there is no interval.
        n: units; `unit` says of what: pairs, categories, prompts, blocks, models.
        p: a two-sided p that counts beside an interval of few resampled points; None elsewhere.
        where: what it is about more closely, say a layer.
    """

    value: float
    low: float
    high: float
    n: int
    unit: str
    p: float | None = None
    where: str = ""

    @property
    def has_interval(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)


def without_interval(value: float, n: int, unit: str, where: str = "") -> Estimate:
    return Estimate(value, -math.inf, math.inf, n, unit, where=where)


def family_level(n_tests: int, level: float = LEVEL) -> float:
    """The level at which the intervals of all tests of a family hold together (Bonferroni)."""
    return 1 - (1 - level) / n_tests


def of_moments(
    mean: float, spread: float, n: int, unit: str, level: float = LEVEL, where: str = ""
) -> Estimate:
    """A mean with Student's interval, from the population deviation of its n values."""
    if n < 2:
        return without_interval(mean, n, unit, where)
    half = float(scipy.stats.t.isf((1 - level) / 2, n - 1)) * spread / math.sqrt(n - 1)
    return Estimate(mean, mean - half, mean + half, n, unit, where=where)


def of_mean(
    values: Sequence[float] | Float[np.ndarray, " n"],
    unit: str,
    level: float = LEVEL,
    where: str = "",
) -> Estimate:
    """A mean with Student's interval."""
    found = np.asarray(values, dtype=np.float64)
    return of_moments(float(found.mean()), float(found.std()), len(found), unit, level, where)


def widened(mean: Estimate, n_tests: int) -> Estimate:
    """A mean with Student's interval, at the level of a family of tests."""
    if not mean.has_interval:
        return mean
    tails = ((1 - level) / 2 for level in (family_level(n_tests), LEVEL))
    wide, usual = (float(scipy.stats.t.isf(tail, mean.n - 1)) for tail in tails)
    half = (mean.high - mean.value) * wide / usual
    return replace(mean, low=mean.value - half, high=mean.value + half)


def of_difference(
    first: Float[np.ndarray, " m"], second: Float[np.ndarray, " n"], unit: str, level: float = LEVEL
) -> Estimate:
    """Difference of two means with Welch's interval; open where a sample has one value."""
    value, n = float(np.mean(first) - np.mean(second)), len(first) + len(second)
    if min(len(first), len(second)) < 2:
        return without_interval(value, n, unit)
    found = scipy.stats.ttest_ind(first, second, equal_var=False).confidence_interval(level)
    return Estimate(value, float(found.low), float(found.high), n, unit)


def of_r(
    r: float, n: int, unit: str, level: float = LEVEL, where: str = "", *, of_ranks: bool = False
) -> Estimate:
    """A correlation with Fisher's interval, open under four points or where |r| is 1.

    Of ranks with the standard error of Bonett and Wright (2000), which grows with r.
    """
    if n < FISHERS_POINTS or abs(r) >= 1:
        return without_interval(r, n, unit, where)
    quantile = float(scipy.stats.norm.isf((1 - level) / 2))
    spread = math.sqrt(1 + r**2 / 2) if of_ranks else 1.0
    z, half = curves.fishers_z(r), quantile * spread / math.sqrt(n - 3)
    return Estimate(r, math.tanh(z - half), math.tanh(z + half), n, unit, where=where)


def of_series(
    x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"], unit: str, level: float = LEVEL
) -> Estimate:
    """Pearson's r of two series with Fisher's interval."""
    return of_r(pearson_r(x, y), len(x), unit, level)


def of_rank_series(x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"], unit: str) -> Estimate:
    """Spearman's r of two series."""
    ranks = (scipy.stats.rankdata(side) for side in (x, y))
    return of_r(pearson_r(*ranks), len(x), unit, of_ranks=True)


def of_ratio(above: Float[np.ndarray, " n"], below: Float[np.ndarray, " n"], unit: str) -> Estimate:
    """Mean over mean of paired positive values; the interval is Student's on its logarithm.

    The variance of log(mean a / mean b) is that of a / mean a - b / mean b, over n.
    """
    if not (np.all(above > 0) and np.all(below > 0)):
        raise LayerwiseError(
            f"a ratio of means needs numbers above zero, found {above} and {below}; "
            "check what they were computed from"
        )
    ratio, n = float(np.mean(above) / np.mean(below)), len(above)
    spread = float(np.std(above / np.mean(above) - below / np.mean(below)))
    of_log = of_moments(math.log(ratio), spread, n, unit)
    return Estimate(ratio, math.exp(of_log.low), math.exp(of_log.high), n, unit)


def of_slope(values: Sequence[float], unit: str, where: str = "") -> Estimate:
    """Slope over 0, 1, 2, ... of the least-squares line, with Student's interval.

    Successive values are not independent. Where neighbours' residuals correlate by r1 > 0, n values
    count as n (1 - r1) / (1 + r1), in the deviation and in the degrees of freedom (Santer et al.
    2000, J. Geophys. Res. 105, 7337, equation 6).
    """
    slope, r = curves.line_fit(values)
    freedom = _independent(values, slope) - 2
    if r == 0 or freedom <= 0:
        return without_interval(slope, len(values), unit, where)
    error = abs(slope) * math.sqrt((1 / r**2 - 1) / freedom)
    half = float(scipy.stats.t.isf((1 - LEVEL) / 2, freedom)) * error
    return Estimate(slope, slope - half, slope + half, len(values), unit, where=where)


def _independent(values: Sequence[float], slope: float) -> float:
    """As how many independent values those around a line count."""
    n = len(values)
    middle = math.fsum(values) / n if n else 0.0
    left = [value - middle - slope * (row - (n - 1) / 2) for row, value in enumerate(values)]
    square = math.fsum(one * one for one in left)
    together = math.fsum(one * other for one, other in itertools.pairwise(left))
    r1 = min(max(together / square, 0.0), 1.0) if square > 0 else 0.0
    return n * (1 - r1) / (1 + r1)


def of_effect(values: Float[np.ndarray, " n"], unit: str, where: str = "") -> Estimate:
    """Mean over population deviation, with the exact interval (noncentral t)."""
    n, spread = len(values), float(np.std(values))
    if n < 2 or spread <= ROUNDING * float(np.max(np.abs(values))):
        raise LayerwiseError(
            "an effect size needs two values that vary by more than rounding, "
            f"found {values}; check what they came from"
        )
    d = float(np.mean(values)) / spread
    t = d * math.sqrt(n - 1)
    tails = (1 + LEVEL) / 2, (1 - LEVEL) / 2
    if abs(t) > LARGE_T:  # the error of the mean is nothing to that of the deviation
        factors = (math.sqrt(scipy.stats.chi2.isf(tail, n - 1) / (n - 1)) for tail in tails)
        low, high = sorted(d * factor for factor in factors)
    else:  # the shifts of the law under which this t is its upper and its lower quantile
        shifts = (float(special.nctdtrinc(n - 1, tail, t)) for tail in tails)
        low, high = (shift / math.sqrt(n - 1) for shift in shifts)
    return Estimate(d, low, high, n, unit, where=where)


def of_counts(
    estimate: Callable[..., Estimate],
    sides: Sequence[tuple[int, int]],
    counted: Sequence[int],
    n: int,
) -> Estimate:
    """An estimate from counts of models; its interval holds however the undecided are counted.

    Arguments:
        estimate: of a count per group; the interval spans those of all ways to count.
        sides: per group how many models are decided, and how many are not.
        counted: per group the count by the values alone.
    """
    every = itertools.product(*(range(sure, sure + open_ + 1) for sure, open_ in sides))
    found = [estimate(*counts) for counts in every]
    n_open = sum(open_ for _, open_ in sides)
    where = f"{n_open} undecided, counted either way" if n_open else ""
    ends = min(one.low for one in found), max(one.high for one in found)
    return Estimate(estimate(*counted).value, *ends, n, "models", where=where)


def of_share(flags: Sequence[bool], unit: str, where: str = "") -> Estimate:
    """A share of units, with the exact interval of Clopper and Pearson."""
    n, found = len(flags), sum(flags)
    if n < 1:
        raise LayerwiseError("a share needs at least one unit, found none; check the selection")
    ends = scipy.stats.binomtest(found, n).proportion_ci(LEVEL)
    return Estimate(found / n, float(ends.low), float(ends.high), n, unit, where=where)


def of_two_rules(first: int, second: int, n: int, unit: str) -> Estimate:
    """Accuracy of one rule less that of another on the same n units.

    Arguments:
        first, second: units of which only the first rule, or only the second one, is right.

    The interval is that of Clopper and Pearson on the share of these, as in McNemar's exact test;
    open where the two rules never differ.
    """
    differ = first + second
    if not differ:
        return without_interval(0.0, n, unit)
    ends = scipy.stats.binomtest(first, differ).proportion_ci(LEVEL)
    low, high = ((2 * float(end) - 1) * differ / n for end in (ends.low, ends.high))
    return Estimate((first - second) / n, low, high, n, unit)


def of_r_difference(
    y: Float[np.ndarray, " n"],
    first: Float[np.ndarray, " n"],
    second: Float[np.ndarray, " n"],
    unit: str,
) -> Estimate:
    """|r| of y and one series less |r| of y and another, with the interval of Zou (2007).

    Both are of the same units, so the two r are dependent through that of the series themselves.
    Each series is turned so that its r with y is positive.
    """
    a, b, between = pearson_r(y, first), pearson_r(y, second), pearson_r(first, second)
    between *= math.copysign(1.0, a) * math.copysign(1.0, b)
    one, other = (of_r(abs(r), len(y), unit) for r in (a, b))
    value = one.value - other.value
    if not (one.has_interval and other.has_interval):
        return without_interval(value, len(y), unit)
    spread = 1 - one.value**2 - other.value**2 - between**2
    together = (between - one.value * other.value / 2) * spread + between**3
    together /= (1 - one.value**2) * (1 - other.value**2)

    def half(near: float, far: float) -> float:
        return math.sqrt(max(near**2 + far**2 - 2 * together * near * far, 0.0))

    low = value - half(one.value - one.low, other.high - other.value)
    high = value + half(one.high - one.value, other.value - other.low)
    # neither |r| is beyond 0 and 1, so no difference is beyond -1 and 1
    return Estimate(value, max(low, -1.0), min(high, 1.0), len(y), unit)
