"""Where an extraction under way keeps its work: one writer, enough room, one move into place.

<folder>.lock                     held while a run writes; the kernel lets go of a killed one's
<folder>.partial/fingerprint      digest of everything that can change a number
<folder>.partial/rank_00/, ...    see `shards`
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.extraction.plan import Plan
from layerwise.extraction.shards import Shard, finished_batches
from layerwise.files import read_json, write_json, write_text

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def partial_of(folder: Path) -> Path:
    """The folder of an unfinished extraction."""
    return folder.with_name(folder.name + ".partial")


def claim(folder: Path, fingerprint: str) -> Lock | None:
    """The right to write an extraction, or None if it is there already, of the same inputs.

    Raises:
        LayerwiseError: if another run is writing it.
    """
    finished = _is_finished(folder, fingerprint)
    if finished and not _has_leftovers(folder, fingerprint):
        return None
    try:
        lock = Lock(folder)
    except LayerwiseError:
        if finished:  # the other run has other inputs, or is about to end
            return None
        raise
    if not _is_finished(folder, fingerprint):  # or is it, only just now?
        return lock
    with contextlib.closing(lock):
        if _mark_of(partial_of(folder)) in (None, fingerprint):
            discard(partial_of(folder))
    return None


def _is_finished(folder: Path, fingerprint: str) -> bool:
    index = folder / "index.json"
    return index.is_file() and read_json(index).get("fingerprint") == fingerprint


def _has_leftovers(folder: Path, fingerprint: str) -> bool:
    """True after a run that was killed at its very last steps."""
    partial = partial_of(folder)
    is_ours = partial.exists() and _mark_of(partial) in (None, fingerprint)
    return is_ours or _lock_of(folder).exists()


def _mark_of(partial: Path) -> str | None:
    mark = partial / "fingerprint"
    return mark.read_text(encoding="ascii") if mark.is_file() else None


class Lock:
    """The right to write one extraction, for as long as the process lives or until `close`."""

    def __init__(self, folder: Path) -> None:
        """Take it.

        Raises:
            LayerwiseError: if another run holds it.
        """
        self._path = _lock_of(folder)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.pread(self._file, 200, 0).decode(errors="replace") or "another process"
                os.close(self._file)
                raise LayerwiseError(
                    f"{folder}: one run at a time writes an extraction, {holder} is at it; wait "
                    "until that has ended, or name another folder"
                ) from None
            if self._is_still_there():
                break
            os.close(self._file)  # the last holder removed it between our two calls
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)

    def _is_still_there(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._file), self._path.stat())
        except FileNotFoundError:
            return False

    def close(self) -> None:
        """Give it back."""
        self._path.unlink(missing_ok=True)  # before letting go: never another's
        os.close(self._file)


def prepare(folder: Path, fingerprint: str, plan: Plan, n_processes: int) -> dict[int, int]:
    """Make `<folder>.partial` ready; the finished batches that can be kept, as in `shards`.

    Raises:
        LayerwiseError: if the disk has too little room for the rest.
    """
    partial = partial_of(folder)
    if _mark_of(partial) != fingerprint:
        discard(partial)
    partial.mkdir(parents=True, exist_ok=True)
    _require_room(partial, plan, n_processes)
    write_text(partial / "fingerprint", fingerprint)
    done: dict[int, int] = {}
    for journal in partial.glob("rank_*.journal"):
        done |= finished_batches(journal.with_suffix(""), plan)
    return done


def _require_room(partial: Path, plan: Plan, n_processes: int) -> None:
    """Files are allocated as they fill up; shards of several processes exist twice at the end."""
    taken = sum(file.stat().st_blocks * 512 for file in partial.rglob("*") if file.is_file())
    needed = plan.total_bytes * (2 * n_processes - 1) // n_processes - taken
    free = shutil.disk_usage(partial).free
    if needed > free:
        raise LayerwiseError(
            f"{partial}: the hidden states need {_size(needed)} more on this disk, "
            f"{_size(free)} are free; make room, or name a folder on another disk"
        )


def publish(folder: Path, plan: Plan, index: dict[str, Any]) -> None:
    """Merge all shards into the first and move it into place; safe to be killed at any point.

    The journal stays beside the arrays until the move: whatever is repeated gives the same bytes.
    """
    partial = partial_of(folder)
    journals = sorted(partial.glob("rank_*.journal"))
    first, *others = [journal.with_suffix("") for journal in journals]
    smaller: dict[int, int] = {}
    shard = Shard(first, plan)
    try:
        for other in others:
            shard.absorb(other)
    finally:
        shard.close()
    for one in (first, *others):
        smaller |= {
            number: size
            for number, size in finished_batches(one, plan).items()
            if size < len(plan.batches[number].members)
        }
    index = {**index, "smaller_batches": {str(n): smaller[n] for n in sorted(smaller)}}
    write_json(partial / "index.json", index)  # its temporary file must not be published
    os.replace(partial / "index.json", first / "index.json")
    if folder.exists():
        if (partial / "replaced").exists():
            shutil.rmtree(partial / "replaced")
        os.replace(folder, partial / "replaced")
    os.replace(first, folder)
    discard(partial)


def discard(partial: Path) -> None:
    """Remove an unfinished extraction; without its fingerprint nobody takes up what is left."""
    if partial.exists():
        (partial / "fingerprint").unlink(missing_ok=True)
        shutil.rmtree(partial)


@contextlib.contextmanager
def disk_errors_explained(folder: Path, plan: Plan) -> Iterator[None]:
    """Inside the block, what the operating system refuses becomes one sentence.

    Raises:
        LayerwiseError: for a full disk, a folder that cannot be written, and the like.
    """
    try:
        yield
    except OSError as error:
        place = f"{error.filename or partial_of(folder)}: {error.strerror or error}"
        if error.errno in _FULL:
            free = shutil.disk_usage(_existing(folder)).free
            raise LayerwiseError(
                f"{place}; the hidden states take {_size(plan.total_bytes)}, {_size(free)} are "
                "free; make room and run again: the batches on disk are kept"
            ) from error
        raise LayerwiseError(
            f"{place}; hidden states are written to {partial_of(folder)} first: make its parent "
            "folder writable, or name another folder"
        ) from error


def _existing(folder: Path) -> Path:
    return next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())


def _lock_of(folder: Path) -> Path:
    return folder.with_name(folder.name + ".lock")


def _size(n_bytes: int) -> str:
    gib = n_bytes / 2**30
    return f"{gib:.2f} GiB" if gib >= 0.01 else f"{n_bytes / 2**20:.3f} MiB"
