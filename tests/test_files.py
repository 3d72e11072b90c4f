import hashlib
import math
from pathlib import Path

import pytest

from layerwise.errors import LayerwiseError
from layerwise.files import (
    atomic_path,
    dated,
    publish_folder,
    read_json,
    sha256_of,
    write_json,
)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_atomic_path_publishes(tmp_path: Path) -> None:
    target = tmp_path / "new" / "a.txt"
    with atomic_path(target) as part:
        part.write_text("whole")
        assert not target.exists()
    assert target.read_text() == "whole"
    assert names(target.parent) == ["a.txt"]
    assert target.stat().st_mode & 0o777 == 0o644


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


def test_json_round_trip_keeps_order(tmp_path: Path) -> None:
    document = {"z": [1, 0.1, -1e-300], "a": None, "ü": {"true": True}}
    (tmp_path / "a.json").write_text("old")
    write_json(tmp_path / "a.json", document)
    back = read_json(tmp_path / "a.json")
    assert back == document
    assert list(back) == ["z", "a", "ü"]
    assert (tmp_path / "a.json").read_text().endswith("}\n")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_write_json_not_finite(tmp_path: Path, value: float) -> None:
    with pytest.raises(LayerwiseError, match=r"a\.json: results must be finite numbers"):
        write_json(tmp_path / "a.json", {"r": [value]})
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": 1, "b": 2, "a": 3}', "'a' appears twice"),
        (b'{"x": {"b": 2, "b": 2}}', "'b' appears twice"),
        (b"[NaN]", "numbers must be finite, found NaN"),
        (b"[-Infinity]", "numbers must be finite, found -Infinity"),
        (b'{"a": [1,', "not valid JSON at line 1, column 10"),
        (b"", "not valid JSON at line 1, column 1"),
        (b'{"a": "\xff"}', "expected UTF-8 text, invalid start byte at byte 7"),
        (b"1e999", "numbers must be finite, found 1e999"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_read_json_iv(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(LayerwiseError, match=rf"a\.json: .*{message}"):
        read_json(tmp_path / "a.json")


def test_read_json_missing_or_folder(tmp_path: Path) -> None:
    with pytest.raises(LayerwiseError, match=r"a\.json: no such file; check the path"):
        read_json(tmp_path / "a.json")
    with pytest.raises(LayerwiseError, match="expected a file, found a folder"):
        read_json(tmp_path)


def test_read_json_takes_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"\xef\xbb\xbf[1]")
    assert read_json(path) == [1]
    assert sha256_of(path) == hashlib.sha256(path.read_bytes()).hexdigest()


def test_publish_folder(tmp_path: Path) -> None:
    final = tmp_path / "results" / "final"
    for text in ("old", "new"):
        (tmp_path / "part").mkdir()
        (tmp_path / "part" / text).write_text(text)
        publish_folder(tmp_path / "part", final)
    assert names(tmp_path) == ["results"]
    assert names(final.parent) == ["final"]
    assert names(final) == ["new"]


def test_dated_puts_the_time_stamp_where_the_published_files_have_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert dated({"a": 1}) == {"timestamp": "1970-01-01T00:00:00", "a": 1}
    validation = {"a": 1, "_metadata": {"model": "m"}}
    assert dated(validation)["_metadata"] == {"model": "m", "timestamp": "1970-01-01T00:00:00"}
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert dated({})["timestamp"] > "2026"
