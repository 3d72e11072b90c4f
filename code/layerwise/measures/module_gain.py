"""Gains of the attention and MLP modules: what one puts out over what it reads (Paper 3).

The gain of a module is its mean token norm out over its mean token norm in. The input has passed
the block's norm, the output is not yet added to the residual stream. In a parallel block both
modules read normalised copies of the same residual, so the product of both gains is no gain of
the block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Float64

from layerwise.errors import LayerwiseError
from layerwise.measures.stream_norms import mean_token_norm
from layerwise.measures.traces import Trace

OFFSET = 1e-10  # added to the denominator, as published

Tokens = Float32[np.ndarray, "token width"]


def module_gain(into: Tokens, out: Tokens) -> float:
    """Mean token norm of `out` over (that of `into` + 1e-10): large, not infinite, for zeros."""
    return mean_token_norm(out) / (mean_token_norm(into) + OFFSET)


def attention_gains(trace: Trace) -> Float64[np.ndarray, " block"]:
    """Gain of the attention of every block.

    Raises:
        LayerwiseError: if the trace was taken without its modules.
    """
    _require_modules(trace)
    return np.array([module_gain(m.attention_input, m.attention_output) for m in trace.modules])


def mlp_gains(trace: Trace) -> Float64[np.ndarray, " block"]:
    """Gain of the MLP of every block.

    Raises:
        LayerwiseError: if the trace was taken without its modules.
    """
    _require_modules(trace)
    return np.array([module_gain(m.mlp_input, m.mlp_output) for m in trace.modules])


@dataclass(frozen=True)
class ModuleGains:
    """Gains by prompt and block; the published number of a block is the mean over the prompts."""

    attention: Float64[np.ndarray, "prompt block"]
    mlp: Float64[np.ndarray, "prompt block"]

    @property
    def means(self) -> tuple[Float64[np.ndarray, " block"], Float64[np.ndarray, " block"]]:
        """Attention gain and MLP gain of every block: means of ratios, not ratios of means."""
        return self.attention.mean(axis=0), self.mlp.mean(axis=0)


def module_gains(traces: Sequence[Trace]) -> ModuleGains:
    """Gains of every prompt, a row each.

    Raises:
        LayerwiseError: for no traces, or one that was taken without its modules.
    """
    if not traces:
        raise LayerwiseError("a mean gain needs at least one prompt, found none; check the set")
    return ModuleGains(
        attention=np.array([attention_gains(trace) for trace in traces]),
        mlp=np.array([mlp_gains(trace) for trace in traces]),
    )


def _require_modules(trace: Trace) -> None:
    if not trace.modules:
        raise LayerwiseError(
            "module gains need the inputs and outputs of the modules, the trace has none; "
            "trace with modules=True"
        )
