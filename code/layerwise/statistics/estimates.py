"""A number with its interval: means, correlations, ratios, effect sizes, and counts.

Every interval is two-sided and textbook, at a level that a family of tests may widen. Under ten
units it is exact, or that of all permutations: Fisher's z is not. Where models may be counted
either way it is the range of the intervals of the likeliest ways to count them. What has no
interval is open at both ends, so that no value alone can answer a question.
"""

import functools
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
ONE_SIDED = 0.90  # level of the interval by which two one-sided tests at 5% show no effect
FEW = 10  # units, under which an interval is exact or that of all permutations
MOST_ARRANGEMENTS = 10_000  # of two groups, up to which all are gone through
STEPS = 120  # of the integral over the law of r, which is then right to 1e-6
# What gives an interval, or the p in its place.
STUDENT, ONE_MORE = "Student's t", "Student's prediction interval"
EXACT, FISHERS_Z = "the exact law of r", "Fisher's z"
PERMUTATIONS, WELCH = "all permutations", "Welch's t"
BONETT_WRIGHT, ZOU = "Fisher's z for ranks", "Zou's difference of two r"
CHI_SQUARE, NONCENTRAL = "chi-square", "the noncentral t"
CLOPPER_PEARSON, FISHERS_TEST = "Clopper and Pearson", "Fisher's exact test"
BOOTSTRAP, WORST_CASE = "the papers' bootstrap", "two bootstraps, each in the worst direction"
ROUNDING = 1e-8  # of the largest value: what varies by less is constant, as far as can be told
LARGE_T = 1e3  # beyond it the inverse of the noncentral t is slow, then wrong
FISHERS_POINTS = 4  # fewer give Fisher's z no standard error


