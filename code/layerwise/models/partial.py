"""An extraction under way: a file per batch, in a folder that is moved into place at the end.

    <folder>.lock                 held while a run writes; the kernel lets go of a killed one's
    <folder>.partial/fingerprint  digest of everything that can change a number
    <folder>.partial/...          the batches that are done, as `store` describes them

A batch is written beside its place and renamed: what has a batch's name is whole, whoever computed
it, and a killed run loses at most the one it was at.
"""

import contextlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import safetensors
from safetensors.numpy import save

from layerwise.files import (
    Busy,
    atomic_path,
    locked,
    make_folder,
    refuse_link,
    write_json,
    write_text,
)
from layerwise.home import partial_of
from layerwise.models.batches import Batch
from layerwise.models.needs import require_room
from layerwise.models.store import Index, is_whole


@dataclass(frozen=True)
class Partial:
    """The work on one extraction, the same in every process."""

    folder: Path  # where the finished extraction will be
    fingerprint: str  # digest of everything that can change a number
    batches: Sequence[Batch]
    n_bytes: int  # on disk
    resumes: bool = True  # False: what an earlier run left is not taken up, whatever its inputs

    @property
    def place(self) -> Path:
        return partial_of(self.folder)

    def begin(self, stack: contextlib.ExitStack) -> set[int] | None:
        """Return the batches that are done, None if all are; `stack` keeps the lock from here on.

        Raises:
            LayerwiseError: if another run is at it, or the disk has too little room for the rest.
        """
        if self._is_done() and not self.folder.with_name(self.folder.name + ".lock").exists():
            return None
        try:
            stack.enter_context(locked(self.folder))
        except Busy:
            if self._is_done():  # the other run has other inputs, or is about to end
                return None
            raise
        refuse_link(self.folder)
        if self._is_done():  # a run was killed at its very last steps
            shutil.rmtree(self.folder / "replaced", ignore_errors=True)
            return None
        make_folder(self.place)
        if not (self.resumes and self._is_ours(self.place)):
            self.discard()
            make_folder(self.place)
        done = {n for n in range(len(self.batches)) if is_whole(self._file(n))}
        require_room(self.place, self.n_bytes - sum(self._file(n).stat().st_size for n in done))
        write_text(self.place / "fingerprint", self.fingerprint)
        return done

    def save(self, number: int, at_a_time: int, rows: Mapping[str, np.ndarray]) -> None:
        """Keep a batch: how many texts went through the model at a time, and a row per text."""
        members = np.array(self.batches[number].members)
        arrays = {name: np.ascontiguousarray(array) for name, array in rows.items()}
        with atomic_path(self._file(number)) as part:
            part.write_bytes(save({"members": members, **arrays}, {"at_a_time": str(at_a_time)}))

    def publish(self, index: Index) -> None:
        """Move the extraction into place, over an older one; safe to be killed at any point."""
        smaller: dict[str, int] = {}
        for number, batch in enumerate(self.batches):
            with safetensors.safe_open(self._file(number), framework="np") as stored:
                at_a_time = int(stored.metadata()["at_a_time"])
            if at_a_time < len(batch.members):
                smaller[str(number)] = at_a_time
        whole: Index = {**index, "n_batches": len(self.batches), "smaller_batches": smaller}
        write_json(self.place / "index.json", whole)
        if self.folder.exists():
            os.replace(self.folder, self.place / "replaced")
        os.replace(self.place, self.folder)
        shutil.rmtree(self.folder / "replaced", ignore_errors=True)

    def discard(self) -> None:
        """Remove what is unfinished; without its fingerprint nobody takes up what is left."""
        if self.place.exists():
            (self.place / "fingerprint").unlink(missing_ok=True)
            shutil.rmtree(self.place)

    def _is_done(self) -> bool:
        """Return whether an earlier run finished this extraction, and it may be taken up."""
        is_finished = (self.folder / "index.json").is_file() and self._is_ours(self.folder)
        return self.resumes and is_finished

    def _is_ours(self, folder: Path) -> bool:
        mark = folder / "fingerprint"
        return mark.is_file() and mark.read_bytes() == self.fingerprint.encode()

    def _file(self, number: int) -> Path:
        return self.place / f"{self.batches[number].kind}_{number:05d}.safetensors"
