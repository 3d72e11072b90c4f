"""Tests of a two-by-two table of counts."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Int

from layerwise.errors import LayerwiseError


def _margins(table: Int[np.ndarray, "2 2"]) -> tuple[int, int, int, int]:
    """(upper left count, upper row, left column, all).

    Raises:
        LayerwiseError: for a negative count, or a row or column that sums to zero.
    """
    (a, b), (c, d) = ([int(count) for count in row] for row in table)
    if min(a, b, c, d) < 0 or 0 in (a + b, c + d, a + c, b + d):
        raise LayerwiseError(
            f"a test of a table needs counts and no empty row or column, found {table.tolist()}; "
            "check the groups"
        )
    return a, a + b, a + c, a + b + c + d


def fisher_exact(table: Int[np.ndarray, "2 2"]) -> float:
    """Two-sided p of Fisher's exact test, by whole numbers.

    The share of all tables with these margins that are at most as probable as this one.

    Raises:
        LayerwiseError: see `_margins`.
    """
    count, row, column, n = _margins(table)
    ways = {
        k: math.comb(row, k) * math.comb(n - row, column - k)
        for k in range(max(0, row + column - n), min(row, column) + 1)
    }
    return sum(way for way in ways.values() if way <= ways[count]) / math.comb(n, column)


def chi_square_p(table: Int[np.ndarray, "2 2"]) -> float:
    """p of Pearson's chi-square, one degree of freedom, without continuity correction.

    Raises:
        LayerwiseError: see `_margins`.
    """
    count, row, column, n = _margins(table)
    excess = n * count - row * column
    statistic = n * excess**2 / (row * (n - row) * column * (n - column))
    return math.erfc(math.sqrt(statistic / 2))
