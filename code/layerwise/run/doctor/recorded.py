"""What a run made of the published numbers, against what the last commit records of it.

dvc.lock holds the hash of every result, and is committed: the same hashes are the same bytes.
"""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from layerwise.errors import LayerwiseError
from layerwise.files import parse_json, read_json, read_text
from layerwise.home import judged_claims
from layerwise.run.doctor import first_few
from layerwise.shapes import Loose, parse_yaml, require_shape

LOCK = Path("dvc.lock")
TAKE = "take the committed one: `git checkout dvc.lock`, in an archive unpack it again"
CLAIMS = judged_claims("published")
VERDICTS = CLAIMS.with_name("verdicts.json")
CACHE = Path(".dvc/cache/files/md5")
NO_RECORD = "no record to compare it with: this is no git clone, or dvc.lock is not committed"


class Out(Loose):
    """A file or a folder that a stage made."""

    path: str
    md5: str


class Stage(Loose):
    """What is recorded of a stage."""

    outs: Annotated[list[Out], Field(min_length=1)]


class Lock(Loose):
    """The part of `dvc.lock` that is read here."""

    stages: Annotated[dict[str, Stage], Field(min_length=1)]


class Record(Loose):
    """What is compared of a judged claim."""

    id: str
    recomputed: Any
    verdict: str


class Judged(Loose):
    """The judged claims."""

    claims: list[Record]


def compare_with_record(root: Path = Path()) -> str:
    """Compare the results of the source `published` with the committed ones."""
    committed = _committed(root, LOCK)
    if committed is None:
        return NO_RECORD
    try:
        record = _results(f"{LOCK} in the last commit", committed)
        made = _results(str(root / LOCK), read_text(root / LOCK))
    except LayerwiseError as error:
        return f"no record to compare it with: {error}"
    if record == made:
        return "identical to the record: every result has the bytes whose hash is committed"
    other = sorted(
        path for path in record.keys() | made.keys() if record.get(path) != made.get(path)
    )
    said = [f"not identical to the record: {first_few(other)} differ from what is committed"]
    path = CLAIMS.as_posix()
    try:
        if record.get(path) == made.get(path):
            said.append("every claim is as recorded")
        else:
            said.append(_claims(root, record.get(path, "")))
    except LayerwiseError as error:
        said.append(f"the claims cannot be compared: {error}")
    return "\n  ".join(said)


def _results(place: str, lock: str) -> dict[str, str]:
    """Return `{path: hash}` of the results of the source `published`.

    Raises:
        LayerwiseError: naming the place, if DVC did not write the text so.
    """
    document = require_shape(place, Lock, parse_yaml(place, lock, TAKE), TAKE)
    return {
        out["path"]: out["md5"]
        for name, stage in document["stages"].items()
        if name.endswith("@published")
        for out in stage["outs"]
    }


def _claims(root: Path, digest: str) -> str:
    """The claims that differ, where DVC's cache has the recorded ones; else the counts that do."""
    cached = root / CACHE / digest[:2] / digest[2:]
    if digest and cached.is_file():
        before, now = (_records_by_id(file) for file in (cached, root / CLAIMS))
        moved = [
            f"{name} ({_describe(before.get(name))} -> {_describe(now.get(name))})"
            for name in sorted(before.keys() | now.keys())
            if _judged(before.get(name)) != _judged(now.get(name))
        ]
        return f"claims: {first_few(moved) if moved else 'every value and verdict is as recorded'}"
    counts = _committed(root, VERDICTS)
    there = read_json(root / VERDICTS)
    if counts is None:
        return f"the counts of verdicts are not committed: `git add {VERDICTS}`"
    if parse_json(f"{VERDICTS} in the last commit", counts) == there:
        return "every count of verdicts is as recorded"
    return f"the counts of verdicts differ: `git diff {VERDICTS}`"


def _records_by_id(file: Path) -> dict[str, Mapping[str, Any]]:
    document = require_shape(file, Judged, read_json(file))
    return {record["id"]: record for record in document["claims"]}


def _judged(record: Mapping[str, Any] | None) -> tuple[Any, Any] | None:
    return None if record is None else (record["recomputed"], record["verdict"])


def _describe(record: Mapping[str, Any] | None) -> str:
    return "not there" if record is None else f"{record['verdict']}, {record['recomputed']}"


def _committed(root: Path, file: Path) -> str | None:
    """A file's text in the last commit; None: there is no commit, no git, or no such file.

    What is no UTF-8 in it is U+FFFD, which DVC never writes.
    """
    command = ["git", "-C", str(root.absolute()), "show", f"HEAD:./{file.as_posix()}"]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        return None
    return None if done.returncode else done.stdout.decode("utf-8", errors="replace")
