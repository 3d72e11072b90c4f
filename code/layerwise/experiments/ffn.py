"""Gains of attention and MLP, layer by layer: Pythia-1.4B, and Pythia-6.9B with its funnel test.

Paper 3's FFN expansion notebooks: eight sentences each, float16. A gain is the mean over the
prompts of `module_gain`; the combined gain is the product of both modules' gains.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float64

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.lookup import published_name, texts
from layerwise.inputs.published import pointer
from layerwise.measures.module_gain import ModuleGains, module_gains
from layerwise.statistics.gains import layer_counts, majority

FILES = {
    "pythia-1p4b": "paper3/Results/ffn_expansion_results.json",
    "pythia-6p9b": "paper3/Results/ffn_expansion_pythia69b_results.json",
}
SETS = {"pythia-1p4b": "ffn_expansion", "pythia-6p9b": "ffn_expansion_6p9b"}
BEYOND = "beyond/ffn"
FUNNEL = "pythia-6p9b"  # the model whose file has the funnel test

Gains = Float64[np.ndarray, " block"]


def fragments(subject: Subject) -> Fragments:
    """The whole file of this model, and its gains prompt by prompt."""
    file = published_name(subject, FILES)
    prompts = texts(subject, SETS[subject.model.slug])
    gains = module_gains([subject.trace(text, modules=True) for text in prompts])
    attention, mlp = gains.means
    document: dict[str, Any] = {
        "n_layers": len(mlp),
        "hidden_dim": subject.weights.hidden_size,
        "n_prompts": len(prompts),
        "attention": {**_module(attention), "L_star_min": int(attention.argmin())},
        "mlp": {**_module(mlp), "L_star_max": int(mlp.argmax())},
        "combined": _combined(attention * mlp),
    }
    if subject.model.slug == FUNNEL:
        document["mlp"]["last_layer_gain"] = float(mlp[-1])
        document["combined"] |= _largest(attention * mlp)
        document["funnel_test"] = funnel_test(attention, mlp)
    else:
        document["hypothesis_test"] = hypothesis_test(attention, mlp)
    return {file: {"": document}, BEYOND: {pointer(subject.model.slug): by_prompt(gains)}}


def by_prompt(gains: ModuleGains) -> dict[str, Any]:
    """The gains behind the published means: a list per prompt, a number per block."""
    return {"attention_by_prompt": gains.attention.tolist(), "mlp_by_prompt": gains.mlp.tolist()}


def hypothesis_test(attention: Gains, mlp: Gains) -> dict[str, bool]:
    """Attention contracts in most layers and the MLP expands in most layers."""
    contracts = majority(layer_counts(attention)[0], len(attention))
    expands = majority(layer_counts(mlp)[1], len(mlp))
    return {
        "attention_contracts": contracts,
        "mlp_expands": expands,
        "hypothesis_confirmed": contracts and expands,
    }


def funnel_test(attention: Gains, mlp: Gains) -> dict[str, bool]:
    """All attention contracts, all but three MLPs contract, and the last MLP expands."""
    always = layer_counts(attention)[0] == len(attention)
    mostly = layer_counts(mlp)[0] >= len(mlp) - 3
    expands = bool(mlp[-1] > 1)
    return {
        "attention_always_contracts": always,
        "mlp_mostly_contracts": mostly,
        "last_layer_expands": expands,
        "last_layer_is_max": int(mlp.argmax()) == len(mlp) - 1,
        "funnel_confirmed": always and mostly and expands,
    }


def _module(gains: Gains) -> dict[str, Any]:
    contracting, expanding = layer_counts(gains)
    return {
        "gains": gains.tolist(),
        "min_gain": float(gains.min()),
        "max_gain": float(gains.max()),
        "n_contracting": contracting,
        "n_expanding": expanding,
    }


def _combined(gains: Gains) -> dict[str, Any]:
    contracting, expanding = layer_counts(gains)
    return {
        "gains": gains.tolist(),
        "n_net_contracting": contracting,
        "n_net_expanding": expanding,
    }


def _largest(gains: Gains) -> dict[str, Any]:
    return {"max_gain": float(gains.max()), "max_gain_layer": int(gains.argmax())}
