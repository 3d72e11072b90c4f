"""What the papers do not ask: dependent pairs, and many tests at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from layerwise.errors import LayerwiseError
from layerwise.statistics.bootstrap import MIN_KEPT, CorrelationInterval, percentile_ends, resamples
from layerwise.statistics.correlation import pearson_p, pearson_r


def cluster_interval(
    x: Float[np.ndarray, " n"],
    y: Float[np.ndarray, " n"],
    clusters: Int[np.ndarray, " n"],
    stream: np.random.RandomState,
    n_resamples: int,
    level: float,
    *,
    names: tuple[str, str] = ("x", "y"),
) -> CorrelationInterval:
    """Interval of r with whole clusters 0..m-1 drawn with replacement; the stream runs on.

    Six moments per cluster carry all it contributes to r.

    Raises:
        LayerwiseError: see `require_series`; and for fewer than 100 usable resamples.
    """
    r = pearson_r(x, y, names)
    x, y = ((side - side.mean()) / np.max(np.abs(side - side.mean())) for side in (x, y))
    m = int(clusters.max()) + 1
    terms = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)
    moments = np.stack([terms[clusters == cluster].sum(axis=0) for cluster in range(m)])
    found = []
    for rows in resamples(stream, m, n_resamples):
        n, sx, sy, sxx, syy, sxy = moments[rows].sum(axis=1).T
        xx, yy = sxx - sx * sx / n, syy - sy * sy / n
        usable = (xx > 1e-12 * n) & (yy > 1e-12 * n)  # r has no value in a constant cluster
        found.append(
            np.clip((sxy - sx * sy / n)[usable] / np.sqrt(xx[usable] * yy[usable]), -1.0, 1.0)
        )
    kept = np.concatenate(found)
    if len(kept) < MIN_KEPT:
        raise LayerwiseError(
            f"an interval of r needs at least {MIN_KEPT} usable resamples of clusters, "
            f"found {len(kept)} of {n_resamples}; raise n_resamples or add data"
        )
    low, high = percentile_ends(kept, level)
    return CorrelationInterval(
        low, high, r=r, p_value=float(pearson_p(r, len(x))), n_kept=len(kept)
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p-values: family-wise error over all tests, any dependence."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted.tolist()
