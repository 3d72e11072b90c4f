"""L*, the critical layer: where a series over the layers turns, and a fit for it (Paper 3).

A NaN wins every `argmax`, `argmin` and gradient it touches, as it did in the notebooks: several
published L* are the place of the first NaN.
"""

from collections.abc import Callable

import numpy as np
import scipy  # and of it `optimize`, half a second, where it is used
from jaxtyping import Float

from layerwise.errors import LayerwiseError

Sizes = Callable[[np.ndarray], np.ndarray]  # a series -> how sharply it turns at each layer
SIGNIFICANT = 0.5  # of the largest step: the third rule of `turning_layer`


def _long_enough(values: np.ndarray, least: int) -> np.ndarray:
    if len(values) < least:
        raise LayerwiseError(
            f"where a series turns needs at least {least} layers, found {len(values)}"
        )
    return values


def gradient_sizes(values: Float[np.ndarray, " layer"]) -> Float[np.ndarray, " layer"]:
    """Absolute gradient: central differences, one-sided at both ends (trace scripts)."""
    return np.abs(np.gradient(_long_enough(values, 2)))


def step_sizes(values: Float[np.ndarray, " layer"]) -> Float[np.ndarray, " layer"]:
    """|Difference| from the layer before (cross-heritage run); -inf at layer 0: it has none."""
    return np.concatenate([[-np.inf], np.abs(np.diff(_long_enough(values, 2)))])


def bend_sizes(values: Float[np.ndarray, " layer"]) -> Float[np.ndarray, " layer"]:
    """Absolute second difference around each layer; -inf at both ends, which have none."""
    bends = np.abs(np.diff(_long_enough(values, 3), n=2))
    return np.concatenate([[-np.inf], bends, [-np.inf]])


def sharpest(sizes: Sizes, values: Float[np.ndarray, " layer"]) -> int:
    """Return the layer of the sharpest turn; the first layer whose size a NaN touches, if any."""
    return int(np.argmax(sizes(values)))


def turning_layer(values: Float[np.ndarray, " layer"]) -> int:
    """Return the first layer after a rise and before a fall, both strict (sign-change run).

    Without one: the largest value, if it is at neither end; else the layer after the last step of
    at least half the largest one; for fewer than three layers, or where NaN leaves no step to
    compare, n // 2. NaN compares false, and the first one counts as the largest value.
    """
    n = len(values)
    if n < 3:
        return n // 2
    steps = np.diff(values)
    turns = np.flatnonzero((steps[:-1] > 0) & (steps[1:] < 0))
    if len(turns):
        return int(turns[0]) + 1
    peak = int(np.argmax(values))
    if 0 < peak < n - 1:
        return peak
    sizes = np.abs(steps)
    large = np.flatnonzero(sizes >= SIGNIFICANT * np.max(sizes))
    return int(large[-1]) + 1 if len(large) else n // 2


def least_absolute_deviations(
    x: Float[np.ndarray, "row column"], y: Float[np.ndarray, " row"]
) -> Float[np.ndarray, " column"]:
    """Coefficients c that minimise the sum of |x c - y|, by linear programming.

    The sum of t is smallest subject to -t <= x c - y <= t. The simplex method stops at a vertex: a
    line through as many rows as there are coefficients.
    """
    n, k = x.shape
    if np.linalg.matrix_rank(x) < k:
        raise LayerwiseError(
            f"a fit needs as many independent rows as coefficients ({k}), "
            f"found {n} rows; add models that differ"
        )
    cost, free = np.repeat([0.0, 1.0], [k, n]), [(None, None)] * k + [(0, None)] * n
    bounds = np.block([[x, -np.eye(n)], [-x, -np.eye(n)]])
    return scipy.optimize.linprog(
        cost, bounds, np.concatenate([y, -y]), bounds=free, method="highs-ds"
    ).x[:k]
