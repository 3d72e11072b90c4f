"""What `make reproduce` says last: whether its results are those of the record."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from git_repositories import git, needs_git
from layerwise.run.doctor.recorded import IDENTICAL, NO_RECORD, Comparison, compare_with_record

CLAIMS, PAGE = "results/published/claims.json", "report/published"
VERDICTS = """kind,id,verdict
central,p1.a,holds
central,p1.b,fails
claim,p1.a.r,agrees
claim,p1.a.n,agrees
"""


DEP = {"path": "published", "md5": "0" * 32, "size": 1}


def write(root: Path, document: Any) -> None:
    (root / "dvc.lock").write_text(yaml.safe_dump(document))


def lock(**hashes: str) -> dict[str, Any]:
    """A dvc.lock with a stage of each source; that of `measured` is another run's every time."""
    outs = [
        {"path": path, "md5": md5.rjust(32, "0"), "size": 1}
        for path, md5 in ({CLAIMS: "ab" * 16, PAGE: "1"} | hashes).items()
    ]
    stages = {
        "page@published": {"cmd": "x", "deps": [DEP], "outs": outs},
        "page@measured": {"cmd": "x", "outs": [{"path": "m", "md5": "0" * 32, "size": 1}]},
    }
    return {"schema": "2.0", "stages": stages}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clone with the record of a run."""
    write(tmp_path, lock())
    for name, text in {
        "published/table.csv": "1\n",
        "results/published/verdicts.csv": VERDICTS,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    git("init", "-q", root=tmp_path)
    git("add", "-A", root=tmp_path)
    git("commit", "-q", "-m", "record", root=tmp_path)
    return tmp_path


@needs_git
def test_the_same_hashes_are_the_record(checkout: Path) -> None:
    assert compare_with_record(checkout) == Comparison(IDENTICAL, True)
    changed = lock()
    changed["stages"]["page@measured"]["outs"][0]["md5"] = "9" * 32
    write(checkout, changed)
    assert compare_with_record(checkout) == Comparison(IDENTICAL, True)


@needs_git
def test_what_is_not_the_record_is_named(checkout: Path) -> None:
    """A page alone; then the claims too."""
    write(checkout, lock(**{PAGE: "2"}))
    first, second, third = say(checkout)
    assert first == f"not identical to the record: {PAGE} differ"
    assert second == "2 of 2 marks and 2 of 2 verdicts as recorded"
    assert third.startswith("no input changed")
    write(checkout, lock(**{CLAIMS: "cd" * 16, PAGE: "2"}))
    assert say(checkout)[0].endswith(f"record: {PAGE}, {CLAIMS} differ")


@needs_git
def test_what_moved_and_the_input_that_changed_are_named(checkout: Path) -> None:
    """By git, which knows the file; else by the record, as where the change is committed."""
    changed = lock(**{CLAIMS: "cd" * 16})
    changed["stages"]["page@published"]["deps"] = [DEP | {"md5": "1" * 32}]
    write(checkout, changed)
    moved = VERDICTS.replace("p1.a.r,agrees", "p1.a.r,differs") + "claim,p1.c,agrees\n"
    (checkout / "results/published/verdicts.csv").write_text(moved)
    assert say(checkout)[1:] == [
        "2 of 2 marks and 1 of 2 verdicts as recorded "
        "(p1.a.r: agrees -> differs, p1.c: absent -> agrees)",
        "changed: published",
    ]
    (checkout / "published/table.csv").write_text("2\n")
    assert say(checkout)[2] == "changed: published/table.csv"
    git("rm", "-q", "--cached", "results/published/verdicts.csv", root=checkout)
    git("commit", "-q", "-m", "none", root=checkout)
    assert "verdicts.csv is not recorded" in say(checkout)[1]


@pytest.mark.parametrize("around", [False, pytest.param(True, marks=needs_git)])
def test_without_git_the_record_is_what_was_unpacked(
    checkout: Path, root: Path, around: bool
) -> None:
    """Also inside a repository of the reader's, and whatever was made by the next set-up."""
    shutil.rmtree(checkout / ".git")
    (checkout / ".dvc").mkdir()
    if around:
        git("init", "-q", root=checkout.parent)
    keep = [str(root / ".ci" / "keep_record.sh")]
    subprocess.run(keep, cwd=checkout, check=True)
    assert compare_with_record(checkout) == Comparison(IDENTICAL, True)
    write(checkout, lock(**{CLAIMS: "cd" * 16}))
    moved = VERDICTS.replace("p1.a.r,agrees", "p1.a.r,differs")
    (checkout / "results/published/verdicts.csv").write_text(moved)
    subprocess.run(keep, cwd=checkout, check=True)
    assert say(checkout) == [
        f"not identical to the record: {CLAIMS} differ",
        "2 of 2 marks and 1 of 2 verdicts as recorded (p1.a.r: agrees -> differs)",
        "no input changed: another machine, or other versions",
    ]


def say(checkout: Path) -> list[str]:
    """The lines on a run that does not meet the record."""
    comparison = compare_with_record(checkout)
    assert not comparison.is_identical
    return [line.strip() for line in comparison.said.splitlines()]


def test_where_nothing_is_recorded_it_says_so(tmp_path: Path) -> None:
    write(tmp_path, lock())
    assert compare_with_record(tmp_path) == Comparison(NO_RECORD, False)
