"""Statistics of ranks, by SciPy, with errors in the place of warnings and NaN."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy import stats

from layerwise.errors import LayerwiseError
from layerwise.statistics.correlation import Correlation, require_series


def spearman(x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"]) -> Correlation:
    """Spearman's r of two series, p by Student's law; equal values share the mean of their ranks.

    Raises:
        LayerwiseError: see `correlation.require_series`.
    """
    require_series(x, y)
    found = stats.spearmanr(x, y)
    return Correlation(float(found.statistic), float(found.pvalue))


def mann_whitney(x: Float[np.ndarray, " m"], y: Float[np.ndarray, " n"]) -> tuple[float, float]:
    """(U of x, exact two-sided p): U counts the pairs in which x is larger.

    Raises:
        LayerwiseError: for an empty sample, a number that is not finite, or equal numbers.
    """
    joint = np.concatenate([x, y])
    if min(len(x), len(y)) == 0 or not np.all(np.isfinite(joint)):
        raise LayerwiseError(
            f"a rank test needs two samples of finite numbers, found {x} and {y}; "
            "check what they came from"
        )
    if len(np.unique(joint)) < len(joint):
        raise LayerwiseError(
            f"the exact rank test needs numbers that all differ, found {x} and {y}; "
            "use a test that corrects for ties"
        )
    found = stats.mannwhitneyu(x, y, method="exact")
    return float(found.statistic), float(found.pvalue)
