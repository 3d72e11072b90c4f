"""Read and write files so that a partial file is never taken for a whole one."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import shutil
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError

LONGEST_NAME = 100  # characters: more do not fit into a table or a figure
_UNSEEN = ("Cc", "Cf", "Cs")  # Unicode's control, format and surrogate characters


@contextlib.contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success it is synced and renamed to `path`.

    Nothing is left behind when the block raises.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    part = Path(name)
    try:
        yield part
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.chmod(0o644)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text atomically; half of a surrogate pair is refused."""
    _refuse_surrogates(str(path), text)
    with atomic_path(path) as part:
        part.write_text(text, encoding="utf-8")


def write_json(path: Path, document: Any) -> None:
    """Write strict JSON (no NaN) atomically, indented, in the order of insertion.

    Raises:
        LayerwiseError: if the document holds a NaN or an infinity.
    """
    try:
        text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise LayerwiseError(
            f"{path}: results must be finite numbers, one is NaN or infinite ({error}); "
            "find the statistic that has no value and report it as missing instead"
        ) from error
    write_text(path, text + "\n")


def dated(result: dict[str, Any]) -> dict[str, Any]:
    """The result with the time stamp that the published files carry (SOURCE_DATE_EPOCH fixes it).

    The stages of the pipeline leave it out: their files depend on nothing but their inputs.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    stamp = {"timestamp": now.replace(tzinfo=None).isoformat()}
    if "_metadata" in result:
        return {**result, "_metadata": {**result["_metadata"], **stamp}}
    return {**stamp, **result}


def read_json(path: Path) -> Any:
    """Read strict JSON: no duplicate keys, no NaN.

    Raises:
        LayerwiseError: if the file is missing, is not JSON, names a key twice, or holds a number
            that is not finite or too long to be one.
    """

    def once(items: list[tuple[str, Any]]) -> dict[str, Any]:
        document = dict(items)
        if len(document) < len(items):
            twice = Counter(key for key, _ in items).most_common(1)[0][0]
            raise LayerwiseError(
                f"{path}: a key must appear once in a JSON object, {twice!r:.80} appears twice; "
                "rename or merge the two entries"
            )
        return document

    def finite(literal: str) -> float:
        number = float(literal)
        if not math.isfinite(number):
            raise LayerwiseError(f"{path}: numbers must be finite, found {literal:.40}; remove it")
        return number

    try:
        text = path.read_text(encoding="utf-8-sig")  # with or without a byte order mark
        return json.loads(text, object_pairs_hook=once, parse_constant=finite, parse_float=finite)
    except FileNotFoundError:
        problem = "no such file; check the path"
    except IsADirectoryError:
        problem = "expected a file, found a folder"
    except UnicodeDecodeError as error:
        problem = f"expected UTF-8 text, {error.reason} at byte {error.start}"
    except json.JSONDecodeError as error:
        problem = (
            f"not valid JSON at line {error.lineno}, column {error.colno} ({error.msg}); "
            "the file may be cut off"
        )
    except ValueError as error:  # Python reads integers of a few thousand digits only
        problem = f"a number is too long to be read ({error})"
    except RecursionError:
        problem = "nested too deeply to be read; flatten it"
    raise LayerwiseError(f"{path}: {problem}")


def require_text(place: str, text: object) -> str:
    """The text, unless it is empty or holds half of a surrogate pair or U+0000.

    A wrongly cut escape leaves half a pair. All else a statement may hold.
    """
    if not isinstance(text, str) or not text.strip():
        raise LayerwiseError(f"{place}: must be a non-empty string, found {text!r:.80}; give one")
    _refuse_surrogates(place, text)
    if "\0" in text:
        raise LayerwiseError(
            f"{place}: character {text.index(chr(0))} is U+0000, which ends a text in many "
            "programs; remove it"
        )
    return text


def require_name(place: str, name: str) -> None:
    """Refuse a name that cannot stand in a table, a page or a terminal as what it is.

    That is an empty or very long one, or one with a character that is not printable: a line
    break, a control character, one that turns the direction of text, or none seen.
    """
    if not name.strip():
        raise LayerwiseError(f"{place}: a name must not be empty, found {name!r:.40}; give one")
    if len(name) > LONGEST_NAME:
        raise LayerwiseError(
            f"{place}: a name has at most {LONGEST_NAME} characters, found {len(name)} "
            f"({name!r:.40}...); shorten it"
        )
    for number, character in enumerate(name):
        if not character.isprintable():
            raise LayerwiseError(
                f"{place}: a name must be printable, character {number} of {name!r} is "
                f"U+{ord(character):04X}; remove it"
            )


def revealed(text: str, keep: str = "") -> str:
    """The text with what the eye cannot see written as `\\u202e`, but for what is in `keep`.

    That is control characters (escape sequences of a terminal begin with one), characters that
    turn the direction of text or have no width, and halves of surrogate pairs.
    """
    if text.isascii() and text.isprintable():
        return text
    # escaped as in JSON, so that JSON that is revealed stays the same JSON
    return "".join(
        json.dumps(character)[1:-1]
        if unicodedata.category(character) in _UNSEEN and character not in keep
        else character
        for character in text
    )


def _refuse_surrogates(place: str, text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise LayerwiseError(
            f"{place}: character {error.start} is half of a surrogate pair, which is no text; "
            "correct the escape"
        ) from None


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def publish_folder(part: Path, final: Path) -> None:
    """Move a finished folder into place; an older one of the same name goes only after that."""
    final.parent.mkdir(parents=True, exist_ok=True)
    old = final.with_name(f".{final.name}.old.part")
    shutil.rmtree(old, ignore_errors=True)
    if final.exists():
        os.replace(final, old)
    os.replace(part, final)
    shutil.rmtree(old, ignore_errors=True)
