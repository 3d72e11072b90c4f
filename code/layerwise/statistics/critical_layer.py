"""L*, the critical layer: where a series over the layers turns, and the formula for it (Paper 3).

A NaN wins every `argmax`, `argmin` and gradient it touches, as it did in the notebooks: several
published L* are the place of the first NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float

from layerwise.errors import LayerwiseError


@dataclass(frozen=True)
class Formula:
    """L* = L (constant + depth L + heads / H) for L blocks of H heads (equation 6)."""

    constant: float
    depth: float
    heads: float

    def layer(self, n_layers: int, n_heads: int) -> float:
        """The predicted L*."""
        return n_layers * (self.constant + self.depth * n_layers + self.heads / n_heads)


def layer_from_gain(n_layers: int, gain: float | int) -> float:
    """The a-priori L* = (L/2)(1 + tanh(5 (G - 1))) (trace script)."""
    return float(n_layers / 2 * (1 + np.tanh(5 * (gain - 1))))


def steepest(values: Float[np.ndarray, " layer"]) -> int:
    """The layer of the largest absolute gradient (central differences); the first NaN, if any.

    Raises:
        LayerwiseError: for fewer than two layers.
    """
    if len(values) < 2:
        raise LayerwiseError(f"a gradient needs at least two layers, found {len(values)}")
    return int(np.argmax(np.abs(np.gradient(values))))


def inflection(values: Float[np.ndarray, " layer"]) -> int:
    """The layer of the largest absolute second difference; the first NaN, if any.

    Raises:
        LayerwiseError: for fewer than three layers.
    """
    if len(values) < 3:
        raise LayerwiseError(f"a second difference needs three layers, found {len(values)}")
    return int(np.argmax(np.abs(np.diff(values, n=2)))) + 1


def depth_error(predicted: float | int, layer: float | int, n_layers: int) -> float:
    """|predicted - L*| in percent of the number of blocks; the paper calls its mean MAPE."""
    return 100 * abs(predicted - layer) / n_layers


def relative_error(predicted: float | int, layer: float | int) -> float:
    """|predicted - L*| in percent of L*.

    Raises:
        LayerwiseError: for L* = 0.
    """
    if layer == 0:
        raise LayerwiseError("an error relative to L* needs an L* other than 0")
    return 100 * abs(predicted - layer) / layer


def verdict(error: float | int) -> str:
    """Word for the mean depth error in percent: under 10, under 15, or more.

    Only the last word was ever printed; the notebooks differ in the others.
    """
    if error < 10:
        return "VALIDATED"
    return "PARTIAL" if error < 15 else "CALIBRATION NEEDED"


def least_absolute_deviations(
    x: Float[np.ndarray, "row column"], y: Float[np.ndarray, " row"]
) -> Float[np.ndarray, " column"]:
    """Coefficients c that minimise the sum of |x c - y|.

    Some minimiser passes through as many rows as there are coefficients, so all such choices are
    tried: for a handful of rows this is exact and needs no solver.

    Raises:
        LayerwiseError: for fewer independent rows than coefficients.
    """
    best, best_sum = None, np.inf
    for rows in combinations(range(len(x)), x.shape[1]):
        chosen = x[list(rows)]
        if np.linalg.matrix_rank(chosen) < x.shape[1]:
            continue
        found = np.linalg.solve(chosen, y[list(rows)])
        total = float(np.sum(np.abs(x @ found - y)))
        if total < best_sum:
            best, best_sum = found, total
    if best is None:
        raise LayerwiseError(
            f"a fit needs as many independent rows as coefficients ({x.shape[1]}), "
            f"found {len(x)} rows; add models that differ"
        )
    return best


def fit_formula(
    n_layers: Sequence[int], n_heads: Sequence[int], layers: Sequence[float | int]
) -> Formula:
    """The formula whose mean depth error is smallest (Paper 3, section 5.3).

    Raises:
        LayerwiseError: see `least_absolute_deviations`.
    """
    depth, heads = (np.asarray(v, dtype=np.float64) for v in (n_layers, n_heads))
    columns = np.column_stack([np.ones(len(depth)), depth, 1 / heads])
    found = least_absolute_deviations(columns, np.asarray(layers, dtype=np.float64) / depth)
    return Formula(*(float(c) for c in found))
