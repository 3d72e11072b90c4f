"""Samples of numbers: Student's t of two with a common variance, Cohen's d, what a test needs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import special

from layerwise.errors import LayerwiseError


class TTest(NamedTuple):
    """Student's t and its two-sided p-value."""

    t: float
    p_value: float


def require_sample(values: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """The values, if a t test has a value for them.

    Raises:
        LayerwiseError: for fewer than two, one that is not finite, or values that are all equal.
    """
    if len(values) < 2 or not np.all(np.isfinite(values)) or np.all(values == values[0]):
        raise LayerwiseError(
            "a t test needs a sample of at least two finite values that vary, found "
            f"{len(values)}: {values}; check what they came from"
        )
    return values


def pooled_t(first: Float[np.ndarray, " m"], second: Float[np.ndarray, " n"]) -> TTest:
    """Student's t of two samples, first minus second, with pooled variance.

    Means, their difference and population variances have the precision of the samples, the rest
    is float64: of float32 samples that is what scipy gave under numpy 1.

    Raises:
        LayerwiseError: for a sample under two values, a value that is not finite, or no variance.
    """
    m, n = len(first), len(second)
    if min(m, n) < 2 or not all(np.all(np.isfinite(x)) for x in (first, second)):
        raise LayerwiseError(
            f"a t test needs two samples of at least two finite values, found {m} and {n} values; "
            "check what they came from"
        )
    squares = m * float(np.var(first)) + n * float(np.var(second))
    if squares == 0:
        raise LayerwiseError("a t test needs values that vary, both samples are constant; add data")
    freedom = m + n - 2
    error = np.sqrt(squares / freedom * (1 / m + 1 / n))
    t = float(np.mean(first) - np.mean(second)) / error
    return TTest(float(t), float(2 * special.stdtr(freedom, -abs(t))))


def pooled_d(first: Float[np.ndarray, " m"], second: Float[np.ndarray, " n"]) -> float:
    """Cohen's d: difference of means over the root of the mean of the two sample variances.

    Means and standard deviations have the precision of the samples (benchmark).

    Raises:
        LayerwiseError: see `pooled_t`.
    """
    pooled_t(first, second)
    spread = np.sqrt((float(first.std(ddof=1)) ** 2 + float(second.std(ddof=1)) ** 2) / 2)
    return float(float(first.mean() - second.mean()) / spread)


def control_verdict(p_value: float, ratio: float) -> str:
    """CONFIRMED where p < 0.05 and the effect ratio exceeds 1.5, else INCONCLUSIVE."""
    return "CONFIRMED" if p_value < 0.05 and ratio > 1.5 else "INCONCLUSIVE"
