"""Least-squares lines, for laws of scaling."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from layerwise.errors import LayerwiseError
from layerwise.statistics.correlation import pearson_p, pearson_r


@dataclass(frozen=True)
class Line:
    """Least-squares line, r, two-sided p and standard error of the slope."""

    slope: float
    intercept: float
    r: float
    p: float
    slope_error: float


def power_law(x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"]) -> Line:
    """Least-squares line of log10 y on log10 x; its slope is the exponent.

    From r, not by `scipy.stats.linregress`: its covariance is a product by the BLAS, whose last
    digits differ between processors.

    Raises:
        LayerwiseError: for a number that is not above zero, or see `correlation.require_series`.
    """
    if not (np.all(x > 0) and np.all(y > 0)):
        raise LayerwiseError(
            f"a power law needs numbers above zero, the smallest are {np.min(x):g} and "
            f"{np.min(y):g}; check what they were computed from"
        )
    x, y = np.log10(x), np.log10(y)
    r = pearson_r(x, y)
    per_r = float(np.std(y) / np.std(x))
    error = per_r * math.sqrt((1 - r**2) / (len(x) - 2))
    slope = r * per_r
    return Line(
        slope, float(np.mean(y) - slope * np.mean(x)), r, float(pearson_p(r, len(x))), error
    )
