"""Uniformity asymmetry inside random bins of pairs, for many binnings at once.

Which pair falls into which bin is a sparse matrix of zeros and ones; sums over bins are products
with it. The cosines inside a bin need no states once those of all pairs of rows are known, so with
fewer pairs than hidden dimensions one Gram matrix serves every binning; with more pairs the sums of
the unit rows per bin are cheaper.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from layerwise.measures.uniformity import blocks, unit_rows

AT_A_TIME = 1 << 22  # numbers of a product: memory does not grow with the permutations

Side = Float[np.ndarray, "pair hidden"]
Labels = Int[np.ndarray, "perm pair"]
ByBin = Float[np.ndarray, "perm k"]


def bin_mean(values: Float[np.ndarray, " pair"], labels: Labels, k: int) -> ByBin:
    """Mean value of each bin; NaN for a bin of fewer than two pairs."""
    return _apply_to_bins(labels, k, len(values), lambda member, counts: values @ member / counts)


def binner(side_a: Side, side_b: Side) -> Callable[[np.ndarray, int], np.ndarray]:
    """A function (labels [perm, pair], k) -> UA [perm, k]: what all binnings share is done once.

    UA of each bin of each binning (notebook 000); NaN for a bin of fewer than two pairs.
    """
    if len(side_a) < side_a.shape[1]:
        units_a, units_b = unit_rows(side_a), unit_rows(side_b)
        # Both sides of a bin have the same number of pairs, so the difference of kernels serves.
        kernel = units_a @ units_a.T - units_b @ units_b.T
        np.fill_diagonal(kernel, 0.0)

    def asymmetry(member: Any, counts: np.ndarray) -> np.ndarray:
        if len(side_a) < side_a.shape[1]:
            sums = member.multiply(kernel @ member).sum(axis=0)
        else:
            sums = _cosines_in_bins(side_a, member) - _cosines_in_bins(side_b, member)
        return np.asarray(sums / (counts * (counts - 1)))

    return lambda labels, k: _apply_to_bins(labels, k, min(side_a.shape), asymmetry)


def _cosines_in_bins(side: np.ndarray, member: Any) -> np.ndarray:
    """|sum u|^2 - sum |u|^2 of every bin of every binning."""
    totals, squares = np.zeros((side.shape[1], member.shape[1])), np.zeros(member.shape[1])
    for rows in blocks(len(side)):
        units = unit_rows(side[rows])
        totals += units.T @ member[rows]
        squares += np.sum(units * units, axis=1) @ member[rows]
    return np.sum(totals * totals, axis=0) - squares


def _apply_to_bins(
    labels: np.ndarray, k: int, width: int, function: Callable[[Any, np.ndarray], np.ndarray]
) -> np.ndarray:
    """A function of membership [pair, perm * k] and of the pairs per bin, some binnings at a time.

    `width` numbers per bin are what the function holds.
    """
    values = []
    for perms in blocks(len(labels), max(1, AT_A_TIME // (k * width))):
        block = labels[perms]
        bins = (block + k * np.arange(len(block))[:, None]).ravel()
        pairs = np.tile(np.arange(block.shape[1]), len(block))
        shape = (block.shape[1], len(block) * k)
        member = csr_array((np.ones(len(bins)), (pairs, bins)), shape=shape)
        counts = np.bincount(bins, minlength=shape[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            values.append(np.where(counts < 2, np.nan, function(member, counts)).reshape(-1, k))
    return np.concatenate(values)
