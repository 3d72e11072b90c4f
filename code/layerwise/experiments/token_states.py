"""Anisotropy of the token states, layer by layer (Paper 3's anisotropy notebooks)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float32

from layerwise.experiments import Subject
from layerwise.measures.anisotropy import anisotropy


def profile(subject: Subject, texts: Sequence[str]) -> dict[str, Any]:
    """Of all tokens of all texts together, layers 0..n, the last one behind the final norm.

    Beyond the files: the share of the last layer before that norm.
    """
    traces = [subject.trace(text) for text in texts]
    layers = [np.concatenate(states) for states in zip(*(t.states for t in traces), strict=True)]
    found = [anisotropy(tokens) for tokens in layers]
    before = anisotropy(np.concatenate([trace.before_norm for trace in traces]))
    entry = {
        "hidden_dim": subject.weights.hidden_size,
        "intrinsic_dim_ratio": [one.first_pc_share for one in found],
        "effective_rank": [one.effective_rank for one in found],
        "avg_cos_sim": [one.mean_cosine_to_mean for one in found],
        "beyond": {"last_share_before_norm": before.first_pc_share},
    }
    if subject.model.family == "gemma":  # Gemma's file alone has these
        entry |= {"normalization": "RMSNorm", "norm_cv": list(map(_variation, layers))}
    return entry


def _variation(tokens: Float32[np.ndarray, "token _"]) -> float:
    """Population SD of the tokens' norms over their mean."""
    norms = np.linalg.norm(tokens.astype(np.float64), axis=1)
    return float(np.std(norms) / np.mean(norms))
