"""A number with its interval: means, correlations, shares, and counts.

Every interval is two-sided and textbook, at a level that a family of tests may widen. Under ten
units it is exact, or that of all permutations: Fisher's z is not. Where models may be counted
either way it is the range of the intervals of the likeliest ways to count them. What has no
interval is open at both ends, so that no value alone can answer a question.
"""

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ParamSpec

import numpy as np
import scipy  # and of it `stats`, half a second, where it is used
from jaxtyping import Float
from scipy import special

from layerwise.errors import LayerwiseError
from layerwise.statistics import curves
from layerwise.statistics.correlation import pearson_r

LEVEL = 0.95
ONE_SIDED = 0.90  # level of the interval by which two one-sided tests at 5% show no effect
FEW = 10  # units, under which an interval is exact or that of all permutations
STEPS = 120  # of the integral over the law of r, which is then right to 1e-6
# What gives an interval, or the p in its place.
STUDENT = "Student's t"
EXACT, FISHERS_Z = "the exact law of r", "Fisher's z"
PERMUTATIONS = "all permutations"
BONETT_WRIGHT, ZOU = "Fisher's z for ranks", "Zou's difference of two r"
CLOPPER_PEARSON, NEWCOMBE = "Clopper and Pearson", "Newcombe's difference of two shares"
BOOTSTRAP = "the papers' bootstrap"
MEAN_BOOTSTRAP = "the mean of the papers' bootstrap intervals"
WORST_CASE = "two bootstraps, each in the worst direction"
FISHERS_POINTS = 4  # fewer give Fisher's z no standard error


