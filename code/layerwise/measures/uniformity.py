"""Mean pairwise cosine, the papers' uniformity, and its difference between two sides."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from layerwise.errors import LayerwiseError

NORM_OFFSET = 1e-10  # added to every norm, as published


def unit_rows(states: Float[np.ndarray, "row hidden"]) -> Float[np.ndarray, "row hidden"]:
    """Rows divided by (norm + 1e-10), float64."""
    rows = np.asarray(states, dtype=np.float64)
    return rows / (np.linalg.norm(rows, axis=1, keepdims=True) + NORM_OFFSET)


def mean_pairwise_cosine(states: Float[np.ndarray, "row hidden"]) -> float:
    """Mean cosine over all pairs of distinct rows (Paper 1, notebook 003).

    With unit rows u the mean over pairs is (|sum u|^2 - sum |u|^2) / (n (n - 1)).

    Raises:
        LayerwiseError: for fewer than two rows.
    """
    if len(states) < 2:
        raise LayerwiseError(
            f"a mean pairwise cosine needs at least two vectors, found {len(states)}; "
            "add statements to the group"
        )
    return float(mean_pairwise_cosine_by_group(states, np.zeros(len(states), dtype=np.int64), 1)[0])


def mean_pairwise_cosine_by_group(
    states: Float[np.ndarray, "row hidden"], labels: Int[np.ndarray, " row"], n_groups: int
) -> Float[np.ndarray, " group"]:
    """Mean pairwise cosine inside each group 0..n_groups-1; NaN for a group of under two rows."""
    units = unit_rows(states)
    found = np.full(n_groups, np.nan)
    for group in range(n_groups):
        members = units[labels == group]
        n = len(members)
        if n >= 2:
            total = members.sum(axis=0)
            found[group] = (total @ total - np.sum(members * members)) / (n * (n - 1))
    return found


def uniformity_asymmetry(
    side_a: Float[np.ndarray, "pair hidden"], side_b: Float[np.ndarray, "pair hidden"]
) -> float:
    """UA = mean pairwise cosine of the A side minus that of the B side (Paper 1, notebook 003)."""
    return mean_pairwise_cosine(side_a) - mean_pairwise_cosine(side_b)
