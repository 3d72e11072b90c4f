"""Gains of attention and MLP outside Pythia: Gemma-2B, Gemma-7B and Mistral-7B.

Paper 3's cross-architecture file, whose notebook and texts are not published. The gains are those
of the scaling law, over its four sentences, which is an assumption; the numbers therefore stand
apart from the published file, under `beyond/`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float64

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.ffn import by_prompt
from layerwise.experiments.lookup import texts
from layerwise.inputs.published import pointer
from layerwise.measures.module_gain import module_gains
from layerwise.statistics.norm_ratios import contracting_percent

FILE = "beyond/crossarch"

Gains = Float64[np.ndarray, " block"]


def fragments(subject: Subject) -> Fragments:
    """This model's entry, with the keys that the published file has for it."""
    prompts = texts(subject, "mlp_scaling")
    gains = module_gains([subject.trace(text, modules=True) for text in prompts])
    attention, mlp = gains.means
    combined = attention * mlp
    entry = {
        "n_layers": len(mlp),
        "attn_gains": attention.tolist(),
        "mlp_gains": mlp.tolist(),
        "combined_gains": combined.tolist(),
        "statistics": _statistics(attention, mlp, combined),
        "universal_tests": {
            "attention_always_contracts": bool(np.all(attention < 1)),
            "last_mlp_expands": bool(mlp[-1] > 1),
            "last_layer_net_expands": bool(combined[-1] > 1),
        },
        **by_prompt(gains),
    }
    return {FILE: {pointer(subject.model.slug): entry}}


def _statistics(attention: Gains, mlp: Gains, combined: Gains) -> dict[str, Any]:
    return {
        "attn_contracting_pct": contracting_percent(attention),
        "mlp_contracting_pct": contracting_percent(mlp),
        "combined_contracting_pct": contracting_percent(combined),
        "attn_min": float(attention.min()),
        "attn_max": float(attention.max()),
        "mlp_min": float(mlp.min()),
        "mlp_max": float(mlp.max()),
        "last_mlp_gain": float(mlp[-1]),
        "last_attn_gain": float(attention[-1]),
        "last_combined_gain": float(combined[-1]),
    }
