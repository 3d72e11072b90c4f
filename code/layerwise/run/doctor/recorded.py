"""What a run made of the published numbers, against what the last commit records of it.

dvc.lock holds the hash of every result, and is committed: the same hashes are the same bytes.
"""

import subprocess
from pathlib import Path

from layerwise.files import read_text
from layerwise.home import judged_claims
from layerwise.run.doctor import first_few
from layerwise.shapes import parse_yaml

LOCK = Path("dvc.lock")
CLAIMS = judged_claims("published")
VERDICTS = CLAIMS.with_name("verdicts.json")
NO_RECORD = "no record to compare it with: this is no git clone, or dvc.lock is not committed"


def compare_with_record(root: Path = Path()) -> str:
    """Compare the results of the source `published` with the committed ones."""
    committed = _read_committed(root, LOCK)
    if committed is None:
        return NO_RECORD
    record, made = _results(LOCK, committed), _results(root / LOCK, read_text(root / LOCK))
    if record == made:
        return "identical to the record: every result has the bytes whose hash is committed"
    other = sorted(
        path for path in record.keys() | made.keys() if record.get(path) != made.get(path)
    )
    path = CLAIMS.as_posix()
    is_same = record.get(path) == made.get(path)
    claims = "every claim is as recorded" if is_same else f"verdicts: `git diff {VERDICTS}`"
    return (
        f"not identical to the record: {first_few(other)} differ from what is committed\n  {claims}"
    )


def _results(place: Path, lock: str) -> dict[str, str]:
    """Return `{path: hash}` of the results of the source `published`."""
    return {
        out["path"]: out["md5"]
        for name, stage in parse_yaml(place, lock)["stages"].items()
        if name.endswith("@published")
        for out in stage["outs"]
    }


def _read_committed(root: Path, file: Path) -> str | None:
    """Return a file's text in the last commit; None: no commit, no git, or no such file.

    What is no UTF-8 in it is U+FFFD, which DVC never writes.
    """
    command = ["git", "-C", str(root.absolute()), "show", f"HEAD:./{file.as_posix()}"]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        return None
    return None if done.returncode else done.stdout.decode("utf-8", errors="replace")
