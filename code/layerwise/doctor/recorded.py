"""What a run made of the published numbers, against what the last commit records of it.

dvc.lock holds the hash of every result, and is committed: the same hashes are the same bytes.
"""

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from layerwise.doctor import first_few
from layerwise.doctor.dvc_files import LOCK
from layerwise.files import read_json
from layerwise.places.home import judged_claims

CLAIMS = judged_claims("published")
VERDICTS = CLAIMS.with_name("verdicts.json")
CACHE = Path(".dvc/cache/files/md5")
NO_RECORD = "no record to compare it with: this is no git clone, or dvc.lock is not committed"


def against_record(root: Path = Path()) -> str:
    """Whether the results of the source `published` are the committed ones; else which differ."""
    committed = _committed(root, LOCK)
    if committed is None:
        return NO_RECORD
    record, made = _results(committed), _results((root / LOCK).read_text(encoding="utf-8"))
    if record == made:
        return "identical to the record: every result has the bytes whose hash is committed"
    other = sorted(
        path for path in record.keys() | made.keys() if record.get(path) != made.get(path)
    )
    said = [f"not identical to the record: {first_few(other)} differ from what is committed"]
    return "\n".join([*said, *(f"  {line}" for line in _claims(root, record, made))])


def _results(lock: str) -> dict[str, str]:
    """`{path: hash}` of the results of the source `published`."""
    stages = (yaml.safe_load(lock) or {}).get("stages", {})
    of_source = (of for name, of in stages.items() if name.endswith("@published"))
    return {out["path"]: out["md5"] for of in of_source for out in of.get("outs", ())}


def _claims(root: Path, record: Mapping[str, str], made: Mapping[str, str]) -> Iterator[str]:
    """The claims that differ, where DVC's cache has the recorded ones; else the counts that do."""
    path = CLAIMS.as_posix()
    if record.get(path) == made.get(path):
        yield "every claim is as recorded"
        return
    digest = record.get(path, "")
    cached = root / CACHE / digest[:2] / digest[2:]
    if digest and cached.is_file():
        before, now = (_by_id(read_json(file)) for file in (cached, root / CLAIMS))
        moved = [
            f"{name} ({_told(before.get(name))} -> {_told(now.get(name))})"
            for name in sorted(before.keys() | now.keys())
            if _judged(before.get(name)) != _judged(now.get(name))
        ]
        yield f"claims: {first_few(moved) if moved else 'every value and verdict is as recorded'}"
        return
    counts = _committed(root, VERDICTS)
    if counts is None or json.loads(counts) == read_json(root / VERDICTS):
        yield "every count of verdicts is as recorded"
    else:
        yield f"the counts of verdicts differ: `git diff {VERDICTS}`"


def _by_id(document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {record["id"]: record for record in document["claims"]}


def _judged(record: Mapping[str, Any] | None) -> tuple[Any, Any] | None:
    return None if record is None else (record["recomputed"], record["verdict"])


def _told(record: Mapping[str, Any] | None) -> str:
    return "not there" if record is None else f"{record['verdict']}, {record['recomputed']}"


def _committed(root: Path, file: Path) -> str | None:
    """A file's text in the last commit; None: there is no commit, no git, or no such file."""
    command = ["git", "-C", str(root.absolute()), "show", f"HEAD:./{file.as_posix()}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
