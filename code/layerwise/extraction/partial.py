"""An extraction under way: a file per batch, merged into arrays and moved into place at the end.

    <folder>.lock                     held while a run writes; the kernel lets go of a killed one's
    <folder>.partial/fingerprint      digest of everything that can change a number
    <folder>.partial/batch_00012      the arrays of one batch, one after the other (`numpy.save`)
    <folder>.partial/whole            the finished extraction while it is merged (see `store`)

A batch is written beside its place and renamed: what has a batch's name is whole, whoever computed
it, and a killed run loses at most the one it was at. Arrays are merged by plain writes of rows, not
through memory maps: memory does not grow with the number of statements, and a full disk is an
error that can be caught, not a signal.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from filelock import FileLock, Timeout

from layerwise.errors import LayerwiseError
from layerwise.extraction.batches import Batch
from layerwise.extraction.store import POOLINGS, Arrays
from layerwise.files import atomic_path, read_json, write_json, write_text

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class Busy(LayerwiseError):
    """Another run is writing this extraction."""


def partial_of(folder: Path) -> Path:
    """The folder of an unfinished extraction."""
    return folder.with_name(folder.name + ".partial")


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Inside the block this process alone writes the extraction.

    Raises:
        Busy: if another one does.
    """
    path = folder.with_name(folder.name + ".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise Busy(
            f"{folder}: one run at a time writes an extraction, another process is at it; wait "
            "until that has ended, or name another folder"
        ) from None
    try:
        yield
    finally:
        path.unlink(missing_ok=True)  # while it is held: never another's
        lock.release()


