"""The folder of a reader's results: who writes there, what is replaced, and what is not."""

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.files import locked, refuse_link, require_kind
from layerwise.folders import (
    AGAIN,
    CONTROL,
    FILES,
    FOLDERS,
    REPLICATES,
    RESULTS,
    STATES,
    partial_of,
)

# One of these shows that what else is there came from an earlier run.
MARKS = (STATES, "validation.json")
OF_ONE_MODEL = (STATES, "layers.json")
# What a comparison of several models writes: figures and tables, its page, its document.
PART, ACROSS, SCALING = "scaling", "scaling.html", "scaling.json"


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
    for source in given:
        is_file = isinstance(source, str | Path) and os.path.isfile(source)
        if (
            is_file
            and Path(source).name in FILES
            and Path(source).resolve().parent == out.resolve()
        ):
            raise LayerwiseError(
                f"{out}: a result of the name {Path(source).name} would replace what was given; "
                "choose another --out"
            )
    for name in (*FOLDERS, *FILES):
        require_kind(out / name, is_folder=name in FOLDERS)
    there = [name for name in (*FOLDERS, *FILES) if (out / name).exists()]
    if there and not any((out / mark).exists() for mark in MARKS):
        raise LayerwiseError(
            f"{out}: results replace only those of an earlier run, found {there[0]} and neither "
            f"{' nor '.join(MARKS)}; choose an empty --out, or move it away"
        )


def check_states_folder(out: Path) -> None:
    """Refuse a folder that no hidden states can be put into, before there are some."""
    for place in (*places_of_states(out), *(out / AGAIN).glob("*")):
        refuse_link(place)
    for place in places_of_states(out):
        require_kind(place, is_folder=True)


def check_comparison_folder(out: Path) -> None:
    """Refuse a folder that a comparison cannot be put into, or where the results of a model are."""
    _check_place(out)
    for name in (PART, ACROSS, SCALING):
        require_kind(out / name, is_folder=name == PART)
    part = out / PART
    if any((part / name).exists() for name in OF_ONE_MODEL):
        raise LayerwiseError(
            f"{part}: a comparison goes there, found the results of a model; name another --out, "
            "or move them away"
        )


def _check_place(out: Path) -> None:
    refuse_link(out)
    if out.exists() and not out.is_dir():
        raise LayerwiseError(f"{out}: --out must be a folder, found a file; choose another place")


def remove_older(out: Path, kept: Iterable[str]) -> None:
    """Remove what an earlier run wrote and this one did not."""
    for name in {*RESULTS, REPLICATES, CONTROL} - set(kept):
        (out / f"{name}.json").unlink(missing_ok=True)
