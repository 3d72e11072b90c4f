"""What a kill can leave of DVC's own files, and one run at a time: looked at, and mended.

dvc.lock                  DVC writes it in place after every stage: whole, or cut off
.dvc/tmp/dvc.lock.before  our copy of it, while a run is under way
.dvc/tmp/rwlock           who reads and writes what; DVC writes it in place too
.dvc-site                 what DVC pickled of the repository; open to everybody unless it is there
"""

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NotRequired

import psutil
from dvc.rwlock import SCHEMA, Invalid
from dvc.schema import COMPILED_LOCKFILE_SCHEMA
from pydantic import Field

from layerwise.doctor import FULL, REPRODUCE, TEST, Finding
from layerwise.errors import LayerwiseError
from layerwise.files import Busy, atomic_path, locked, read_text
from layerwise.inputs.shapes import Loose, parse_yaml, require_shape
from layerwise.progress import say

LOCK = Path("dvc.lock")
BEFORE = Path(".dvc/tmp/dvc.lock.before")
RWLOCK = Path(".dvc/tmp/rwlock")
SITE = ".dvc-site"  # as .dvc/config says
RUN = Path(".dvc/tmp/layerwise")  # whose lock a run holds
OURS = "layerwise.steps.run"  # with DVC itself, the program that writes these files
WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")  # Python's options that take the next word
ODD = "it is not as DVC writes it, as where a run was killed"
LOST = "lost what it had, as where a run was killed"
TAKE = "take the committed one: `git checkout dvc.lock`, in an archive unpack it again"


class Out(Loose):
    """A file or a folder that a stage made."""

    path: str
    md5: str
    size: int
    nfiles: NotRequired[int]


class Stage(Loose):
    """What is recorded of a stage."""

    outs: Annotated[list[Out], Field(min_length=1)]


class Lock(Loose):
    """Of what DVC takes as a `dvc.lock`, all that its runs of our stages leave."""

    stages: Annotated[dict[str, Stage], Field(min_length=1)]


@contextlib.contextmanager
def protected(root: Path) -> Iterator[None]:
    """Inside the block this run alone is at work on the checkout, and `dvc.lock` cannot be lost.

    What a kill left is mended first, and said. If the block ends with a cut file, what it was
    before is put back.

    Raises:
        LayerwiseError: while another run is at work; for a `dvc.lock` that DVC did not write so,
            as one that was cut off, without a copy of it.
    """
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(root / RUN))
        except Busy:
            raise LayerwiseError(under_way(running(root))) from None
        make_private(site_of(root))
        _mend_rwlock(root)
        _restore(root)
        lock, before = root / LOCK, root / BEFORE
        if lock.is_file():
            if _made(lock) is None:
                raise LayerwiseError(f"{lock}: {ODD}; {TAKE}")
            with atomic_path(before) as part:
                shutil.copyfile(lock, part)
        try:
            yield
        except BaseException:
            _restore(root)
            raise
        before.unlink(missing_ok=True)


def site_of(root: Path) -> Path:
    """Where DVC keeps what it unpickles again; like DVC, an empty variable is as none."""
    return root / (os.environ.get("DVC_SITE_CACHE_DIR") or SITE)


def make_private(folder: Path) -> None:
    """Have a folder that nobody else can enter: DVC would make it one that everybody may write."""
    folder.mkdir(0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid == os.getuid():
        folder.chmod(0o700)


def _is_open(folder: Path) -> bool:
    return folder.is_dir() and bool(folder.stat().st_mode & 0o022)


def look(root: Path) -> Finding:
    """Whether DVC can start here: nobody is at work, and no kill left half a file."""
    if at_work := running(root):
        return Finding(under_way(at_work), "wait, then ask again", (REPRODUCE, FULL))
    found = []
    if (lock := root / LOCK).is_file() and _made(lock) is None:
        if not _is_lost(root):
            # a rehearsal is of a copy without it
            return Finding(f"{LOCK}: {ODD}", TAKE, (REPRODUCE, TEST, FULL))
        found.append(f"{LOCK} {LOST}, {BEFORE} has what it was before")
    elif (root / BEFORE).is_file():
        found.append(f"{BEFORE} was left by a run that was killed")
    if _unreadable(root / RWLOCK):
        found.append(
            f"{RWLOCK} is not as DVC writes it, as where a run was killed: DVC stops at it"
        )
    if _is_open(site_of(root)):
        found.append(f"{site_of(root)} can be written by others, whose pickles DVC would read")
    if found:
        return Finding("; ".join(found), f"`{REPRODUCE}` mends it before it begins")
    return Finding("no other run is under way, and none was killed in the middle of a file")


def running(root: Path) -> list[str]:
    """The other processes of DVC, and of `make reproduce`, that are at work in a checkout."""
    found, own = [], psutil.Process().pid
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):  # it ended, or is another user's
            words = process.cmdline()
            if process.pid != own and _is_run(words) and _is_in(Path(process.cwd()), root):
                found.append(f"PID {process.pid}: {' '.join(words[-6:])}")
    return found


