"""Resampling several series at once: every one is drawn with the same units, so they compare."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from layerwise.errors import LayerwiseError
from layerwise.statistics.bootstrap import MIN_KEPT, percentile_ends, resamples
from layerwise.statistics.correlation import require_series

SMALLEST = 1e-12  # of a sum of squares over n, both sides scaled to 1: below it a side is constant


def resampled_correlations(
    series: Float[np.ndarray, "series n"],
    y: Float[np.ndarray, " n"],
    units: Int[np.ndarray, " n"],
    stream: np.random.RandomState,
    n_resamples: int,
) -> Float[np.ndarray, "resample series"]:
    """r of every series with y over resampled units 0..m-1; NaN where a side is constant.

    A unit is one point or a whole cluster of points. Sums per unit carry all that it contributes
    to r, so a resample is a vector of counts and all resamples are one matrix product.

    Raises:
        LayerwiseError: see `require_series`.
    """
    for row, x in enumerate(series):
        require_series(x, y, (f"series {row}", "y"))
    x, target = _scaled(series), _scaled(y[None])[0]
    one = np.ones((1, len(target)))
    terms = np.concatenate([one, target[None], target[None] ** 2, x, x**2, x * target])
    m, k = int(units.max()) + 1, len(series)
    order = np.argsort(units, kind="stable")
    starts = np.searchsorted(units[order], np.arange(m))
    sums = np.add.reduceat(terms[:, order], starts, axis=1).T  # [unit, term]
    found = []
    for rows in resamples(stream, m, n_resamples):
        counts = np.zeros((len(rows), m))
        np.add.at(counts, (np.arange(len(rows))[:, None], rows), 1.0)
        total = counts @ sums
        n, sy, syy = (total[:, [column]] for column in range(3))
        sx, sxx, sxy = (total[:, 3 + part * k : 3 + (part + 1) * k] for part in range(3))
        xx, yy = sxx - sx * sx / n, syy - sy * sy / n
        with np.errstate(invalid="ignore", divide="ignore"):
            r = np.clip((sxy - sx * sy / n) / np.sqrt(xx * yy), -1.0, 1.0)
        found.append(np.where((xx > SMALLEST * n) & (yy > SMALLEST * n), r, np.nan))
    return np.concatenate(found)


def ends(values: Float[np.ndarray, " resample"], level: float) -> tuple[float, float]:
    """Percentiles of the resamples that have a value.

    Raises:
        LayerwiseError: for fewer than 100 of them.
    """
    kept = values[np.isfinite(values)]
    if len(kept) < MIN_KEPT:
        raise LayerwiseError(
            f"an interval needs at least {MIN_KEPT} usable resamples, found {len(kept)} of "
            f"{len(values)}; raise n_resamples or add data"
        )
    return percentile_ends(kept, level)


def _scaled(rows: np.ndarray) -> np.ndarray:
    centred = rows - rows.mean(axis=1, keepdims=True)
    return centred / np.max(np.abs(centred), axis=1, keepdims=True)
