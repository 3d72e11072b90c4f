"""Tests by Student's t: a mean against a value, a least-squares line."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import special

from layerwise.errors import LayerwiseError
from layerwise.statistics.correlation import pearson_p, pearson_r


@dataclass(frozen=True)
class MeanTest:
    """t of a sample mean against a value, its two-sided p, and the p for a smaller mean."""

    t: float
    p: float
    p_less: float


@dataclass(frozen=True)
class Line:
    """Least-squares line, r, two-sided p and standard error of the slope."""

    slope: float
    intercept: float
    r: float
    p: float
    slope_error: float


def standard_error(values: Float[np.ndarray, " n"]) -> float:
    """Sample standard deviation over the root of n.

    Raises:
        LayerwiseError: for fewer than two values or a value that is not finite.
    """
    if len(values) < 2 or not np.all(np.isfinite(values)):
        raise LayerwiseError(
            f"a standard error needs at least two finite values, found {values}; add data"
        )
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def mean_test(values: Float[np.ndarray, " n"], mean: float) -> MeanTest:
    """One-sample t test.

    `p_less` is half the two-sided p where t is negative and one minus that half where it is not
    (the GPT-2 and GPT-J tests of Paper 3).

    Raises:
        LayerwiseError: see `standard_error`; also for values that are all equal.
    """
    error = standard_error(values)
    if error == 0:
        raise LayerwiseError(
            f"a t test needs values that vary, found {len(values)} times {values[0]:g}; add data"
        )
    t = float((np.mean(values) - mean) / error)
    p = float(2 * special.stdtr(len(values) - 1, -abs(t)))
    return MeanTest(t, p, p / 2 if t < 0 else 1 - p / 2)


def line(x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"]) -> Line:
    """Least-squares line of y on x.

    Raises:
        LayerwiseError: for fewer than three points, a number that is not finite, or a constant
            side.
    """
    r = pearson_r(x, y)
    dx, dy = x - np.mean(x), y - np.mean(y)
    slope = float(dx @ dy / (dx @ dx))
    error = math.sqrt((1 - r**2) * float(dy @ dy) / float(dx @ dx) / (len(x) - 2))
    intercept = float(np.mean(y) - slope * np.mean(x))
    return Line(slope, intercept, r, float(pearson_p(r, len(x))), error)


def power_law(x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"]) -> Line:
    """Least-squares line of log10 y on log10 x; its slope is the exponent.

    Raises:
        LayerwiseError: for a number that is not above zero, or see `line`.
    """
    if not (np.all(x > 0) and np.all(y > 0)):
        raise LayerwiseError(
            f"a power law needs numbers above zero, the smallest are {np.min(x):g} and "
            f"{np.min(y):g}; check what they were computed from"
        )
    return line(np.log10(x), np.log10(y))
