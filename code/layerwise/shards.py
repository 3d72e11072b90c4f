"""An extraction under way: one folder of arrays per process, and a journal of its batches.

    <folder>.partial/fingerprint        digest of everything that can change a number
    <folder>.partial/rank_00/           the layout of a finished extraction (see `store`)
    <folder>.partial/rank_00/journal    numbers of the batches whose data are on disk

Only what the journal names counts; a killed process loses at most the batches since its last
flush. Rows are written by statement index, so who computed them does not matter.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, Float64

from layerwise.files import write_text
from layerwise.store import BEFORE_NORM, NORMS, POOLINGS, Layer, layer_file

FLUSH_EVERY = 8  # batches between two flushes to disk


@dataclass(frozen=True)
class Batch:
    """Texts of one length in tokens that go through the model together."""

    kind: str  # "statements" or "prompts"
    members: tuple[int, ...]
    length: int


@dataclass(frozen=True)
class Plan:
    """Shapes of all arrays and all batches, in order; the same in every process."""

    n_layers: int
    hidden_size: int
    final_size: int  # width after the final norm; differs for OPT-350M
    dtype: str
    n_statements: int
    prompt_starts: tuple[int, ...]  # first token row of every prompt, then the total
    batches: tuple[Batch, ...]

    @property
    def layers(self) -> tuple[Layer, ...]:
        """Layers 0..n_layers, then the residual stream before the final norm."""
        return (*range(self.n_layers + 1), BEFORE_NORM)

    def width(self, layer: Layer) -> int:
        """Length of one hidden state at a layer."""
        return self.final_size if layer == self.n_layers else self.hidden_size


def plan_batches(kind: str, lengths: Sequence[int], tokens_per_batch: int) -> tuple[Batch, ...]:
    """Texts sorted by (length, index), cut where the length changes or the tokens run out.

    The composition depends on nothing else: half precision depends on the shape of a batch.
    """
    batches: list[Batch] = []
    members: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        length = lengths[members[0]] if members else lengths[index]
        if members and (length != lengths[index] or (len(members) + 1) * length > tokens_per_batch):
            batches.append(Batch(kind, tuple(members), length))
            members = []
        members.append(index)
    if members:
        batches.append(Batch(kind, tuple(members), lengths[members[0]]))
    return tuple(batches)


def prepare(partial: Path, fingerprint: str) -> None:
    """Make `partial` ready; whatever another fingerprint left there is removed."""
    mark = partial / "fingerprint"
    if partial.exists() and not (mark.is_file() and mark.read_text() == fingerprint):
        shutil.rmtree(partial)
    if not partial.exists():
        partial.mkdir(parents=True)
        write_text(mark, fingerprint)


def finished_batches(folder: Path) -> list[int]:
    """Batches in one shard's journal; a last line cut off by a crash is dropped."""
    journal = folder / "journal"
    if not journal.is_file():
        return []
    return [int(line) for line in journal.read_text().splitlines(keepends=True) if line[-1] == "\n"]


class Shard:
    """The arrays one process writes, opened anew or where it left off."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder = folder
        self.plan = plan
        self._finished: list[int] = []
        mode = "r+" if (folder / "journal").is_file() else "w+"
        if mode == "w+":
            shutil.rmtree(folder, ignore_errors=True)
            (folder / "states").mkdir(parents=True)
            if plan.prompt_starts[-1]:
                (folder / "tokens").mkdir()
        n_statements, n_tokens = plan.n_statements, plan.prompt_starts[-1]

        def array(name: str, dtype: str, *shape: int) -> np.memmap:
            return np.lib.format.open_memmap(
                folder / name,
                mode=mode,
                dtype=dtype,
                shape=shape,
            )

        self.nll = array("nll.npy", "float64", n_statements)
        self.norms = array("norms.npy", "float32", len(NORMS), len(plan.layers), n_statements)
        self.states = {
            layer: array(
                f"states/{layer_file(layer)}",
                plan.dtype,
                len(POOLINGS),
                n_statements,
                plan.width(layer),
            )
            for layer in plan.layers
        }
        self.tokens = {
            layer: array(f"tokens/{layer_file(layer)}", plan.dtype, n_tokens, plan.width(layer))
            for layer in plan.layers
            if n_tokens
        }
        self._journal = (folder / "journal").open("a+")
        self._end_torn_line()

    def write_states(
        self,
        batch: Batch,
        layer: Layer,
        pooled: Float[np.ndarray, "pooling batch hidden"],
        norms: Float[np.ndarray, "norm batch"],
    ) -> None:
        """Write one layer of one batch of statements."""
        rows = list(batch.members)
        self.states[layer][:, rows] = pooled
        self.norms[:, self.plan.layers.index(layer), rows] = norms

    def write_nll(self, batch: Batch, nll: Float64[np.ndarray, " batch"]) -> None:
        """Write the mean token NLL of one batch of statements, nats."""
        self.nll[list(batch.members)] = nll

    def write_tokens(
        self, batch: Batch, layer: Layer, states: Float[np.ndarray, "batch token hidden"]
    ) -> None:
        """Write one layer of one batch of prompts."""
        for prompt, rows in zip(batch.members, states, strict=True):
            start = self.plan.prompt_starts[prompt]
            self.tokens[layer][start : start + batch.length] = rows

    def finish(self, number: int) -> None:
        """Note that all rows of a batch are written; every few batches, put them on disk."""
        self._finished.append(number)
        if len(self._finished) >= FLUSH_EVERY:
            self.flush()

    def flush(self) -> None:
        """Put the data on disk, then the journal: a batch named there is whole."""
        if not self._finished:
            return
        for array in (self.nll, self.norms, *self.states.values(), *self.tokens.values()):
            array.flush()
        self._journal.write("".join(f"{number}\n" for number in self._finished))
        self._journal.flush()
        os.fsync(self._journal.fileno())
        self._finished = []

    def absorb(self, folder: Path) -> None:
        """Copy the batches that another shard finished."""
        source = Shard(folder, self.plan)
        for number in finished_batches(folder):
            batch = self.plan.batches[number]
            if batch.kind == "statements":
                rows = list(batch.members)
                self.nll[rows] = source.nll[rows]
                self.norms[:, :, rows] = source.norms[:, :, rows]
                for layer in self.plan.layers:
                    self.states[layer][:, rows] = source.states[layer][:, rows]
                continue
            for prompt in batch.members:
                tokens = slice(*self.plan.prompt_starts[prompt : prompt + 2])
                for layer in self.plan.layers:
                    self.tokens[layer][tokens] = source.tokens[layer][tokens]
        source.close()

    def close(self) -> None:
        """Flush and let the files go."""
        self.flush()
        self._journal.close()
        self.states.clear()
        self.tokens.clear()
        del self.nll, self.norms

    def _end_torn_line(self) -> None:
        self._journal.seek(0)
        text = self._journal.read()
        if text and not text.endswith("\n"):
            self._journal.truncate(text.rfind("\n") + 1)
