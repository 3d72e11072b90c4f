"""Gains of every layer over a set of prompts: the sweep, the hunt and the clean pair (Paper 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float64

from layerwise.experiments import Subject
from layerwise.measures.residual_gain import gain_definitions, layer_gains
from layerwise.measures.traces import Trace


def by_layer(subject: Subject, texts: Sequence[str]) -> dict[str, Any]:
    """Gains of the last token, means over the prompts; the last one has the final norm in it."""
    gains, last = over_texts(subject.trace(text) for text in texts)
    return {
        "n_heads": subject.weights.n_heads,
        "d_model": subject.weights.hidden_size,
        "all_layer_gains": gains.mean(axis=0).tolist(),
        "beyond": {"gains": last},
    }


def by_prompt(subject: Subject, texts: Sequence[str]) -> dict[str, Any]:
    """The same, and of the second-last block every prompt's gain (the sweep alone saved these)."""
    found = by_layer(subject, texts)
    return {**found, "residual_gain_all": found["beyond"]["gains"]["penultimate"]}


def readings(traces: Iterable[Trace]) -> dict[str, list[float]]:
    """The last gain of every text, by its definition."""
    return over_texts(traces)[1]


def over_texts(
    traces: Iterable[Trace],
) -> tuple[Float64[np.ndarray, "text block"], dict[str, list[float]]]:
    """Gains of every block, and `readings`; a trace that was read is let go."""
    found = [(layer_gains(trace), gain_definitions(trace)) for trace in traces]
    last = {name: [of[name] for _, of in found] for name in found[0][1]}
    return np.array([gains for gains, _ in found]), last
