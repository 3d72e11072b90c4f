"""Residual gains: how much a block lengthens the residual stream, in the five readings of Paper 3.

With h_l the states at layer l (h_n after the final norm), b_i the output of block i and n blocks:

    penultimate   |h_{n-1}| / |h_{n-2}|, block n-2       last token   sweep, hunt, clean pair
    final norm    |h_n| / |h_{n-1}|                      last token   the same files
    last block    |b_{n-1}| / |b_{n-2}|                  last token   benchmark, twins, GPT-2, GPT-J
    sequence      |b_i| / |b_{i-1}|, Frobenius norms     all tokens   four models, input dependency
    token         mean |h_l| / mean |h_{l-1}|            all tokens   LLaMA 2 and 3.1

Norms are summed in float64 and, `sequence_norm` aside, rounded to float32, as a float32 kernel
would give them; those of the last-block gain to the dtype of the model. A massive first token rules
the norm of the whole sequence; the mean over tokens weighs it less.

The gain of an attention or MLP module is its mean token norm out over its mean token norm in. The
input has passed the block's norm, the output is not yet added to the residual stream. In a parallel
block both modules read normalised copies of the same residual, so the product of both gains is no
gain of the block.
"""

import math
from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from jaxtyping import Float32, Float64

from layerwise.errors import LayerwiseError
from layerwise.measures.traces import Stream, Trace

EPSILON = 1e-10  # added to denominators by the notebooks of the sweep, hunt, clean pair and modules

Tokens = Float32[np.ndarray, "token width"]
Blocks = Float64[np.ndarray, " block"]


class GainReading(StrEnum):
    """The definitions of the last gain of a text, by which it is measured and asked for."""

    PENULTIMATE = "penultimate"
    FINAL_NORM = "final_norm"
    LAST_BLOCK = "last_block"
    LAST_BLOCK_ROUNDED = "last_block_rounded"  # norms in the model's own dtype
    SEQUENCE = "sequence"
    SEQUENCE_FINAL_NORM = "sequence_final_norm"
    TOKEN = "token"
    TOKEN_FINAL_NORM = "token_final_norm"
    TOTAL_AMPLIFICATION = "total_amplification"  # the last block over the first


# --- norms ---


def token_norms(states: Tokens) -> Float32[np.ndarray, " token"]:
    return np.sqrt(np.sum(np.square(states, dtype=np.float64), axis=1)).astype(np.float32)


def last_token_norm(states: Tokens) -> float:
    return float(token_norms(states[-1:])[0])


def mean_token_norm(states: Tokens) -> float:
    return float(token_norms(states).mean(dtype=np.float64))


def sequence_norm(states: Tokens) -> float:
    """Frobenius norm of all tokens together, not rounded."""
    return float(np.sqrt(np.sum(np.square(states, dtype=np.float64))))


def sequence_norms(outputs: Sequence[Tokens]) -> Float64[np.ndarray, " output"]:
    """Frobenius norms over all tokens of what the blocks, and perhaps the embedding, put out."""
    return np.array([sequence_norm(out) for out in outputs], np.float32).astype(np.float64)


def mean_token_norms(trace: Stream) -> Float64[np.ndarray, " layer"]:
    """Mean token norm at layers 0..n, the last one after the final norm (LLaMA 2 and 3.1)."""
    return np.array([mean_token_norm(states) for states in trace.states], np.float32).astype(
        np.float64
    )


def round_to(values: Float32[np.ndarray, "*shape"], dtype: str) -> Float32[np.ndarray, "*shape"]:
    """The values rounded to `dtype` (ties to even) and held in float32 again.

    bfloat16 is the upper half of a float32. What float16 cannot hold becomes infinite.
    """
    if dtype == "float32":
        return values
    if dtype == "float16":
        with np.errstate(over="ignore"):
            return values.astype(np.float16).astype(np.float32)
    if dtype != "bfloat16":
        raise LayerwiseError(f"dtype must be float32, float16 or bfloat16, found {dtype!r}")
    bits = values.view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    upper = (bits + np.uint32(0x7FFF) + odd) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(values), values, upper.view(np.float32))


