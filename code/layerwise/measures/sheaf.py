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

import numpy as np
from jaxtyping import Float, Float32, Float64

TINY = 1e-10  # added to attention before a square root, and the ridge on Laplacians

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


def ascending(matrix: Float64[np.ndarray, "n n"]) -> Float64[np.ndarray, " n"]:
    """Eigenvalues of a symmetric matrix plus the ridge; all NaN where an entry is not finite."""
    if not np.all(np.isfinite(matrix)):
        return np.full(len(matrix), np.nan)
    return np.asarray(np.linalg.eigvalsh(matrix + TINY * np.eye(len(matrix))))


def laplacian_gap(attention: Map, value: Float32[np.ndarray, "corner corner"]) -> float:
    """Return the second smallest less the smallest eigenvalue of M (x) W^T W plus the ridge.

    One dense eigen-solver, as published by the first trace script: a few tokens and a corner
    of W_V. The two eigenvalues are the ridge and differ by 1e-14, which is what rounding leaves.
    NaN attention gives NaN.
    """
    columns = value.astype(np.float64)
    first, second = ascending(np.kron(token_laplacian(attention), columns.T @ columns))[:2]
    return float(second - first)
