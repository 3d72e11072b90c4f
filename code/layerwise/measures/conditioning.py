"""Sizes of a weight matrix from all its singular values: norms, condition number, rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32

from layerwise.measures.spectral import singular_values


@dataclass(frozen=True)
class Conditioning:
    """Norms of a matrix and how far it is from losing rank."""

    frobenius: float
    spectral: float
    condition: float  # largest over smallest singular value; NaN where that is zero
    rank: int  # singular values above what float32 can tell from zero


def conditioning(matrix: Float32[np.ndarray, "out in"]) -> Conditioning:
    """Singular values in float64 and what the OPT notebook makes of them.

    The rank counts values over s_max * max(out, in) * eps of float32, the bound of numpy and
    torch for a matrix of that dtype.

    Raises:
        LayerwiseError: for an empty matrix or entries that are not finite.
    """
    s = singular_values(matrix)
    bound = s[0] * max(matrix.shape) * np.finfo(np.float32).eps
    return Conditioning(
        frobenius=float(np.sqrt(np.sum(s**2))),
        spectral=float(s[0]),
        condition=float(s[0] / s[-1]) if s[-1] > 0 else float("nan"),
        rank=int(np.sum(s > bound)),
    )
