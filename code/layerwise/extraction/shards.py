"""An extraction under way: one folder of arrays per process, and a journal of its batches.

    <folder>.partial/rank_00/           the layout of a finished extraction (see `store`)
    <folder>.partial/rank_00.journal    numbers of the batches whose data are on disk

Only what the journal names counts; a killed process loses at most the batches since its last
flush. Rows are written by statement index, so who computed them does not matter. They are written
with plain writes into files of their final size, not through memory maps: memory does not grow
with the files, and a full disk is an error that can be caught, not a signal.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float, Float32, Float64

from layerwise.extraction.plan import Batch, Plan
from layerwise.extraction.store import POOLINGS, Layer, layer_file

FLUSH_EVERY = 8  # batches between two flushes to disk
_ENTRY = re.compile(r"(\d+)(?: (\d+))?\n")


def journal_of(folder: Path) -> Path:
    """The journal of a shard; beside it, so that a finished shard can be moved as it is."""
    return folder.with_name(f"{folder.name}.journal")


def finished_batches(folder: Path, plan: Plan) -> dict[int, int]:
    """Batches in one shard's journal, and how many texts went through the model at a time.

    A line that a crash cut off is dropped, and so is a journal whose arrays are not all there.
    """
    journal = journal_of(folder)
    if not (journal.is_file() and _is_whole(folder, plan)):
        return {}
    done = {}
    for line in journal.read_text(encoding="ascii", errors="replace").splitlines(keepends=True):
        if entry := _ENTRY.fullmatch(line):
            number = int(entry[1])
            done[number] = int(entry[2] or len(plan.batches[number].members))
    return done


def _is_whole(folder: Path, plan: Plan) -> bool:
    """True if every array has the size it will keep, as it has from the first moment on."""
    return all(
        (folder / name).is_file() and (folder / name).stat().st_size == table.file_bytes
        for name, table in plan.tables().items()
    )


class Shard:
    """The arrays one process writes, opened anew or where it left off."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder = folder
        self.plan = plan
        self._tables = plan.tables()
        self._starts = {name: len(table.header) for name, table in self._tables.items()}
        self._finished: list[str] = []
        if not (journal_of(folder).is_file() and _is_whole(folder, plan)):
            self._create()
        self._files = {name: os.open(folder / name, os.O_RDWR) for name in self._tables}
        self._journal = journal_of(folder).open("r+", encoding="ascii", errors="replace")
        self._end_torn_line()

    def write_states(
        self, batch: Batch, layer: Layer, pooled: Float[np.ndarray, "pooling batch hidden"]
    ) -> None:
        """Write one layer of one batch of statements."""
        for pooling, rows in enumerate(pooled):
            first = pooling * self.plan.n_statements
            places = [first + member for member in batch.members]
            self._write(f"states/{layer_file(layer)}", places, rows)

    def write_norms(self, batch: Batch, norms: Float32[np.ndarray, "batch layer norm"]) -> None:
        """Write the norms of one batch of statements."""
        self._write("norms.npy", batch.members, norms)

    def write_nll(self, batch: Batch, nll: Float64[np.ndarray, " batch"]) -> None:
        """Write the mean token NLL of one batch of statements, nats."""
        self._write("nll.npy", batch.members, nll)

    def write_tokens(
        self, batch: Batch, layer: Layer, states: Float[np.ndarray, "batch token hidden"]
    ) -> None:
        """Write one layer of one batch of prompts."""
        places = [self.plan.prompt_starts[prompt] for prompt in batch.members]
        self._write(f"tokens/{layer_file(layer)}", places, states)

    def finish(self, number: int, at_a_time: int) -> None:
        """Note that all rows of a batch are written; every few batches, put them on disk."""
        whole = at_a_time >= len(self.plan.batches[number].members)
        self._finished.append(f"{number}\n" if whole else f"{number} {at_a_time}\n")
        if len(self._finished) >= FLUSH_EVERY:
            self.flush()

    def flush(self) -> None:
        """Put the data on disk, then the journal: a batch named there is whole."""
        if not self._finished:
            return
        for file in self._files.values():
            os.fsync(file)
        self._journal.write("".join(self._finished))
        self._journal.flush()
        os.fsync(self._journal.fileno())
        self._finished = []

    def absorb(self, folder: Path) -> None:
        """Copy the batches that another shard finished."""
        with contextlib.ExitStack() as stack:
            sources = {
                name: stack.enter_context((folder / name).open("rb", buffering=0))
                for name in self._tables
            }
            for number in finished_batches(folder, self.plan):
                for name, row, count in self._rows(self.plan.batches[number]):
                    size = count * self._tables[name].row_bytes
                    start = self._starts[name] + row * self._tables[name].row_bytes
                    data = os.pread(sources[name].fileno(), size, start)
                    _write_all(self._files[name], data, start)
        for file in self._files.values():
            os.fsync(file)

    def close(self) -> None:
        """Flush and let the files go."""
        try:
            self.flush()
        finally:
            for file in self._files.values():
                os.close(file)
            self._journal.close()

    def _create(self) -> None:
        """Arrays of their final size, without content yet; the journal comes last."""
        journal_of(self.folder).unlink(missing_ok=True)
        if self.folder.exists():
            shutil.rmtree(self.folder)
        (self.folder / "states").mkdir(parents=True)
        if self.plan.prompt_starts[-1]:
            (self.folder / "tokens").mkdir()
        for name, table in self._tables.items():
            with (self.folder / name).open("wb") as file:
                file.write(table.header)
                file.truncate(table.file_bytes)
        journal_of(self.folder).touch()

    def _rows(self, batch: Batch) -> Iterator[tuple[str, int, int]]:
        """Every run of rows of a batch: file, first row, number of rows."""
        if batch.kind == "statements":
            for member in batch.members:
                yield "nll.npy", member, 1
                yield "norms.npy", member, 1
        for layer in self.plan.layers:
            for member in batch.members:
                if batch.kind == "prompts":
                    start = self.plan.prompt_starts[member]
                    yield f"tokens/{layer_file(layer)}", start, batch.length
                    continue
                for pooling in range(len(POOLINGS)):
                    row = pooling * self.plan.n_statements + member
                    yield f"states/{layer_file(layer)}", row, 1

    def _write(self, name: str, places: Sequence[int], values: np.ndarray) -> None:
        """values[i] is one row or several rows that follow each other, from row places[i] on."""
        table, first = self._tables[name], self._starts[name]
        data = np.ascontiguousarray(values, dtype=table.dtype)
        view = data.reshape(-1).view(np.uint8).data
        size = len(view) // len(places)
        for number, place in enumerate(places):
            part = view[number * size : (number + 1) * size]
            _write_all(self._files[name], part, first + place * table.row_bytes)

    def _end_torn_line(self) -> None:
        text = self._journal.read()
        self._journal.seek(0)
        self._journal.truncate(text.rfind("\n") + 1)
        self._journal.seek(0, os.SEEK_END)


def _write_all(file: int, data: bytes | memoryview, start: int) -> None:
    """A single write may stop short, on a disk that fills up; the next one says why."""
    done = 0
    while done < len(data):
        done += os.pwrite(file, data[done:] if done else data, start + done)
