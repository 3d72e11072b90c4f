"""Pearson's r, its two-sided p-value, and the line that follows from it."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy import special

from layerwise.errors import LayerwiseError
from layerwise.statistics.sizes import MIN_POINTS


class Correlation(NamedTuple):
    """r and its two-sided p-value."""

    r: float
    p: float


def require_series(
    x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"], names: tuple[str, str] = ("x", "y")
) -> None:
    """Refuse what has no correlation: under three points, no finite number, a constant side."""
    if len(x) < MIN_POINTS:
        raise LayerwiseError(
            f"a correlation needs at least {MIN_POINTS} points, found {len(x)}; add data"
        )
    for name, series in zip(names, (x, y), strict=True):
        if not np.all(np.isfinite(series)):
            raise LayerwiseError(
                f"a correlation needs finite numbers, {name} holds a NaN or an infinity; "
                "check what it was computed from"
            )
        if np.all(series == series[0]):
            raise LayerwiseError(
                f"a correlation needs two series that vary, {name} is constant "
                f"({len(series)} times {series[0]:g}); use statements that differ"
            )


def unit_scale(values: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """Divide by a power of two, so that squares neither overflow nor vanish; exact."""
    _, exponent = np.frexp(np.max(np.abs(values)))
    return np.ldexp(values, -exponent)


def correlate_rows(
    x: Float[np.ndarray, "row n"], y: Float[np.ndarray, "row n"]
) -> tuple[Float[np.ndarray, " row"], Float[np.ndarray, " row"], Float[np.ndarray, " row"]]:
    """Pearson r of each pair of rows, and both sums of squared deviations; r is NaN on a zero sum.

    Overwrites x and y with their deviations.
    """
    x -= x.mean(axis=1, keepdims=True)
    y -= y.mean(axis=1, keepdims=True)
    xx, yy, xy = (np.einsum("ij,ij->i", u, v) for u, v in ((x, x), (y, y), (x, y)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(xy / (np.sqrt(xx) * np.sqrt(yy)), -1.0, 1.0), xx, yy


def pearson_r(
    x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"], names: tuple[str, str] = ("x", "y")
) -> float:
    """Pearson's r of two series, in [-1, 1]."""
    require_series(x, y, names)
    r, _, _ = correlate_rows(unit_scale(x)[None].copy(), unit_scale(y)[None].copy())
    return float(r[0])


def shares_of_r(
    x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"], names: tuple[str, str] = ("x", "y")
) -> Float[np.ndarray, " n"]:
    """Return what each point adds to Pearson's r: the shares sum to it.

    A share is (x_i - mean x) (y_i - mean y) / (n SD x SD y), with population SDs.
    """
    require_series(x, y, names)
    deviations = [series - series.mean() for series in map(unit_scale, (x, y))]
    scale = math.sqrt(math.prod(float(np.sum(series**2)) for series in deviations))
    return deviations[0] * deviations[1] / scale


def pearson_p(
    r: float | Float[np.ndarray, " row"], n: int | Int[np.ndarray, " row"]
) -> float | Float[np.ndarray, " row"]:
    """Two-sided p-value of r over n points, for uncorrelated normal series.

    Twice the upper tail at |r| of the beta law with both shapes n/2 - 1, stretched to [-1, 1].
    """
    if np.any(np.asarray(n) < MIN_POINTS):
        raise LayerwiseError(f"a p-value of r needs at least {MIN_POINTS} points, found {n}")
    if not np.all(np.abs(r) <= 1):
        raise LayerwiseError(f"r must lie in [-1, 1], found {r}")
    shape = np.asarray(n) / 2 - 1
    p = 2 * special.betaincc(shape, shape, (np.abs(r) + 1) / 2)
    return float(p) if np.ndim(p) == 0 else p


def pearson(x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"]) -> Correlation:
    """Pearson's r of two series, and its p."""
    r = pearson_r(x, y)
    return Correlation(r, float(pearson_p(r, len(x))))


def leave_one_out(points: Mapping[str, tuple[float, float]]) -> dict[str, Correlation]:
    """Correlate the other points, by the name of the point left out, where r exists."""
    correlations = {}
    for name in points:
        others = np.array(
            [point for other, point in points.items() if other != name], dtype=np.float64
        )
        if len(others) >= MIN_POINTS and np.ptp(others, axis=0).all():
            correlations[name] = pearson(*others.T)
    return correlations


class Line(NamedTuple):
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
    """
    if not (np.all(x > 0) and np.all(y > 0)):
        raise LayerwiseError(
            f"a power law needs numbers above zero, the smallest are {np.min(x):g} and "
            f"{np.min(y):g}; check what they were computed from"
        )
    x, y = np.log10(x), np.log10(y)
    r, p = pearson(x, y)
    per_r = float(np.std(y) / np.std(x))
    slope = r * per_r
    intercept = float(np.mean(y) - slope * np.mean(x))
    error = per_r * math.sqrt((1 - r**2) / (len(x) - 2))
    return Line(slope, intercept, r, p, error)
