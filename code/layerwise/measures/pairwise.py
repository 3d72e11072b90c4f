"""Measures of a single pair of statements (the pair-level analysis of Paper 2).

e_i^A, e_i^B are pooled hidden states, c_A, c_B their means over all pairs, and
cos(u, v) = u.v / (|u| |v| + 1e-10).
"""

import itertools
from collections.abc import Callable, Mapping

import numpy as np
from jaxtyping import Float

from layerwise.measures.uniformity import NORM_OFFSET, blocks, unit_rows

N_NEIGHBOURS = 10  # a point is the first of its own neighbours, as published
ROWS_AT_A_TIME = 1024  # all distances of 100,000 rows would take 75 GiB
MANY = 16  # a share of values above which all are sorted


def _mean(side: np.ndarray) -> np.ndarray:
    return sum(side[rows].sum(axis=0, dtype=np.float64) for rows in blocks(len(side))) / len(side)


def _cosine(side: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Cosine row by row; `others` may be one vector."""
    cosines = np.empty(len(side))
    for rows in blocks(len(side)):
        block = side[rows].astype(np.float64)
        other_block = (others[rows] if others.ndim > 1 else others).astype(np.float64)
        norms = np.linalg.norm(block, axis=1) * np.linalg.norm(other_block, axis=-1)
        products = np.einsum("ph,ph->p", block, np.broadcast_to(other_block, block.shape))
        cosines[rows] = products / (norms + NORM_OFFSET)
    return cosines


def _distance(side: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Euclidean distance of every row from a point."""
    return np.concatenate(
        [np.linalg.norm(side[rows] - point, axis=1) for rows in blocks(len(side))]
    )


def _standardised_density(side: np.ndarray) -> np.ndarray:
    """1 / (mean cosine distance to the min(10, n - 1) nearest rows + 1e-10), standardised.

    The row itself counts as the nearest at distance 0; by the population SD + 1e-10.
    """
    distances = np.maximum(1.0 - _largest_cosines(side, min(N_NEIGHBOURS, len(side) - 1)), 0.0)
    density = 1.0 / (np.sort(distances, axis=1).mean(axis=1) + NORM_OFFSET)
    return (density - density.mean()) / (density.std() + NORM_OFFSET)


def _largest_cosines(side: np.ndarray, count: int) -> np.ndarray:
    """The largest cosines of every row with all rows, the least of them first: [row, count].

    Of two blocks one product serves both.
    """
    largest = np.full((len(side), count), -np.inf)
    of_blocks = [*blocks(len(side), ROWS_AT_A_TIME)]
    for rows in of_blocks:
        # twice, as of one array BLAS takes another routine, which rounds otherwise
        cosines = unit_rows(side[rows]) @ unit_rows(side[rows]).T
        np.fill_diagonal(cosines, 1.0)
        _keep_largest(largest[rows], cosines)
    for rows, others in itertools.combinations(of_blocks, 2):
        cosines = unit_rows(side[rows]) @ unit_rows(side[others]).T
        _keep_largest(largest[rows], cosines)
        _keep_largest(largest[others], cosines, of_columns=True)
    return largest


def _keep_largest(largest: np.ndarray, more: np.ndarray, *, of_columns: bool = False) -> None:
    """Let larger values take the places of the least of their row, or of their column.

    Arguments:
        largest: [row, count] or [column, count], the least of each first.
        more: [row, column].
    """
    least = largest[:, 0]
    found = np.flatnonzero(more > (least if of_columns else least[:, np.newaxis]))
    if len(found) > more.size / MANY:
        together = np.hstack([largest, more.T if of_columns else more])
    else:
        where = np.divmod(found, more.shape[1])
        values = more[where]
        lines = where[1] if of_columns else where[0]
        if of_columns:
            order = np.argsort(lines, kind="stable")
            lines, values = lines[order], values[order]
        n_found = np.bincount(lines, minlength=len(largest))
        places = np.arange(len(lines)) - np.repeat(np.cumsum(n_found) - n_found, n_found)
        count = largest.shape[1]
        together = np.full((len(largest), count + n_found.max(initial=0)), -np.inf)
        together[:, :count] = largest
        together[lines, count + places] = values
    together.partition(together.shape[1] - largest.shape[1], axis=1)
    largest[:] = together[:, -largest.shape[1] :]


def _margins(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    middle = (_mean(a) + _mean(b)) / 2
    return _distance(a, middle) - _distance(b, middle)


METRICS: Mapping[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    # cos(e^A, c_A) - cos(e^B, c_B)
    "centroid_asymmetry": lambda a, b: _cosine(a, _mean(a)) - _cosine(b, _mean(b)),
    # cos(e^A, c_B) - cos(e^B, c_A)
    "cross_centroid": lambda a, b: _cosine(a, _mean(b)) - _cosine(b, _mean(a)),
    # cos(e^A, e^B)
    "within_pair_sim": _cosine,
    # density near e^A minus density near e^B, each standardised over its side
    "knn_density_asymmetry": lambda a, b: _standardised_density(a) - _standardised_density(b),
    # |e^A - m| - |e^B - m| with m = (c_A + c_B) / 2; positive: A is farther away
    "margin_asymmetry": _margins,
}


def pair_metrics(
    side_a: Float[np.ndarray, "pair hidden"], side_b: Float[np.ndarray, "pair hidden"]
) -> Float[np.ndarray, "metric pair"]:
    """Every measure of `METRICS`, in its order, in float64, a block of rows at a time."""
    return np.stack([metric(side_a, side_b) for metric in METRICS.values()])
