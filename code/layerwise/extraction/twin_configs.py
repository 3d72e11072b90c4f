"""Configurations of tiny checkpoints: the flags of the real models at another size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from layerwise.inputs.models import Model, Shape

VOCABULARY = 512
POSITIONS = 256
Config = dict[str, Any]

# Llama 3.1's and Apertus' stretching of the rotary angles
_LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500000.0,
    "factor": 8.0,
    "original_max_position_embeddings": 8192,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
}
# What a model sets otherwise than its family does below.
_OF_MODEL: dict[str, Config] = {
    "opt-350m": {"do_layer_norm_before": False},  # word_embed_proj_dim: see _opt
    "llama-3p1-8b": {"rope_parameters": _LLAMA3, "max_position_embeddings": 131072},
    "llama-3p1-8b-instruct": {"rope_parameters": _LLAMA3, "max_position_embeddings": 131072},
    "mistral-7b-instruct": {
        "sliding_window": None,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e6},
    },
}


def twin_config(model: Model) -> Config:
    """Keyword arguments of the configuration of a twin; `model` is what `twin_of` declares.

    Kept from the real model: parallel or serial blocks, tied embeddings, biases, the kind of
    positions, shared key and value heads, soft caps, windows, rotary bases. The rotary part of a
    head (a quarter in GPT-NeoX, GPT-J and StableLM) is half of 4 here: it must be even.
    The MLP is twice as wide as the residual stream (BLOOM: four times, which is not adjustable).
    """
    shape = model.shape
    config = {
        "hidden_size": shape.hidden_size,
        "num_hidden_layers": shape.n_layers,
        "num_attention_heads": shape.n_heads,
        "vocab_size": VOCABULARY,
        "bos_token_id": 0,
        "eos_token_id": 0,
        "pad_token_id": 1,
    }
    return config | _FAMILIES[model.family](shape) | _own(model)


def _own(model: Model) -> Config:
    own = _OF_MODEL.get(model.slug, {})
    if model.slug == "opt-350m":
        own = own | {"word_embed_proj_dim": model.shape.hidden_size // 2}
    return own


def _wide(shape: Shape, scale: str) -> Config:
    """Width of the MLP, positions and spread of the weights, where they have the usual names.

    1/sqrt(hidden): the default 0.02 would leave all layers of so narrow a model alike.
    """
    return {
        "intermediate_size": 2 * shape.hidden_size,
        "max_position_embeddings": POSITIONS,
        scale: shape.hidden_size**-0.5,
    }


def _apertus(shape: Shape) -> Config:
    rope = {**_LLAMA3, "rope_theta": 12e6}
    return _grouped(shape) | {"rope_parameters": rope, "max_position_embeddings": 65536}


def _bloom(shape: Shape) -> Config:
    return {"initializer_range": shape.hidden_size**-0.5}


def _falcon(shape: Shape) -> Config:
    return {
        "ffn_hidden_size": 2 * shape.hidden_size,
        "initializer_range": shape.hidden_size**-0.5,
        "multi_query": shape.kv_heads == 1,
    }


def _gemma(shape: Shape) -> Config:
    return _grouped(shape) | {"head_dim": shape.head_size}


def _gemma2(shape: Shape) -> Config:
    # the 9B model scales its scores by the size of a head
    return _gemma(shape) | {"query_pre_attn_scalar": shape.head_size}


def _gpt2(shape: Shape) -> Config:
    return {
        "n_inner": 2 * shape.hidden_size,
        "n_positions": POSITIONS,
        "initializer_range": shape.hidden_size**-0.5,
    }


def _gpt_neo(shape: Shape) -> Config:
    alternating = [[["global", "local"], shape.n_layers // 2]]
    last = [[["global"], 1]] if shape.n_layers % 2 else []
    return _wide(shape, "initializer_range") | {"attention_types": alternating + last}


def _gpt_neox(shape: Shape) -> Config:
    return _wide(shape, "initializer_range") | {"rotary_pct": 0.5}


def _gptj(shape: Shape) -> Config:
    return _gpt2(shape) | {"rotary_dim": shape.head_size // 2}


def _grouped(shape: Shape) -> Config:
    return _wide(shape, "initializer_range") | {"num_key_value_heads": shape.kv_heads}


def _mistral(shape: Shape) -> Config:
    # the hub's configuration; the library's default is that of a later version
    rope = {"rope_type": "default", "rope_theta": 10000.0}
    return _grouped(shape) | {"rms_norm_eps": 1e-5, "rope_parameters": rope}


def _opt(shape: Shape) -> Config:
    sizes = {"ffn_dim": 2 * shape.hidden_size, "max_position_embeddings": POSITIONS}
    return sizes | {"init_std": shape.hidden_size**-0.5}


def _stablelm(shape: Shape) -> Config:
    return _grouped(shape) | {"partial_rotary_factor": 0.5}


_FAMILIES: dict[str, Callable[[Shape], Config]] = {
    "apertus": _apertus,
    "bloom": _bloom,
    "falcon": _falcon,
    "gemma": _gemma,
    "gemma2": _gemma2,
    "gpt2": _gpt2,
    "gpt_neo": _gpt_neo,
    "gpt_neox": _gpt_neox,
    "gptj": _gptj,
    "llama": _grouped,
    "mistral": _mistral,
    "opt": _opt,
    "stablelm": _stablelm,
}