# --- of the residual stream ---


def layer_gains(trace: Stream) -> Blocks:
    """|h_{l+1}| / (|h_l| + 1e-10) of the last token for every block, the last with the final norm.

    Entry n-2 is the penultimate gain ("without final LN"), entry n-1 the final-norm gain.
    """
    _require_blocks(trace)
    norms = np.array([last_token_norm(states) for states in trace.states], dtype=np.float64)
    return norms[1:] / (norms[:-1] + EPSILON)


def last_block_gain(trace: Stream, dtype: str | None = None) -> float:
    """|b_{n-1}| / |b_{n-2}| of the last token; 1 where the denominator is 0.

    Args:
        dtype: what the norms are rounded to; by default the model's own dtype, as published. In
            bfloat16 such a gain is a ratio of two numbers of eight bits.
    """
    _require_blocks(trace)
    return _ratio(trace, -2, dtype or trace.dtype)


def gain_definitions(trace: Stream) -> dict[GainReading, float]:
    """The last gain of a text in every reading, with and without the final norm."""
    gains, tokens = layer_gains(trace), mean_token_norms(trace)
    before, last = trace.block_outputs[-2:]
    sequence = sequence_norms(trace.block_outputs)
    last_sequence = sequence_norm(trace.states[-1])
    return {
        GainReading.PENULTIMATE: float(gains[-2]),
        GainReading.FINAL_NORM: float(gains[-1]),
        GainReading.LAST_BLOCK: last_block_gain(trace, "float32"),
        GainReading.LAST_BLOCK_ROUNDED: last_block_gain(trace),
        GainReading.SEQUENCE: float(sequence[-1] / sequence[-2]),
        GainReading.SEQUENCE_FINAL_NORM: last_sequence / sequence_norm(before),
        GainReading.TOKEN: mean_token_norm(last) / mean_token_norm(before),
        GainReading.TOKEN_FINAL_NORM: float(tokens[-1] / tokens[-2]),
        GainReading.TOTAL_AMPLIFICATION: _ratio(trace, 0, "float32"),
    }


def _ratio(trace: Stream, below: int, dtype: str) -> float:
    """Last token's norm behind the last block over that behind another, both rounded.

    Infinite where the dtype cannot hold a norm.
    """
    outputs = trace.block_outputs[-1], trace.block_outputs[below]
    norms = np.array([last_token_norm(out) for out in outputs], dtype=np.float32)
    numerator, denominator = round_to(norms, dtype).astype(np.float64)
    if not (np.isfinite(numerator) and np.isfinite(denominator)):
        return math.inf
    return float(numerator / denominator) if denominator else 1.0


def _require_blocks(trace: Stream) -> None:
    if trace.n_layers < 2:
        raise LayerwiseError(f"a last gain compares two blocks, the model has {trace.n_layers}")


# --- of attention and MLP ---


def module_gain(into: Tokens, out: Tokens) -> float:
    """Mean token norm of `out` over (that of `into` + 1e-10): large, not infinite, for zeros."""
    return mean_token_norm(out) / (mean_token_norm(into) + EPSILON)


def module_gains(traces: Sequence[Trace]) -> tuple[Blocks, Blocks]:
    """Attention gain and MLP gain of every block: means of ratios, not ratios of means."""
    blocks = [trace.modules for trace in traces]
    if not blocks or not all(blocks):
        raise LayerwiseError(
            "module gains need texts and the inputs and outputs of the modules, found "
            f"{len(traces)} texts; trace with modules=True"
        )
    attention = [
        [module_gain(block.attention_input, block.attention_output) for block in text_blocks]
        for text_blocks in blocks
    ]
    mlp = [
        [module_gain(block.mlp_input, block.mlp_output) for block in text_blocks]
        for text_blocks in blocks
    ]
    return np.mean(attention, axis=0), np.mean(mlp, axis=0)
