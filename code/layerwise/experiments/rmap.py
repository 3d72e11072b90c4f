"""Restriction maps of head 0 over one text, and their Laplacian: the restriction-map notebook.

Appendix D of Paper 3's draft. Published was Pythia-1.4B in float16 with the legacy W_V:
contraction ratios over the pairs of tokens that attend, and a dense Laplacian of at most 8 tokens
and a 32 x 32 corner of W_V. Half-precision attention was NaN in the last blocks, so both published
L* are places of a NaN. A ratio is the mean of sqrt(A_ij): it says nothing about the weights and is
at most 1.

`beyond/rmap`, at /<slug>: `nan_layers`; `L_star_min_contraction_guarded` and
`L_star_inflection_guarded`; and `legacy` and `correct` (slices of W_V), each with `W_V_op_norms`,
`mean_op_norms` and `laplacian_gaps`, the gaps from the factors of the Laplacian, free of the
rounding that the dense solver leaves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float32

from layerwise.errors import LayerwiseError
from layerwise.experiments import Fragments, Subject
from layerwise.experiments.lookup import published_slug
from layerwise.experiments.value_traces import SLICINGS
from layerwise.inputs.published import pointer
from layerwise.measures import sheaf
from layerwise.measures.attention import shifted_row_entropies
from layerwise.measures.spectral import spectral_norm
from layerwise.statistics import critical_layer

FILE = "paper3/Results/restriction_maps_results.json"
PROMPT = "restriction_maps"
MODELS = ("pythia-1p4b",)
TOKENS, CORNER = 8, 32


def fragments(subject: Subject) -> Fragments:
    """The file, which is about one model."""
    slug, weights = published_slug(subject, MODELS), subject.weights
    found = subject.trace(prompt(subject), attention=True)
    heads = [maps[0] for maps in found.attention]
    values = {slicing: _values(subject, heads, slicing) for slicing in SLICINGS}
    maps = [
        sheaf.restriction_maps(attention, norm)
        for attention, norm in zip(heads, values["legacy"]["W_V_op_norms"], strict=True)
    ]
    ratios = np.array([one.contraction_ratio for one in maps])
    lowest = int(np.argmin(ratios))
    before, after = _mean(ratios[:lowest]), _mean(ratios[lowest:])
    entries = {
        "n_layers": weights.n_layers,
        "n_heads": weights.n_heads,
        "hidden_dim": weights.hidden_size,
        "seq_len": len(found.tokens),
        "restriction_maps": {
            "L_star_min_contraction": lowest,
            "L_star_inflection": critical_layer.inflection(ratios),
            "contraction_ratios": ratios.tolist(),
            "mean_op_norms": [one.mean_norm for one in maps],
            "W_V_op_norms": values["legacy"]["W_V_op_norms"],
            "attention_entropies": [float(np.mean(shifted_row_entropies(a))) for a in heads],
        },
        "sheaf_laplacian": _laplacians(subject, heads),
        "validation": {
            "contraction_before_Lstar": before < 1,
            "expansion_after_Lstar": after > before,
        },
    }
    further = {**_guarded(ratios), **values}
    return {FILE: {"": entries}, "beyond/rmap": {pointer(slug): further}}


def prompt(subject: Subject) -> str:
    """The text of the notebook, a set of one.

    Raises:
        LayerwiseError: if the prompts have no such text.
    """
    text = subject.prompts.get(PROMPT, {}).get("prompts")
    if not isinstance(text, str) or not text:
        raise LayerwiseError(
            f"prompts: {PROMPT!r} must be one text, found {type(text).__name__}; fetch them again"
        )
    return text


def _corner(attention: Float32[np.ndarray, "token token"]) -> Float32[np.ndarray, "kept kept"]:
    kept = sheaf.evenly_chosen(len(attention), TOKENS)
    return attention[np.ix_(kept, kept)]


def _values(
    subject: Subject, heads: list[Float32[np.ndarray, "token token"]], slicing: str
) -> dict[str, list[float]]:
    """What depends on the slice of W_V, block by block."""
    norms, means, gaps = [], [], []
    for block, attention in enumerate(heads):
        matrix = subject.weights.matrix(block, "W_V", slicing)
        norms.append(spectral_norm(matrix))
        means.append(sheaf.restriction_maps(attention, norms[-1]).mean_norm)
        corner = matrix[:CORNER, :CORNER]
        gaps.append(sheaf.factored_spectrum(_corner(attention), corner).gap)
    return {"W_V_op_norms": norms, "mean_op_norms": means, "laplacian_gaps": gaps}


def _laplacians(
    subject: Subject, heads: list[Float32[np.ndarray, "token token"]]
) -> dict[str, list[float]]:
    found = []
    for block, attention in enumerate(heads):
        corner = subject.weights.matrix(block, "W_V", "legacy")[:CORNER, :CORNER]
        found.append(sheaf.laplacian_spectrum(_corner(attention), corner))
    return {
        "spectral_gaps": [one.gap for one in found],
        "lambda_1": [one.lambda_1 for one in found],
        "lambda_2": [one.lambda_2 for one in found],
        "traces": [one.trace for one in found],
    }


def _guarded(ratios: np.ndarray) -> dict[str, Any]:
    there = critical_layer.guarded(lambda values: -values, ratios)
    bend = critical_layer.guarded(critical_layer.bend_sizes, ratios)
    return {
        "nan_layers": list(there.nan_layers),
        "L_star_min_contraction_guarded": there.layer,
        "L_star_inflection_guarded": bend.layer,
    }


def _mean(values: np.ndarray) -> float:
    """NaN for no values: nothing stands before a smallest ratio at layer 0."""
    return float(np.mean(values)) if len(values) else float("nan")
