"""Gains of every layer over a set of prompts: what the sweep, the hunt and the clean pair share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64

from layerwise.experiments import Fragments, Subject
from layerwise.inputs.published import pointer
from layerwise.measures.residual_gain import gain_definitions, layer_gains
from layerwise.statistics.gains import head_density


@dataclass(frozen=True)
class DepthGains:
    """One model's gains; entry n-2 is the last without the final norm, n-1 the one with it."""

    gains: Float64[np.ndarray, "prompt block"]
    shape: Mapping[str, Any]  # of the model, under the names of the result files
    readings: Mapping[str, Any]  # the last gain under every definition, beyond the published one

    @property
    def no_ln(self) -> Float64[np.ndarray, " prompt"]:
        """Gain of the second-last block."""
        return self.gains[:, -2]

    @property
    def with_ln(self) -> Float64[np.ndarray, " prompt"]:
        """Gain of the last block and the final norm."""
        return self.gains[:, -1]

    @property
    def all_layers(self) -> list[float]:
        """Mean over the prompts, block by block."""
        means: list[float] = self.gains.mean(axis=0).tolist()
        return means


def measure(subject: Subject, texts: Sequence[str]) -> DepthGains:
    """Run every text and take the gains of its last token."""
    gains, readings = [], []
    for text in texts:
        trace = subject.trace(text)
        gains.append(layer_gains(trace))
        readings.append(gain_definitions(trace))
    n_heads, hidden = subject.weights.n_heads, subject.weights.hidden_size
    return DepthGains(
        gains=np.array(gains),
        shape={
            "n_layers": len(gains[0]),
            "n_heads": n_heads,
            "d_model": hidden,
            "d_head": hidden // n_heads,  # of the notebooks; Gemma's heads are wider
            "rho": head_density(n_heads, hidden),
        },
        readings=summaries(readings),
    )


def summaries(readings: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Per definition of the gain: every prompt, mean, population SD."""
    columns = {name: [reading[name] for reading in readings] for name in readings[0]}
    return {
        name: {"all": column, "mean": float(np.mean(column)), "std": float(np.std(column))}
        for name, column in columns.items()
    }


def dotted(slug: str) -> str:
    """The model's name in result files: pythia-1p4b is pythia-1.4b (case aside)."""
    return re.sub(r"(\d)p(\d)", r"\1.\2", slug)


def beyond(study: str, subject: Subject, readings: Mapping[str, Any]) -> Fragments:
    """The last gain under every definition, with and without the final norm."""
    return {f"beyond/{study}": {pointer(subject.model.slug): {"gains": dict(readings)}}}
