"""Two samples: Spearman's r, the pooled t test and Cohen's d in the precision of the samples."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy import special

from layerwise.errors import LayerwiseError
from layerwise.statistics.correlation import pearson_r, require_series


def ranks(values: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """Ranks from 1; equal values share the mean of theirs."""
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(sizes) - (sizes - 1) / 2)[group].astype(np.float64)


def spearman_r(x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"]) -> float:
    """Spearman's rank correlation; `correlation.pearson_p` gives its p-value from Student's law.

    Raises:
        LayerwiseError: see `correlation.require_series`.
    """
    require_series(x, y)
    return pearson_r(ranks(x), ranks(y))


def _moments(x: Float[np.ndarray, " n"]) -> tuple[np.floating, float]:
    """Mean and sample variance; the sums are in the precision of the values."""
    if len(x) < 2 or not np.all(np.isfinite(x)):
        raise LayerwiseError(f"a sample needs at least two finite values, found {x}")
    mean = x.mean()
    return mean, float(np.mean((x - mean) ** 2)) * len(x) / (len(x) - 1)


def pooled_t(x: Float[np.ndarray, " n"], y: Float[np.ndarray, " m"]) -> tuple[float, float]:
    """(t, two-sided p) of two samples with a common variance (benchmark notebook).

    Sums are in the precision of the values, the rest in double precision.

    Raises:
        LayerwiseError: for fewer than two values, values that are not finite, or no variance.
    """
    (mean_x, var_x), (mean_y, var_y) = _moments(x), _moments(y)
    n, m = len(x), len(y)
    pooled = ((n - 1) * var_x + (m - 1) * var_y) / (n + m - 2)
    if pooled == 0:
        raise LayerwiseError("a t test needs samples that vary, both are constant")
    t = float(mean_x - mean_y) / np.sqrt(pooled * (1 / n + 1 / m))
    return float(t), float(2 * special.stdtr(n + m - 2, -abs(t)))


def pooled_d(x: Float[np.ndarray, " n"], y: Float[np.ndarray, " m"]) -> float:
    """Cohen's d: difference of means over the root of the mean of the two sample variances.

    Means and standard deviations are in the precision of the values (benchmark notebook).

    Raises:
        LayerwiseError: see `pooled_t`.
    """
    if _moments(x)[1] + _moments(y)[1] == 0:
        raise LayerwiseError("Cohen's d needs samples that vary, both are constant")
    spread = np.sqrt((float(x.std(ddof=1)) ** 2 + float(y.std(ddof=1)) ** 2) / 2)
    return float(float(x.mean() - y.mean()) / spread)
