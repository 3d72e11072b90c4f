"""Norms of the token matrices: the unembedding W_U and the embedding W_E, a row per token.

The Mistral investigation scales them: |W|_F / sqrt(V d) is the root mean square of the entries,
s_max / sqrt(d) the spectral norm per root of the width. The LLaMA tests take s_max / sqrt(V).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Float64

from layerwise.errors import LayerwiseError
from layerwise.measures.spectral import spectral_norm

ROWS = 8192  # read at a time: a vocabulary of 256,000 in float64 would take gigabytes
TIED_WITHIN = 1e-3  # the investigation's tolerance for "the same matrix"

Tokens = Float32[np.ndarray, "vocabulary width"]


@dataclass(frozen=True)
class MatrixNorms:
    """Sizes of a token matrix; SDs are those of a sample, as torch's default."""

    vocabulary: int
    width: int
    frobenius: float
    spectral: float
    mean_row: float
    std_row: float
    max_row: float
    min_row: float
    mean_abs: float
    std_abs: float

    @property
    def frobenius_per_entry(self) -> float:
        """|W|_F / sqrt(V d)."""
        return self.frobenius / math.sqrt(self.vocabulary * self.width)

    @property
    def spectral_per_root_width(self) -> float:
        """s_max / sqrt(d)."""
        return self.spectral / math.sqrt(self.width)

    @property
    def spectral_per_root_vocabulary(self) -> float:
        """s_max / sqrt(V)."""
        return self.spectral / math.sqrt(self.vocabulary)


def matrix_norms(matrix: Tokens) -> MatrixNorms:
    """Norms of a token matrix; sums run in float64 over a few rows at a time.

    Raises:
        LayerwiseError: for fewer than two rows or an entry that is not finite.
    """
    vocabulary, width = matrix.shape
    if vocabulary < 2:
        raise LayerwiseError(f"a token matrix has at least two rows, found {vocabulary}")
    squares, total = [], 0.0
    for rows in _parts(matrix):
        squares.append(np.sum(rows**2, axis=1))
        total += float(np.sum(np.abs(rows)))
    row_norms = np.sqrt(np.concatenate(squares))
    if not np.all(np.isfinite(row_norms)):
        raise LayerwiseError(
            "a token matrix must be finite, found a NaN or an infinity; read it in a wider dtype"
        )
    n = matrix.size
    square, mean_abs = float(np.sum(row_norms**2)), total / n
    return MatrixNorms(
        vocabulary=vocabulary,
        width=width,
        frobenius=math.sqrt(square),
        spectral=spectral_norm(matrix),
        mean_row=float(row_norms.mean()),
        std_row=float(row_norms.std(ddof=1)),
        max_row=float(row_norms.max()),
        min_row=float(row_norms.min()),
        mean_abs=mean_abs,
        std_abs=math.sqrt(max(square - n * mean_abs**2, 0.0) / (n - 1)),
    )


def are_tied(
    unembedding: Tokens, embedding: Float32[np.ndarray, "other_vocabulary other_width"]
) -> bool:
    """Same shape, and every entry within 1e-3 + 1e-5 of the other's size."""
    return unembedding.shape == embedding.shape and all(
        np.allclose(out, into, rtol=1e-5, atol=TIED_WITHIN)
        for out, into in zip(_parts(unembedding), _parts(embedding), strict=True)
    )


def _parts(matrix: Tokens) -> Iterator[Float64[np.ndarray, "row width"]]:
    for start in range(0, len(matrix), ROWS):
        yield matrix[start : start + ROWS].astype(np.float64)
