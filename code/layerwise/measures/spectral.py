"""Norms and ranks of weight matrices (Paper 3, section 4.3), in float64 throughout.

A full singular value decomposition is the slow way to most of them. The squares of the singular
values are the eigenvalues of the Gram matrix of the smaller side; it loses the small ones to
rounding (an eigenvalue is known to about n eps times the largest), so each result says what it may
rest on: the norm on the largest eigenvalue, which is then proven to be the largest; the effective
rank on all of them where that rounding stays below 1e-10, else on the decomposition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.linalg import LinAlgError, cholesky, eigvalsh
from scipy.sparse.linalg import ArpackError, eigsh

from layerwise.errors import LayerwiseError

OFFSET = 1e-10  # of sums and logarithms, as published
PRECISION = 1e-10  # relative, of every result
BLOCK = 4096  # rows turned into float64 at a time
SMALL = 64  # below, all eigenvalues cost less than looking for one
EPS = np.finfo(np.float64).eps

Matrix = Float[np.ndarray, "out in"]
Values = Float[np.ndarray, " value"]


@dataclass(frozen=True)
class Spectrum:
    """What Paper 3 tabulates of a weight matrix."""

    spectral_norm: float
    frobenius_norm: float
    effective_rank: float


def spectral_norm(matrix: Matrix) -> float:
    """The largest singular value, to 1e-10 of itself.

    Lanczos iteration on the Gram matrix G gives a value t^2 that is at most its largest eigenvalue;
    that none exceeds (1 + 1e-10) t^2 is proven by a Cholesky factor of (1 + 1e-10) t^2 I - G. Where
    the iteration does not converge, or the proof fails, all eigenvalues are computed.

    Raises:
        LayerwiseError: for an empty matrix or values that are not finite.
    """
    scale, gram = _gram(matrix)
    if gram is None:
        return 0.0
    largest = _largest_by_iteration(gram) if len(gram) > SMALL else None
    if largest is None:
        largest = float(eigvalsh(gram)[-1])
    return scale * largest**0.5


def frobenius_norm(matrix: Matrix) -> float:
    """Square root of the sum of squares.

    Raises:
        LayerwiseError: as `spectral_norm`.
    """
    scale = _scale(matrix)
    blocks = (matrix[start : start + BLOCK] for start in range(0, len(matrix), BLOCK))
    squares = (np.sum(np.square(block / np.float64(scale or 1))) for block in blocks)
    return scale * float(sum(squares)) ** 0.5


def spectrum(matrix: Matrix) -> Spectrum:
    """Spectral norm, Frobenius norm and effective rank at the cost of the last.

    The rank is exp(-sum p ln(p + 1e-10)) with p = s / (sum of s + 1e-10), of the singular values s:
    as published, not of their squares. Of a zero matrix it is 1.

    Raises:
        LayerwiseError: as `spectral_norm`.
    """
    scale, gram = _gram(matrix)
    values = None if gram is None else _values_of(gram, scale)
    if values is None:
        values = singular_values(matrix)
    shares = values / (values.sum() + OFFSET)
    rank = float(np.exp(-np.sum(shares * np.log(shares + OFFSET))))
    return Spectrum(float(values[0]), frobenius_norm(matrix), rank)


def singular_values(matrix: Matrix) -> Values:
    """All singular values, largest first.

    Raises:
        LayerwiseError: as `spectral_norm`.
    """
    _scale(matrix)
    return np.linalg.svd(np.asarray(matrix, np.float64), compute_uv=False)


def _scale(matrix: Matrix) -> float:
    """Largest magnitude."""
    if not matrix.size:
        raise LayerwiseError(f"a norm needs a matrix with entries, found the shape {matrix.shape}")
    scale = float(max(np.max(matrix), -np.min(matrix)))
    if not np.isfinite(scale):
        raise LayerwiseError(
            "weights must be finite, found a NaN or an infinity; read them as float32"
        )
    return scale


def _gram(matrix: Matrix) -> tuple[float, Float[np.ndarray, "n n"] | None]:
    """Scale s and Gram matrix of matrix / s, on the smaller side; None for zeros."""
    scale = _scale(matrix)
    if scale == 0:
        return scale, None
    tall = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
    gram = np.zeros((tall.shape[1],) * 2)
    for start in range(0, len(tall), BLOCK):
        rows = tall[start : start + BLOCK] / np.float64(scale)
        gram += rows.T @ rows
    return scale, gram


def _largest_by_iteration(gram: Float[np.ndarray, "n n"]) -> float | None:
    """The largest eigenvalue, or None if what was found is not proven to be that."""
    start = np.random.default_rng(0).standard_normal(len(gram))
    try:
        found = float(eigsh(gram, k=1, v0=start, tol=1e-7, return_eigenvectors=False)[0])
        bound = -gram
        np.fill_diagonal(bound, bound.diagonal() + found * (1 + PRECISION))
        cholesky(bound, overwrite_a=True, check_finite=False)
    except (ArpackError, LinAlgError):
        return None
    return found


def _values_of(gram: Float[np.ndarray, "n n"], scale: float) -> Values | None:
    """Singular values for an effective rank to 1e-10, or None if rounding has lost too much.

    An error d of an eigenvalue s^2 is one of d / 2s, and at most sqrt(d), of s; a share that is off
    by e moves the entropy by e (|ln p| + 1), and the entropy is a relative error of the rank.
    """
    squares = np.maximum(eigvalsh(gram, overwrite_a=True)[::-1], 0)
    values = np.sqrt(squares)
    error = len(gram) * EPS * squares[0]
    off = np.minimum(error / (2 * np.maximum(values, error)), error**0.5)
    shares = values / values.sum()
    moved = off / values.sum() * (np.abs(np.log(shares + OFFSET)) + 1)
    return scale * values if moved.sum() < PRECISION else None
