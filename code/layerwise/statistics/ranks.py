"""Comparing two small samples by rank."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from jaxtyping import Float

from layerwise.errors import LayerwiseError


def mann_whitney(x: Float[np.ndarray, " m"], y: Float[np.ndarray, " n"]) -> tuple[float, float]:
    """(U of x, exact two-sided p): U counts the pairs in which x is larger.

    p is twice the share of orders of the joint sample whose U is at least the larger of both U.

    Raises:
        LayerwiseError: for an empty sample, a number that is not finite, or equal numbers.
    """
    joint = np.concatenate([x, y])
    if len(x) == 0 or len(y) == 0 or not np.all(np.isfinite(joint)):
        raise LayerwiseError(
            f"a rank test needs two samples of finite numbers, found {x} and {y}; "
            "check what they came from"
        )
    if len(np.unique(joint)) < len(joint):
        raise LayerwiseError(
            f"the exact rank test needs numbers that all differ, found {x} and {y}; "
            "use a test that corrects for ties"
        )
    m, n = len(x), len(y)
    u = int(np.sum(x[:, None] > y[None, :]))
    upper = sum(_orders(m, n, value) for value in range(max(u, m * n - u), m * n + 1))
    return float(u), min(1.0, 2 * upper / math.comb(m + n, m))


@cache
def _orders(m: int, n: int, u: int) -> int:
    """Orders of m and n numbers in which the first beat the second in u pairs."""
    if u < 0:
        return 0
    if m == 0 or n == 0:
        return int(u == 0)
    return _orders(m - 1, n, u - n) + _orders(m, n - 1, u)
