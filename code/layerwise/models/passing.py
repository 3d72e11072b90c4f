"""Weights that a run fetches for itself alone, and removes once they are measured.

    LAYERWISE_DROP_WEIGHTS=1        asks for it
    MODEL/before/COMMIT             in the hub's cache: which files were there before it fetched

A file that was there before stays, and so does one that another commit of the model has too. The
variable is no parameter of the pipeline: numbers do not depend on it.

Whether it is asked for or not, what a killed process was fetching is removed: the hub's client
keeps whole files, and gives the part of a file a name (HASH.NUMBER.incomplete) that no process
looks for again.
"""

import contextlib
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

from filelock import FileLock

from layerwise.files import from_environment, read_json, write_json
from layerwise.models.pickles import place_of

DROP = "LAYERWISE_DROP_WEIGHTS"
IDLE = 60  # seconds without a byte, after which a part is nobody's where locks lock nothing


def drops_weights() -> bool:
    """Return whether what is fetched is removed again."""
    return from_environment(DROP, 0, 1) == 1


def note_what_is_there(snapshot: Path) -> None:
    """Note the files of a model before more are fetched; a run that goes on has noted them."""
    mark = _mark_of(snapshot)
    if drops_weights() and not mark.is_file():
        write_json(mark, sorted(map(str, _files_of(snapshot.parents[1].glob("snapshots/*")))))


def drop_weights(snapshot: Path, weights: Iterable[str]) -> int:
    """Remove the weights of a commit that came since its files were noted; return their bytes.

    Nothing is removed where nothing was noted, or where it is not asked for.
    """
    mark, n_bytes = _mark_of(snapshot), 0
    if not (drops_weights() and mark.is_file()):
        return 0
    others = (folder for folder in snapshot.parent.iterdir() if folder != snapshot)
    stay = {*map(Path, read_json(mark)), *_files_of(others)}
    for name in weights:
        blob = (snapshot / name).resolve()
        if blob.is_file() and blob not in stay:
            n_bytes += blob.stat().st_size
            blob.unlink()
            (snapshot / name).unlink(missing_ok=True)
    if (converted := place_of(snapshot)).is_dir() and converted.resolve() not in stay:
        n_bytes += sum(file.stat().st_size for file in converted.iterdir())
        shutil.rmtree(converted)
    mark.unlink()
    return n_bytes


def remove_leftovers(snapshot: Path) -> None:
    """Remove the parts of a model's files that killed processes left.

    A part stays while the client's lock of its file is taken, which ends with its process.
    """
    repository = snapshot.parents[1]
    locks = repository.parent / ".locks" / repository.name
    for part in repository.glob("blobs/*.*.incomplete"):
        lock = FileLock(locks / f"{part.name.partition('.')[0]}.lock", blocking=False)
        # taken, gone meanwhile, of another user, or on a disk without locks
        with contextlib.suppress(OSError, NotImplementedError), lock:
            if time.time() - part.stat().st_mtime > IDLE:
                part.unlink()


def _mark_of(snapshot: Path) -> Path:
    return snapshot.parents[1] / "before" / snapshot.name


def _files_of(snapshots: Iterable[Path]) -> set[Path]:
    """Return the files that commits have, where their bytes are, and what was converted of them."""
    files = set[Path]()
    for snapshot in snapshots:
        files |= {file.resolve() for file in snapshot.rglob("*") if file.is_file()}
        if place_of(snapshot).is_dir():
            files.add(place_of(snapshot).resolve())
    return files
