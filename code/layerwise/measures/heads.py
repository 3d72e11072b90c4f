"""What the heads of one attention add to the residual stream (Paper 3, per-head analysis)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float32, Float64

from layerwise.errors import LayerwiseError


def chunk_norms(
    output: Float32[np.ndarray, "token hidden"], n_heads: int
) -> Float64[np.ndarray, "token head"]:
    """The published "head norms": norms of `n_heads` equal chunks of the attention's output.

    W_O has mixed the heads by then, so a chunk is no head; see `contributions`.

    Raises:
        LayerwiseError: if the output does not divide into so many chunks.
    """
    tokens, hidden = output.shape
    if hidden % n_heads:
        raise LayerwiseError(
            f"chunks need a width that {n_heads} divides, found {hidden}; use `contributions`, "
            "which knows the size of the heads"
        )
    chunks = output.astype(np.float64).reshape(tokens, n_heads, hidden // n_heads)
    norms: np.ndarray = np.linalg.norm(chunks, axis=-1)
    return norms


def contributions(
    maps: Float32[np.ndarray, "head token token"],
    inputs: Float32[np.ndarray, "token hidden"],
    values: Float32[np.ndarray, "head size hidden"],
    output: Float32[np.ndarray, "hidden heads"],
) -> Float32[np.ndarray, "head token hidden"]:
    """What each head adds to the residual stream: A_h X W_V,h^T W_O,h^T.

    Their sum over the heads is the attention's output but for the biases of W_V and W_O.

    Args:
        maps: attention of each head.
        inputs: what the attention reads.
        values: W_V of each head (key-value heads repeated where they are shared).
        output: W_O, its columns head after head.

    Raises:
        LayerwiseError: if W_O has not one column per dimension of each head.
    """
    heads, size, _ = values.shape
    if output.shape[1] != heads * size:
        raise LayerwiseError(
            f"W_O needs {heads} x {size} columns for as many heads, found {output.shape[1]}; "
            "repeat shared value heads first"
        )
    mixed = np.matmul(maps, np.matmul(inputs, values.transpose(0, 2, 1)))
    out = output.reshape(len(output), heads, size).transpose(1, 2, 0)
    found: np.ndarray = np.matmul(mixed, out)
    return found


def contribution_norms(
    found: Float32[np.ndarray, "head token hidden"],
) -> Float64[np.ndarray, "token head"]:
    """Norm of what each head adds at each token."""
    norms: np.ndarray = np.linalg.norm(found.astype(np.float64), axis=-1)
    return norms.T


def low(norms: Float64[np.ndarray, " head"]) -> Bool[np.ndarray, " head"]:
    """The published "low-contribution heads": under the mean less the population SD."""
    return norms < norms.mean() - norms.std()
