"""Gains of every layer over a set of prompts: the sweep, the hunt and the clean pair (Paper 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from layerwise.experiments import Subject
from layerwise.measures.residual_gain import gain_definitions, layer_gains
from layerwise.measures.traces import Trace


def measure(subject: Subject, texts: Sequence[str]) -> dict[str, Any]:
    """Gains of the last token: of the second-last block by prompt, of all as means over prompts.

    The last entry of `all_layer_gains` has the final norm in it.
    """
    traces = [subject.trace(text) for text in texts]
    gains = np.array([layer_gains(trace) for trace in traces])
    return {
        "n_heads": subject.weights.n_heads,
        "d_model": subject.weights.hidden_size,
        "residual_gain_all": gains[:, -2].tolist(),
        "all_layer_gains": gains.mean(axis=0).tolist(),
        "beyond": {"gains": readings(traces)},
    }


def readings(traces: Sequence[Trace]) -> dict[str, list[float]]:
    """The last gain of every text, by its definition."""
    found = [gain_definitions(trace) for trace in traces]
    return {name: [one[name] for one in found] for name in found[0]}


def summaries(found: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Per definition of the gain: every prompt, mean, population SD."""
    columns = {name: [one[name] for one in found] for name in found[0]}
    return {
        name: {"all": gains, "mean": float(np.mean(gains)), "std": float(np.std(gains))}
        for name, gains in columns.items()
    }
