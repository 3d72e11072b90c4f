"""Residual gains: how much a block lengthens the residual stream, in the five readings of Paper 3.

With h_l the states at layer l (h_n behind the final norm), b_i the output of block i and n blocks:

    penultimate   |h_{n-1}| / |h_{n-2}|, block n-2       last token   sweep, hunt, clean pair
    final norm    |h_n| / |h_{n-1}|                      last token   the same files
    last block    |b_{n-1}| / |b_{n-2}|                  last token   benchmark, twins, GPT-2, GPT-J
    sequence      |b_i| / |b_{i-1}|, Frobenius norms     all tokens   four models, input dependency
    token         mean |h_l| / mean |h_{l-1}|            all tokens   LLaMA 2 and 3.1

Norms are rounded to float32; those of the last-block gain to the dtype of the model.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float32, Float64

from layerwise.errors import LayerwiseError
from layerwise.measures.precision import round_to
from layerwise.measures.stream_norms import (
    frobenius_norm,
    last_token_norm,
    mean_token_norm,
    mean_token_norms,
    sequence_norms,
)
from layerwise.measures.traces import Trace

EPSILON = 1e-10  # added to denominators by the notebooks of the sweep, the hunt and the clean pair


def layer_gains(trace: Trace) -> Float64[np.ndarray, " block"]:
    """|h_{l+1}| / (|h_l| + 1e-10) of the last token for every block, the last with the final norm.

    Entry n-2 is the penultimate gain, entry n-1 the final-norm gain.
    """
    norms = np.array([last_token_norm(states) for states in trace.states], dtype=np.float64)
    return norms[1:] / (norms[:-1] + EPSILON)


def penultimate_gain(trace: Trace) -> float:
    """The paper's gain "without final LN": of block n-2, never of the last block.

    Raises:
        LayerwiseError: for a model of one block.
    """
    _require_blocks(trace)
    return float(layer_gains(trace)[-2])


def final_norm_gain(trace: Trace) -> float:
    """The gain "with LN": of the last block and the final norm together."""
    return float(layer_gains(trace)[-1])


def last_block_gain(trace: Trace, dtype: str | None = None) -> float:
    """|b_{n-1}| / |b_{n-2}| of the last token; 1 where the denominator is 0.

    Args:
        dtype: what the norms are rounded to; by default the model's own dtype, as published. In
            bfloat16 such a gain is a ratio of two numbers of eight bits.

    Raises:
        LayerwiseError: for a model of one block.
    """
    _require_blocks(trace)
    last, before = trace.block_outputs[-1], trace.block_outputs[-2]
    return _ratio(last, before, dtype or trace.dtype)


def total_amplification(trace: Trace, dtype: str | None = None) -> float:
    """|b_{n-1}| / |b_0| of the last token, norms rounded as in `last_block_gain`."""
    return _ratio(trace.block_outputs[-1], trace.block_outputs[0], dtype or trace.dtype)


def sequence_gains(trace: Trace, *, embedding: bool = True) -> Float64[np.ndarray, " gain"]:
    """Frobenius norm of each block's output over that of the one before, all tokens.

    The first gain is that of block 0 over the embedding module's output, or without `embedding`
    that of block 1 over block 0. The first token, which some models blow up, rules these norms.
    """
    norms = sequence_norms(trace, embedding=embedding)
    return norms[1:] / norms[:-1]


def token_gains(trace: Trace) -> Float64[np.ndarray, " block"]:
    """Mean token norm at layer l+1 over that at layer l, the last one behind the final norm."""
    means = mean_token_norms(trace)
    return means[1:] / means[:-1]


def gain_definitions(trace: Trace) -> dict[str, float]:
    """The last gain of a text in every reading, with and without the final norm."""
    before, last, after = *trace.block_outputs[-2:], trace.states[-1]
    return {
        "penultimate": penultimate_gain(trace),
        "final_norm": final_norm_gain(trace),
        "last_block": last_block_gain(trace, "float32"),
        "last_block_rounded": last_block_gain(trace),
        "sequence": float(sequence_gains(trace)[-1]),
        "sequence_final_norm": frobenius_norm(after) / frobenius_norm(before),
        "token": mean_token_norm(last) / mean_token_norm(before),
        "token_final_norm": float(token_gains(trace)[-1]),
        "total_amplification": total_amplification(trace, "float32"),
    }


def _require_blocks(trace: Trace) -> None:
    if trace.n_layers < 2:
        raise LayerwiseError(
            f"this gain compares two blocks, the model has {trace.n_layers}; use layer_gains"
        )


def _ratio(
    above: Float32[np.ndarray, "token hidden"], below: Float32[np.ndarray, "token hidden"], to: str
) -> float:
    norms = np.array([last_token_norm(above), last_token_norm(below)], dtype=np.float32)
    numerator, denominator = round_to(norms, to).astype(np.float64)
    return float(numerator / denominator) if denominator else 1.0
