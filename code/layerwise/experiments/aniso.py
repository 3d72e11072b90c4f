"""Anisotropy of the token states, layer by layer: Pythia-6.9B and Gemma-2B.

Paper 3's anisotropy notebooks: float16, 16 texts, all tokens of all texts together, layers 0..n,
the last one behind the final norm. Pythia's range and Paper 2's layer were typed into the
notebooks.

`beyond/aniso`, at /<slug>: `eigenvalue_variance`, `var_top10` and `var_top50` by layer, which the
notebooks computed and did not save, `norm_cv`, and `before_norm`: the shape of the profile with the
residual stream before the final norm in the place of the last layer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float32

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.lookup import published_name, texts
from layerwise.inputs.published import ANISOTROPY, pointer
from layerwise.measures.anisotropy import Anisotropy, anisotropy
from layerwise.statistics import profile

GEMMA = "paper3/Results/anisotropy_results_gemma.json"
FILES = {"pythia-6p9b": ANISOTROPY, "gemma-2b": GEMMA}
PROMPTS = "anisotropy"
PYTHIA_RANGE = 0.934  # typed into Gemma's notebook


def fragments(subject: Subject) -> Fragments:
    """The model's own file.

    Raises:
        LayerwiseError: see `published_name`.
    """
    file = published_name(subject, FILES)
    *layers, before = _stacked(subject)
    measures = [anisotropy(tokens) for tokens in layers]
    shares = [one.first_pc_share for one in measures]
    cv = [_variation(tokens) for tokens in layers]
    entries = {
        "n_layers": subject.weights.n_layers,
        "hidden_dim": subject.weights.hidden_size,
        "n_prompts": len(texts(subject, PROMPTS)),
        **_shape(shares),
        "intrinsic_dim_ratio": shares,
        "effective_rank": [one.effective_rank for one in measures],
        "avg_cos_sim": [one.mean_cosine_to_mean for one in measures],
    }
    own = _gemma(shares, cv) if file == GEMMA else {"L_star_paper2": profile.PAPER2_LAYER}
    further = {
        **_unsaved(measures),
        "norm_cv": cv,
        "before_norm": _shape([*shares[:-1], anisotropy(before).first_pc_share]),
    }
    place = pointer(subject.model.slug)
    return {file: {"": entries | own}, "beyond/aniso": {place: further}}


def _stacked(subject: Subject) -> list[Float32[np.ndarray, "token _"]]:
    """Tokens of all texts: layers 0..n, then the residual stream before the final norm."""
    traces = [subject.trace(text) for text in texts(subject, PROMPTS)]
    layers = [np.concatenate(states) for states in zip(*(t.states for t in traces), strict=True)]
    return [*layers, np.concatenate([trace.before_norm for trace in traces])]


def _shape(shares: list[float]) -> dict[str, Any]:
    """Where the share of the first principal component peaks, and the lines around the peak."""
    bell = profile.bell_test(shares)
    return {
        "L_star_anisotropy": bell.l_star,
        "is_bell_curve": bell.is_bell_curve,
        "phase1_slope": bell.phase1_slope,
        "phase2_slope": bell.phase2_slope,
        "phase1_r": bell.phase1_r,
        "phase2_r": bell.phase2_r,
    }


def _gemma(shares: list[float], cv: list[float]) -> dict[str, Any]:
    """What only Gemma's notebook saves: the spread of the profile, beside Pythia's."""
    spread = float(np.ptp(shares))
    return {
        "normalization": "RMSNorm",
        "profile_variance": float(np.var(shares)),
        "profile_range": spread,
        "max_anisotropy": float(np.max(shares)),
        "norm_cv": cv,
        "gauge_theory_test": {
            "pythia_profile_range": PYTHIA_RANGE,
            "gemma_profile_range": spread,
            "is_flatter": spread < PYTHIA_RANGE,
        },
    }


def _variation(tokens: Float32[np.ndarray, "token _"]) -> float:
    """Population SD of the tokens' norms over their mean."""
    norms = np.linalg.norm(tokens.astype(np.float64), axis=1)
    return float(np.std(norms) / np.mean(norms))


def _unsaved(measures: list[Anisotropy]) -> dict[str, list[float]]:
    names = ("eigenvalue_variance", "var_top10", "var_top50")
    return {name: [getattr(one, name) for one in measures] for name in names}
