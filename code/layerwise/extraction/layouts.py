"""Where each architecture keeps its attention projections, and which rows of a tensor they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MATRICES = ("W_Q", "W_K", "W_V", "W_O")
SLICINGS = ("legacy", "correct")
HEAD_BY_HEAD = ("gpt_neox", "bloom")  # rows of the fused matrix: q, k, v of head 0, of head 1, ...
Rows = list[tuple[int, int]]  # runs: first row, and the row after the last


@dataclass(frozen=True)
class Layout:
    """Names of tensors, without the base model's prefix."""

    blocks: str
    projections: Mapping[str, str]
    embedding: str
    head: str = "lm_head"

    def is_alone(self, name: str) -> bool:
        """True if a projection has a tensor of its own."""
        return list(self.projections.values()).count(self.projections[name]) == 1


def _under(attention: str, *modules: str) -> dict[str, str]:
    """Modules of W_Q, W_K, W_V and W_O; where two are named, the first holds three of them."""
    names = modules if len(modules) == 4 else (modules[0],) * 3 + modules[1:]
    return {matrix: f"{attention}.{name}" for matrix, name in zip(MATRICES, names, strict=True)}


_QKV = ("q_proj", "k_proj", "v_proj")
_LLAMA = Layout("layers", _under("self_attn", *_QKV, "o_proj"), "embed_tokens")
_BLOOM = Layout("h", _under("self_attention", "query_key_value", "dense"), "word_embeddings")
_NEOX = Layout("layers", _under("attention", "query_key_value", "dense"), "embed_in", "embed_out")
LAYOUTS = {
    "apertus": _LLAMA,
    "bloom": _BLOOM,
    "falcon": _BLOOM,
    "gemma": _LLAMA,
    "gemma2": _LLAMA,
    "gpt2": Layout("h", _under("attn", "c_attn", "c_proj"), "wte"),
    "gpt_neo": Layout("h", _under("attn.attention", *_QKV, "out_proj"), "wte"),
    "gpt_neox": _NEOX,
    "gptj": Layout("h", _under("attn", *_QKV, "out_proj"), "wte"),
    "llama": _LLAMA,
    "mistral": _LLAMA,
    "opt": Layout("layers", _under("self_attn", *_QKV, "out_proj"), "embed_tokens"),
    "stablelm": _LLAMA,
}


@dataclass(frozen=True)
class Heads:
    """Sizes that decide which rows are whose."""

    n_heads: int
    kv_heads: int
    head_size: int
    hidden_size: int

    @property
    def heights(self) -> dict[str, int]:
        """Rows of every projection."""
        queries, keys = self.n_heads * self.head_size, self.kv_heads * self.head_size
        return dict(zip(MATRICES, (queries, keys, keys, self.hidden_size), strict=True))


def rows_of(family: str, name: str, slicing: str, heads: Heads) -> Rows:
    """Which rows of the tensor that holds it are a projection.

    Fused tensors hold Q, K and V: as three blocks (GPT-2), as all queries with one key and one
    value behind (Falcon), or head by head, which the `legacy` thirds of rows ignore.
    """
    third, size = MATRICES.index(name), heads.head_size
    if LAYOUTS[family].is_alone(name):
        return [(0, heads.heights[name])]
    if family in HEAD_BY_HEAD and slicing == "correct":
        starts = [(3 * head + third) * size for head in range(heads.n_heads)]
        return [(start, start + size) for start in starts]
    start = sum(heads.heights[matrix] for matrix in MATRICES[:third])
    return [(start, start + heads.heights[name])]


def height_of(family: str, name: str, heads: Heads) -> int:
    """Rows of the whole tensor that holds a projection."""
    held = LAYOUTS[family].projections
    return sum(heads.heights[matrix] for matrix in MATRICES if held[matrix] == held[name])