def logarithms(values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Natural logarithms of the C library: NumPy's own differ by processor in the last digit."""
    return np.array([math.log(value) for value in values])


Ends = tuple[float, float]
P = ParamSpec("P")


@dataclass(frozen=True)
class Estimate:
    """A number with the ends of its 95% interval and the n units that it rests on.

    Attributes:
        low, high: infinite where there is no interval.
        n: units; `unit` says of what: pairs, categories, prompts, blocks, models.
        p: a two-sided p that counts beside an interval of few resampled points, or in place of an
            interval where a test gives none; None elsewhere.
        where: what it is about more closely, say a layer.
        method: what gives the interval or the p; empty where there is neither.
        fewest: how many units the method needs for an interval, where there is none; else 0.
        uncategorised: whether the units should come from categories, and come from one or none: the
            interval takes them as independent and of one kind, and decides nothing.
        at_level: gives the ends at another level; None where only those of 95% are known.
    """

    value: float
    low: float
    high: float
    n: int
    unit: str
    p: float | None = None
    where: str = ""
    method: str = ""
    fewest: int = 0
    uncategorised: bool = False
    at_level: Callable[[float], Ends] | None = field(default=None, compare=False, repr=False)

    @property
    def has_interval(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)

    def ends(self, level: float) -> Ends:
        """Return the ends of the interval at a level.

        Raises:
            LayerwiseError: where only those of 95% are known.
        """
        if level == LEVEL or not self.has_interval:
            return self.low, self.high
        if self.at_level is None:
            raise LayerwiseError(
                f"an interval by {self.method} is known at 95% alone, {level:.4g} was asked for; "
                "ask without a family of tests"
            )
        return self.at_level(level)

    def mapped(self, function: Callable[[float], float]) -> "Estimate":
        """Return a number that rises, or falls, strictly with this one, with its interval."""
        low, high = _mapped((self.low, self.high), function)
        ends_here = self.at_level
        at_level = None if ends_here is None else lambda level: _mapped(ends_here(level), function)
        return replace(self, value=function(self.value), low=low, high=high, at_level=at_level)


def _mapped(ends: Ends, function: Callable[[float], float]) -> Ends:
    low, high = sorted(map(function, ends))
    return low, high


def at_any_level(function: Callable[P, Estimate]) -> Callable[P, Estimate]:
    """Let what a function estimates at a `level` give its interval at any other level too."""

    def ends(args: tuple[Any, ...], options: Mapping[str, Any], level: float) -> Ends:
        again = function(*args, **{**options, "level": level})
        return again.low, again.high

    @functools.wraps(function)
    def estimate(*args: P.args, **options: P.kwargs) -> Estimate:
        at_level = functools.partial(ends, args, options)
        return replace(function(*args, **options), at_level=at_level)

    return estimate


def without_interval(
    value: float, n: int, unit: str, where: str = "", *, method: str = "", fewest: int = 0
) -> Estimate:
    """Return a number that has no interval, or none of so few units."""
    return Estimate(value, -math.inf, math.inf, n, unit, where=where, method=method, fewest=fewest)


def family_level(n_tests: int, level: float = LEVEL) -> float:
    """The level at which the intervals of all tests of a family hold together (Bonferroni)."""
    return 1 - (1 - level) / n_tests


@at_any_level
def mean_estimate_from_moments(
    mean: float, sd: float, n: int, unit: str, level: float = LEVEL, where: str = ""
) -> Estimate:
    """Return a mean with Student's interval.

    Arguments:
        sd: the population standard deviation of the n values.
    """
    if n < 2:
        return without_interval(mean, n, unit, where)
    half = student_quantile(n - 1, level) * sd / math.sqrt(n - 1)
    return Estimate(mean, mean - half, mean + half, n, unit, where=where, method=STUDENT)


def mean_estimate(
    values: Sequence[float] | Float[np.ndarray, " n"],
    unit: str,
    level: float = LEVEL,
    where: str = "",
) -> Estimate:
    """Return the mean of a sample with Student's interval."""
    sample = np.asarray(values, dtype=np.float64)
    mean, sd = float(sample.mean()), float(sample.std())
    return mean_estimate_from_moments(mean, sd, len(sample), unit, level=level, where=where)


def units_to_permute(level: float = LEVEL) -> int:
    """Return the fewest units in two groups as equal as can be whose arrangements reach a level.

    One arrangement lies beyond either end: of four and four there are 70, of three and four 35.
    """
    n = 2
    while math.floor((1 - level) / 2 * math.comb(n, n // 2)) < 1:
        n += 1
    return n


@functools.lru_cache(maxsize=4096)  # asked for again and again, and SciPy takes its time
def two_sided_quantile(level: float = LEVEL) -> float:
    """Return the standard errors from a normal mean to either end of its interval at a level."""
    return float(scipy.stats.norm.isf((1 - level) / 2))


@functools.lru_cache(maxsize=4096)
def student_quantile(freedom: int | float, level: float = LEVEL) -> float:
    """Return the same by Student's law."""
    return float(scipy.stats.t.isf((1 - level) / 2, freedom))


@at_any_level
def correlation_estimate(
    r: float, n: int, unit: str, level: float = LEVEL, where: str = ""
) -> Estimate:
    """Return a correlation with its interval: exact under ten points, Fisher's from ten on.

    Open under four points or where |r| is 1.
    """
    if n < FISHERS_POINTS or abs(r) >= 1:
        method = EXACT if n < FEW else FISHERS_Z
        return without_interval(r, n, unit, where, method=method, fewest=FISHERS_POINTS)
    if n < FEW:
        ends = exact_correlation_ends(r, n, level)
        return Estimate(r, *ends, n, unit, where=where, method=EXACT)
    quantile = two_sided_quantile(level)
    z, half = curves.fishers_z(r), quantile / math.sqrt(n - 3)
    ends = math.tanh(z - half), math.tanh(z + half)
    return Estimate(r, *ends, n, unit, where=where, method=FISHERS_Z)


@functools.lru_cache(maxsize=4096)  # questions, their choices and power ask for the same ones
def exact_correlation_ends(r: float, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the ends of the exact interval of a correlation of normal series.

    At either end the true r makes one as far out as this one as rare as half of what the level
    leaves. So the interval leaves zero out where the t-test of r gives p under 1 - level.
    """
    z, tail = curves.fishers_z(r), (1 - level) / 2

    def end(share: float) -> float:
        def excess(true_z: float) -> float:
            return share_below(z, n, true_z) - share

        return math.tanh(scipy.optimize.brentq(excess, z - 12, z + 12, xtol=1e-8))

    # the last digits rest on the processor's own exponentials
    return round(end(1 - tail), 8), round(end(tail), 8)


def share_below(z: float, n: int, true_z: float) -> float:
    """Return the probability that n pairs of normal series show an r below another.

    Hotelling (1953, J. R. Stat. Soc. B 15, 193, equation 25), on z = atanh(r), where the law is
    smooth up to |r| = 1 and falls at least as fast as exp(-(n - 2) |z|); by Simpson's rule.

    Arguments:
        z: atanh of that other r.
        true_z: atanh of the r behind the series.
    """
    start = min(z, true_z) - 25 / (n - 2)
    points = [start + (z - start) * step / STEPS for step in range(STEPS + 1)]
    products = [(1 + math.tanh(true_z) * math.tanh(point)) / 2 for point in points]
    series = special.hyp2f1(0.5, 0.5, n - 0.5, products)
    constant = (n - 2) * math.exp(math.lgamma(n - 1) - math.lgamma(n - 0.5))
    constant /= math.sqrt(2 * math.pi)
    heights = [
        constant
        * math.sqrt(math.cosh(point) / math.cosh(true_z))
        * math.cosh(point - true_z) ** (1.5 - n)
        * float(factor)
        for point, factor in zip(points, series, strict=True)
    ]
    weighted = [heights[0], heights[-1], *(4 * height for height in heights[1:-1:2])]
    weighted += [2 * height for height in heights[2:-1:2]]
    return math.fsum(weighted) * (z - start) / STEPS / 3


@at_any_level
def published_correlation(
    r: float,
    ends: Ends,
    n: int,
    unit: str,
    where: str = "",
    p: float | None = None,
    level: float = LEVEL,
) -> Estimate:
    """Return a correlation with the 95% bootstrap interval that the papers give it.

    At another level each end keeps its own distance from r on Fisher's z, by the ratio of the
    normal quantiles: so the interval stays as wide, and as skewed, as the resamples make it.
    """
    z, ratio = curves.fishers_z(r), two_sided_quantile(level) / two_sided_quantile()
    low, high = (
        end  # of resamples that all lie on a line
        if abs(end) >= 1 or ratio == 1
        else math.tanh(z + (curves.fishers_z(end) - z) * ratio)
        for end in ends
    )
    return Estimate(r, low, high, n, unit, p, where, method=BOOTSTRAP)


def pearson_estimate(
    x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"], unit: str, level: float = LEVEL
) -> Estimate:
    """Return Pearson's r of two series with its interval."""
    return correlation_estimate(pearson_r(x, y), len(x), unit, level=level)


@at_any_level
def spearman_estimate(
    x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"], unit: str, level: float = LEVEL
) -> Estimate:
    """Return Spearman's r of two series.

    Under ten points with the two-sided p of all permutations in place of an interval; from ten on
    with Fisher's interval by the standard error of Bonett and Wright (2000), which grows with r.
    """
    ranks = [scipy.stats.rankdata(side) for side in (x, y)]
    r, n = pearson_r(*ranks), len(x)
    if n < FEW:
        none = without_interval(r, n, unit, method=PERMUTATIONS)
        return replace(none, p=permutation_p(*ranks))
    if abs(r) >= 1:
        return without_interval(r, n, unit, method=BONETT_WRIGHT)
    quantile = two_sided_quantile(level)
    z, half = curves.fishers_z(r), quantile * math.sqrt((1 + r**2 / 2) / (n - 3))
    ends = math.tanh(z - half), math.tanh(z + half)
    return Estimate(r, *ends, n, unit, method=BONETT_WRIGHT)


def permutation_p(ranks: Float[np.ndarray, " n"], others: Float[np.ndarray, " n"]) -> float:
    """Return the share of all orders of one side that correlate as strongly, either way."""
    first, second = (np.rint(2 * side).astype(np.int64) for side in (ranks, others))
    n, level = len(first), int(first.sum()) * int(second.sum())
    orders = np.array(list(itertools.permutations(second.tolist())))
    sizes = np.abs(n * (orders * first).sum(axis=1) - level)  # whole numbers: ties are ties
    return float(np.mean(sizes >= abs(n * int(first @ second) - level)))


def estimate_from_counts(
    estimate: Callable[..., Estimate],
    groups: Sequence[Sequence[float]],
    counted: Sequence[int],
    n: int,
) -> Estimate:
    """Return an estimate from counts of units, some of which may be counted either way.

    Its interval is the range of those under the likeliest counts, which together hold 95%.

    Arguments:
        estimate: called with a count per group.
        groups: per group the probability of each unit that it is counted; 0 or 1 where it is sure.
        counted: per group the count by the values alone.
    """
    likely = [estimate(*counts) for counts in likeliest_counts(groups)]
    n_open = sum(0 < probability < 1 for group in groups for probability in group)

    def ends(level: float) -> Ends:
        both = [alternative.ends(level) for alternative in likely]
        return min(low for low, _ in both), max(high for _, high in both)

    low, high = ends(LEVEL)
    return replace(
        estimate(*counted),
        low=low,
        high=high,
        n=n,
        where=f"{n_open} counted by the chance that they damp" if n_open else "",
        at_level=ends,
    )


def likeliest_counts(groups: Sequence[Sequence[float]]) -> list[tuple[int, ...]]:
    """Return counts, one a group, the likeliest first, until together they hold 95%.

    Arguments:
        groups: per group the probability of each unit that it is counted.
    """
    laws = [law_of_count(probabilities) for probabilities in groups]
    weights = {
        counts: math.prod(float(law[k]) for law, k in zip(laws, counts, strict=True))
        for counts in itertools.product(*(range(len(law)) for law in laws))
    }
    order = sorted(weights, key=lambda counts: -weights[counts])
    held = list(itertools.accumulate(weights[counts] for counts in order))
    return order[: sum(weight < LEVEL for weight in held) + 1]


def law_of_count(probabilities: Sequence[float]) -> Float[np.ndarray, " count"]:
    """Return the probabilities of how many independent units are counted."""
    law = np.array([1.0])
    for probability in probabilities:
        law = np.convolve(law, [1 - probability, probability])
    return law


def chance_below(mean: Estimate, bound: float) -> float:
    """Return the probability by Student's law that a mean lies below a bound.

    0 or 1 where its 95% interval does not include the bound: such a mean is sure.
    """
    if not mean.low < bound < mean.high:
        return float(mean.value < bound)
    if not mean.has_interval:
        return 0.5
    quantile = student_quantile(mean.n - 1)
    error = (mean.high - mean.value) / quantile
    return float(scipy.stats.t.cdf((bound - mean.value) / error, mean.n - 1))


@at_any_level
def share_estimate(
    flags: Sequence[bool], unit: str, where: str = "", level: float = LEVEL
) -> Estimate:
    """Return a share of units, with the exact interval of Clopper and Pearson."""
    n, n_true = len(flags), sum(flags)
    if n < 1:
        raise LayerwiseError("a share needs at least one unit, found none; check the selection")
    ends = scipy.stats.binomtest(n_true, n).proportion_ci(level)
    low, high = float(ends.low), float(ends.high)
    return Estimate(n_true / n, low, high, n, unit, where=where, method=CLOPPER_PEARSON)


@at_any_level
def share_difference_estimate(
    counted: tuple[int, int], n: tuple[int, int], unit: str, level: float = LEVEL
) -> Estimate:
    """Return the share of one group less that of another, with Newcombe's interval.

    Each end is that of the two shares' own intervals by Wilson, in quadrature (Newcombe 1998, Stat.
    Med. 17, 873, method 10).

    Arguments:
        counted: the units that count, of each group; `n`: all of each.
    """
    shares = [count / size for count, size in zip(counted, n, strict=True)]
    own = [
        scipy.stats.binomtest(count, size).proportion_ci(level, method="wilson")
        for count, size in zip(counted, n, strict=True)
    ]
    value = shares[0] - shares[1]
    below = math.hypot(shares[0] - own[0].low, own[1].high - shares[1])
    above = math.hypot(own[0].high - shares[0], shares[1] - own[1].low)
    return Estimate(value, value - below, value + above, sum(n), unit, method=NEWCOMBE)


@at_any_level
def correlation_difference_estimate(
    y: Float[np.ndarray, " n"],
    first: Float[np.ndarray, " n"],
    second: Float[np.ndarray, " n"],
    unit: str,
    level: float = LEVEL,
) -> Estimate:
    """Return |r| of y and one series less |r| of y and another, with Zou's interval (2007).

    Both are of the same units, so the two r are dependent through that of the series themselves.
    Each series is turned so that its r with y is positive.
    """
    r_first, r_second, between = pearson_r(y, first), pearson_r(y, second), pearson_r(first, second)
    between *= math.copysign(1.0, r_first) * math.copysign(1.0, r_second)
    first_estimate, second_estimate = (
        correlation_estimate(abs(r), len(y), unit, level) for r in (r_first, r_second)
    )
    value = first_estimate.value - second_estimate.value
    if not (first_estimate.has_interval and second_estimate.has_interval):
        return without_interval(value, len(y), unit, method=ZOU, fewest=FISHERS_POINTS)
    remainder = 1 - first_estimate.value**2 - second_estimate.value**2 - between**2
    together = (between - first_estimate.value * second_estimate.value / 2) * remainder + between**3
    together /= (1 - first_estimate.value**2) * (1 - second_estimate.value**2)

    def half(near: float, far: float) -> float:
        return math.sqrt(max(near**2 + far**2 - 2 * together * near * far, 0.0))

    low = value - half(
        first_estimate.value - first_estimate.low, second_estimate.high - second_estimate.value
    )
    high = value + half(
        first_estimate.high - first_estimate.value, second_estimate.value - second_estimate.low
    )
    # neither |r| is beyond 0 and 1, so no difference is beyond -1 and 1
    return Estimate(value, max(low, -1.0), min(high, 1.0), len(y), unit, method=ZOU)
