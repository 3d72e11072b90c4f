"""Samples of numbers: effect sizes, Student's t, ranks, many tests at once.

SciPy's where the test is a textbook's, with errors in the place of warnings and NaN.
"""

from collections.abc import Sequence

import numpy as np
import scipy  # and of it `stats`, half a second, where it is used
from jaxtyping import Float
from scipy import special

from layerwise.errors import LayerwiseError
from layerwise.statistics.correlation import Correlation, require_series

OFFSET = 1e-10  # added to the standard deviation, as published


def require_sample(
    values: Float[np.ndarray, " n"], at_least: int = 2, *, varying: bool = True
) -> Float[np.ndarray, " n"]:
    """The values, unless they are fewer, not finite, or (if `varying`) all equal."""
    constant = varying and len(values) > 0 and np.all(values == values[0])
    if len(values) < at_least or not np.all(np.isfinite(values)) or constant:
        raise LayerwiseError(
            f"a sample needs at least {at_least} finite values{' that vary' if varying else ''}, "
            f"found {len(values)}: {values}; check what they came from"
        )
    return values


def cohens_d(values: Float[np.ndarray, " n"]) -> float:
    """Mean over (population SD + 1e-10) (Paper 1, notebook 003); of values that may be equal."""
    require_sample(values, at_least=1, varying=False)
    return float(np.mean(values) / (np.std(values) + OFFSET))


def sample_d(values: Float[np.ndarray, " n"]) -> float:
    """Mean over the sample standard deviation (n - 1): Cohen's d as textbooks define it."""
    require_sample(values)
    return float(np.mean(values) / np.std(values, ddof=1))


def pooled_d(first: Float[np.ndarray, " m"], second: Float[np.ndarray, " n"]) -> float:
    """Difference of means over the root of the mean of the two sample variances.

    Means and standard deviations have the precision of the samples (benchmark).
    """
    pooled_t(first, second)
    spread = np.sqrt((float(first.std(ddof=1)) ** 2 + float(second.std(ddof=1)) ** 2) / 2)
    return float(float(first.mean() - second.mean()) / spread)


def pooled_t(
    first: Float[np.ndarray, " m"], second: Float[np.ndarray, " n"]
) -> tuple[float, float]:
    """Student's t of two samples, first minus second, with pooled variance, and its two-sided p.

    Means, their difference and population variances have the precision of the samples, the rest
    is float64: of float32 samples that is what scipy gave under numpy 1.
    """
    m, n = (len(require_sample(sample, varying=False)) for sample in (first, second))
    squares = m * float(np.var(first)) + n * float(np.var(second))
    if squares == 0:
        raise LayerwiseError("a t test needs values that vary, both samples are constant; add data")
    freedom = m + n - 2
    error = np.sqrt(squares / freedom * (1 / m + 1 / n))
    t = float(np.mean(first) - np.mean(second)) / error
    return float(t), float(2 * special.stdtr(freedom, -abs(t)))


def spearman(x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"]) -> Correlation:
    """Spearman's r and its p by Student's law; equal values share the mean of their ranks."""
    require_series(x, y)
    return Correlation(*map(float, scipy.stats.spearmanr(x, y)))


def mann_whitney(x: Float[np.ndarray, " m"], y: Float[np.ndarray, " n"]) -> tuple[float, float]:
    """(U of x, exact two-sided p) without ties: U counts the pairs in which x is larger."""
    for sample in (x, y):
        require_sample(sample, at_least=1, varying=False)
    if len(np.unique(np.concatenate([x, y]))) < len(x) + len(y):
        raise LayerwiseError(
            f"the exact rank test needs numbers that all differ, found {x} and {y}; "
            "use a test that corrects for ties"
        )
    test = scipy.stats.mannwhitneyu(x, y, method="exact")
    return float(test.statistic), float(test.pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p-values: family-wise error over all tests, any dependence."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted.tolist()
