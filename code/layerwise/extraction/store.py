"""Hidden states on disk: one memory-mapped array per layer, readable without torch.

A finished extraction is a folder

    index.json               model, revision, dtype, shape, fingerprint of the inputs
    nll.npy                  (statement,) mean token NLL, nats, float64
    norms.npy                (statement, layer, norm) float32, see `NORMS`
    states/layer_07.npy      (pooling, statement, hidden), see `POOLINGS`
    states/before_norm.npy   the residual stream after the last block, before the final norm
    tokens/layer_07.npy      (token, hidden): every token of every prompt, in prompt order
    tokens/before_norm.npy

Layer 0 is what enters block 0, layer l the output of block l-1; layer n_layers is taken after
the final norm, as published. The folder carries its final name only once it is complete.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from layerwise.errors import LayerwiseError
from layerwise.files import read_json

POOLINGS = ("mean", "mean_all", "last", "first")  # mean: positions 1..T-1, as published
NORMS = ("last_token", "mean_token", "frobenius")  # of the T x hidden states of a statement
BEFORE_NORM: Literal["before_norm"] = "before_norm"
Layer = int | Literal["before_norm"]


def digest_of_texts(texts: Sequence[str]) -> str:
    """SHA-256 of texts and their order: states and statements that belong together share it."""
    found = hashlib.sha256(b"[")  # of the JSON list, piece by piece
    for number, text in enumerate(texts):
        found.update((", " * (number > 0) + json.dumps(text)).encode())
    found.update(b"]")
    return found.hexdigest()


def layer_file(layer: Layer) -> str:
    """File name of a layer inside `states/` or `tokens/`."""
    return f"{layer}.npy" if layer == BEFORE_NORM else f"layer_{layer:02d}.npy"


@dataclass(frozen=True)
class Array:
    """A file of rows: the axes from `row_axis` on are one row."""

    dtype: str
    shape: tuple[int, ...]
    row_axis: int = 1

    @property
    def row_bytes(self) -> int:
        return np.dtype(self.dtype).itemsize * math.prod(self.shape[self.row_axis :])

    @property
    def n_bytes(self) -> int:
        return self.row_bytes * math.prod(self.shape[: self.row_axis])


@dataclass(frozen=True)
class Arrays:
    """What an extraction writes: the shapes of all its files."""

    n_layers: int
    hidden_size: int
    final_size: int  # width after the final norm; differs for OPT-350M
    dtype: str
    n_statements: int
    n_tokens: int  # of all prompts

    @property
    def layers(self) -> tuple[Layer, ...]:
        """Layers 0..n_layers, then the residual stream before the final norm."""
        return (*range(self.n_layers + 1), BEFORE_NORM)

    def of(self, kind: str) -> dict[str, Array]:
        """The files that statements or prompts fill, by their path inside the folder."""
        n = self.n_statements
        widths = dict.fromkeys(self.layers, self.hidden_size)
        widths[self.n_layers] = self.final_size
        if kind == "prompts":
            return {
                f"tokens/{layer_file(layer)}": Array(self.dtype, (self.n_tokens, width))
                for layer, width in widths.items()
                if self.n_tokens
            }
        found = {
            f"states/{layer_file(layer)}": Array(self.dtype, (len(POOLINGS), n, width), 2)
            for layer, width in widths.items()
        }
        found["norms.npy"] = Array("float32", (n, len(self.layers), len(NORMS)))
        return found | {"nll.npy": Array("float64", (n,))}

    @property
    def all(self) -> dict[str, Array]:
        """Every file by its path inside the folder."""
        return self.of("statements") | self.of("prompts")

    @property
    def total_bytes(self) -> int:
        """What a finished extraction takes on disk."""
        return sum(array.n_bytes for array in self.all.values())


@dataclass(frozen=True)
class HiddenStates:
    """A finished extraction, opened for reading."""

    folder: Path
    index: dict[str, Any]

    @property
    def n_layers(self) -> int:
        return int(self.index["n_layers"])

    @property
    def hidden_size(self) -> int:
        return int(self.index["hidden_size"])

    @property
    def nll(self) -> Float[np.ndarray, " statement"]:
        """Mean NLL per predicted token, nats."""
        return np.load(self.folder / "nll.npy")

    def norms(self, norm: str) -> Float[np.ndarray, "layer statement"]:
        """One of `NORMS`, at layers 0..n_layers and, last row, before the final norm."""
        return np.load(self.folder / "norms.npy")[:, :, NORMS.index(norm)].T

    def pooled(self, layer: Layer, pooling: str = "mean") -> Float[np.ndarray, "statement hidden"]:
        """Pooled hidden states of one layer, float32."""
        return np.asarray(self.mapped(layer, pooling), dtype=np.float32)

    def mapped(self, layer: Layer, pooling: str = "mean") -> Float[np.ndarray, "statement hidden"]:
        """The same as a map of the file, in its dtype: rows are read when they are used."""
        states = np.load(self.folder / "states" / layer_file(layer), mmap_mode="r")
        return states[POOLINGS.index(pooling)]

    def tokens(self, layer: Layer) -> Float[np.ndarray, "token hidden"]:
        """States of all prompt tokens at one layer, float32."""
        states = np.load(self.folder / "tokens" / layer_file(layer), mmap_mode="r")
        return np.asarray(states, dtype=np.float32)


def open_states(folder: Path) -> HiddenStates:
    """Open a finished extraction.

    Raises:
        LayerwiseError: if the folder is missing or unfinished, or an array is missing or cut off.
    """
    if not (folder / "index.json").is_file():
        raise LayerwiseError(
            f"{folder}: no finished extraction here (index.json is missing); "
            "run `layerwise extract` for this model first"
        )
    states = HiddenStates(folder, read_json(folder / "index.json"))
    layers = (*range(states.n_layers + 1), BEFORE_NORM)
    kinds = ("states", "tokens") if states.index["n_prompts"] else ("states",)
    names = [f"{kind}/{layer_file(layer)}" for kind in kinds for layer in layers]
    for name in ("nll.npy", *names):
        try:
            np.load(folder / name, mmap_mode="r")
        except (OSError, ValueError, EOFError) as error:
            raise LayerwiseError(
                f"{folder / name}: missing, cut off, or no array ({error}); the copy of this "
                "extraction is not whole: copy it again, or remove it and extract again"
            ) from None
    return states
