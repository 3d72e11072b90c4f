"""Mean pairwise cosine: the papers' uniformity."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int

NORM_OFFSET = 1e-10  # added to every norm, as published
BLOCK = 4096  # rows in memory at a time, in float64


def unit_rows(states: Float[np.ndarray, "row hidden"]) -> Float[np.ndarray, "row hidden"]:
    """Rows divided by (norm + 1e-10), float64."""
    rows = np.asarray(states, dtype=np.float64)
    return rows / (np.linalg.norm(rows, axis=1, keepdims=True) + NORM_OFFSET)


def blocks(n_rows: int, size: int | None = None) -> Iterator[slice]:
    """Slices that cover all rows, `BLOCK` rows each unless said otherwise."""
    step = BLOCK if size is None else size
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def mean_pairwise_cosine_by_group(
    states: Float[np.ndarray, "row hidden"], labels: Int[np.ndarray, " row"], n_groups: int
) -> Float[np.ndarray, " group"]:
    """Mean cosine over all pairs of distinct rows inside each group 0..n_groups-1.

    With unit rows u the mean over pairs is (|sum u|^2 - sum |u|^2) / (n (n - 1)) (Paper 1,
    notebook 003); NaN for a group of under two rows.
    """
    totals = np.zeros((n_groups, states.shape[1]))
    squares = np.zeros(n_groups)
    for rows in blocks(len(states)):
        units = unit_rows(states[rows])
        for group in np.unique(labels[rows]):
            members = units[labels[rows] == group]
            totals[group] += members.sum(axis=0)
            squares[group] += np.sum(members * members)
    means = np.full(n_groups, np.nan)
    for group, n in enumerate(np.bincount(labels, minlength=n_groups)[:n_groups]):
        if n >= 2:
            means[group] = (totals[group] @ totals[group] - squares[group]) / (n * (n - 1))
    return means
