"""What is known of every architecture: where its parts are, which rows are whose, its small twin.

This table is all that a new architecture needs. Of all of them the base model's last hidden state
is taken after the final norm (OPT-350M, which has none: after `project_out`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.inputs.models import Shape

MATRICES = ("W_Q", "W_K", "W_V", "W_O")
SLICINGS = ("legacy", "correct")
VOCABULARY = 512  # of a twin
POSITIONS = 256  # of a twin, where nothing else is said
Config = dict[str, Any]
Rows = list[tuple[int, int]]  # runs: first row, and the row after the last
_QKV = ("q_proj", "k_proj", "v_proj")


@dataclass(frozen=True)
class Family:
    """One architecture.

    Attributes:
        blocks: where the base model keeps its blocks.
        attention: of a block: its attention, and the module whose output is what attention adds to
            the residual stream. BLOOM's attention and MLP add the stream themselves, so their last
            linear map is named.
        mlp: the same two of the MLP; OPT has no module for it.
        projections: the modules of W_Q, W_K, W_V and W_O; where three share one, its name thrice.
        embedding, head: the input and output embeddings, without the base model's prefix.
        head_by_head: rows of the shared module go q, k, v of head 0, then of head 1, ...; else all
            queries, then all keys, then all values.
        transposed: weights are stored (in, out).
        twin: keyword arguments of a twin's configuration beyond those of all (`twin_config`).
    """

    blocks: str
    attention: tuple[str, str]
    mlp: tuple[str, str]
    projections: tuple[str, ...]
    embedding: str
    twin: Callable[[Shape], Config]
    head: str = "lm_head"
    head_by_head: bool = False
    transposed: bool = False

    @property
    def parts(self) -> dict[str, str]:
        """Modules of a block by what `tracing` keeps of them."""
        names = ("attention_input", "attention_output", "mlp_input", "mlp_output")
        return dict(zip(names, (*self.attention, *self.mlp), strict=True))

    def module(self, name: str) -> str:
        """The module of a block that holds a projection."""
        return self.projections[MATRICES.index(name)]

    def rows(self, name: str, slicing: str, heads: Heads) -> Rows:
        """Which rows of the tensor that holds it are a projection.

        Paper 3's notebooks cut a shared tensor into thirds (`legacy`) even where its rows go head
        by head, which `correct` follows.
        """
        place, size = MATRICES.index(name), heads.head_size
        if self.projections.count(self.projections[place]) == 1:
            return [(0, heads.heights[place])]
        if self.head_by_head and slicing == "correct":
            starts = [(3 * head + place) * size for head in range(heads.n_heads)]
            return [(start, start + size) for start in starts]
        start = sum(heads.heights[:place])
        return [(start, start + heads.heights[place])]

    def height(self, name: str, heads: Heads) -> int:
        """Rows of the whole tensor that holds a projection."""
        pairs = zip(self.projections, heads.heights, strict=True)
        return sum(height for module, height in pairs if module == self.module(name))


@dataclass(frozen=True)
class Heads:
    """Sizes that decide which rows are whose."""

    n_heads: int
    kv_heads: int
    head_size: int
    hidden_size: int

    @property
    def heights(self) -> tuple[int, int, int, int]:
        """Rows of every projection."""
        queries, keys = self.n_heads * self.head_size, self.kv_heads * self.head_size
        return queries, keys, keys, self.hidden_size


def heads_of(config: Any) -> Heads:
    """The heads of a transformers configuration.

    Raises:
        LayerwiseError: for a Falcon other than the first 7B's: newer decoders store groups.
    """
    n_heads = config.num_attention_heads
    kv_heads = getattr(config, "num_key_value_heads", None) or n_heads
    if config.model_type == "falcon":
        if config.new_decoder_architecture or not config.multi_query:
            raise LayerwiseError(
                "falcon is known with one head of keys and values shared by all (multi_query, not "
                "new_decoder_architecture); this one stores its projections in another order"
            )
        kv_heads = 1
    head_size = getattr(config, "head_dim", None) or config.hidden_size // n_heads
    return Heads(n_heads, kv_heads, head_size, config.hidden_size)


def twin_config(family: str, shape: Shape) -> Config:
    """Keyword arguments of the configuration of a twin.

    Kept from the real models: parallel or serial blocks, tied embeddings, biases, the kind of
    positions, shared key and value heads, soft caps, windows, rotary bases. The rotary part of a
    head (a quarter in GPT-NeoX, GPT-J and StableLM) is half of 4 here: it must be even.
    The MLP is twice as wide as the residual stream (BLOOM: four times, which is not adjustable).
    Weights spread by 1/sqrt(hidden): the default 0.02 would leave all layers of so narrow a model
    alike.
    """
    return {
        "hidden_size": shape.hidden_size,
        "num_hidden_layers": shape.n_layers,
        "num_attention_heads": shape.n_heads,
        "vocab_size": VOCABULARY,
        "bos_token_id": 0,
        "eos_token_id": 0,
        "pad_token_id": 1,
        "init_std" if family == "opt" else "initializer_range": shape.hidden_size**-0.5,
    } | FAMILIES[family].twin(shape)


def _wide(shape: Shape) -> Config:
    """Width of the MLP and positions, where they have the usual names."""
    return {"intermediate_size": 2 * shape.hidden_size, "max_position_embeddings": POSITIONS}


def _grouped(shape: Shape) -> Config:
    return _wide(shape) | {"num_key_value_heads": shape.kv_heads}


def _gpt2(shape: Shape) -> Config:
    return {"n_inner": 2 * shape.hidden_size, "n_positions": POSITIONS}


def _gpt_neo(shape: Shape) -> Config:
    alternating = [[["global", "local"], shape.n_layers // 2]]
    last = [[["global"], 1]] if shape.n_layers % 2 else []
    return _wide(shape) | {"attention_types": alternating + last}


def _gemma(shape: Shape) -> Config:
    return _grouped(shape) | {"head_dim": shape.head_size}


def _opt(shape: Shape) -> Config:
    return {"ffn_dim": 2 * shape.hidden_size, "max_position_embeddings": POSITIONS}


def _llama_like(twin: Callable[[Shape], Config] = _grouped) -> Family:
    projections = _under("self_attn", *_QKV, "o_proj")
    return Family(
        "layers", ("self_attn", "self_attn"), ("mlp", "mlp"), projections, "embed_tokens", twin
    )


def _under(attention: str, *modules: str) -> tuple[str, ...]:
    """Modules of W_Q, W_K, W_V and W_O; where two are named, the first holds three of them."""
    names = modules if len(modules) == 4 else (modules[0],) * 3 + modules[1:]
    return tuple(f"{attention}.{name}" for name in names)


# Llama 3.1's and Apertus' stretching of the rotary angles
LLAMA3_ROPE = {
    "rope_type": "llama3",
    "rope_theta": 500000.0,
    "factor": 8.0,
    "original_max_position_embeddings": 8192,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
}
_APERTUS = {
    "rope_parameters": {**LLAMA3_ROPE, "rope_theta": 12e6},
    "max_position_embeddings": 65536,
}
# the hub's configuration; the library's default is that of a later version
_MISTRAL = {
    "rms_norm_eps": 1e-5,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
}
FAMILIES: Mapping[str, Family] = {
    "apertus": _llama_like(lambda shape: _grouped(shape) | _APERTUS),
    "bloom": Family(
        blocks="h",
        attention=("self_attention", "self_attention.dense"),
        mlp=("mlp", "mlp.dense_4h_to_h"),
        projections=_under("self_attention", "query_key_value", "dense"),
        embedding="word_embeddings",
        twin=lambda shape: {},
        head_by_head=True,
    ),
    "falcon": Family(
        blocks="h",
        attention=("self_attention", "self_attention"),
        mlp=("mlp", "mlp"),
        projections=_under("self_attention", "query_key_value", "dense"),
        embedding="word_embeddings",
        twin=lambda shape: {
            "ffn_hidden_size": 2 * shape.hidden_size,
            "multi_query": shape.kv_heads == 1,
        },
    ),
    "gemma": _llama_like(_gemma),
    # the 9B model scales its scores by the size of a head
    "gemma2": _llama_like(lambda s: _gemma(s) | {"query_pre_attn_scalar": s.head_size}),
    "gpt2": Family(
        blocks="h",
        attention=("attn", "attn"),
        mlp=("mlp", "mlp"),
        projections=_under("attn", "c_attn", "c_proj"),
        embedding="wte",
        twin=_gpt2,
        transposed=True,
    ),
    "gpt_neo": Family(
        blocks="h",
        attention=("attn", "attn"),
        mlp=("mlp", "mlp"),
        projections=_under("attn.attention", *_QKV, "out_proj"),
        embedding="wte",
        twin=_gpt_neo,
    ),
    "gpt_neox": Family(
        blocks="layers",
        attention=("attention", "attention"),
        mlp=("mlp", "mlp"),
        projections=_under("attention", "query_key_value", "dense"),
        embedding="embed_in",
        twin=lambda shape: _wide(shape) | {"rotary_pct": 0.5},
        head="embed_out",
        head_by_head=True,
    ),
    "gptj": Family(
        blocks="h",
        attention=("attn", "attn"),
        mlp=("mlp", "mlp"),
        projections=_under("attn", *_QKV, "out_proj"),
        embedding="wte",
        twin=lambda shape: _gpt2(shape) | {"rotary_dim": shape.head_size // 2},
    ),
    "llama": _llama_like(),
    "mistral": _llama_like(lambda shape: _grouped(shape) | _MISTRAL),
    "opt": Family(
        blocks="decoder.layers",
        attention=("self_attn", "self_attn"),
        mlp=("fc1", "fc2"),
        projections=_under("self_attn", *_QKV, "out_proj"),
        embedding="decoder.embed_tokens",
        twin=_opt,
    ),
    "phi3": Family(
        blocks="layers",
        attention=("self_attn", "self_attn"),
        mlp=("mlp", "mlp"),
        projections=_under("self_attn", "qkv_proj", "o_proj"),
        embedding="embed_tokens",
        twin=_grouped,
    ),
    "stablelm": _llama_like(lambda shape: _grouped(shape) | {"partial_rotary_factor": 0.5}),
}
