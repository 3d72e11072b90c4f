"""W_V and attention of OPT-125M, GPT-2 and Pythia-160M: the OPT anomaly.

Paper 3's OPT notebook: weights in float16, cast to float32, the legacy W_V; attention in float16,
two texts, mean over the heads first. Half precision leaves some of Pythia's layers without an
entropy; means leave NaN out, as pandas does. `beyond/opt` has both slices layer by layer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float64

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.lookup import published_name, texts
from layerwise.inputs.published import pointer
from layerwise.measures.attention import head_mean, row_entropies, skipping_nan_mean, sparsity
from layerwise.measures.conditioning import Conditioning, conditioning
from layerwise.measures.traces import Trace

FILE = "paper3/Results/OPT_anomaly_20260106_013155.json"
BEYOND = "beyond/opt"
NAMES = {
    "opt-125m": "facebook/opt-125m",
    "gpt2": "gpt2",
    "pythia-160m": "EleutherAI/pythia-160m",
}


def fragments(subject: Subject) -> Fragments:
    """The means over the layers of W_V, and the attention layer by layer."""
    name = published_name(subject, NAMES)
    traces = [subject.trace(text, attention=True) for text in texts(subject, "opt_anomaly")]
    layers = {slicing: _layers(subject, slicing) for slicing in ("legacy", "correct")}
    return {
        FILE: {
            pointer("W_V_analysis", name): _means(layers["legacy"]),
            pointer("attention_analysis", name): _attention(traces),
        },
        BEYOND: {
            pointer(subject.model.slug): {
                slicing: {**_means(found), **_series(found)} for slicing, found in layers.items()
            }
        },
    }


def _layers(subject: Subject, slicing: str) -> list[Conditioning]:
    weights = subject.weights
    return [conditioning(weights.matrix(b, "W_V", slicing)) for b in range(weights.n_layers)]


def _means(layers: list[Conditioning]) -> dict[str, float]:
    return {
        "mean_frobenius": float(np.mean([layer.frobenius for layer in layers])),
        "mean_spectral": float(np.mean([layer.spectral for layer in layers])),
        "mean_condition": float(np.mean([layer.condition for layer in layers])),
    }


def _series(layers: list[Conditioning]) -> dict[str, list[float]]:
    return {
        "frobenius": [layer.frobenius for layer in layers],
        "spectral": [layer.spectral for layer in layers],
        "condition": [layer.condition for layer in layers],
        "rank": [layer.rank for layer in layers],
    }


def _attention(traces: list[Trace]) -> dict[str, Any]:
    averaged = [[head_mean(maps) for maps in trace.attention] for trace in traces]
    entropies = np.array([[_mean(row_entropies(a)) for a in maps] for maps in averaged])
    shares = np.array([[sparsity(a) for a in maps] for maps in averaged])
    by_layer = [skipping_nan_mean(values) for values in (entropies, shares)]
    return {
        "entropy_by_layer": by_layer[0].tolist(),
        "sparsity_by_layer": by_layer[1].tolist(),
        "mean_entropy": _over_layers(by_layer[0]),
        "mean_sparsity": _over_layers(by_layer[1]),
    }


def _over_layers(values: Float64[np.ndarray, " layer"]) -> float:
    return float(skipping_nan_mean(values[:, None])[0])


def _mean(values: np.ndarray) -> float:
    return float(np.mean(values))
