"""What `make reproduce` says last: whether its results are those that are committed."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from claim_records import judged, record
from git_repositories import git, needs_git
from layerwise.run.doctor.recorded import NO_RECORD, compare_with_record

CLAIMS, PAGE = "results/published/claims.json", "report/published"
DIGEST = "ab" * 16


def write(root: Path, file: str, document: Any) -> None:
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    dump = json.dumps if file.endswith(".json") else yaml.safe_dump
    (root / file).write_text(dump(document))


def lock(**hashes: str) -> dict[str, Any]:
    """A dvc.lock with a stage of each source; that of `measured` is another run's every time."""
    outs = [
        {"path": path, "md5": md5.rjust(32, "0"), "size": 1}
        for path, md5 in ({CLAIMS: DIGEST, PAGE: "1"} | hashes).items()
    ]
    stages = {
        "page@published": {"cmd": "x", "outs": outs},
        "page@measured": {"cmd": "x", "outs": [{"path": "m", "md5": "0" * 32, "size": 1}]},
    }
    return {"schema": "2.0", "stages": stages}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clone with the record of a run, whose claims DVC's cache holds too."""
    claims = judged([record("p2.a"), record("p2.b")])
    write(tmp_path, "dvc.lock", lock())
    write(tmp_path, "results/published/verdicts.json", claims["counts"])
    git("init", "-q", root=tmp_path)
    git("add", "-A", root=tmp_path)
    git("commit", "-q", "-m", "record", root=tmp_path)
    write(tmp_path, CLAIMS, claims)
    write(tmp_path, f".dvc/cache/files/md5/{DIGEST[:2]}/{DIGEST[2:]}", None)
    (tmp_path / f".dvc/cache/files/md5/{DIGEST[:2]}/{DIGEST[2:]}").write_text(json.dumps(claims))
    return tmp_path


@needs_git
def test_the_same_hashes_are_the_record(checkout: Path) -> None:
    assert compare_with_record(checkout).startswith("identical to the record: ")
    changed = lock()
    changed["stages"]["page@measured"]["outs"][0]["md5"] = "9" * 32
    write(checkout, "dvc.lock", changed)
    assert compare_with_record(checkout).startswith("identical to the record: ")


@needs_git
def test_what_is_not_the_record_is_named(checkout: Path) -> None:
    """A page alone; then a claim, by its id where the recorded ones are at hand."""
    write(checkout, "dvc.lock", lock(**{PAGE: "2"}))
    first, second = compare_with_record(checkout).splitlines()
    assert first == f"not identical to the record: {PAGE} differ from what is committed"
    assert second == "  every claim is as recorded"
    moved = judged([record("p2.a"), record("p2.b", recomputed=0.4, verdict="differs")])
    write(checkout, CLAIMS, moved)
    write(checkout, "dvc.lock", lock(**{CLAIMS: "cd" * 16, PAGE: "2"}))
    first, second = compare_with_record(checkout).splitlines()
    assert first.endswith(f"record: {PAGE}, {CLAIMS} differ from what is committed")
    assert second == "  claims: p2.b (agrees, 0.34512345 -> differs, 0.4)"


@needs_git
def test_without_the_recorded_claims_the_counts_are_compared(checkout: Path) -> None:
    """As in a fresh clone, whose cache is empty."""
    (checkout / f".dvc/cache/files/md5/{DIGEST[:2]}/{DIGEST[2:]}").unlink()
    write(checkout, "dvc.lock", lock(**{CLAIMS: "cd" * 16}))
    assert compare_with_record(checkout).endswith("\n  every count of verdicts is as recorded")
    write(checkout, "results/published/verdicts.json", {"paper2": {"agrees": 1, "differs": 1}})
    assert compare_with_record(checkout).endswith(
        "differ: `git diff results/published/verdicts.json`"
    )


def test_where_nothing_is_recorded_it_says_so(tmp_path: Path) -> None:
    write(tmp_path, "dvc.lock", lock())
    assert compare_with_record(tmp_path) == NO_RECORD


@needs_git
@pytest.mark.parametrize("odd", [b"[]\n", b"7\n", b"\xff\n", b"stages: {a@published: {deps: 7}}\n"])
@pytest.mark.parametrize("where", ["committed", "made", "claims", "cached", "counts"])
def test_whatever_stands_there_is_said_in_words(checkout: Path, odd: bytes, where: str) -> None:
    """In the line that would compare it; a run that has ended well stays one that did."""
    cached = checkout / f".dvc/cache/files/md5/{DIGEST[:2]}/{DIGEST[2:]}"
    if where in ("committed", "counts"):
        file = "dvc.lock" if where == "committed" else "results/published/verdicts.json"
        whole = (checkout / file).read_bytes()
        (checkout / file).write_bytes(odd)
        git("commit", "-q", "-a", "-m", "odd", root=checkout)
        (checkout / file).write_bytes(whole)
    if where == "counts":
        cached.unlink()
    if where == "made":
        (checkout / "dvc.lock").write_bytes(odd)
    else:
        write(checkout, "dvc.lock", lock(**{CLAIMS: "cd" * 16}))
    if where in ("claims", "cached"):
        ((checkout / CLAIMS) if where == "claims" else cached).write_bytes(odd)
    said = compare_with_record(checkout)
    if where in ("committed", "made"):
        assert re.fullmatch(
            r"no record to compare it with: .*dvc\.lock.*: .*; (take|save) .*", said
        )
    elif where != "counts":
        assert re.search(r"\n  the claims cannot be compared: .*: .*; .*$", said)
    else:  # a number is JSON too, and another one
        assert re.search(
            r"\n  the (claims cannot be compared: .*; .*|counts of verd.* diff.*)$", said
        )
