"""The folder of a reader's results: who writes there, what is replaced, and what is not."""

import contextlib
import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.files import locked, read_json, refuse_link, require_kind
from layerwise.home import AGAIN, STATES, partial_of
from layerwise.reader.files import DOCUMENTS, FILES, FILES_ACROSS, PART, RECORD, RECORDS, SCALING

# What an extraction of hidden states writes, whole or in part.
_OF_STATES = re.compile(
    r"fingerprint|index\.json|[a-z]+_\d+\.safetensors|(noise|random)_\d+\.lock|\.layerwise-.*"
)
# A model was analysed where one of these is.
OF_ONE_MODEL = (STATES, "layers.json")


@contextlib.contextmanager
def alone(out: Path) -> Iterator[None]:
    """Inside the block this process alone writes to `out`, which is made.

    When a rule is broken, hidden states go that were begun inside; so does, either way, a folder
    that is empty and was not there before.
    """
    folders = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        with locked(out / STATES):
            made = [place for place in places_of_states(out) if not place.exists()]
            try:
                yield
            except LayerwiseError:
                for place in made:
                    shutil.rmtree(place, ignore_errors=True)
                raise
    finally:
        for folder in folders:
            with contextlib.suppress(OSError):  # there is something in it, or it never was
                folder.rmdir()


def places_of_states(out: Path) -> tuple[Path, ...]:
    """Return the folders where hidden states are, or are on their way."""
    return out / STATES, partial_of(out / STATES), out / AGAIN


def remove_states(out: Path) -> None:
    """Remove the hidden states of a run that is done."""
    for place in places_of_states(out):
        if place.exists():
            shutil.rmtree(place)


def check_results_folder(out: Path, given: Iterable[Any] = ()) -> None:
    """Refuse a folder whose files a run would lose: before it, not after hours.

    Arguments:
        given: the statements and prompts, of which those that are files are not replaced.
    """
    _check_place(out)
    results = {(out / name).resolve() for name in FILES}
    for source in given:
        is_file = isinstance(source, str | Path) and os.path.isfile(source)
        if is_file and Path(source).resolve() in results:
            raise LayerwiseError(
                f"{out}: a result of the name {Path(source).name} would replace what was given; "
                "choose another --out"
            )
    _require_of_runs(out, FILES, DOCUMENTS, RECORD)


def _require_of_runs(
    out: Path, files: Sequence[str], documents: Sequence[str], record: str
) -> None:
    """Refuse files with the names of results that no earlier run wrote.

    Arguments:
        documents: those of the files that hold the record of their run.
        record: its key.
    """
    for name in files:
        if not _is_behind_a_link(out, name):  # a link is replaced
            require_kind(out / name, is_folder=False)
    for folder in {Path(name).parent for name in files} - {Path()}:
        require_kind(out / folder, is_folder=True)
    there = [name for name in files if (out / name).exists() and not _is_behind_a_link(out, name)]
    recorded = [name for name in documents if name in there and _holds(out / name, record)]
    foreign = [name for name in there if name in documents and name not in recorded]
    if foreign or (there and not recorded):
        raise LayerwiseError(
            f"{out}: results replace only those of an earlier run, which hold its record "
            f"({record!r}), found {(foreign or there)[0]} without one; choose an empty --out, or "
            "move it away"
        )


def _is_behind_a_link(out: Path, name: str) -> bool:
    """Return whether a folder between `out` and a file is a link."""
    return any((out / folder).is_symlink() for folder in Path(name).parents if folder != Path())


def _holds(path: Path, record: str) -> bool:
    """Return whether a file is a JSON object with a record of its run."""
    try:
        document = read_json(path)
    except LayerwiseError:
        return False
    return isinstance(document, dict) and isinstance(document.get(record), dict)


def check_states_folder(out: Path) -> None:
    """Refuse a folder that no hidden states can be put into, before there are some.

    It is replaced, and removed in the end, with all that is in it.
    """
    for place in (*places_of_states(out), *(out / AGAIN).glob("*")):
        refuse_link(place)
    for place in places_of_states(out):
        require_kind(place, is_folder=True)
        for file in place.rglob("*"):
            if not file.is_dir() and not _OF_STATES.fullmatch(file.name):
                raise LayerwiseError(
                    f"{place}: hidden states of a run go there and nothing else, found "
                    f"{file.relative_to(place)}; move it away, or choose another --out"
                )


def check_comparison_folder(out: Path) -> None:
    """Refuse a folder that a comparison cannot be put into, or where the results of a model are."""
    _check_place(out)
    part = out / PART
    if any((part / name).exists() for name in OF_ONE_MODEL):
        raise LayerwiseError(
            f"{part}: a comparison goes there, found the results of a model; name another --out, "
            "or move them away"
        )
    _require_of_runs(out, FILES_ACROSS, (SCALING,), RECORDS)


def _check_place(out: Path) -> None:
    refuse_link(out)
    if out.exists() and not out.is_dir():
        raise LayerwiseError(f"{out}: --out must be a folder, found a file; choose another place")


def remove_older(out: Path, files: Iterable[str], written: Collection[str]) -> None:
    """Remove what an earlier run wrote and this one did not.

    Arguments:
        files: all that a run may write.
    """
    for name in files:
        if name not in written and not _is_behind_a_link(out, name):
            (out / name).unlink(missing_ok=True)
