"""Anisotropy of the token states of one layer (Paper 3, notebook 004).

The d eigenvalues of the covariance of N tokens follow from the N x N Gram matrix of the centred
tokens where N < d; the remaining d - N are zero. Every eigenvalue is then raised to at least
1e-10, as published, so the zeros count in the total, in the entropy and in the variance.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from layerwise.errors import LayerwiseError

FLOOR = 1e-10  # least eigenvalue, and the offset of logarithms and norms, as published
FEWEST_TOKENS = 3  # of a text whose own share is taken
N_KEPT = 100  # leading eigenvalues kept for the spectra


@dataclass(frozen=True)
class Anisotropy:
    """Measures of one layer; eigenvalues descend, at most the first 100."""

    eigenvalue_variance: float  # population variance over all hidden dimensions
    first_pc_share: float
    effective_rank: float
    mean_cosine_to_mean: float
    var_top10: float
    var_top50: float
    eigenvalues: Float[np.ndarray, " kept"]


def anisotropy(tokens: Float[np.ndarray, "token hidden"]) -> Anisotropy:
    """Measure the token states of one layer."""
    if len(tokens) < 2:
        raise LayerwiseError(
            f"a covariance needs at least two tokens, found {len(tokens)}; add prompts"
        )
    if not np.all(np.isfinite(tokens)):
        raise LayerwiseError(
            "token states must be finite, found a NaN or an infinity; try dtype float32"
        )
    states = np.asarray(tokens, dtype=np.float64)
    mean = states.mean(axis=0)
    eigenvalues = np.maximum(_eigenvalues(states - mean), FLOOR)
    shares = eigenvalues / eigenvalues.sum()
    cumulative = np.cumsum(eigenvalues) / eigenvalues.sum()
    sizes = np.linalg.norm(states, axis=1) * np.linalg.norm(mean)
    return Anisotropy(
        eigenvalue_variance=float(np.var(eigenvalues)),
        first_pc_share=float(shares[0]),
        effective_rank=float(np.exp(-np.sum(shares * np.log(shares + FLOOR)))),
        mean_cosine_to_mean=float(np.mean(states @ mean / (sizes + FLOOR))),
        var_top10=float(cumulative[:10][-1]),
        var_top50=float(cumulative[:50][-1]),
        eigenvalues=eigenvalues[:N_KEPT].copy(),
    )


def first_share(tokens: Float[np.ndarray, "token hidden"]) -> float:
    """The first component's share of the variance of one text's tokens.

    NaN of fewer than `FEWEST_TOKENS`, whose share says nothing: two tokens lie on a line.
    """
    return anisotropy(tokens).first_pc_share if len(tokens) >= FEWEST_TOKENS else float("nan")


def _eigenvalues(centred: np.ndarray) -> np.ndarray:
    """All d eigenvalues of the sample covariance (N - 1), descending."""
    n, hidden = centred.shape
    product = centred @ centred.T if n < hidden else centred.T @ centred
    eigenvalues = np.zeros(hidden)
    spectrum = np.linalg.eigvalsh(product)[::-1] / (n - 1)
    eigenvalues[: len(spectrum)] = spectrum
    return eigenvalues
