"""Uniformity asymmetry inside random bins of pairs, for many binnings at once.

The sum of all pairwise cosines of a bin needs no states once the cosines of all pairs of rows are
known, so with fewer pairs than hidden dimensions one Gram matrix serves every binning. With more
pairs the sums of the unit rows per bin are cheaper.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from layerwise.measures.uniformity import blocks, unit_rows

CHUNK = 1 << 18  # numbers gathered at a time: memory does not grow with the permutations
SUMS = 1 << 22  # numbers in the sums of unit rows that are kept at a time
LABELS = 1 << 22  # labels looked at together

Binner = Callable[[np.ndarray, int], np.ndarray]


def bin_mean(
    values: Float[np.ndarray, " pair"], labels: Int[np.ndarray, "perm pair"], k: int
) -> Float[np.ndarray, "perm k"]:
    """Mean value of each bin; NaN for a bin of fewer than two pairs."""
    found = []
    for perms in blocks(len(labels), max(1, LABELS // len(values))):
        some = labels[perms]
        flat = _flat(some, k)
        counts = np.bincount(flat, minlength=len(some) * k)
        sums = np.bincount(flat, np.tile(values, len(some)), minlength=len(some) * k)
        found.append(_divide(sums, counts, counts, len(some), k))
    return np.concatenate(found)


def binner(
    side_a: Float[np.ndarray, "pair hidden"], side_b: Float[np.ndarray, "pair hidden"]
) -> Binner:
    """A function (labels [perm, pair], k) -> UA [perm, k]: what all binnings share is done once.

    UA of each bin of each binning (notebook 000); NaN for a bin of fewer than two pairs.
    """
    n_pairs, hidden = side_a.shape
    if n_pairs >= hidden:
        return lambda labels, k: _by_segments(side_a, side_b, labels, k)
    units_a, units_b = unit_rows(side_a), unit_rows(side_b)
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


def _by_segments(side_a: np.ndarray, side_b: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """From the sums of unit rows, for as many binnings at a time as SUMS allows."""
    found = []
    for perms in blocks(len(labels), max(1, SUMS // (k * side_a.shape[1]))):
        some = labels[perms]
        counts = np.bincount(_flat(some, k), minlength=len(some) * k)
        sums = _pairs_in_bins(side_a, some, k) - _pairs_in_bins(side_b, some, k)
        found.append(_divide(sums, counts * (counts - 1), counts, len(some), k))
    return np.concatenate(found)


def _pairs_in_bins(side: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """|sum u|^2 - sum |u|^2 of every bin of every binning, [perm * k]."""
    totals = np.zeros((len(labels) * k, side.shape[1]))
    squares = np.zeros(len(labels) * k)
    for rows in blocks(len(side)):
        units = unit_rows(side[rows])
        member = labels[:, None, rows] == np.arange(k)[:, None]
        weights = member.reshape(len(totals), -1).astype(np.float64)
        totals += weights @ units
        squares += weights @ np.sum(units * units, axis=1)
    return np.sum(totals * totals, axis=1) - squares


def _flat(labels: np.ndarray, k: int) -> np.ndarray:
    return (labels + k * np.arange(len(labels))[:, None]).ravel()


def _divide(
    sums: np.ndarray, divisors: np.ndarray, counts: np.ndarray, n_perms: int, k: int
) -> np.ndarray:
    means = np.full(n_perms * k, np.nan)
    np.divide(sums, divisors, out=means, where=counts >= 2)
    return means.reshape(n_perms, k)
