"""Measures of a single pair of statements (the pair-level analysis of Paper 2).

e_i^A, e_i^B are pooled hidden states, c_A, c_B their means over all pairs, and
cos(u, v) = u.v / (|u| |v| + 1e-10).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from layerwise.measures.uniformity import NORM_OFFSET, unit_rows

N_NEIGHBOURS = 10  # a point is the first of its own neighbours, as published
ROWS_AT_A_TIME = 512

Side = Float[np.ndarray, "pair hidden"]
PerPair = Float[np.ndarray, " pair"]


def _cosine(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Cosine row by row; `others` may be one vector."""
    norms = np.linalg.norm(rows, axis=1) * np.linalg.norm(others, axis=-1)
    return np.einsum("ph,ph->p", rows, np.broadcast_to(others, rows.shape)) / (norms + NORM_OFFSET)


def centroid_asymmetry(side_a: Side, side_b: Side) -> PerPair:
    """cos(e^A, c_A) - cos(e^B, c_B)."""
    return _cosine(side_a, side_a.mean(axis=0)) - _cosine(side_b, side_b.mean(axis=0))


def cross_centroid(side_a: Side, side_b: Side) -> PerPair:
    """cos(e^A, c_B) - cos(e^B, c_A)."""
    return _cosine(side_a, side_b.mean(axis=0)) - _cosine(side_b, side_a.mean(axis=0))


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
    nearest = min(N_NEIGHBOURS, n - 1)
    units = unit_rows(side)
    density = np.empty(n)
    for start in range(0, n, ROWS_AT_A_TIME):
        rows = np.arange(start, min(start + ROWS_AT_A_TIME, n))
        distances = np.maximum(1.0 - units[rows] @ units.T, 0.0)
        distances[rows - start, rows] = 0.0
        nearby = np.partition(distances, nearest - 1, axis=1)[:, :nearest]
        density[rows] = 1.0 / (nearby.mean(axis=1) + NORM_OFFSET)
    return (density - density.mean()) / (density.std() + NORM_OFFSET)


def margin_asymmetry(side_a: Side, side_b: Side) -> PerPair:
    """|e^A - m| - |e^B - m| with m = (c_A + c_B) / 2; positive: A is farther away."""
    middle = (side_a.mean(axis=0) + side_b.mean(axis=0)) / 2
    return np.linalg.norm(side_a - middle, axis=1) - np.linalg.norm(side_b - middle, axis=1)


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
    """Every measure of `METRICS`, in its order, in float64."""
    a, b = np.asarray(side_a, dtype=np.float64), np.asarray(side_b, dtype=np.float64)
    return np.stack([metric(a, b) for metric in METRICS.values()])
