"""Measures of a single pair of statements (the pair-level analysis of Paper 2).

e_i^A, e_i^B are pooled hidden states, c_A, c_B their means over all pairs, and
cos(u, v) = u.v / (|u| |v| + 1e-10).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from layerwise.measures.uniformity import NORM_OFFSET, blocks, unit_rows

N_NEIGHBOURS = 10  # a point is the first of its own neighbours, as published
ROWS_AT_A_TIME = 2048  # rows whose neighbours are sought, and
OTHERS_AT_A_TIME = 4096  # rows among which they are: all distances of 100,000 would take 75 GiB

Side = Float[np.ndarray, "pair hidden"]
PerPair = Float[np.ndarray, " pair"]


def _mean(side: np.ndarray) -> np.ndarray:
    return sum(side[rows].sum(axis=0, dtype=np.float64) for rows in blocks(len(side))) / len(side)


def _cosine(side: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Cosine row by row; `others` may be one vector."""
    found = np.empty(len(side))
    for rows in blocks(len(side)):
        some = side[rows].astype(np.float64)
        against = (others[rows] if others.ndim > 1 else others).astype(np.float64)
        norms = np.linalg.norm(some, axis=1) * np.linalg.norm(against, axis=-1)
        products = np.einsum("ph,ph->p", some, np.broadcast_to(against, some.shape))
        found[rows] = products / (norms + NORM_OFFSET)
    return found


def _distance(side: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Euclidean distance of every row from a point."""
    return np.concatenate(
        [np.linalg.norm(side[rows] - point, axis=1) for rows in blocks(len(side))]
    )


def centroid_asymmetry(side_a: Side, side_b: Side) -> PerPair:
    """cos(e^A, c_A) - cos(e^B, c_B)."""
    return _cosine(side_a, _mean(side_a)) - _cosine(side_b, _mean(side_b))


def cross_centroid(side_a: Side, side_b: Side) -> PerPair:
    """cos(e^A, c_B) - cos(e^B, c_A)."""
    return _cosine(side_a, _mean(side_b)) - _cosine(side_b, _mean(side_a))


def within_pair_sim(side_a: Side, side_b: Side) -> PerPair:
    """cos(e^A, e^B)."""
    return _cosine(side_a, side_b)


def knn_density_asymmetry(side_a: Side, side_b: Side) -> PerPair:
    """Density near e^A minus density near e^B, each standardised over its side.

    Density is 1 / (mean cosine distance to the min(10, n - 1) nearest rows + 1e-10), the row
    itself counted as the nearest at distance 0; standardised by the population SD + 1e-10.
    """
    return _standardised_density(side_a) - _standardised_density(side_b)


def _standardised_density(side: np.ndarray) -> np.ndarray:
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
        found = cosines[:, count : count + size]
        np.matmul(units, unit_rows(side[others]).T, out=found)
        both = np.arange(max(rows.start, others.start), min(rows.stop, others.stop))
        found[both - rows.start, both - others.start] = 1.0
        cosines[:, : count + size].partition(size, axis=1)
        cosines[:, :count] = cosines[:, size : size + count]
    return np.sort(np.maximum(1.0 - cosines[:, :count], 0.0), axis=1)


def margin_asymmetry(side_a: Side, side_b: Side) -> PerPair:
    """|e^A - m| - |e^B - m| with m = (c_A + c_B) / 2; positive: A is farther away."""
    middle = (_mean(side_a) + _mean(side_b)) / 2
    return _distance(side_a, middle) - _distance(side_b, middle)


METRICS = {
    "centroid_asymmetry": centroid_asymmetry,
    "cross_centroid": cross_centroid,
    "within_pair_sim": within_pair_sim,
    "knn_density_asymmetry": knn_density_asymmetry,
    "margin_asymmetry": margin_asymmetry,
}


def pair_metrics(
    side_a: Float[np.ndarray, "pair hidden"], side_b: Float[np.ndarray, "pair hidden"]
) -> Float[np.ndarray, "metric pair"]:
    """Every measure of `METRICS`, in its order, in float64, a block of rows at a time."""
    return np.stack([metric(side_a, side_b) for metric in METRICS.values()])