@dataclass(frozen=True)
class Partial:
    """The work on one extraction, the same in every process.

    Attributes:
        folder: where the finished extraction will be.
        fingerprint: digest of everything that can change a number.
        arrays: what it will hold.
        prompt_starts: first row of every prompt among the tokens of all.
        batches: all batches, in order.
    """

    folder: Path
    fingerprint: str
    arrays: Arrays
    prompt_starts: tuple[int, ...]
    batches: tuple[Batch, ...]

    @property
    def place(self) -> Path:
        return partial_of(self.folder)

    @property
    def is_finished(self) -> bool:
        """Whether the folder holds this very extraction."""
        index = self.folder / "index.json"
        return index.is_file() and read_json(index).get("fingerprint") == self.fingerprint

    @property
    def is_ours(self) -> bool:
        """Whether what is unfinished here has these inputs, or none any more."""
        mark = self.place / "fingerprint"
        return not mark.is_file() or mark.read_text(encoding="ascii") == self.fingerprint

    def begin(self, stack: contextlib.ExitStack) -> set[int] | None:
        """The batches that are done, None if all is; `stack` keeps the lock from here on.

        Raises:
            LayerwiseError: if another run is at it, or the disk has too little room for the rest.
        """
        lock = self.folder.with_name(self.folder.name + ".lock")
        leftovers = lock.exists() or (self.place.exists() and self.is_ours)
        if self.is_finished and not leftovers:
            return None
        try:
            stack.enter_context(locked(self.folder))
        except Busy:
            if self.is_finished:  # the other run has other inputs, or is about to end
                return None
            raise
        if self.is_finished:  # a run was killed at its very last steps
            if self.is_ours:
                self.discard()
            return None
        if not (self.is_ours and (self.place / "fingerprint").is_file()):
            self.discard()
        self.place.mkdir(parents=True, exist_ok=True)
        self._require_room()
        write_text(self.place / "fingerprint", self.fingerprint)
        return {n for n in range(len(self.batches)) if self._file(n).is_file()}

    def save(self, number: int, at_a_time: int, rows: Mapping[str, np.ndarray]) -> None:
        """Keep a batch: how many texts went through the model at a time, and a row per text."""
        with atomic_path(self._file(number)) as part, part.open("wb") as file:
            np.save(file, at_a_time)
            for name, array in self.arrays.of(self.batches[number].kind).items():
                np.save(file, np.asarray(rows[name], dtype=array.dtype))

    def publish(self, index: dict[str, Any]) -> None:
        """Merge all batches and move the extraction into place; safe to be killed at any point.

        Whatever is repeated gives the same bytes: the batches stay until the move is done.
        """
        whole = self.place / "whole"
        shutil.rmtree(whole, ignore_errors=True)
        smaller = self._merge(whole)
        write_json(whole / "index.json", {**index, "smaller_batches": smaller})
        if self.folder.exists():
            shutil.rmtree(self.place / "replaced", ignore_errors=True)
            os.replace(self.folder, self.place / "replaced")
        os.replace(whole, self.folder)
        self.discard()

    def discard(self) -> None:
        """Remove what is unfinished; without its fingerprint nobody takes up what is left."""
        if self.place.exists():
            (self.place / "fingerprint").unlink(missing_ok=True)
            shutil.rmtree(self.place)

    def _file(self, number: int) -> Path:
        return self.place / f"batch_{number:05d}"

    def _merge(self, whole: Path) -> dict[str, int]:
        """Write every row where its text is; {batch: texts at a time} where it was not all."""
        smaller: dict[str, int] = {}
        with contextlib.ExitStack() as stack:
            files: dict[str, tuple[IO[bytes], int]] = {}
            for name, array in self.arrays.all.items():
                path = whole / name
                path.parent.mkdir(parents=True, exist_ok=True)
                shape, dtype = array.shape, np.dtype(array.dtype)
                start = np.lib.format.open_memmap(path, "w+", dtype, shape).offset
                files[name] = stack.enter_context(path.open("r+b")), start
            for number, batch in enumerate(self.batches):
                with self._file(number).open("rb") as stored:
                    at_a_time = int(_load(stored))
                    if at_a_time < len(batch.members):
                        smaller[str(number)] = at_a_time
                    for name, array in self.arrays.of(batch.kind).items():
                        places = self._places(name, batch)
                        rows = _load(stored).reshape(len(places), -1)
                        _write_rows(*files[name], array.row_bytes, places, rows)
            for file, _ in files.values():
                file.flush()
                os.fsync(file.fileno())
        return smaller

    def _places(self, name: str, batch: Batch) -> list[int]:
        """The first row of every text of a batch in one of the files."""
        if batch.kind == "prompts":
            return [self.prompt_starts[member] for member in batch.members]
        if not name.startswith("states/"):
            return list(batch.members)
        n = self.arrays.n_statements
        return [p * n + member for member in batch.members for p in range(len(POOLINGS))]

    def _require_room(self) -> None:
        """While the batches are merged, most of the data is there twice."""
        taken = sum(file.stat().st_size for file in self.place.glob("batch_*"))
        needed = 2 * self.arrays.total_bytes - taken
        free = shutil.disk_usage(self.place).free
        if needed > free:
            raise LayerwiseError(
                f"{self.place}: the hidden states need {_size(needed)} more on this disk, "
                f"{_size(free)} are free; make room, or name a folder on another disk"
            )

    @contextlib.contextmanager
    def disk_errors_explained(self) -> Iterator[None]:
        """Inside the block, what the operating system refuses becomes one sentence.

        Raises:
            LayerwiseError: for a full disk, a folder that cannot be written, and the like.
        """
        try:
            yield
        except OSError as error:
            place = f"{error.filename or self.place}: {error.strerror or error}"
            if error.errno in _FULL:
                there = next(p for p in self.place.absolute().parents if p.exists())
                raise LayerwiseError(
                    f"{place}; the hidden states take {_size(2 * self.arrays.total_bytes)} while "
                    f"they are written, {_size(shutil.disk_usage(there).free)} are free; make room "
                    "and run again: the batches on disk are kept"
                ) from error
            raise LayerwiseError(
                f"{place}; hidden states are written to {self.place} first: make its parent "
                "folder writable, or name another folder"
            ) from error


def _load(stored: IO[bytes]) -> np.ndarray:
    try:
        return np.load(stored)
    except (ValueError, EOFError) as error:
        raise LayerwiseError(
            f"{stored.name}: cut off, or no arrays ({error}); remove it and run again: only this "
            "batch is computed anew"
        ) from None


def _write_rows(
    file: IO[bytes], start: int, row_bytes: int, places: Sequence[int], rows: np.ndarray
) -> None:
    for place, row in zip(places, rows, strict=True):
        file.seek(start + place * row_bytes)
        file.write(np.ascontiguousarray(row).data)


def _size(n_bytes: int) -> str:
    gib = n_bytes / 2**30
    return f"{gib:.2f} GiB" if gib >= 0.01 else f"{n_bytes / 2**20:.3f} MiB"
