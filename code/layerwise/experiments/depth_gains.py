"""Gains of every layer over a set of prompts: the sweep, the hunt and the clean pair (Paper 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from layerwise.experiments import Subject
from layerwise.measures.residual_gain import gain_definitions, layer_gains
from layerwise.statistics.gains import dampens, head_density


def measure(subject: Subject, texts: Sequence[str]) -> dict[str, Any]:
    """Gains of the last token, under the names of all three files.

    Entry n-2 of `all_layer_gains` is the last without the final norm, entry n-1 the one with it.
    The hunt's `norm_type` is a typed guess, and left out.
    """
    traces = [subject.trace(text) for text in texts]
    gains = np.array([layer_gains(trace) for trace in traces])
    n_heads, hidden = subject.weights.n_heads, subject.weights.hidden_size
    second_last, last = gains[:, -2], gains[:, -1]
    mean = float(second_last.mean())
    return {
        "n_layers": gains.shape[1],
        "n_hidden_states": gains.shape[1] + 1,
        "n_heads": n_heads,
        "d_model": hidden,
        "d_head": hidden // n_heads,  # of the notebooks; Gemma's heads are wider
        "rho": head_density(n_heads, hidden),
        "residual_gain_mean": mean,
        "residual_gain_std": float(second_last.std()),
        "residual_gain_all": second_last.tolist(),
        "gain_no_ln_mean": mean,
        "gain_no_ln_std": float(second_last.std()),
        "gain_with_ln_mean": float(last.mean()),
        "gain_with_ln_std": float(last.std()),
        "all_layer_gains": gains.mean(axis=0).tolist(),
        "is_dampening": dampens(mean),
        "is_dampening_no_ln": dampens(mean),
        "is_dampening_with_ln": dampens(float(last.mean())),
        "h25_prediction_correct": (head_density(n_heads, hidden) >= 0.2) == dampens(mean),
        "beyond": {"gains": readings([gain_definitions(trace) for trace in traces])},
    }


def readings(found: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    """The last gain of every prompt, by its definition."""
    return {name: [one[name] for one in found] for name in found[0]}


def summaries(found: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Per definition of the gain: every prompt, mean, population SD."""
    return {
        name: {"all": gains, "mean": float(np.mean(gains)), "std": float(np.std(gains))}
        for name, gains in readings(found).items()
    }
