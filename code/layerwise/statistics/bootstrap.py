"""Percentile bootstrap intervals from numpy's legacy stream, as published.

Every published interval depends on the position of its draws in one stream of RandomState(42):
`choice(n, n)` per resample equals one bulk `randint(0, n, (resamples, n))`. Resamples are worked
off in chunks, so that memory does not grow with their number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from layerwise.errors import LayerwiseError
from layerwise.statistics.correlation import (
    MIN_POINTS,
    correlate_rows,
    pearson_p,
    pearson_r,
    unit_scale,
)

N_RESAMPLES = 10000
LEVEL = 0.95
SEED = 42
MIN_KEPT = 100  # fewer usable resamples give no interval
CHUNK = 1 << 16  # positions drawn at a time: a few arrays of this size fit the cache


@dataclass(frozen=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float

    @property
    def includes_zero(self) -> bool:
        """Closed: an end at zero includes it."""
        return self.low <= 0 <= self.high

    @property
    def width(self) -> float:
        return self.high - self.low


@dataclass(frozen=True)
class CorrelationInterval(Interval):
    """Pearson r with its bootstrap interval; n_kept resamples had a correlation."""

    r: float
    p_value: float
    n_kept: int

    def as_result(self) -> dict[str, float | bool]:
        """The keys of the published result files."""
        return {
            "r": self.r,
            "ci_lower": self.low,
            "ci_upper": self.high,
            "p_value": self.p_value,
            "includes_zero": bool(self.includes_zero),
        }


def mean_interval(
    values: Float[np.ndarray, " n"],
    n_resamples: int = N_RESAMPLES,
    level: float = LEVEL,
    seed: int = SEED,
) -> Interval:
    """Interval of the mean; the stream starts anew at every call (Paper 1, notebook 003).

    Raises:
        LayerwiseError: for no values, a value that is not finite, or an impossible setting.
    """
    _require_settings(n_resamples, level)
    if len(values) == 0 or not np.all(np.isfinite(values)):
        raise LayerwiseError(
            f"an interval of the mean needs finite values, found {values}; "
            "check what they were computed from"
        )
    stream = np.random.RandomState(seed)
    means = np.concatenate(
        [values[rows].mean(axis=1) for rows in resamples(stream, len(values), n_resamples)]
    )
    return Interval(*percentile_ends(means, level))


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

    Resamples in which either side is all equal have no r and are skipped.

    Arguments:
        whole_range_if_scarce: notebook 000's fallback: under 100 usable resamples give the
            interval [-1, 1], under three points r = 0 and p = 1 as well (and draw nothing).

    Raises:
        LayerwiseError: see `require_series`; and for fewer than 100 usable resamples.
    """
    _require_settings(n_resamples, level)
    if whole_range_if_scarce and len(x) < MIN_POINTS:
        return CorrelationInterval(-1.0, 1.0, r=0.0, p_value=1.0, n_kept=0)
    r = pearson_r(x, y, names)
    p_value = float(pearson_p(r, len(x)))
    x, y = unit_scale(x), unit_scale(y)
    kept = np.concatenate(
        [_resampled_r(x, y, rows) for rows in resamples(stream, len(x), n_resamples)]
    )
    if len(kept) >= MIN_KEPT:
        low, high = percentile_ends(kept, level)
    elif whole_range_if_scarce:
        low, high = -1.0, 1.0
    else:
        raise LayerwiseError(
            f"an interval of r needs at least {MIN_KEPT} resamples in which {names[0]} and "
            f"{names[1]} vary, found {len(kept)} of {n_resamples}; raise n_resamples or add data"
        )
    return CorrelationInterval(low, high, r=r, p_value=p_value, n_kept=len(kept))


def correlation_intervals(
    series: Sequence[tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]],
    stream: np.random.RandomState,
    n_resamples: int = N_RESAMPLES,
    level: float = LEVEL,
    *,
    names: tuple[str, str] = ("x", "y"),
) -> tuple[CorrelationInterval, ...]:
    """Intervals of several pairs of series, drawn one after the other from one stream."""
    return tuple(
        correlation_interval(x, y, stream, n_resamples, level, names=names) for x, y in series
    )


def advance(stream: np.random.RandomState, n: int, n_draws: int) -> None:
    """Consume n_draws draws of positions 0..n-1."""
    for start in range(0, n_draws, CHUNK):
        stream.randint(0, n, size=min(CHUNK, n_draws - start))


def _require_settings(n_resamples: int, level: float) -> None:
    if n_resamples < 1:
        raise LayerwiseError(f"n_resamples must be at least 1, found {n_resamples}")
    if not 0 < level < 1:
        raise LayerwiseError(f"level must lie between 0 and 1, found {level}; 0.95 is usual")


def resamples(stream: np.random.RandomState, n: int, n_resamples: int) -> Iterator[np.ndarray]:
    """Positions [resample, n], chunk by chunk."""
    step = max(1, CHUNK // n)
    for start in range(0, n_resamples, step):
        yield stream.randint(0, n, size=(min(step, n_resamples - start), n))


def _resampled_r(x: np.ndarray, y: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """r of the resamples in which both sides vary."""
    r, xx, yy = correlate_rows(x.take(rows), y.take(rows))
    usable = np.ones(len(r), dtype=bool)
    # An all-equal resample misses its own mean by rounding, |x - mean| <= n eps for |x| <= 1, so
    # the few rows below that bound are compared value by value.
    n = rows.shape[1]
    bound = 4 * n * (n * np.finfo(np.float64).eps) ** 2
    for values, squares in ((x, xx), (y, yy)):
        for row in np.flatnonzero(squares <= bound):
            drawn = values[rows[row]]
            usable[row] &= bool(np.any(drawn != drawn[0]))
    if not np.all(np.isfinite(r[usable])):
        raise LayerwiseError(
            "a resample varies by less than float64 can resolve, r has no value; "
            "subtract a constant from the series"
        )
    return r[usable]


def percentile_ends(values: np.ndarray, level: float) -> tuple[float, float]:
    """Percentiles, linear; 100 alpha / 2 is evaluated as published, to the last bit."""
    alpha = 1 - level
    low, high = np.percentile(values, [alpha / 2 * 100, (1 - alpha / 2) * 100])
    return float(low), float(high)
