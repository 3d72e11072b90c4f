"""What is known of some architectures: where their parts are, which rows are whose, a small twin.

Spectral norms and the pipeline's rehearsal need the two tables below. All else is measured of every
decoder, whose blocks are found by `models.blocks`; the last hidden state is taken after the final
norm (OPT-350M, which has none: after `project_out`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.models.registry import Model, Shape

STORED = ("W_Q", "W_K", "W_V", "W_O")  # the order of rows that share a tensor
VOCABULARY = 512  # of a twin
HEAD_SIZE = 4  # of a twin; 6 where the model's hidden size is not n_heads * head_size (Gemma)
POSITIONS = 256  # of a twin, where nothing else is said
WINDOW = 4  # tokens that a twin's block with a window sees: fewer than most texts have
Config = dict[str, Any]
Rows = list[tuple[int, int]]  # runs: first row, and the row after the last


@dataclass(frozen=True)
class Family:
    """One architecture: names of modules, and how rows are shared.

    BLOOM's attention and MLP add the residual stream themselves, so the last linear map is named
    where the module that adds is; OPT has no module for its MLP.
    """

    blocks: str  # in the base model
    attention: str  # in a block
    stored: tuple[str, ...]  # in it: of W_Q, W_K, W_V, W_O; of two the first holds three
    embedding: str  # the input embeddings, without the base model's prefix
    mlp: tuple[str, str] = ("mlp", "mlp")  # in a block, and whose output it adds to the stream
    added: str = ""  # whose output attention adds, where it is not `attention` itself
    head_by_head: bool = False  # shared rows go q, k, v of head 0, ...; else queries, keys, values
    transposed: bool = False  # weights are stored (in, out)

    @property
    def parts(self) -> dict[str, str]:
        """The modules of a block by what `tracing` keeps of them."""
        names = ("attention_input", "attention_output", "mlp_input", "mlp_output")
        attention = self.attention.partition(".")[0]  # GPT-Neo's is inside another
        return dict(zip(names, (attention, self.added or attention, *self.mlp), strict=True))

    def module(self, name: str) -> str:
        """Return the module of a block that holds a projection."""
        place = STORED.index(name) - len(STORED) + len(self.stored)
        return f"{self.attention}.{self.stored[max(place, 0)]}"

    def rows(self, name: str, slicing: str, heads: Heads) -> Rows:
        """Return the rows of its tensor that are a projection.

        Paper 3's notebooks cut a shared tensor into thirds (`legacy`) even where its rows go head
        by head, which `correct` follows.
        """
        place, size, height = STORED.index(name), heads.head_size, heads.heights[name]
        if height == self.height(name, heads):
            return [(0, height)]
        if self.head_by_head and slicing == "correct":
            starts = [(3 * head + place) * size for head in range(heads.n_heads)]
            return [(start, start + size) for start in starts]
        start = sum(heads.heights[before] for before in STORED[:place])
        return [(start, start + height)]

    def height(self, name: str, heads: Heads) -> int:
        """Return the rows of the whole tensor that holds a projection."""
        module = self.module(name)
        return sum(
            rows for projection, rows in heads.heights.items() if self.module(projection) == module
        )


@dataclass(frozen=True)
class Heads:
    """Sizes that decide which rows are whose."""

    n_heads: int
    kv_heads: int
    head_size: int
    hidden_size: int

    @property
    def heights(self) -> dict[str, int]:
        """The rows of every projection."""
        queries, keys = self.n_heads * self.head_size, self.kv_heads * self.head_size
        return {"W_Q": queries, "W_K": keys, "W_V": keys, "W_O": self.hidden_size}


def heads_of(config: Any) -> Heads:
    """Return the heads of a configuration whose projections are known.

    Raises:
        LayerwiseError: for Falcon's newer decoders.
    """
    if config.model_type == "falcon" and (
        config.new_decoder_architecture or not config.multi_query
    ):
        raise LayerwiseError(
            "falcon is known with one head of keys and values shared by all (multi_query, not "
            "new_decoder_architecture); this one stores its projections in another order"
        )
    return declared_heads(config)


def layout_of(config: Any) -> Family:
    """Return where an architecture keeps its projections.

    Raises:
        LayerwiseError: for one that the table lacks.
    """
    if config.model_type not in FAMILIES:
        raise LayerwiseError(
            "it needs the places of W_Q, W_K, W_V and W_O, which are known of "
            f"{', '.join(FAMILIES)}, found {config.model_type}; leave it out (--without spectral)"
        )
    return FAMILIES[config.model_type]


def n_heads(config: Any) -> int | None:
    """Return the attention heads of a block; None where a model has none, or not one number."""
    number = getattr(config.get_text_config(), "num_attention_heads", None)
    return number if isinstance(number, int) else None


def declared_heads(config: Any) -> Heads:
    """Return the heads of any transformers configuration, by the names of their numbers."""
    n_heads = config.num_attention_heads
    kv_heads = getattr(config, "num_key_value_heads", None) or n_heads
    if config.model_type == "falcon":
        kv_heads = 1 if config.multi_query else config.num_kv_heads
    head_size = getattr(config, "head_dim", None) or config.hidden_size // n_heads
    return Heads(n_heads, kv_heads, head_size, config.hidden_size)


_SPLIT, _OUT = ("q_proj", "k_proj", "v_proj", "o_proj"), ("q_proj", "k_proj", "v_proj", "out_proj")
_FUSED = ("query_key_value", "dense")
_LLAMA = Family("layers", "self_attn", _SPLIT, "embed_tokens")
FAMILIES: Mapping[str, Family] = {
    "apertus": _LLAMA,
    "bloom": Family(
        *("h", "self_attention", _FUSED, "word_embeddings", ("mlp", "mlp.dense_4h_to_h")),
        added="self_attention.dense",
        head_by_head=True,
    ),
    "falcon": Family("h", "self_attention", _FUSED, "word_embeddings"),
    "gemma": _LLAMA,
    "gemma2": _LLAMA,
    "gemma3_text": _LLAMA,
    "gpt2": Family("h", "attn", ("c_attn", "c_proj"), "wte", transposed=True),
    "gpt_neo": Family("h", "attn.attention", _OUT, "wte"),
    "gpt_neox": Family("layers", "attention", _FUSED, "embed_in", head_by_head=True),
    "gptj": Family("h", "attn", _OUT, "wte"),
    "llama": _LLAMA,
    "mistral": _LLAMA,
    "opt": Family("decoder.layers", "self_attn", _OUT, "decoder.embed_tokens", ("fc1", "fc2")),
    "phi3": Family("layers", "self_attn", ("qkv_proj", "o_proj"), "embed_tokens"),
    "qwen2": _LLAMA,
    "qwen3": _LLAMA,
    "stablelm": _LLAMA,
}
# Llama 3.1's and Apertus' stretching of the rotary angles
LLAMA3_ROPE = {
    "rope_type": "llama3",
    "rope_theta": 500000.0,
    "factor": 8.0,
    "original_max_position_embeddings": 8192,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
}


def twin_of(model: Model) -> Model:
    """Return the declaration of a model's twin: everything is the model's but for its narrow heads.

    A head has 4 dimensions and the hidden size is 4 n_heads. Where the model's hidden size is not
    n_heads * head_size (Gemma), the twin's head has 6, so that its hidden size is not either.
    """
    shape = model.shape
    square = shape.hidden_size == shape.n_heads * shape.head_size
    narrow = {
        "hidden_size": shape.n_heads * HEAD_SIZE,
        "head_size": HEAD_SIZE + (0 if square else 2),
    }
    return model.model_copy(update={"shape": shape.model_copy(update=narrow)})


def twin_config(family: str, shape: Shape) -> Config:
    """Return the keyword arguments of the configuration of a twin.

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
    } | _arguments_by_family(shape)[family]


