"""Uniformity asymmetry inside random bins of pairs, for many binnings at once.

The sum of all pairwise cosines of a bin needs no states once the cosines of all pairs of rows are
known, so with fewer pairs than hidden dimensions one Gram matrix serves every binning. With more
pairs the sums of the unit rows per bin are cheaper.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from layerwise.measures.uniformity import unit_rows

CHUNK = 1 << 18  # numbers gathered at a time: memory does not grow with the permutations

Binner = Callable[[np.ndarray, int], np.ndarray]


def bin_asymmetry(
    side_a: Float[np.ndarray, "pair hidden"],
    side_b: Float[np.ndarray, "pair hidden"],
    labels: Int[np.ndarray, "perm pair"],
    k: int,
) -> Float[np.ndarray, "perm k"]:
    """UA of each bin of each binning (notebook 000); NaN for a bin of fewer than two pairs."""
    return binner(side_a, side_b)(labels, k)


def bin_mean(
    values: Float[np.ndarray, " pair"], labels: Int[np.ndarray, "perm pair"], k: int
) -> Float[np.ndarray, "perm k"]:
    """Mean value of each bin; NaN for a bin of fewer than two pairs."""
    flat = _flat(labels, k)
    counts = np.bincount(flat, minlength=len(labels) * k)
    sums = np.bincount(flat, np.tile(values, len(labels)), minlength=len(labels) * k)
    return _divide(sums, counts, counts, len(labels), k)


def binner(
    side_a: Float[np.ndarray, "pair hidden"], side_b: Float[np.ndarray, "pair hidden"]
) -> Binner:
    """A function (labels [perm, pair], k) -> UA [perm, k]: what all binnings share is done once."""
    n_pairs, hidden = side_a.shape
    units_a, units_b = unit_rows(side_a), unit_rows(side_b)
    if n_pairs >= hidden:
        return lambda labels, k: _by_segments(units_a, units_b, labels, k)
    # Both sides of a bin have the same number of pairs, so the difference of kernels serves.
    kernel = units_a @ units_a.T - units_b @ units_b.T
    np.fill_diagonal(kernel, 0.0)
    return lambda labels, k: _by_kernel(kernel, labels, k)


def _by_kernel(kernel: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """Sum the kernel over the pairs of rows that share a bin."""
    n_perms, n_pairs = labels.shape
    padded = np.zeros((n_pairs + 1, n_pairs + 1))
    padded[:n_pairs, :n_pairs] = kernel
    counts = np.bincount(_flat(labels, k), minlength=n_perms * k).reshape(n_perms, k)
    widest = int(counts.max())
    sums = np.empty((n_perms, k))
    step = max(1, CHUNK // (k * widest * widest))
    for start in range(0, n_perms, step):
        rows = slice(start, start + step)
        members = _members(labels[rows], counts[rows], widest)
        places = members[..., :, None] * (n_pairs + 1) + members[..., None, :]
        sums[rows] = padded.ravel().take(places).sum(axis=(-2, -1))
    return _divide(sums.ravel(), (counts * (counts - 1)).ravel(), counts.ravel(), n_perms, k)


def _members(labels: np.ndarray, counts: np.ndarray, widest: int) -> np.ndarray:
    """Rows of each bin, [perm, k, widest], filled up with the row of zeros behind the last."""
    n_perms, n_pairs = labels.shape
    members = np.full((n_perms, counts.shape[1], widest), n_pairs)
    members[np.arange(widest) < counts[..., None]] = np.argsort(
        labels, axis=1, kind="stable"
    ).ravel()
    return members


def _by_segments(
    units_a: np.ndarray, units_b: np.ndarray, labels: np.ndarray, k: int
) -> np.ndarray:
    """|sum u|^2 - sum |u|^2 of every bin, one binning at a time."""
    n_perms = len(labels)
    counts = np.bincount(_flat(labels, k), minlength=n_perms * k)
    squares = np.sum(units_a * units_a, axis=1) - np.sum(units_b * units_b, axis=1)
    sums = np.empty((n_perms, k))
    for perm, row in enumerate(labels):
        member = (row == np.arange(k)[:, None]).astype(np.float64)
        total_a, total_b = member @ units_a, member @ units_b
        sums[perm] = np.sum(total_a * total_a - total_b * total_b, axis=1) - member @ squares
    return _divide(sums.ravel(), counts * (counts - 1), counts, n_perms, k)


def _flat(labels: np.ndarray, k: int) -> np.ndarray:
    return (labels + k * np.arange(len(labels))[:, None]).ravel()


def _divide(
    sums: np.ndarray, divisors: np.ndarray, counts: np.ndarray, n_perms: int, k: int
) -> np.ndarray:
    means = np.full(n_perms * k, np.nan)
    np.divide(sums, divisors, out=means, where=counts >= 2)
    return means.reshape(n_perms, k)
