"""Attention masses of texts and norms of W_V: what traces of the sheaf Laplacian are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float64

from layerwise.experiments import Subject
from layerwise.measures import sheaf
from layerwise.statistics import critical_layer

SLICINGS = ("legacy", "correct")  # of fused projections, see `projections`


def squared_norms(subject: Subject, slicing: str) -> Float64[np.ndarray, "block head"]:
    """|W_h|_F^2 of every query head; heads that share a key-value head have its norm."""
    weights = subject.weights
    return np.stack(
        [
            query_norms(subject, weights.matrix(block, "W_V", slicing))
            for block in range(weights.n_layers)
        ]
    )


def query_norms(subject: Subject, matrix: np.ndarray) -> Float64[np.ndarray, " head"]:
    """The same of one block's W_V, cut into runs of head_size rows."""
    weights = subject.weights
    norms = sheaf.squared_norms(matrix.reshape(-1, weights.head_size, matrix.shape[1]))
    return np.repeat(norms, weights.n_heads // len(norms))


def trace_series(
    masses: Float64[np.ndarray, "text block head"], norms: Float64[np.ndarray, "block head"]
) -> dict[str, Float64[np.ndarray, " block"]]:
    """Mean over the texts of the three traces, block by block.

    A trace is linear in the attention, so the mean is taken of the masses. `full` is what the trace
    script calls so: the head-mean map with the first head's slice. `mean_map` has the whole W_V.
    """
    mean = masses.mean(axis=0)
    return {
        "full": sheaf.first_slice_trace(mean, norms),
        "multihead": sheaf.multihead_trace(mean, norms),
        "mean_map": sheaf.mean_map_trace(mean, norms),
    }


def summary(
    masses: Float64[np.ndarray, "text block head"], norms: Float64[np.ndarray, "block head"]
) -> dict[str, Any]:
    """For every trace of `trace_series`: `traces_*`, `mean_trace_*`, `L_star_*` of its steepest
    layer (the first NaN wins) and `L_star_*_guarded` (it does not); the `nan_layers` once."""
    found: dict[str, Any] = {}
    for name, series in trace_series(masses, norms).items():
        guarded = critical_layer.guarded(critical_layer.gradient_sizes, series)
        found |= {
            f"traces_{name}": series.tolist(),
            f"mean_trace_{name}": float(np.mean(series)),
            f"L_star_{name}": critical_layer.steepest(series),
            f"L_star_{name}_guarded": guarded.layer,
            "nan_layers": list(guarded.nan_layers),
        }
    return found
