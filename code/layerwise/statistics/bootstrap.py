"""Percentile bootstrap intervals from numpy's legacy stream, as published.

Every published interval depends on the position of its draws in one stream of RandomState(42):
`choice(n, n)` per resample equals one bulk `randint(0, n, (resamples, n))`. Resamples are worked
off in chunks, so that memory does not grow with their number. A resample in which a side is all
equal has no r: it is NaN, and no interval rests on it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from layerwise.errors import LayerwiseError
from layerwise.statistics.correlation import (
    correlate_rows,
    pearson_r,
    unit_scale,
)
from layerwise.statistics.sizes import MIN_POINTS

N_RESAMPLES = 10000
LEVEL = 0.95
SEED = 42
MIN_KEPT = 100  # fewer usable resamples give no interval
CHUNK = 1 << 16  # positions drawn at a time: a few arrays of this size fit the cache


@dataclass(frozen=True)
class Draws:
    """The settings of a bootstrap: NumPy's legacy generator is seeded with `seed`."""

    n_resamples: int
    level: float
    seed: int


class CorrelationInterval(NamedTuple):
    """Pearson's r and its bootstrap interval; `n_kept` resamples had an r."""

    low: float
    high: float
    r: float
    n_kept: int


def mean_interval(
    values: Float[np.ndarray, " n"],
    n_resamples: int = N_RESAMPLES,
    level: float = LEVEL,
    seed: int = SEED,
) -> tuple[float, float]:
    """Ends of the mean's interval; the stream starts anew at every call (Paper 1, notebook 003)."""
    if len(values) == 0 or not np.all(np.isfinite(values)):
        raise LayerwiseError(
            f"an interval of the mean needs finite values, found {values}; "
            "check what they were computed from"
        )
    drawn = resamples(np.random.RandomState(seed), len(values), n_resamples)
    return _percentiles(np.concatenate([values[rows].mean(axis=1) for rows in drawn]), level)


def correlation_interval(
    x: Float[np.ndarray, " n"],
    y: Float[np.ndarray, " n"],
    stream: np.random.RandomState,
    n_resamples: int = N_RESAMPLES,
    level: float = LEVEL,
    *,
    names: tuple[str, str] = ("x", "y"),
    whole_range_if_scarce: bool = False,
) -> CorrelationInterval:
    """Interval of Pearson's r; the stream runs on.

    Arguments:
        whole_range_if_scarce: notebook 000's fallback: under 100 usable resamples give the
            interval [-1, 1], under three points, or where a series does not vary, r = 0 as well
            (and draw nothing).
    """
    if whole_range_if_scarce and (len(x) < MIN_POINTS or not np.ptp(x) or not np.ptp(y)):
        return CorrelationInterval(-1.0, 1.0, r=0.0, n_kept=0)
    r = pearson_r(x, y, names)
    x, y = unit_scale(x), unit_scale(y)
    drawn = np.concatenate(
        [_resampled_r(x, y, rows) for rows in resamples(stream, len(x), n_resamples)]
    )
    n_kept = int(np.sum(np.isfinite(drawn)))
    if whole_range_if_scarce and n_kept < MIN_KEPT:
        return CorrelationInterval(-1.0, 1.0, r, n_kept)
    return CorrelationInterval(*ends(drawn, level, names), r, n_kept)


def advance(stream: np.random.RandomState, n: int, n_draws: int) -> None:
    """Consume n_draws draws of positions 0..n-1."""
    for start in range(0, n_draws, CHUNK):
        stream.randint(0, n, size=min(CHUNK, n_draws - start))


def resamples(stream: np.random.RandomState, n: int, n_resamples: int) -> Iterator[np.ndarray]:
    """Positions [resample, n], chunk by chunk."""
    if n_resamples < 1:
        raise LayerwiseError(f"n_resamples must be at least 1, found {n_resamples}")
    step = max(1, CHUNK // n)
    for start in range(0, n_resamples, step):
        yield stream.randint(0, n, size=(min(step, n_resamples - start), n))


def ends(
    drawn: Float[np.ndarray, " resample"], level: float, names: tuple[str, str] = ("x", "y")
) -> tuple[float, float]:
    """Ends of the interval over the resamples that have a value, at least 100."""
    kept = drawn[np.isfinite(drawn)]
    if len(kept) < MIN_KEPT:
        raise LayerwiseError(
            f"an interval of r needs at least {MIN_KEPT} resamples in which {names[0]} and "
            f"{names[1]} vary, found {len(kept)} of {len(drawn)}; raise n_resamples or add data"
        )
    return _percentiles(kept, level)


def _percentiles(values: np.ndarray, level: float) -> tuple[float, float]:
    """Linear; 100 alpha / 2 is evaluated as published, to the last bit."""
    if not 0 < level < 1:
        raise LayerwiseError(f"level must lie between 0 and 1, found {level}; 0.95 is usual")
    alpha = 1 - level
    low, high = np.percentile(values, [alpha / 2 * 100, (1 - alpha / 2) * 100])
    return float(low), float(high)


def _resampled_r(x: np.ndarray, y: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """r of each resample; NaN where a side is all equal."""
    r, xx, yy = correlate_rows(x.take(rows), y.take(rows))
    # An all-equal resample misses its own mean by rounding, |x - mean| <= n eps for |x| <= 1, so
    # the few rows below that bound are compared value by value.
    n = rows.shape[1]
    bound = 4 * n * (n * np.finfo(np.float64).eps) ** 2
    varies = np.ones(len(r), dtype=bool)
    for values, squares in ((x, xx), (y, yy)):
        for row in np.flatnonzero(squares <= bound):
            varies[row] &= bool(np.ptp(values[rows[row]]))
    if not np.all(np.isfinite(r[varies])):
        raise LayerwiseError(
            "a resample varies by less than float64 can resolve, r has no value; "
            "subtract a constant from the series"
        )
    return np.where(varies, r, np.nan)
