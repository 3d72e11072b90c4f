"""A series of norms over the layers as result files hold it: gains, extremes, their product."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float64

from layerwise.measures.stream_norms import frobenius_norm
from layerwise.measures.traces import Trace
from layerwise.statistics.norm_ratios import OFFSET, contracting_percent, norm_ratios


def summary(norms: Float64[np.ndarray, " layer"]) -> dict[str, Any]:
    """Norms, their ratios (gains) and what the notebooks save of these.

    `cumulative_energy` is exp(cumsum ln(gain + 1e-10)); a gain of 1 counts as expanding.

    Raises:
        LayerwiseError: if a norm is zero or not finite.
    """
    gains = norm_ratios(norms)
    energy = np.exp(np.cumsum(np.log(gains + OFFSET)))
    contracting = contracting_percent(gains)
    return {
        "norms": norms.tolist(),
        "gains": gains.tolist(),
        "initial_gain": float(gains[0]),
        "last_gain": float(gains[-1]),
        "last_expands": bool(gains[-1] > 1),
        "max_gain": float(gains.max()),
        "max_gain_layer": int(gains.argmax()),
        "contracting_pct": contracting,
        "expanding_pct": 100 - contracting,
        "cumulative_energy": energy.tolist(),
        "final_cumulative": float(energy[-1]),
    }


def pick(entries: dict[str, Any], *names: str) -> dict[str, Any]:
    """Some entries, in the order asked for."""
    return {name: entries[name] for name in names}


def without_first_token(trace: Trace) -> list[float]:
    """Gains of the whole sequence but its first token, whose size rules the published ones.

    Empty for a text of one token.
    """
    if len(trace.tokens) < 2:
        return []
    rest = [out[1:] for out in (trace.embedding, *trace.block_outputs)]
    norms = np.array([frobenius_norm(out) for out in rest])
    return norm_ratios(norms).tolist()
