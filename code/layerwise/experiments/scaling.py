"""Gains of attention and MLP of eight Pythia sizes: the data of the last MLP's scaling law.

Paper 3's scaling-law notebook: four sentences, float16. The line of log10 gain on log10
parameters goes over the models, so `replay` fits it.
"""

from __future__ import annotations

import math
from typing import Any

import safetensors

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.ffn import by_prompt
from layerwise.experiments.lookup import published_name, texts
from layerwise.inputs.published import pointer
from layerwise.measures.module_gain import module_gains
from layerwise.statistics.norm_ratios import contracting_percent

FILE = "paper3/Results/scaling_law_multi_pythia_results.json"
BEYOND = "beyond/scaling"
NAMES = {
    "pythia-70m": "pythia-70m",
    "pythia-160m": "pythia-160m",
    "pythia-410m": "pythia-410m",
    "pythia-1b": "pythia-1b",
    "pythia-1p4b": "pythia-1.4b",
    "pythia-2p8b": "pythia-2.8b",
    "pythia-6p9b": "pythia-6.9b",
    "pythia-12b": "pythia-12b",
}
# The modules with parameters of a GPT-NeoX.
MODULES = (
    *("embed_in", "embed_out", "input_layernorm", "post_attention_layernorm", "final_layer_norm"),
    *("query_key_value", "dense", "dense_h_to_4h", "dense_4h_to_h"),
)
HYPOTHESIS = 0.35  # exponent that the notebook expected
CARRIER = "pythia-70m"  # brings the expectation along: the fit needs every size anyway


def fragments(subject: Subject) -> Fragments:
    """This size's entry; with the smallest size also the expected exponent."""
    row = subject.row(FILE, "models", published_name(subject, NAMES))
    prompts = texts(subject, "mlp_scaling")
    gains = module_gains([subject.trace(text, modules=True) for text in prompts])
    attention, mlp = gains.means
    weights = subject.weights
    entry = {
        "n_params": count_parameters(weights),
        "n_layers": len(mlp),
        "hidden_dim": weights.hidden_size,
        "attn_gains": attention.tolist(),
        "mlp_gains": mlp.tolist(),
        "last_layer_attn_gain": float(attention[-1]),
        "last_layer_mlp_gain": float(mlp[-1]),
        "attn_contracting_pct": contracting_percent(attention),
        "mlp_contracting_pct": contracting_percent(mlp),
        "max_mlp_gain": float(mlp.max()),
        "max_mlp_layer": int(mlp.argmax()),
    }
    prompt_gains = {pointer(subject.model.slug): by_prompt(gains)}
    found: Fragments = {FILE: {row: entry}, BEYOND: prompt_gains}
    if subject.model.slug == CARRIER:
        found[FILE]["/hypothesis_test/hypothesized_alpha"] = HYPOTHESIS
    return found


def count_parameters(weights: Any) -> int:
    """Parameters of a GPT-NeoX checkpoint, from the shapes that its files declare.

    Older checkpoints store causal masks and rotary angles beside the parameters; those belong to
    modules that have no parameters, and are left out.
    """
    total = 0
    for name, (file, key) in weights.places.items():
        if name.split(".")[-2] in MODULES:
            with safetensors.safe_open(file, framework="np") as handle:
                total += math.prod(handle.get_slice(key).get_shape())
    return total
