"""Estimates of what is said of pairs or prompts, when these come in categories.

Statements of one category hang together, so an interval over all of them as if they were
independent is too narrow. The number is computed in each category, and these numbers decide:
Student's t over them, unweighted (Ibragimov and Mueller 2010, J. Bus. Econ. Stat. 28, 453; Miller
2024, arXiv:2411.00640), and never narrower than if all categories were alike. A correlation over
all units, or over the categories, has the jackknife over categories.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from layerwise.statistics.curves import fishers_z
from layerwise.statistics.estimates import (
    LEVEL,
    Ends,
    Estimate,
    at_any_level,
    student_quantile,
    two_sided_quantile,
    without_interval,
)
from layerwise.statistics.sizes import FEWEST_PAIRS

BY_CATEGORY = "Student's t over the categories"
ALIKE = "as if the pairs were independent and of one kind"
JACKKNIFE = "leaving out one category in turn"
FEWEST_CATEGORIES = 2
FEWEST_FOR_JACKKNIFE = 5  # categories


def half_width(
    values: Float[np.ndarray, "*set category"], variances: np.ndarray, level: float = LEVEL
) -> Any:
    """Return half the interval of the unweighted mean over categories, of many data sets at once.

    The larger of t with G - 1 degrees of freedom times the error over the categories, and the
    normal quantile times sqrt(sum of the variances within) / G, which holds if all are alike.

    Arguments:
        values: one number a category, in the last axis.
        variances: of each number, by the units within its category; of the same shape, or one set
            for all.
    """
    n = values.shape[-1]
    between = values.std(axis=-1, ddof=1) / math.sqrt(n)
    within = np.sqrt(np.sum(np.broadcast_to(variances, values.shape), axis=-1)) / n
    return np.maximum(student_quantile(n - 1, level) * between, two_sided_quantile(level) * within)


@at_any_level
def mean_over_categories(
    values: Sequence[float], variances: Sequence[float], where: str = "", level: float = LEVEL
) -> Estimate:
    """Return the unweighted mean of a number over categories: see `half_width`."""
    numbers = np.asarray(values, dtype=np.float64)
    mean, n = float(numbers.mean()), len(numbers)
    if n < FEWEST_CATEGORIES:
        return without_interval(mean, n, "categories", where, method=BY_CATEGORY)
    half = float(half_width(numbers, np.asarray(variances, dtype=np.float64), level))
    return Estimate(
        mean, mean - half, mean + half, n, "categories", where=where, method=BY_CATEGORY
    )


def interval_of_r(r: float, n: int, level: float = LEVEL) -> Ends:
    """Return the interval of an r of independent pairs, by Fisher's z."""
    z, half = fishers_z(r), two_sided_quantile(level) / math.sqrt(n - 3)
    return math.tanh(z - half), math.tanh(z + half)


@dataclass(frozen=True)
class Correlations:
    """The r of two series of pairs in each category, and over all pairs.

    Attributes:
        by_category: r by category, of those with `FEWEST_PAIRS` or more.
        sizes: the pairs of each category.
        over_all: r over all pairs; `without`: the same without each category.
    """

    by_category: Mapping[str, float]
    sizes: Mapping[str, int]
    over_all: float
    without: Mapping[str, float]

    @property
    def n_pairs(self) -> int:
        """The number of pairs."""
        return sum(self.sizes.values())


def _with_r_in_each(layers: Sequence[Correlations]) -> list[str]:
    """Return the categories that have an r in every layer."""
    return [name for name in layers[0].by_category if all(name in at.by_category for at in layers)]


def _z_and_variance(
    layers: Sequence[Correlations], names: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Return of each of some categories the mean Fisher's z over layers, and its variance.

    The z of layers hang together, so their mean is taken to vary as each of them does.
    """
    z = np.array([np.mean([fishers_z(at.by_category[name]) for at in layers]) for name in names])
    return z, np.array([1 / (layers[0].sizes[name] - 3) for name in names])


def r_by_category(layers: Sequence[Correlations], where: str = "") -> Estimate:
    """Return the mean over categories of r within each, averaged over layers, by Fisher's z.

    With one category or none the interval is that over all pairs, which decides nothing.
    """
    z, variances = _z_and_variance(layers, _with_r_in_each(layers))
    if len(z) < FEWEST_CATEGORIES:
        return _of_one_kind(layers, where)
    return mean_over_categories(list(z), list(variances), where).mapped(math.tanh)


def _of_one_kind(layers: Sequence[Correlations], where: str) -> Estimate:
    """Return r over all pairs, which come in one category or in none."""
    n = layers[0].n_pairs
    z = float(np.mean([fishers_z(at.over_all) for at in layers]))
    if n < FEWEST_PAIRS:
        return without_interval(math.tanh(z), n, "pairs", where, fewest=FEWEST_PAIRS)

    return _if_alike(z, 1 / math.sqrt(n - 3), n, where).mapped(math.tanh)


def _if_alike(value: float, error: float, n: int, where: str) -> Estimate:
    """Return a normal estimate over pairs of no category, which decides nothing."""

    def ends(level: float) -> Ends:
        half = two_sided_quantile(level) * error
        return value - half, value + half

    low, high = ends(LEVEL)
    return Estimate(
        value,
        low,
        high,
        n,
        "pairs",
        where=where,
        method=ALIKE,
        uncategorised=True,
        at_level=ends,
    )


def z_difference_by_category(
    first: Sequence[Correlations], second: Sequence[Correlations], where: str = ""
) -> Estimate:
    """Return Fisher's z of one group of layers less that of another, in the mean category.

    Of the categories that have an r in every layer of both. If all were alike the two errors add
    up, as those of independent layers do; layers of one model hang together, so that the difference
    varies less.
    """
    names = _with_r_in_each([*first, *second])
    if len(names) < FEWEST_CATEGORIES:
        n = first[0].n_pairs
        difference = float(
            np.mean([fishers_z(at.over_all) for at in first])
            - np.mean([fishers_z(at.over_all) for at in second])
        )
        return _if_alike(difference, math.sqrt(2 / max(n - 3, 1)), n, where)
    z_first, variances = _z_and_variance(first, names)
    z_second, more = _z_and_variance(second, names)
    return mean_over_categories(list(z_first - z_second), list(variances + more), where)


@at_any_level
def jackknife_r(
    r: float, without: Sequence[float], where: str = "", level: float = LEVEL
) -> Estimate:
    """Return an r with the interval by leaving out one category in turn, on Fisher's z.

    The pseudo-values G z - (G - 1) z without one have their mean as the centre of the error alone:
    the interval is about z itself, with t and G - 1 degrees of freedom (Efron and Tibshirani 1993,
    chapter 11).

    Arguments:
        without: the r without each category.
    """
    n = len(without)
    if n < FEWEST_FOR_JACKKNIFE or abs(r) >= 1:
        fewest = FEWEST_FOR_JACKKNIFE
        return without_interval(r, n, "categories", where, method=JACKKNIFE, fewest=fewest)
    left_out = np.array([fishers_z(other) for other in without])
    error = math.sqrt((n - 1) / n * float(np.sum((left_out - left_out.mean()) ** 2)))
    half = student_quantile(n - 1, level) * error
    z = fishers_z(r)
    ends = math.tanh(z - half), math.tanh(z + half)
    return Estimate(r, *ends, n, "categories", where=where, method=JACKKNIFE)
