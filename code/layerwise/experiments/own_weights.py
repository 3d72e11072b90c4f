"""What Paper 3 measures of a model, for any checkpoint: residual gains and spectral norms.

The documents have the keys of the published sweep and spectral files, for one model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from layerwise.errors import LayerwiseError
from layerwise.extraction.families import MATRICES
from layerwise.extraction.load import Checkpoint
from layerwise.extraction.projections import Weights
from layerwise.extraction.tracing import trace
from layerwise.measures.residual_gain import gain_definitions, layer_gains
from layerwise.measures.spectral import spectrum
from layerwise.progress import track
from layerwise.statistics.gains import dampens, head_density


def gains(checkpoint: Checkpoint, prompts: Sequence[str]) -> dict[str, Any]:
    """Gain of every block over the prompts, and the last gain in every reading of Paper 3.

    `residual_gain_*` is the second-last block's (without the final norm), `gain_with_ln_*` that of
    the last block and the final norm; `all_layer_gains` are means over the prompts, block by block.

    Raises:
        LayerwiseError: for a model of one block, or states that are not finite.
    """
    if checkpoint.n_layers < 2:
        raise LayerwiseError(
            f"Paper 3's gains compare two blocks, {checkpoint.name} has {checkpoint.n_layers}; "
            "they need a model of more blocks"
        )
    found, readings = [], []
    for text in track(prompts, "gains", "prompts", len(prompts)):
        one = trace(checkpoint, text)
        found.append(layer_gains(one))
        readings.append(gain_definitions(one))
    by_prompt = np.array(found)
    without, behind = by_prompt[:, -2], by_prompt[:, -1]
    n_heads, hidden = checkpoint.model.config.num_attention_heads, checkpoint.hidden_size
    return {
        "model": checkpoint.name,
        "model_display": checkpoint.display,
        "n_prompts": len(prompts),
        "n_layers": checkpoint.n_layers,
        "n_heads": n_heads,
        "d_model": hidden,
        "d_head": hidden // n_heads,  # of the notebooks; Gemma's heads are wider
        "rho": head_density(n_heads, hidden),
        "residual_gain_mean": float(without.mean()),
        "residual_gain_std": float(without.std()),
        "residual_gain_all": without.tolist(),
        "gain_with_ln_mean": float(behind.mean()),
        "gain_with_ln_std": float(behind.std()),
        "all_layer_gains": by_prompt.mean(axis=0).tolist(),
        "all_layer_gains_std": by_prompt.std(axis=0).tolist(),
        "is_dampening": dampens(float(without.mean())),
        "readings": {
            name: {"all": of, "mean": float(np.mean(of)), "std": float(np.std(of))}
            for name in readings[0]
            for of in [[one[name] for one in readings]]
        },
    }


def spectral(checkpoint: Checkpoint) -> dict[str, Any]:
    """Spectral norm, Frobenius norm and effective rank of every attention projection.

    Of the slices that the model computes with. The papers' notebooks cut the fused matrices of
    GPT-NeoX and BLOOM at other rows; for these the numbers differ from published ones.

    Raises:
        LayerwiseError: for an architecture whose slices are not known.
    """
    weights = Weights.of(checkpoint)
    document: dict[str, Any] = {
        "model": checkpoint.name,
        "model_display": checkpoint.display,
        "n_layers": weights.n_layers,
        "slices": "correct",
    }
    places = [(name, block) for name in MATRICES for block in range(weights.n_layers)]
    for name, block in track(places, "spectral norms", "matrices", len(places)):
        for key, value in asdict(spectrum(weights.matrix(block, name, "correct"))).items():
            document.setdefault(f"{name}_{key}", []).append(value)
    for name in MATRICES:
        norms = np.array(document[f"{name}_spectral_norm"])
        document[f"{name}_mean_spectral"] = float(norms.mean())
        document[f"{name}_std_spectral"] = float(norms.std())
    return document
