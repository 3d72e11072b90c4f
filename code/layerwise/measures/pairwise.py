"""Measures of a single pair of statements (the pair-level analysis of Paper 2).

e_i^A, e_i^B are pooled hidden states, c_A, c_B their means over all pairs, and
cos(u, v) = u.v / (|u| |v| + 1e-10).
"""

from collections.abc import Callable, Mapping

import numpy as np
from jaxtyping import Float

from layerwise.measures.uniformity import NORM_OFFSET, blocks, unit_rows

N_NEIGHBOURS = 10  # a point is the first of its own neighbours, as published
ROWS_AT_A_TIME = 2048  # rows whose neighbours are sought, and
OTHERS_AT_A_TIME = 4096  # rows among which they are: all distances of 100,000 would take 75 GiB


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
    n = len(side)
    density = np.empty(n)
    for rows in blocks(n, ROWS_AT_A_TIME):
        nearby = _nearest(side, rows, min(N_NEIGHBOURS, n - 1))
        density[rows] = 1.0 / (nearby.mean(axis=1) + NORM_OFFSET)
    return (density - density.mean()) / (density.std() + NORM_OFFSET)


def _nearest(side: np.ndarray, rows: slice, count: int) -> np.ndarray:
    """The least distances of some rows from all, ascending: [row, count]."""
    units = unit_rows(side[rows])
    # the largest cosines so far, and behind them those of the next block
    cosines = np.full((len(units), count + min(OTHERS_AT_A_TIME, len(side))), -np.inf)
    for others in blocks(len(side), OTHERS_AT_A_TIME):
        size = others.stop - others.start
        next_cosines = cosines[:, count : count + size]
        np.matmul(units, unit_rows(side[others]).T, out=next_cosines)
        both = np.arange(max(rows.start, others.start), min(rows.stop, others.stop))
        next_cosines[both - rows.start, both - others.start] = 1.0
        cosines[:, : count + size].partition(size, axis=1)
        cosines[:, :count] = cosines[:, size : size + count]
    return np.sort(np.maximum(1.0 - cosines[:, :count], 0.0), axis=1)


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
