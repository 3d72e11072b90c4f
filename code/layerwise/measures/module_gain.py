"""Gains of the attention and MLP modules: what one puts out over what it reads (Paper 3).

The gain of a module is its mean token norm out over its mean token norm in. The input has passed
the block's norm, the output is not yet added to the residual stream. In a parallel block both
modules read normalised copies of the same residual, so the product of both gains is no gain of
the block.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float32, Float64

from layerwise.errors import LayerwiseError
from layerwise.measures.stream_norms import mean_token_norm
from layerwise.measures.traces import Trace

OFFSET = 1e-10  # added to the denominator, as published

Tokens = Float32[np.ndarray, "token width"]
Blocks = Float64[np.ndarray, " block"]


def module_gain(into: Tokens, out: Tokens) -> float:
    """Mean token norm of `out` over (that of `into` + 1e-10): large, not infinite, for zeros."""
    return mean_token_norm(out) / (mean_token_norm(into) + OFFSET)


def module_gains(traces: Sequence[Trace]) -> tuple[Blocks, Blocks]:
    """Attention gain and MLP gain of every block: means of ratios, not ratios of means.

    Raises:
        LayerwiseError: for no traces, or one that was taken without its modules.
    """
    if not traces or not all(trace.modules for trace in traces):
        raise LayerwiseError(
            "module gains need texts and the inputs and outputs of the modules, found "
            f"{len(traces)} texts; trace with modules=True"
        )
    attention, mlp = (
        np.array(
            [
                [module_gain(getattr(m, f"{of}_input"), getattr(m, f"{of}_output")) for m in blocks]
                for blocks in (trace.modules for trace in traces)
            ]
        ).mean(axis=0)
        for of in ("attention", "mlp")
    )
    return attention, mlp
