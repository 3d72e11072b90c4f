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
    totals, squares = _sums(states, labels, n_groups)
    means = np.full(n_groups, np.nan)
    for group, n in enumerate(np.bincount(labels, minlength=n_groups)[:n_groups]):
        if n >= 2:
            means[group] = (totals[group] @ totals[group] - squares[group]) / (n * (n - 1))
    return means


def asymmetry_without_each_pair(
    side_a: Float[np.ndarray, "pair hidden"],
    side_b: Float[np.ndarray, "pair hidden"],
    labels: Int[np.ndarray, " pair"],
    n_groups: int,
) -> Float[np.ndarray, " pair"]:
    """UA of each pair's group without the pair: what its jackknife needs.

    NaN in a group of under three pairs.
    """
    means = [_mean_without_each(side, labels, n_groups) for side in (side_a, side_b)]
    return means[0] - means[1]


def _mean_without_each(
    side: Float[np.ndarray, "pair hidden"], labels: Int[np.ndarray, " pair"], n_groups: int
) -> Float[np.ndarray, " pair"]:
    """Mean pairwise cosine of each row's group without the row."""
    totals, squares = _sums(side, labels, n_groups)
    n = np.bincount(labels, minlength=n_groups)[labels] - 1
    means = np.full(len(side), np.nan)
    for rows in blocks(len(side)):
        units, groups = unit_rows(side[rows]), labels[rows]
        own = np.sum(units * units, axis=1)
        rest = totals[groups] - units
        products = np.sum(rest * rest, axis=1) - (squares[groups] - own)
        known = n[rows] >= 2
        means[rows][known] = products[known] / (n[rows] * (n[rows] - 1))[known]
    return means


def exchange_terms(
    side_a: Float[np.ndarray, "pair hidden"],
    side_b: Float[np.ndarray, "pair hidden"],
    labels: Int[np.ndarray, " pair"],
    n_groups: int,
) -> Float[np.ndarray, " pair"]:
    """The term of each pair in the UA of its group, which changes its sign with the pair's sides.

    Where the sides of some pairs change places UA is the sum of these terms with the signs of the
    pairs: with a and b the unit rows, c_i = sum over j of (a_i - b_i).(a_j + b_j), without j = i,
    over n (n - 1). So exchanging sides at random is a test of random signs (Fisher 1935).
    NaN in a group of a single pair.
    """
    totals = _sums(side_a, labels, n_groups)[0] + _sums(side_b, labels, n_groups)[0]
    n = np.bincount(labels, minlength=n_groups)[labels]
    terms = np.full(len(side_a), np.nan)
    for rows in blocks(len(side_a)):
        a, b, groups = unit_rows(side_a[rows]), unit_rows(side_b[rows]), labels[rows]
        products = np.sum((a - b) * (totals[groups] - a - b), axis=1)
        known = n[rows] >= 2
        terms[rows][known] = products[known] / (n[rows] * (n[rows] - 1))[known]
    return terms


def _sums(
    side: Float[np.ndarray, "pair hidden"], labels: Int[np.ndarray, " pair"], n_groups: int
) -> tuple[np.ndarray, np.ndarray]:
    """Sum of the unit rows, and of their squares, of each group."""
    totals, squares = np.zeros((n_groups, side.shape[1])), np.zeros(n_groups)
    for rows in blocks(len(side)):
        units = unit_rows(side[rows])
        for group in np.unique(labels[rows]):
            members = units[labels[rows] == group]
            totals[group] += members.sum(axis=0)
            squares[group] += np.sum(members * members)
    return totals, squares
