"""Gains of every layer over a set of prompts: the sweep, the hunt and the clean pair (Paper 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from layerwise.experiments import Subject
from layerwise.measures.residual_gain import gain_definitions, layer_gains
from layerwise.measures.traces import Trace


def by_layer(subject: Subject, texts: Sequence[str]) -> dict[str, Any]:
    """Gains of the last token, means over the prompts; the last one has the final norm in it."""
    traces = [subject.trace(text) for text in texts]
    return {
        "n_heads": subject.weights.n_heads,
        "d_model": subject.weights.hidden_size,
        "all_layer_gains": np.mean([layer_gains(trace) for trace in traces], axis=0).tolist(),
        "beyond": {"gains": readings(traces)},
    }


def by_prompt(subject: Subject, texts: Sequence[str]) -> dict[str, Any]:
    """The same, and of the second-last block every prompt's gain (the sweep alone saved these)."""
    found = by_layer(subject, texts)
    return {**found, "residual_gain_all": found["beyond"]["gains"]["penultimate"]}


def readings(traces: Sequence[Trace]) -> dict[str, list[float]]:
    """The last gain of every text, by its definition."""
    found = [gain_definitions(trace) for trace in traces]
    return {name: [one[name] for one in found] for name in found[0]}
