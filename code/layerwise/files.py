"""Read and write files so that a partial file is never taken for a whole one."""

import contextlib
import fcntl
import hashlib
import json
import math
import os
import shutil
import sys
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError

JsonObject = Mapping[str, Any]  # of a document whose keys its readers know, each by itself
LONGEST_NAME = 100  # characters: more do not fit into a table or a figure
LAUNCHER = ("WORLD_SIZE", "RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
_PART = ".layerwise-"  # begins the name of what is being written
_UNSEEN = ("Cc", "Cf", "Cs")  # Unicode's control, format and surrogate characters


class Busy(LayerwiseError):
    """Another run is writing there."""


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Inside the block this process alone writes to `folder`, by `folder.lock` beside it.

    The kernel lets go of a killed one's. A block inside the block holds the same lock; while
    another process does, it is `Busy`.
    """
    from filelock import FileLock, Timeout  # only who writes waits for it

    path = folder.with_name(folder.name + ".lock")
    make_folder(path.parent)
    lock = FileLock(path, timeout=0, is_singleton=True)  # follows no link, truncates nothing
    try:
        lock.acquire()
    except Timeout:
        raise Busy(
            f"{folder}: one run at a time writes there, another process is at it; wait until "
            "that has ended, or name another folder"
        ) from None
    try:
        yield
    finally:
        if lock.lock_counter == 1:
            path.unlink(missing_ok=True)  # while it is held: never another's
        lock.release()


def refuse_link(place: Path) -> None:
    """Refuse to write into a link: whoever packed the folder around it chose where it leads."""
    if place.is_symlink():
        raise LayerwiseError(
            f"{place}: nothing is written through a link, this one leads to "
            f"{os.readlink(place)}; remove it, or name the place itself"
        )


def require_kind(place: Path, *, is_folder: bool) -> None:
    """Refuse to put a file where a folder is, or a folder where a file is; a link is replaced."""
    if place.is_symlink() or not place.exists() or place.is_dir() == is_folder:
        return
    wanted, other = ("a folder", "a file") if is_folder else ("a file", "a folder")
    raise LayerwiseError(
        f"{place}: {wanted} of the results goes there, found {other}; move it away, or name "
        "another place"
    )


def nearest_existing(place: Path) -> Path:
    """Return a path, or the folder that it would be made in."""
    return next(path for path in (place, *place.absolute().parents) if path.exists())


def make_folder(folder: Path) -> None:
    """Make a folder to write into, unless a link is there."""
    refuse_link(folder)
    folder.mkdir(parents=True, exist_ok=True)


@contextlib.contextmanager
def together(folder: Path, *, merges: bool = False) -> Iterator[Path]:
    """Yield a new folder; on success all that is in it moves up into `folder`.

    What is there already is replaced by its name, a folder whole. Nothing is left behind when the
    block raises; what a killed run left is swept by the next one that writes here.

    Arguments:
        merges: whether what else is in a folder stays there, in place of the folder going whole.
    """
    make_folder(folder)
    with contextlib.ExitStack() as stack:
        here = os.open(folder, os.O_DIRECTORY | os.O_NOFOLLOW)
        stack.callback(os.close, here)
        with contextlib.suppress(OSError):  # somebody is writing here, or nobody can lock
            fcntl.flock(here, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for left in folder.glob(f"{_PART}*.part"):
                shutil.rmtree(left)
        with contextlib.suppress(OSError):
            fcntl.flock(here, fcntl.LOCK_SH)
        try:
            made = tempfile.TemporaryDirectory(dir=folder, prefix=_PART, suffix=".part")
            part = Path(stack.enter_context(made))
            yield part
            for file in part.rglob("*"):
                if file.is_file():
                    with file.open("rb") as written:
                        os.fsync(written.fileno())
            moves = list(_moves(part, folder, merges=merges))
            for new, place in moves:  # all of them, or none
                require_kind(place, is_folder=new.is_dir())
            for new, place in moves:
                if new.is_dir() and (place.is_dir() or place.is_symlink()):
                    os.replace(place, part / f"{_PART}{new.name}")  # goes with `part`
                os.replace(new, place)
        except OSError as error:
            if _PART in str(error.filename or _PART):
                error.filename = str(folder)  # that is what the user knows of
            raise


def _moves(part: Path, folder: Path, *, merges: bool) -> Iterator[tuple[Path, Path]]:
    """Yield what is in `part` and its place in `folder`, in the order in which it was written."""
    for new in sorted(part.iterdir(), key=lambda path: path.stat().st_mtime_ns):
        place = folder / new.name
        if merges and new.is_dir() and place.is_dir() and not place.is_symlink():
            yield from _moves(new, place, merges=True)
        else:
            yield new, place


@contextlib.contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path; on success what is written there is synced and renamed to `path`."""
    with together(path.parent) as part:
        yield part / path.name


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text atomically; half of a surrogate pair is refused."""
    _refuse_surrogates(str(path), text)
    with atomic_path(path) as part:
        part.write_text(text, encoding="utf-8")


def write_json(path: Path, document: Any) -> None:
    """Write strict JSON (NaN is refused) atomically, indented, in the order of insertion."""
    try:
        text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise LayerwiseError(
            f"{path}: results must be finite numbers, one is NaN or infinite ({error}); "
            "find the statistic that has no value and report it as missing instead"
        ) from error
    write_text(path, text + "\n")


def is_first_process() -> bool:
    """Return whether this is the only process, or the first of those that a launcher started.

    It refuses nothing, so that errors can be told: `n_processes` does.
    """
    is_alone = os.environ.get("WORLD_SIZE") in (None, "", "1")
    return is_alone or os.environ.get("RANK") in (None, "", "0")


def n_processes() -> int:
    """Return how many processes a launcher started; 1 without one.

    Raises:
        LayerwiseError: for a number of them without the variables by which they find each other.
    """
    count = from_environment("WORLD_SIZE", 1, 2**16) or 1
    if count == 1:
        return count
    for variable, most in (("RANK", count - 1), ("LOCAL_RANK", count - 1), ("MASTER_PORT", 65535)):
        from_environment(variable, 0, most)
    if missing := [name for name in LAUNCHER if not os.environ.get(name)]:
        raise LayerwiseError(
            f"a launcher of several processes sets {', '.join(LAUNCHER)} in each, found "
            f"WORLD_SIZE={count} and no {' nor '.join(missing)}; start it with `accelerate "
            "launch`, or unset WORLD_SIZE"
        )
    return count


def from_environment(variable: str, least: int, most: int) -> int | None:
    """Return the whole number that an environment variable holds; None: it is not set, or empty."""
    text = os.environ.get(variable)
    if not text:
        return None
    if text.isdecimal() and len(text) < 20 and least <= int(text) <= most:
        return int(text)
    raise LayerwiseError(
        f"the environment variable {variable} must be a whole number from {least} to {most}, "
        f"found {text!r:.40}; correct or unset it"
    )


def read_text(path: Path) -> str:
    """Return the UTF-8 text of a file, with or without a byte order mark.

    Raises:
        LayerwiseError: if it is no file, say a device or a pipe, which may never end.
    """
    if not path.exists():
        problem = "no such file; check the path"
    elif path.is_dir():
        problem = "expected a file, found a folder; check the path"
    elif not path.is_file():
        problem = "expected a file, found a device or a pipe; save what it gives to a file first"
    elif path.stat().st_size == 0:
        return ""  # or a file of the kernel's, which may never end
    else:
        try:
            return path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            problem = f"expected UTF-8 text, {error.reason} at byte {error.start}; save it so"
        except OSError as error:
            error.filename = str(path)  # which reading, unlike opening, does not say
            raise
    raise LayerwiseError(f"{path}: {problem}")


def read_json(path: Path) -> Any:
    """Read strict JSON: no key twice, no number that is not finite or has no end of digits."""
    return parse_json(str(path), read_text(path))


def parse_json(path: str, text: str, again: str = "the file may be cut off") -> Any:
    """Read the same of a text that stands at `path`, which may name a line too."""
    try:
        return _STRICT.decode(text)
    except json.JSONDecodeError as error:
        problem = (
            f"not valid JSON at line {error.lineno}, column {error.colno} ({error.msg}); {again}"
        )
    except RecursionError:
        problem = "nested too deeply to be read; flatten it"
    except ValueError as error:  # of the functions below
        problem = str(error)
    raise LayerwiseError(f"{path}: {problem}")


def _object_without_repeats(items: list[tuple[str, object]]) -> dict[str, object]:
    document = dict(items)
    if len(document) < len(items):
        twice = Counter(key for key, _ in items).most_common(1)[0][0]
        raise ValueError(
            f"a key must appear once in a JSON object, {twice!r:.80} appears twice; rename or "
            "merge the two entries"
        )
    return document


def _finite_float(literal: str) -> float:
    if not math.isfinite(number := float(literal)):
        raise ValueError(f"numbers must be finite, found {literal:.40}; remove it")
    return number


def _short_int(literal: str) -> int:
    """Return an integer that a float can hold too, in which none has more digits than these."""
    if len(literal) > sys.float_info.max_10_exp:
        raise ValueError(
            f"integers have at most {sys.float_info.max_10_exp} digits, found {len(literal)} "
            f"({literal:.20}...); correct it"
        )
    return int(literal)


_STRICT = json.JSONDecoder(
    object_pairs_hook=_object_without_repeats,
    parse_constant=_finite_float,
    parse_float=_finite_float,
    parse_int=_short_int,
)


def require_text(place: str, text: object) -> str:
    """Return a text that is not empty and holds neither U+0000 nor half of a surrogate pair."""
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
    """Refuse a name that cannot stand in a table, a page or a terminal as what it is."""
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
    """Write what the eye cannot see as `\\u202e`, but for what is in `keep`."""
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
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def numbered(folder: Path) -> list[Path]:
    """Return the folders 0, 1, 2, ... in a folder; none if it is not there.

    Raises:
        LayerwiseError: if something else is in it, say a copy of one of them.
    """
    names = sorted(path.name for path in folder.glob("*"))
    folders = [folder / str(number) for number in range(len(names))]
    if sorted(path.name for path in folders) != names:
        raise LayerwiseError(
            f"{folder}: must hold the folders 0, 1, 2, ... and nothing else, found "
            f"{', '.join(names):.200}; remove the others, or make it again"
        )
    return folders
