"""What a run made of the published numbers, against what came with the code.

dvc.lock holds the hash of every result: the same hashes are the same bytes. The record is the one
that is committed or, in an unpacked archive, the one that was unpacked: DVC rewrites the file where
a result differs, so set-up keeps a copy before anything can run.
"""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from layerwise.csv_rows import parse_table
from layerwise.engine.records import VERDICT_COLUMNS
from layerwise.files import read_text
from layerwise.home import judged_claims
from layerwise.run.doctor import first_few
from layerwise.shapes import parse_yaml

LOCK = Path("dvc.lock")
VERDICTS = judged_claims("published").with_name("verdicts.csv")
KEPT = Path(".dvc/record")  # what set-up keeps of an archive, as the image's build does
NO_RECORD = "no record to compare it with: git is not there, or dvc.lock is not committed"
IDENTICAL = "identical to the record: every result has the bytes whose hash came in dvc.lock"
KINDS = {"central": "marks", "claim": "verdicts"}  # of a row of verdicts.csv


class Comparison(NamedTuple):
    """What is said of a run's results, and whether they are those of the record."""

    said: str
    is_identical: bool


class Stages(NamedTuple):
    """Inputs and results of the source `published` in a dvc.lock, by their paths."""

    inputs: dict[str, object]  # hashes of files, values of parameters
    results: dict[str, str]


def compare_with_record(root: Path = Path()) -> Comparison:
    """Compare the results of the source `published` with the recorded ones.

    Where they differ it is said which, what became of marks and verdicts, and which inputs are not
    those of the record.
    """
    recorded = _recorded(root, LOCK)
    if recorded is None:
        return Comparison(NO_RECORD, False)
    record, made = _read_lock(LOCK, recorded), _read_lock(root / LOCK, read_text(root / LOCK))
    if record.results == made.results:
        return Comparison(IDENTICAL, True)
    lines = [
        f"not identical to the record: {first_few(_different(record.results, made.results))} "
        "differ",
        f"  {_compare_verdicts(root)}",
        f"  {_name_changed_inputs(root, record, made)}",
    ]
    return Comparison("\n".join(lines), False)


def _compare_verdicts(root: Path) -> str:
    """Count the marks and verdicts that are as recorded, and name the first that moved."""
    text = _recorded(root, VERDICTS)
    if text is None:
        return f"{VERDICTS} is not recorded, so what moved is not known"
    record, made = read_verdicts(text), read_verdicts(read_text(root / VERDICTS))
    moved = _different(record, made)
    counts = []
    for kind, name in KINDS.items():
        of_kind = [row for row in record if row[0] == kind]
        n_moved = sum(row in record for row in moved if row[0] == kind)
        counts.append(f"{len(of_kind) - n_moved} of {len(of_kind)} {name}")
    changes = [
        f"{row[1]}: {record.get(row, 'absent')} -> {made.get(row, 'absent')}" for row in moved
    ]
    return " and ".join(counts) + " as recorded" + (f" ({first_few(changes)})" if changes else "")


def _name_changed_inputs(root: Path, record: Stages, made: Stages) -> str:
    """Name the files that git sees changed; else the inputs that dvc.lock has otherwise."""
    paths = sorted({*record.inputs, *made.inputs} - {*record.results, *made.results})
    status = ("status", "--porcelain", "-z", "--no-renames", "--", *paths)
    # around an archive there may be a repository that knows nothing of it
    changes = None if (root / KEPT).exists() else _git(root, *status)
    changed = [line[3:] for line in (changes or "").split("\0") if line]
    if not changed:
        changed = [path for path in _different(record.inputs, made.inputs) if path in paths]
    if changed:
        return f"changed: {first_few(changed)}"
    return "no input changed: another machine, or other versions"


def _different(record: Mapping[Any, Any], made: Mapping[Any, Any]) -> list[Any]:
    """Return the keys, in order, whose values are not equal in both."""
    return sorted(key for key in record.keys() | made.keys() if record.get(key) != made.get(key))


def read_verdicts(text: str) -> dict[tuple[str, str], str]:
    """Return the verdicts of a `verdicts.csv` by kind and id."""
    rows = parse_table(VERDICTS, text, VERDICT_COLUMNS, "judge the ledger again")
    return {(kind, name): verdict for _, (kind, name, verdict) in rows}


def _read_lock(place: Path, lock: str) -> Stages:
    """Return inputs and results of the source `published`."""
    inputs: dict[str, object] = {}
    parameters: dict[str, dict[str, object]] = {}
    results: dict[str, str] = {}
    for name, stage in parse_yaml(place, lock)["stages"].items():
        if name.endswith("@published"):
            results |= {out["path"]: out["md5"] for out in stage["outs"]}
            inputs |= {dep["path"]: dep["md5"] for dep in stage.get("deps", ())}
            for file, values in stage.get("params", {}).items():
                parameters.setdefault(file, {}).update(values)
    return Stages(inputs | parameters, results)


def _recorded(root: Path, path: Path) -> str | None:
    """Return a file as it was unpacked or, in a clone, committed; None: nobody knows."""
    kept = root / KEPT / path.name
    return read_text(kept) if kept.is_file() else _git(root, "show", f"HEAD:./{path.as_posix()}")


def _git(root: Path, *arguments: str) -> str | None:
    """Return what a git command prints; None: it failed, or there is no git.

    What is no UTF-8 in it is U+FFFD, which DVC never writes.
    """
    command = ["git", "-C", str(root.absolute()), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        return None
    return None if done.returncode else done.stdout.decode("utf-8", errors="replace")
