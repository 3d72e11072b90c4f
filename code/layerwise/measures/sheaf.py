"""The attention sheaf of one block (Paper 3, section 5).

Between tokens i and j stands the restriction map sqrt(A_ij) W, where A is an attention map and W
the value projection of a head. The Laplacian has the diagonal blocks sum over j != i of
A_ij W^T W, so its trace is (sum(A) - tr(A)) |W|_F^2: the mass of A off its diagonal times a squared
norm. Neither W^T W nor the Laplacian is needed for it. The masses belong to a text, the norms to
the weights; each is computed once, and every trace of the papers is a product of the two:

- `multihead`: the sum over the heads (the trace scripts' `traces_multihead`);
- `full`: the head-mean map with the first head's slice of W_V only (their `traces_full`);
- `mean_map`: the head-mean map with the whole W_V;
  with `excess_mass` it is equation 4 as printed, (sum(A) - n) |W_V|_F^2. The rows of a softmax sum
  to one, so that is 0 but for rounding, and in half precision it is that rounding, enlarged.

NaN of half-precision attention is passed on.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Float32, Float64

from layerwise.errors import LayerwiseError

TINY = 1e-10  # added to attention before a square root, and the ridge on Laplacians
GRAPH_CORNER = 50  # of W^T W in the second trace script
N_SMALLEST = 5  # eigenvalues of either factor that it multiplies

Maps = Float[np.ndarray, "*head row token"]
Map = Float[np.ndarray, "token token"]
ByHead = Float64[np.ndarray, "*layer head"]  # masses, or squared norms
Traces = Float64[np.ndarray, "*layer"]


def squared_norms(values: Float32[np.ndarray, "head size hidden"]) -> Float64[np.ndarray, " head"]:
    """|W_h|_F^2 of every head, summed in float64."""
    flat = (head.astype(np.float64).ravel() for head in values)
    return np.array([head @ head for head in flat])


def off_diagonal_mass(maps: Maps) -> Float64[np.ndarray, "*head"]:
    """sum(A) - tr(A) of each map: what tokens give to others than themselves."""
    diagonal = np.trace(maps, axis1=-2, axis2=-1, dtype=np.float64)
    return np.asarray(maps.sum(axis=(-2, -1), dtype=np.float64) - diagonal)


def excess_mass(maps: Maps) -> Float64[np.ndarray, "*head"]:
    """sum(A) - n of each map: 0 but for rounding, since the rows of a softmax sum to one."""
    return np.asarray(maps.sum(axis=(-2, -1), dtype=np.float64) - maps.shape[-2])


def traces(masses: ByHead, norms: ByHead) -> dict[str, Traces]:
    """Return every trace of the papers, by its name in their files."""
    mean = masses.mean(axis=-1)
    by_name = {
        "full": mean * norms[..., 0],
        "multihead": np.sum(masses * norms, axis=-1),
        "mean_map": mean * norms.sum(axis=-1),
    }
    return {name: np.asarray(trace) for name, trace in by_name.items()}


def evenly_chosen(n_tokens: int, most: int) -> list[int]:
    """At most so many tokens at equal distances, both ends included (np.linspace, cut)."""
    return np.linspace(0, n_tokens - 1, min(n_tokens, most), dtype=int).tolist()


def token_laplacian(attention: Map) -> Float64[np.ndarray, "token token"]:
    """The token factor M of the sheaf Laplacian M (x) W^T W of one map.

    M_ii = sum over j != i of (A_ij + 1e-10), M_ij = -sqrt((A_ij + 1e-10)(A_ji + 1e-10)). Under
    causal attention one of A_ij, A_ji is 0, which leaves the blocks off the diagonal 1e-5 in size.
    """
    shifted = np.asarray(attention, dtype=np.float64) + TINY
    laplacian = -np.sqrt(shifted * shifted.T)
    np.fill_diagonal(laplacian, shifted.sum(axis=1) - np.diagonal(shifted))
    return laplacian


def graph_laplacian(attention: Map) -> Float64[np.ndarray, "token token"]:
    """diag(row sums) - A, of which the second trace script reads the lower triangle only."""
    if len(attention) < 2:
        raise LayerwiseError("a graph Laplacian needs at least two tokens, found 1; use more text")
    a = np.asarray(attention, dtype=np.float64)
    lower = np.tril(-a, -1)
    return lower + lower.T + np.diag(a.sum(axis=1) - np.diagonal(a))


def corner_gram(
    value: Float32[np.ndarray, "out hidden"], corner: int
) -> Float64[np.ndarray, "corner corner"]:
    """The upper left corner of W^T W, from as many columns of W."""
    columns = value[:, :corner].astype(np.float64)
    return columns.T @ columns


def ascending(matrix: Float64[np.ndarray, "n n"]) -> Float64[np.ndarray, " n"]:
    """Eigenvalues of a symmetric matrix plus the ridge; all NaN where an entry is not finite."""
    if not np.all(np.isfinite(matrix)):
        return np.full(len(matrix), np.nan)
    return np.asarray(np.linalg.eigvalsh(matrix + TINY * np.eye(len(matrix))))


class Smallest(NamedTuple):
    """The two smallest eigenvalues of a Laplacian and its trace."""

    lambda_1: float
    lambda_2: float
    trace: float

    @property
    def gap(self) -> float:
        """The spectral gap: second minus first."""
        return self.lambda_2 - self.lambda_1


def smallest_products(
    graph: Float64[np.ndarray, " token"], value: Float64[np.ndarray, " corner"]
) -> Smallest:
    """Return the smallest products of the 5 smallest eigenvalues of either factor (second script).

    A graph eigenvalue can be negative, since only one triangle was read; its product with the
    largest of the five is then the smallest. The trace is that of the whole product.

    Args:
        graph: ascending eigenvalues of `graph_laplacian`.
        value: ascending eigenvalues of `corner_gram`.
    """
    first, second, *_ = np.sort(np.outer(graph[:N_SMALLEST], value[:N_SMALLEST]), axis=None)
    return Smallest(float(first), float(second), float(graph.sum() * value.sum()))


def laplacian_spectrum(attention: Map, value: Float32[np.ndarray, "corner corner"]) -> Smallest:
    """Return the smallest eigenvalues of the whole Laplacian M (x) W^T W plus the ridge.

    One dense eigen-solver, as published by the first trace script: a few tokens and a corner
    of W_V. The two eigenvalues are the ridge and differ by 1e-14, which is what rounding leaves.
    With NaN the first is 0 and the second NaN, as the notebook stores it.
    """
    tokens, gram = token_laplacian(attention), corner_gram(value, len(value))
    trace = float(np.trace(tokens) * np.trace(gram))
    if not np.isfinite(trace):
        return Smallest(0.0, np.nan, trace)
    first, second = ascending(np.kron(tokens, gram))[:2]
    return Smallest(float(first), float(second), trace)