def logarithms(values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Natural logarithms of the C library: NumPy's own differ by processor in the last digit."""
    return np.array([math.log(value) for value in values])


@dataclass(frozen=True)
class Estimate:
    """A number with the ends of its 95% interval and the n units that it rests on.

    Attributes:
        low, high: infinite where there is no interval.
        n: units; `unit` says of what: pairs, categories, prompts, blocks, models.
        p: a two-sided p that counts beside an interval of few resampled points, or in place of an
            interval where a test gives none; None elsewhere.
        where: what it is about more closely, say a layer.
        narrow: the ends at the level of two one-sided tests, of a number that is said to show no
            effect; None elsewhere.
        opposite: of a p, the one by which the numbers lean against what is tested; None elsewhere.
        method: what gives the interval or the p; empty where there is neither.
        fewest: how many units the method needs for an interval, where there is none; else 0.
        groups: of two groups that are compared by their shares, of each (counted, units).
    """

    value: float
    low: float
    high: float
    n: int
    unit: str
    p: float | None = None
    where: str = ""
    narrow: tuple[float, float] | None = None
    method: str = ""
    fewest: int = 0
    opposite: float | None = None
    groups: tuple[tuple[int, int], tuple[int, int]] | None = None

    @property
    def has_interval(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)


def without_interval(
    value: float, n: int, unit: str, where: str = "", *, method: str = "", fewest: int = 0
) -> Estimate:
    """Return a number that has no interval, or none of so few units."""
    return Estimate(value, -math.inf, math.inf, n, unit, where=where, method=method, fewest=fewest)


def family_level(n_tests: int, level: float = LEVEL) -> float:
    """The level at which the intervals of all tests of a family hold together (Bonferroni)."""
    return 1 - (1 - level) / n_tests


def mean_estimate_from_moments(
    mean: float, sd: float, n: int, unit: str, level: float = LEVEL, where: str = ""
) -> Estimate:
    """Return a mean with Student's interval.

    Arguments:
        sd: the population standard deviation of the n values.
    """
    if n < 2:
        return without_interval(mean, n, unit, where)
    half = float(scipy.stats.t.isf((1 - level) / 2, n - 1)) * sd / math.sqrt(n - 1)
    return Estimate(mean, mean - half, mean + half, n, unit, where=where, method=STUDENT)


def prediction_estimate(
    value: float,
    others: Sequence[float] | Float[np.ndarray, " n"],
    unit: str,
    level: float = LEVEL,
    where: str = "",
) -> Estimate:
    """Return a value less the mean of others, with Student's interval for one more of these.

    The interval leaves out zero where a further value of the others' kind would be as far from
    their mean as this one with a probability below 1 - level.
    """
    sample = np.asarray(others, dtype=np.float64)
    n, distance = len(sample), float(value - sample.mean())
    if n < 2:
        return without_interval(distance, n, unit, where)
    quantile = float(scipy.stats.t.isf((1 - level) / 2, n - 1))
    half = quantile * float(sample.std(ddof=1)) * math.sqrt(1 + 1 / n)
    return Estimate(
        distance, distance - half, distance + half, n, unit, where=where, method=ONE_MORE
    )


def mean_estimate(
    values: Sequence[float] | Float[np.ndarray, " n"],
    unit: str,
    level: float = LEVEL,
    where: str = "",
) -> Estimate:
    """Return the mean of a sample with Student's interval."""
    sample = np.asarray(values, dtype=np.float64)
    return mean_estimate_from_moments(
        float(sample.mean()), float(sample.std()), len(sample), unit, level, where
    )


def widened(mean: Estimate, n_tests: int) -> Estimate:
    """Widen Student's interval of a mean to the level of a family of tests."""
    if not mean.has_interval:
        return mean
    low, high = mean_ends_at_level(mean, family_level(n_tests))
    return replace(mean, low=low, high=high)


def with_narrow_mean(mean: Estimate) -> Estimate:
    """Add to a mean with Student's interval the ends for two one-sided tests."""
    if not mean.has_interval:
        return mean
    return replace(mean, narrow=mean_ends_at_level(mean, ONE_SIDED))


def mean_ends_at_level(mean: Estimate, level: float) -> tuple[float, float]:
    """Return the ends of Student's 95% interval of a mean at another level."""
    tails = (1 - level) / 2, (1 - LEVEL) / 2
    quantile, usual = (float(scipy.stats.t.isf(tail, mean.n - 1)) for tail in tails)
    half = (mean.high - mean.value) * quantile / usual
    return mean.value - half, mean.value + half


def difference_estimate(
    first: Float[np.ndarray, " m"], second: Float[np.ndarray, " n"], unit: str, level: float = LEVEL
) -> Estimate:
    """Return the difference of two means with the interval of all permutations of their values.

    A shift lies in it that a permutation test of both groups does not reject once it is taken from
    the first: it is tested by the arrangements in which k values change sides, and each of these
    puts its bound at the difference of the two means of k (Maritz 1995, section 3.1). Open where so
    few arrangements reach no such level; beyond `MOST_ARRANGEMENTS` it is Welch's.
    """
    value, n = float(np.mean(first) - np.mean(second)), len(first) + len(second)
    arrangements = math.comb(n, len(first))
    if arrangements > MOST_ARRANGEMENTS:
        welch = scipy.stats.ttest_ind(first, second, equal_var=False).confidence_interval(level)
        return Estimate(value, float(welch.low), float(welch.high), n, unit, method=WELCH)
    beyond = math.floor((1 - level) / 2 * arrangements)  # bounds that may lie beyond either end
    if beyond < 1:
        fewest = units_to_permute(len(first), level)
        return without_interval(value, n, unit, method=PERMUTATIONS, fewest=fewest)
    bounds = sorted(
        (math.fsum(chosen) - math.fsum(others)) / size
        for size in range(1, min(len(first), len(second)) + 1)
        for chosen in itertools.combinations(first.tolist(), size)
        for others in itertools.combinations(second.tolist(), size)
    )
    return Estimate(value, bounds[beyond - 1], bounds[-beyond], n, unit, method=PERMUTATIONS)


def units_to_permute(first: int | None = None, level: float = LEVEL) -> int:
    """Return the fewest units in two groups whose arrangements reach a level.

    One arrangement lies beyond either end: of three and five there are 56, of three and four 35.

    Arguments:
        first: the size of the first group; with None both are equally large, or differ by one.
    """
    n = 2 if first is None else first + 1
    while math.floor((1 - level) / 2 * math.comb(n, n // 2 if first is None else first)) < 1:
        n += 1
    return n


def two_sided_quantile(level: float = LEVEL) -> float:
    """Return the standard errors from a normal mean to either end of its interval at a level."""
    return float(scipy.stats.norm.isf((1 - level) / 2))


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


def ends_at_level(estimate: Estimate, level: float) -> tuple[float, float]:
    """Return the ends of a correlation's 95% interval at another level.

    On Fisher's z each end keeps its own distance from r, by the ratio of the normal quantiles: so
    an interval of resamples stays as wide, and as skewed, as they make it.
    """
    if not estimate.has_interval:
        return estimate.low, estimate.high
    ours, usual = two_sided_quantile(level), two_sided_quantile()
    z = curves.fishers_z(estimate.value)

    def moved(end: float) -> float:
        if abs(end) >= 1:  # of resamples that all lie on a line
            return end
        return math.tanh(z + (curves.fishers_z(end) - z) * ours / usual)

    return moved(estimate.low), moved(estimate.high)


def widened_r(estimate: Estimate, n_tests: int) -> Estimate:
    """Widen the interval of a correlation to the level of a family of tests."""
    low, high = ends_at_level(estimate, family_level(n_tests))
    return replace(estimate, low=low, high=high)


def with_narrow_r(estimate: Estimate) -> Estimate:
    """Add to a correlation the ends for two one-sided tests."""
    return replace(estimate, narrow=ends_at_level(estimate, ONE_SIDED))


def pearson_estimate(
    x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"], unit: str, level: float = LEVEL
) -> Estimate:
    """Return Pearson's r of two series with its interval."""
    return correlation_estimate(pearson_r(x, y), len(x), unit, level)


def spearman_estimate(
    x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"], unit: str
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
    quantile = two_sided_quantile()
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


def ratio_estimate(
    above: Float[np.ndarray, " n"], below: Float[np.ndarray, " n"], unit: str
) -> Estimate:
    """Return a ratio of means of paired positive values; Student's interval is on its logarithm.

    The variance of log(mean a / mean b) is that of a / mean a - b / mean b, over n.
    """
    if not (np.all(above > 0) and np.all(below > 0)):
        raise LayerwiseError(
            f"a ratio of means needs numbers above zero, found {above} and {below}; "
            "check what they were computed from"
        )
    ratio, n = float(np.mean(above) / np.mean(below)), len(above)
    sd = float(np.std(above / np.mean(above) - below / np.mean(below)))
    log_ratio = mean_estimate_from_moments(math.log(ratio), sd, n, unit)
    return on_log_scale(replace(log_ratio, value=math.log(ratio)))


def on_log_scale(logarithm: Estimate) -> Estimate:
    """Return the number whose logarithm an estimate is of, with the ends of its interval."""
    value, low, high = map(math.exp, (logarithm.value, logarithm.low, logarithm.high))
    return replace(logarithm, value=value, low=low, high=high)


def deviation_estimate(values: Sequence[float], unit: str) -> Estimate:
    """Return a population deviation with the chi-square interval of normal values."""
    sd, n = float(np.std(values)), len(values)
    if n < 2:
        return without_interval(sd, n, unit)
    tails = (1 - LEVEL) / 2, (1 + LEVEL) / 2
    low, high = (sd * math.sqrt(n / scipy.stats.chi2.isf(tail, n - 1)) for tail in tails)
    return Estimate(sd, float(low), float(high), n, unit, method=CHI_SQUARE)


def effect_size_estimate(values: Float[np.ndarray, " n"], unit: str, where: str = "") -> Estimate:
    """Return the mean over the population deviation, with the exact interval (noncentral t)."""
    n, sd = len(values), float(np.std(values))
    if n < 2 or sd <= ROUNDING * float(np.max(np.abs(values))):
        raise LayerwiseError(
            "an effect size needs two values that vary by more than rounding, "
            f"found {values}; check what they came from"
        )
    d = float(np.mean(values)) / sd
    t = d * math.sqrt(n - 1)

    def ends(level: float) -> tuple[float, float]:
        tails = (1 + level) / 2, (1 - level) / 2
        if abs(t) > LARGE_T:  # the error of the mean is nothing to that of the deviation
            factors = (math.sqrt(scipy.stats.chi2.isf(tail, n - 1) / (n - 1)) for tail in tails)
            low, high = sorted(d * factor for factor in factors)
        else:  # the shifts of the law under which this t is its upper and its lower quantile
            shifts = (float(special.nctdtrinc(n - 1, tail, t)) for tail in tails)
            low, high = (shift / math.sqrt(n - 1) for shift in shifts)
        return low, high

    narrow = ends(ONE_SIDED)
    return Estimate(d, *ends(LEVEL), n, unit, where=where, narrow=narrow, method=NONCENTRAL)


def estimate_from_counts(
    estimate: Callable[..., Estimate],
    groups: Sequence[Sequence[float]],
    counted: Sequence[int],
    n: int,
) -> Estimate:
    """Return an estimate from counts of units, some of which may be counted either way.

    Its range is that of the intervals under the likeliest counts, which together hold the level;
    `opposite` is the largest of theirs.

    Arguments:
        estimate: called with a count per group.
        groups: per group the probability of each unit that it is counted; 0 or 1 where it is sure.
        counted: per group the count by the values alone.
    """
    laws = [law_of_count(probabilities) for probabilities in groups]
    counts = itertools.product(*(range(len(law)) for law in laws))
    weights = {
        count: math.prod(float(law[k]) for law, k in zip(laws, count, strict=True))
        for count in counts
    }
    held, likely = 0.0, []
    for count in sorted(weights, key=lambda count: -weights[count]):
        likely.append(estimate(*count))
        held += weights[count]
        if held >= LEVEL:
            break
    n_open = sum(0 < probability < 1 for group in groups for probability in group)
    by_value = estimate(*counted)
    return replace(
        by_value,
        low=min(alternative.low for alternative in likely),
        high=max(alternative.high for alternative in likely),
        n=n,
        where=f"{n_open} counted by the chance that they damp" if n_open else "",
        opposite=_largest([alternative.opposite for alternative in likely]),
    )


def _largest(numbers: Sequence[float | None]) -> float | None:
    """Return the largest number; None where there is none."""
    known = [number for number in numbers if number is not None]
    return max(known, default=None)


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
    quantile = float(scipy.stats.t.isf((1 - LEVEL) / 2, mean.n - 1))
    error = (mean.high - mean.value) / quantile
    return float(scipy.stats.t.cdf((bound - mean.value) / error, mean.n - 1))


def share_estimate(flags: Sequence[bool], unit: str, where: str = "") -> Estimate:
    """Return a share of units, with the exact interval of Clopper and Pearson."""
    n, n_true = len(flags), sum(flags)
    if n < 1:
        raise LayerwiseError("a share needs at least one unit, found none; check the selection")
    ends = scipy.stats.binomtest(n_true, n).proportion_ci(LEVEL)
    low, high = float(ends.low), float(ends.high)
    return Estimate(n_true / n, low, high, n, unit, where=where, method=CLOPPER_PEARSON)


def correlation_difference_estimate(
    y: Float[np.ndarray, " n"],
    first: Float[np.ndarray, " n"],
    second: Float[np.ndarray, " n"],
    unit: str,
) -> Estimate:
    """Return |r| of y and one series less |r| of y and another, with Zou's interval (2007).

    Both are of the same units, so the two r are dependent through that of the series themselves.
    Each series is turned so that its r with y is positive.
    """
    r_first, r_second, between = pearson_r(y, first), pearson_r(y, second), pearson_r(first, second)
    between *= math.copysign(1.0, r_first) * math.copysign(1.0, r_second)
    first_estimate, second_estimate = (
        correlation_estimate(abs(r), len(y), unit) for r in (r_first, r_second)
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
