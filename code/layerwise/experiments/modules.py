"""Gains of attention and MLP, layer by layer: two Pythia sizes, and eight for the scaling law.

Paper 3's FFN expansion and scaling-law notebooks, float16. A gain is the mean over the prompts of
`measures.residual_gain.module_gains`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from layerwise.experiments import Subject
from layerwise.measures.residual_gain import module_gains

# The modules with parameters of a GPT-NeoX.
MODULES = (
    *("embed_in", "embed_out", "input_layernorm", "post_attention_layernorm", "final_layer_norm"),
    *("query_key_value", "dense", "dense_h_to_4h", "dense_4h_to_h"),
)


def by_layer(subject: Subject, texts: Sequence[str]) -> dict[str, Any]:
    """The entry of the FFN expansion files."""
    attention, mlp = module_gains([subject.trace(text, modules=True) for text in texts])
    return {"attention": {"gains": attention.tolist()}, "mlp": {"gains": mlp.tolist()}}


def of_size(subject: Subject, texts: Sequence[str]) -> dict[str, Any]:
    """The entry of the scaling law."""
    attention, mlp = module_gains([subject.trace(text, modules=True) for text in texts])
    return {
        "n_params": count_parameters(subject.weights),
        "attn_gains": attention.tolist(),
        "mlp_gains": mlp.tolist(),
    }


def count_parameters(weights: Any) -> int:
    """Parameters of a GPT-NeoX checkpoint, from the shapes that its files declare.

    Older checkpoints store causal masks and rotary angles beside the parameters; those belong to
    modules that have no parameters, and are left out.
    """
    stored = weights.tensors.items()
    return sum(math.prod(one.shape) for name, one in stored if name.split(".")[-2] in MODULES)
