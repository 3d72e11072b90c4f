"""Norms and ranks of weight matrices (Paper 3, section 4.3), in float64 throughout.

A full singular value decomposition is the slow way to most of them. The squares of the singular
values are the eigenvalues of the Gram matrix of the smaller side; it loses the small ones to
rounding (an eigenvalue is known to about n eps times the largest), so the norm rests on the largest
alone, and the effective rank on all of them only where that rounding stays below 1e-10.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.linalg import eigvalsh

from layerwise.errors import LayerwiseError

OFFSET = 1e-10  # of sums and logarithms, as published
PRECISION = 1e-10  # relative, of an effective rank
BLOCK = 4096  # rows turned into float64 at a time
EPS = np.finfo(np.float64).eps

Matrix = Float[np.ndarray, "out in"]
Values = Float[np.ndarray, " value"]


@dataclass(frozen=True)
class Spectrum:
    """The numbers that Paper 3 tabulates for a weight matrix."""

    spectral_norm: float
    frobenius_norm: float
    effective_rank: float


def spectral_norm(matrix: Matrix) -> float:
    """The largest singular value, to 1e-10 of itself."""
    scale, gram = _gram(matrix)
    return scale * float(eigvalsh(gram, overwrite_a=True)[-1]) ** 0.5


def frobenius_norm(matrix: Matrix) -> float:
    """Square root of the sum of squares."""
    scale = _scale(matrix)
    squares = sum(float(np.sum(np.square(rows))) for rows in _blocks(matrix, scale))
    return scale * squares**0.5


def spectrum(matrix: Matrix) -> Spectrum:
    """Spectral norm, Frobenius norm and effective rank at the cost of the last.

    The rank is exp(-sum p ln(p + 1e-10)) with p = s / (sum of s + 1e-10), of the singular values s:
    as published, not of their squares. Of a zero matrix it is 1.
    """
    values = _values_of(*_gram(matrix))
    if values is None:
        values = singular_values(matrix)
    shares = values / (values.sum() + OFFSET)
    rank = float(np.exp(-np.sum(shares * np.log(shares + OFFSET))))
    return Spectrum(float(values[0]), frobenius_norm(matrix), rank)


def singular_values(matrix: Matrix) -> Values:
    """All singular values, largest first."""
    _scale(matrix)
    return np.linalg.svd(np.asarray(matrix, np.float64), compute_uv=False)


def _scale(matrix: Matrix) -> float:
    """Largest magnitude; 1 for zeros."""
    if not matrix.size:
        raise LayerwiseError(f"a norm needs a matrix with entries, found the shape {matrix.shape}")
    scale = float(max(np.max(matrix), -np.min(matrix)))
    if not np.isfinite(scale):
        raise LayerwiseError(
            "a norm needs finite entries, found a NaN or an infinity; read the matrix as float32"
        )
    return scale or 1.0


def _blocks(matrix: Matrix, scale: float) -> Iterator[Float[np.ndarray, "row in"]]:
    """Rows of matrix / scale in float64, a few at a time: neither squares nor memory overflow."""
    for start in range(0, len(matrix), BLOCK):
        yield matrix[start : start + BLOCK] / np.float64(scale)


def _gram(matrix: Matrix) -> tuple[float, Float[np.ndarray, "n n"]]:
    """Scale s and Gram matrix of matrix / s, on the smaller side."""
    scale = _scale(matrix)
    tall = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
    gram = np.zeros((tall.shape[1],) * 2)
    for rows in _blocks(tall, scale):
        gram += rows.T @ rows
    return scale, gram


def _values_of(scale: float, gram: Float[np.ndarray, "n n"]) -> Values | None:
    """Singular values for an effective rank to 1e-10, or None if rounding has lost too much.

    An error d of an eigenvalue s^2 is one of d / 2s, and at most sqrt(d), of s; a share that is off
    by e moves the entropy by e (|ln p| + 1), and the entropy is a relative error of the rank.
    """
    squares = np.maximum(eigvalsh(gram, overwrite_a=True)[::-1], 0)
    if not squares[0]:
        return squares
    values = np.sqrt(squares)
    error = len(gram) * EPS * squares[0]
    off = np.minimum(error / (2 * np.maximum(values, error)), error**0.5)
    shares = values / values.sum()
    moved = off / values.sum() * (np.abs(np.log(shares + OFFSET)) + 1)
    return scale * values if moved.sum() < PRECISION else None
