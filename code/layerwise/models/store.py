"""Hidden states on disk: a file per batch, readable without torch.

A finished extraction is a folder

    index.json                    model, revision, dtype, what was put in, `n_batches`: `Index`
    fingerprint                   digest of everything that can change a number
    statements_00000.safetensors  arrays with a row per text of the batch, and those texts' numbers:
                                  members; nll, nats, float64; mean/7, last/before_norm, ...:
                                  hidden states of a layer, by `POOLINGS`
    prompts_00009.safetensors     members; tokens/7, ...: states of every token of every prompt

Layer 0 is what enters block 0, layer l the output of block l-1; layer n_layers is taken after
the final norm, as published, `before_norm` after the last block. The folder carries its final name
only once it is complete.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NotRequired, Required

import numpy as np
import safetensors
from jaxtyping import Float
from typing_extensions import TypedDict

from layerwise.errors import LayerwiseError
from layerwise.files import JsonObject, read_json
from layerwise.measures.traces import Stream
from layerwise.models.passes import PassesRecord

POOLINGS = ("mean", "mean_all", "last", "first")  # mean: positions 1..T-1, as published
BEFORE_NORM: Literal["before_norm"] = "before_norm"
Layer = int | Literal["before_norm"]


def digest_of_texts(texts: Sequence[str]) -> str:
    """Return the SHA-256 of texts and their order, which states share with their statements."""
    return hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()


class Versions(TypedDict, total=False):
    """The libraries that compute; `cuda` is None for a CPU build of torch."""

    torch: str
    cuda: str | None
    transformers: str


class Setup(Versions, total=False):
    """What stands beside every number that is measured on a checkpoint (`provenance.describe`).

    Of states that came as arrays the model and its revision alone are known. `attention` names the
    kernels of states, traces and maps; in an index that of the states, as a word.
    """

    model: Required[str]
    revision: Required[str]
    tokenizer_sha256: str
    dtype: str
    device: str
    attention: str | dict[str, str | None]
    passes: PassesRecord | None
    arithmetic: dict[str, object]
    driver: str | None
    own_code: list[str]
    quantised: str
    random_weights: bool


class Index(Setup):
    """Which states there are, and what they were made of; arrays have what is required."""

    display: str
    n_layers: int
    hidden_size: int
    n_prompts: int
    prompt_lengths: list[int]
    template: str
    statements_sha256: str
    template_options: NotRequired[JsonObject]
    layout: NotRequired[int]
    family: NotRequired[str]
    n_statements: NotRequired[int]
    prompts_sha256: NotRequired[str]
    token_ids_sha256: NotRequired[list[str]]
    adds_bos: NotRequired[bool]
    around: NotRequired[list[list[str]]]
    tokens_per_batch: NotRequired[int]
    noise_seed: NotRequired[int]
    n_batches: NotRequired[int]
    smaller_batches: NotRequired[dict[str, int]]


@dataclass(frozen=True)
class HiddenStates:
    """A finished extraction, opened for reading."""

    folder: Path
    index: Index

    @property
    def place(self) -> str:
        """The name that errors give them."""
        return str(self.folder)

    def has(self, layer: Layer, pooling: str) -> bool:
        """Return whether there are such states: without a final norm none before it."""
        passes = self.index["passes"]
        return layer != BEFORE_NORM or (passes is not None and passes["before_norm"])

    @property
    def n_layers(self) -> int:
        return self.index["n_layers"]

    @property
    def hidden_size(self) -> int:
        return self.index["hidden_size"]

    @property
    def nll(self) -> Float[np.ndarray, " statement"]:
        """The mean NLL per predicted token, nats."""
        return np.array(self._rows("statements", "nll"))

    def pooled(self, layer: Layer, pooling: str = "mean") -> Float[np.ndarray, "statement hidden"]:
        """Return the pooled hidden states of one layer, float32."""
        return np.stack(self._rows("statements", f"{pooling}/{layer}")).astype(np.float32)

    def tokens(self, layer: Layer) -> Float[np.ndarray, "token hidden"]:
        """Return the states of all prompt tokens at a layer, prompt by prompt, float32."""
        return np.concatenate(self._rows("prompts", f"tokens/{layer}")).astype(np.float32)

    def streams(self) -> Iterator[Stream]:
        """Yield the residual stream of every prompt, in the order of the prompts."""
        places: dict[int, tuple[Path, int]] = {}
        for file in self.folder.glob("prompts_*"):
            with safetensors.safe_open(file, framework="np") as batch:
                members = batch.get_tensor("members").tolist()
            places |= {number: (file, row) for row, number in enumerate(members)}
        for number in sorted(places):
            file, row = places[number]
            with safetensors.safe_open(file, framework="np") as batch:
                states = [
                    batch.get_slice(f"tokens/{layer}")[row].astype(np.float32)
                    for layer in (*range(self.n_layers + 1), BEFORE_NORM)
                ]
            yield Stream(self.index["dtype"], tuple(states[:-1]), states[-1])

    def _rows(self, kind: str, name: str) -> list[Any]:
        """Return the row of every text, in the order of the texts."""
        rows: dict[int, Any] = {}
        for file in self.folder.glob(f"{kind}_*"):
            with safetensors.safe_open(file, framework="np") as batch:
                members = batch.get_tensor("members").tolist()
                rows |= zip(members, batch.get_tensor(name), strict=True)
        return [rows[number] for number in sorted(rows)]


def open_states(folder: Path) -> HiddenStates:
    """Open a finished extraction, if all its batches are there and whole."""
    if not (folder / "index.json").is_file():
        raise LayerwiseError(
            f"{folder}: no finished extraction here (index.json is missing); extract again"
        )
    index = read_json(folder / "index.json")
    states = HiddenStates(folder, index)
    files = sorted(folder.glob("*.safetensors"))
    wrong = [f"{len(files)} batches"] if len(files) != states.index["n_batches"] else []
    wrong += [file.name for file in files if not is_whole(file)]
    if wrong:
        raise LayerwiseError(
            f"{folder}: an extraction is {states.index['n_batches']} whole batches, found "
            f"{wrong[0]} missing or cut off; copy it again, or remove it and extract again"
        )
    return states


def is_whole(file: Path) -> bool:
    """Return whether the file of a batch is all there, by its own header."""
    try:
        with safetensors.safe_open(file, framework="np"):
            return True
    except (safetensors.SafetensorError, OSError):
        return False