def _is_run(command: list[str]) -> bool:
    """Whether a command's program is DVC, by module or by script, or a run of ours."""
    program, words = Path(command[0]).name if command else "", iter(command[1:])
    if not program.lower().startswith("python"):
        return program == "dvc"
    for word in words:
        if word == "-m":
            return next(words, "") in ("dvc", OURS)
        if not word.startswith("-"):
            return Path(word).name == "dvc"
        if word in ("-", "-c"):
            return False
        if word in WITH_VALUE:
            next(words, "")
    return False


def _is_in(folder: Path, root: Path) -> bool:
    """Whether a folder is of this checkout, and of no other one below it: DVC looks for its own."""
    above = (folder, *folder.parents)
    return next((one for one in above if (one / ".dvc").is_dir()), None) == root.resolve()


def under_way(at_work: list[str]) -> str:
    """The sentence for who finds another run at work."""
    who = f" ({'; '.join(at_work)})" if at_work else ""
    return f"another run is under way in this folder{who}; wait until it has ended"


def _mend_rwlock(root: Path) -> None:
    path = root / RWLOCK
    # DVC itself drops the entries of processes that are gone; what it cannot read stops it for good
    if _unreadable(path) and not running(root):
        path.unlink()
        say(f"layerwise: {path}: {ODD}, and no DVC is at work here; it is removed")


def _unreadable(rwlock: Path) -> bool:
    if not rwlock.is_file():
        return False
    try:
        SCHEMA(json.loads(rwlock.read_bytes()))
    except (ValueError, RecursionError, Invalid):  # JSON's and UTF-8's are ValueErrors
        return True
    return False


def _restore(root: Path) -> None:
    """Put the copy back if `dvc.lock` lost what is in it; drop it in any case."""
    before = root / BEFORE
    if not before.is_file():
        return
    if _is_lost(root):
        say(f"layerwise: {root / LOCK} {LOST}; what it was before is put back")
        with atomic_path(root / LOCK) as part:
            shutil.copyfile(before, part)
    before.unlink()


def _is_lost(root: Path) -> bool:
    """Whether the copy has what `dvc.lock` lost.

    DVC keeps the order of what it records, so a file that was cut has the first of it; one that
    has anything else is newer than the copy, as after `git pull`, and so is what is committed.
    """
    found, older = _made(root / LOCK), _made(root / BEFORE)
    if older is None:
        return False
    is_part = found is None or (len(found) < len(older) and older[: len(found)] == found)
    return is_part and not (found and _is_committed(root))


def _is_committed(root: Path) -> bool:
    command = ["git", "status", "--porcelain", "--", str(LOCK)]  # a file that git lacks is told
    try:
        done = subprocess.run(command, cwd=root, check=False, capture_output=True)
    except FileNotFoundError:
        return False
    return done.returncode == 0 and not done.stdout


def _made(path: Path) -> list[tuple[str, str]] | None:
    """Stage and output of all that is recorded; None where that is odd, cut off, or not there."""
    if not path.is_file():
        return None
    try:
        text = read_text(path)
        stages = recorded(str(path), text)
    except LayerwiseError:
        return None
    outs = [(name, out) for name, stage in stages.items() for out in stage["outs"]]
    _, last = outs[-1]
    whole = text.endswith("\n") and (last["md5"].endswith(".dir") <= ("nfiles" in last))
    return [(name, out["path"]) for name, out in outs] if whole else None


def recorded(place: str, text: str) -> dict[str, Any]:
    """The stages in the text of a `dvc.lock`.

    Raises:
        LayerwiseError: naming the place, if DVC did not write it so.
    """
    document = parse_yaml(place, text, TAKE)
    try:
        COMPILED_LOCKFILE_SCHEMA(document)
    except Invalid as error:
        raise LayerwiseError(f"{place}: DVC says: {error}; {TAKE}") from None
    require_shape(place, Lock, document, TAKE)
    stages: dict[str, Any] = document["stages"]
    return stages
