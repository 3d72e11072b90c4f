"""What `make reproduce` says last: whether its results are those that are committed."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from git_repositories import git, needs_git
from layerwise.run.doctor.recorded import NO_RECORD, compare_with_record

CLAIMS, PAGE = "results/published/claims.json", "report/published"


def write(root: Path, document: Any) -> None:
    (root / "dvc.lock").write_text(yaml.safe_dump(document))


def lock(**hashes: str) -> dict[str, Any]:
    """A dvc.lock with a stage of each source; that of `measured` is another run's every time."""
    outs = [
        {"path": path, "md5": md5.rjust(32, "0"), "size": 1}
        for path, md5 in ({CLAIMS: "ab" * 16, PAGE: "1"} | hashes).items()
    ]
    stages = {
        "page@published": {"cmd": "x", "outs": outs},
        "page@measured": {"cmd": "x", "outs": [{"path": "m", "md5": "0" * 32, "size": 1}]},
    }
    return {"schema": "2.0", "stages": stages}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clone with the record of a run."""
    write(tmp_path, lock())
    git("init", "-q", root=tmp_path)
    git("add", "-A", root=tmp_path)
    git("commit", "-q", "-m", "record", root=tmp_path)
    return tmp_path


@needs_git
def test_the_same_hashes_are_the_record(checkout: Path) -> None:
    assert compare_with_record(checkout).startswith("identical to the record: ")
    changed = lock()
    changed["stages"]["page@measured"]["outs"][0]["md5"] = "9" * 32
    write(checkout, changed)
    assert compare_with_record(checkout).startswith("identical to the record: ")


@needs_git
def test_what_is_not_the_record_is_named(checkout: Path) -> None:
    """A page alone; then the claims too."""
    write(checkout, lock(**{PAGE: "2"}))
    first, second = compare_with_record(checkout).splitlines()
    assert first == f"not identical to the record: {PAGE} differ from what is committed"
    assert second == "  every claim is as recorded"
    write(checkout, lock(**{CLAIMS: "cd" * 16, PAGE: "2"}))
    first, second = compare_with_record(checkout).splitlines()
    assert first.endswith(f"record: {PAGE}, {CLAIMS} differ from what is committed")
    assert second == "  verdicts: `git diff results/published/verdicts.json`"


def test_where_nothing_is_recorded_it_says_so(tmp_path: Path) -> None:
    write(tmp_path, lock())
    assert compare_with_record(tmp_path) == NO_RECORD