def _arguments_by_family(shape: Shape) -> dict[str, Config]:
    """Return what else each architecture's configuration takes."""
    width = 2 * shape.hidden_size
    wide = {"intermediate_size": width, "max_position_embeddings": POSITIONS}
    grouped = wide | {"num_key_value_heads": shape.kv_heads}
    narrow = {"n_inner": width, "n_positions": POSITIONS}
    gemma = grouped | {"head_dim": shape.head_size}
    pairs, odd = divmod(shape.n_layers, 2)  # GPT-Neo's blocks see all and a window, by turns
    windows = [[["global", "local"], pairs], [["global"], odd]][: 1 + odd]
    # Gemma 3 has five blocks with a window to one without; a twin has too few blocks for that
    by_turns = ["sliding_attention", "full_attention"] * (pairs + odd)
    return {
        "apertus": grouped
        | {"rope_parameters": LLAMA3_ROPE | {"rope_theta": 12e6}, "max_position_embeddings": 65536},
        "bloom": {},
        "falcon": {"ffn_hidden_size": width, "multi_query": shape.kv_heads == 1},
        "gemma": gemma,
        # the 9B model scales its scores by the size of a head
        "gemma2": gemma | {"query_pre_attn_scalar": shape.head_size},
        "gemma3_text": gemma
        | {
            "query_pre_attn_scalar": shape.head_size,
            "sliding_window": WINDOW,
            "layer_types": by_turns[: shape.n_layers],
        },
        "gpt2": narrow,
        "gpt_neo": wide | {"attention_types": windows},
        "gpt_neox": wide | {"rotary_pct": 0.5},
        "gptj": narrow | {"rotary_dim": shape.head_size // 2},
        "llama": grouped,
        # the hub's configuration; the library's default is that of a later version
        "mistral": grouped
        | {"rms_norm_eps": 1e-5, "rope_parameters": {"rope_type": "default", "rope_theta": 1e4}},
        "opt": {"ffn_dim": width, "max_position_embeddings": POSITIONS},
        "phi3": grouped,
        "qwen2": grouped,
        "qwen3": grouped | {"head_dim": shape.head_size},
        "stablelm": grouped | {"partial_rotary_factor": 0.5},
    }
