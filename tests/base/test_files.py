import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from layerwise.errors import LayerwiseError
from layerwise.files import (
    atomic_path,
    is_first_process,
    read_json,
    together,
    write_json,
)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_atomic_path_publishes_under_the_users_mask(tmp_path: Path) -> None:
    target = tmp_path / "new" / "a.txt"
    before = os.umask(0o027)
    try:
        with atomic_path(target) as part:
            part.write_text("whole")
            assert not target.exists()
    finally:
        os.umask(before)
    assert target.read_text() == "whole"
    assert names(target.parent) == ["a.txt"]
    assert target.stat().st_mode & 0o777 == 0o640
    assert target.parent.stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_atomic_path_failure_leaves_the_old_file(tmp_path: Path, error: type) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def write_half() -> None:
        with atomic_path(target) as part:
            part.write_text("half")
            raise error

    with pytest.raises(error):
        write_half()
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_json_round_trip_keeps_order_and_numbers(tmp_path: Path) -> None:
    numbers = [1, 0.1, -1e-300, 5e-324, 1.7976931348623157e308, 2**53 + 1, -(10**300)]
    document = {"z": numbers, "a": None, "ü": {"true": True}}
    write_json(tmp_path / "a.json", document)
    back = read_json(tmp_path / "a.json")
    assert back == document
    assert list(back) == ["z", "a", "ü"]
    text = (tmp_path / "a.json").read_bytes()
    assert text.endswith(b"}\n")
    (tmp_path / "a.json").write_bytes(b"\xef\xbb\xbf" + text)  # a byte order mark
    assert read_json(tmp_path / "a.json") == document


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (math.nan, "results must be finite numbers"),
        (-math.inf, "results must be finite numbers"),
        ("a\ud800", r"character \d+ is half of a surrogate pair"),
    ],
)
def test_write_json_refused(tmp_path: Path, value: object, message: str) -> None:
    with pytest.raises(LayerwiseError, match=rf"a\.json: {message}"):
        write_json(tmp_path / "a.json", {"r": [value]})
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": 1, "b": 2, "a": 3}', "'a' appears twice"),
        (b"[NaN]", "numbers must be finite, found NaN"),
        (b'{"a": [1,', "not valid JSON at line 1, column 10"),
        (b'{"a": "\xff"}', "expected UTF-8 text, invalid start byte at byte 7"),
        (b"1e999", "numbers must be finite, found 1e999"),
        (b'{"n": -' + b"9" * 10_000 + b"}", "integers have at most 308 digits, found 10001"),
        (b"[" * 10**5 + b"]" * 10**5, "nested too deeply"),
    ],
)
def test_read_json_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(LayerwiseError, match=rf"a\.json: .*{message}"):
        read_json(tmp_path / "a.json")


def test_read_json_missing_or_folder(tmp_path: Path) -> None:
    with pytest.raises(LayerwiseError, match=r"a\.json: no such file; check the path"):
        read_json(tmp_path / "a.json")
    with pytest.raises(LayerwiseError, match="expected a file, found a folder"):
        read_json(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    for endless in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(LayerwiseError, match="found a device or a pipe; save what it gives"):
            read_json(endless)


def test_together_replaces_folders_whole_and_files_by_name(tmp_path: Path) -> None:
    final = tmp_path / "results" / "final"
    for text in ("old", "new"):
        with together(final.parent) as part:
            write_json(part / "final" / f"{text}.json", text)
            write_json(part / "beside.json", text)
    assert names(tmp_path) == ["results"]
    assert names(final.parent) == ["beside.json", "final"]
    assert names(final) == ["new.json"]
    assert read_json(final.parent / "beside.json") == "new"


def test_together_sweeps_what_a_kill_left_and_nothing_of_a_run_under_way(tmp_path: Path) -> None:
    killed = subprocess.run(
        [
            sys.executable,
            "-c",
            "import os, pathlib, signal\n"
            "from layerwise.files import atomic_path\n"
            "with atomic_path(pathlib.Path('a')) as part:\n"
            "    part.write_text('half')\n    os.kill(os.getpid(), signal.SIGKILL)",
        ],
        cwd=tmp_path,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    (left,) = names(tmp_path)
    (tmp_path / "mine.part").write_text("no part of ours")
    with atomic_path(tmp_path / "one") as first, atomic_path(tmp_path / "two") as second:
        assert left not in names(tmp_path)
        first.write_text("1")
        second.write_text("2")
    assert names(tmp_path) == ["mine.part", "one", "two"]


def test_together_moves_what_was_written_last_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is killed between two moves leaves no page without what it shows."""
    moved: list[str] = []
    replaced = os.replace

    def watched(new: Path, place: Path) -> None:
        moved.append(place.name)
        replaced(new, place)

    monkeypatch.setattr(os, "replace", watched)
    written = ["m", "z", "a", "k"]
    with together(tmp_path) as part:
        for second, name in enumerate(written):
            (part / name).touch()
            os.utime(part / name, (second, second))
    assert moved == written


@pytest.mark.parametrize(("taken", "is_folder"), [("z", True), ("figures", False)])
def test_together_takes_no_place_of_the_other_kind_and_then_moves_nothing(
    tmp_path: Path, taken: str, is_folder: bool
) -> None:
    place = tmp_path / taken
    place.mkdir() if is_folder else place.write_text("mine")
    there, wanted = ("a folder", "a file") if is_folder else ("a file", "a folder")

    def write() -> None:
        with together(tmp_path) as part:
            (part / "a").write_text("1")
            (part / "z").write_text("1")
            (part / "figures").mkdir()

    with pytest.raises(
        LayerwiseError, match=f"{taken}: {wanted} of the results goes there, found {there}; move it"
    ):
        write()
    assert names(tmp_path) == [taken]
    assert is_folder or place.read_text() == "mine"


@pytest.mark.parametrize(
    ("variables", "first"),
    [
        ({}, True),
        ({"RANK": "1"}, True),  # left in the environment: nobody launched several
        ({"WORLD_SIZE": "2", "RANK": "1"}, False),
        ({"WORLD_SIZE": "2", "RANK": "0"}, True),
        ({"WORLD_SIZE": "", "RANK": ""}, True),
    ],
)
def test_one_process_writes(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], first: bool
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert is_first_process() is first
