"""The folder of a reader's results: what a run may replace there, and what it may not."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.files import refuse_link, require_kind
from layerwise.places.folders import CONTROL, FILES, FOLDERS, REPLICATES, RESULTS, STATES

# One of these shows that what else is there came from an earlier run.
MARKS = (STATES, "validation.json")
OF_ONE_MODEL = (STATES, "layers.json")


def check_results_folder(out: Path, given: Iterable[Any] = ()) -> None:
    """Refuse a folder whose files a run would lose: before it, not after hours.

    Arguments:
        given: the statements and prompts, of which those that are files are not replaced.
    """
    refuse_link(out)
    if out.exists() and not out.is_dir():
        raise LayerwiseError(f"{out}: --out must be a folder, found a file; choose another place")
    for one in given:
        is_file = isinstance(one, str | Path) and os.path.isfile(one)
        if is_file and Path(one).name in FILES and Path(one).resolve().parent == out.resolve():
            raise LayerwiseError(
                f"{out}: a result of the name {Path(one).name} would replace what was given; "
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


def check_comparison_folder(part: Path) -> None:
    """Refuse to put a comparison where the results of a model are."""
    if any((part / name).exists() for name in OF_ONE_MODEL):
        raise LayerwiseError(
            f"{part}: a comparison goes there, found the results of a model; name another --out, "
            "or move them away"
        )


def remove_older(out: Path, kept: Iterable[str]) -> None:
    """Remove what an earlier run wrote and this one did not."""
    for name in {*RESULTS, REPLICATES, CONTROL} - set(kept):
        (out / f"{name}.json").unlink(missing_ok=True)
