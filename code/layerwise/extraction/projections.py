"""The attention projections of a checkpoint, read one by one without loading the model.

W_Q, W_K, W_V, W_O are (out, in) matrices: the module computes x W^T (+ bias). Some architectures
store Q, K and V in one matrix. Paper 3's notebooks cut it into thirds of rows, which is wrong for
GPT-NeoX and BLOOM, where the rows go head by head (q, k, v of head 0, then of head 1, ...): each
third holds all three projections of a third of the heads. Here that cut is `legacy`; `correct` is
what the model computes with. For every other architecture both are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import safetensors
import torch
import transformers
from jaxtyping import Float32

from layerwise.errors import LayerwiseError
from layerwise.extraction.checkpoint_folder import shard_names
from layerwise.extraction.families import (
    FAMILIES,
    MATRICES,
    SLICINGS,
    Family,
    Heads,
    Rows,
    heads_of,
)
from layerwise.files import read_json
from layerwise.inputs.models import DTYPES

Matrix = Float32[np.ndarray, "out in"]
ROWS_AT_ONCE = 4096
_BASES = ("transformer.", "gpt_neox.", "model.")


@dataclass(frozen=True)
class Weights:
    """A checkpoint folder whose matrices are read one at a time, as float32.

    With `dtype` float16 or bfloat16 every value is rounded to it first, as where a notebook
    loaded the model in half precision.
    """

    folder: Path
    dtype: str | None
    family: str
    n_layers: int
    heads: Heads
    vocab_size: int  # rows of the embedding, those no token uses included
    tied: bool  # the output embeddings are the input embeddings
    rope_theta: float | None  # base of the rotary angles; None where the config has none
    places: Mapping[str, tuple[Path, str]]  # tensor without base prefix: file and full name

    @property
    def layout(self) -> Family:
        return FAMILIES[self.family]

    @property
    def n_heads(self) -> int:
        return self.heads.n_heads

    @property
    def kv_heads(self) -> int:
        """Heads of keys and values."""
        return self.heads.kv_heads

    @property
    def head_size(self) -> int:
        return self.heads.head_size

    @property
    def hidden_size(self) -> int:
        return self.heads.hidden_size

    @classmethod
    def open(cls, folder: Path, dtype: str | None = "float32") -> Weights:
        """Look at config.json and the safetensors headers of a folder.

        Raises:
            LayerwiseError: for an unknown dtype or architecture (Falcon's newer decoder among
                them), no config, no safetensors weights, or a shard that is missing or broken.
        """
        if dtype not in (*DTYPES, None):
            raise LayerwiseError(f"dtype must be one of {', '.join(DTYPES)}, found {dtype!r}")
        if not (folder / "config.json").is_file():
            raise LayerwiseError(f"{folder}: a checkpoint folder has a config.json; check the path")
        family = read_json(folder / "config.json").get("model_type")
        if family not in FAMILIES:
            raise LayerwiseError(
                f"{folder}: no known layout of the projections of {family!r}; "
                f"known: {', '.join(FAMILIES)}"
            )
        config = transformers.AutoConfig.from_pretrained(
            folder, trust_remote_code=False, local_files_only=True
        )
        return cls(
            folder=folder,
            dtype=dtype,
            family=family,
            n_layers=config.num_hidden_layers,
            heads=heads_of(config),
            vocab_size=config.vocab_size,
            tied=bool(config.tie_word_embeddings),
            rope_theta=(getattr(config, "rope_parameters", None) or {}).get("rope_theta"),
            places=_places(folder),
        )

    def matrix(self, block: int, name: str, slicing: str) -> Matrix:
        """One projection of one block as (out, in); biases are not part of it.

        Rows of W_Q are n_heads * head_size, of W_K and W_V kv_heads * head_size; `legacy` thirds
        of GPT-NeoX and BLOOM have as many.

        Raises:
            LayerwiseError: for an unknown name, slicing or block, a tensor that is not there or
                of a shape that the config does not explain.
        """
        for what, given, known in (("name", name, MATRICES), ("slicing", slicing, SLICINGS)):
            if given not in known:
                raise LayerwiseError(f"{what} must be one of {', '.join(known)}, found {given!r}")
        if not 0 <= block < self.n_layers:
            raise LayerwiseError(f"block must be 0..{self.n_layers - 1}, found {block}")
        layout = self.layout
        return self._read(
            f"{layout.blocks}.{block}.{layout.module(name)}.weight",
            layout.rows(name, slicing, self.heads),
            total=layout.height(name, self.heads),
            transposed=layout.transposed,
        )

    def value_heads(self, block: int, slicing: str) -> Float32[np.ndarray, "head size hidden"]:
        """W_V of every query head; a head of keys and values that several share is repeated.

        `legacy` is the legacy W_V cut into runs of head_size rows, one run after the other.
        """
        heads = self.matrix(block, "W_V", slicing).reshape(-1, self.head_size, self.hidden_size)
        return np.repeat(heads, self.n_heads // len(heads), axis=0)

    def embedding(self) -> Float32[np.ndarray, "vocabulary width"]:
        """The input embeddings; in OPT-350M narrower than the residual stream."""
        return self._words(self.layout.embedding)

    def unembedding(self) -> Float32[np.ndarray, "vocabulary width"]:
        """The output embeddings, which are the input embeddings where `tied`."""
        if self.tied:
            return self.embedding()
        return self._words(self.layout.head)

    def _words(self, module: str) -> Float32[np.ndarray, "vocabulary width"]:
        rows = [(0, self.vocab_size)]
        return self._read(f"{module}.weight", rows, total=self.vocab_size)

    def _read(self, tensor: str, rows: Rows, total: int, *, transposed: bool = False) -> Matrix:
        """Some of the `total` rows of a tensor (columns, if it is stored transposed), in a row.

        The file is mapped for this one read only: its pages count as memory while it is.
        """
        if tensor not in self.places:
            raise LayerwiseError(f"{self.folder}: no tensor {tensor} in its safetensors files")
        file, key = self.places[tensor]
        with safetensors.safe_open(file, framework="pt") as handle:
            stored = handle.get_slice(key)
            shape = stored.get_shape()[::-1] if transposed else stored.get_shape()
            if len(shape) != 2 or shape[0] != total:
                raise LayerwiseError(
                    f"{file}: {key} has the shape {stored.get_shape()}, config.json asks for "
                    f"{total} {'columns' if transposed else 'rows'}; they are of different models"
                )
            out = np.empty((sum(end - start for start, end in rows), shape[1]), np.float32)
            position = 0
            for start, end in _short_runs(rows):
                part = stored[:, start:end].T if transposed else stored[start:end]
                if self.dtype is not None:
                    part = part.to(getattr(torch, self.dtype))
                out[position : position + end - start] = part.to(torch.float32).numpy()
                position += end - start
        return out


def _short_runs(rows: Rows) -> Rows:
    """The same rows, a few at a time: their copies in other dtypes stay small."""
    return [
        (start, min(start + ROWS_AT_ONCE, end))
        for first, end in rows
        for start in range(first, end, ROWS_AT_ONCE)
    ]


def _places(folder: Path) -> dict[str, tuple[Path, str]]:
    """Where every tensor is, by its name without the prefix of the base model."""
    places: dict[str, tuple[Path, str]] = {}
    for file in (folder / name for name in shard_names(folder)):
        if not file.is_file():
            raise LayerwiseError(
                f"{folder}: weights are read from safetensors files only, {file.name} is missing; "
                "fetch the folder again, or save the model with safetensors"
            )
        try:
            with safetensors.safe_open(file, framework="pt") as handle:
                keys = list(handle.keys())
        except safetensors.SafetensorError as error:
            raise LayerwiseError(
                f"{file}: not a safetensors file ({error}); it may be cut off"
            ) from None
        places |= {_without_base(key): (file, key) for key in keys}
    return places


def _without_base(key: str) -> str:
    base = next((base for base in _BASES if key.startswith(base)), "")
    return key.removeprefix(base)
