"""One run at a time in a checkout, and `dvc.lock` kept through a kill.

dvc.lock                  DVC writes it in place after every stage: whole, or cut off
.dvc/tmp/dvc.lock.before  our copy of it, while a run is under way
.dvc-site                 what DVC pickled of the repository; open to everybody unless it is there
"""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NotRequired

from pydantic import Field

from layerwise.errors import LayerwiseError
from layerwise.files import Busy, atomic_path, locked, read_text
from layerwise.progress import say
from layerwise.run.doctor import FULL, REPRODUCE, TEST, Finding
from layerwise.shapes import Loose, parse_yaml, require_shape

LOCK = Path("dvc.lock")
BEFORE = Path(".dvc/tmp/dvc.lock.before")
SITE = ".dvc-site"  # as .dvc/config says
RUN = Path(".dvc/tmp/layerwise")  # whose lock a run holds
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
    """Of what DVC writes into `dvc.lock`, all that is read of it here."""

    stages: Annotated[dict[str, Stage], Field(min_length=1)]


@contextlib.contextmanager
def protected(root: Path) -> Iterator[None]:
    """Inside the block this run alone is at work on the checkout, and `dvc.lock` cannot be lost.

    Raises:
        LayerwiseError: while another run is at work; for a `dvc.lock` that cannot be read and was
            not cut off by a run of ours.
    """
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(root / RUN))
        except Busy:
            raise LayerwiseError(under_way()) from None
        make_private(site_of(root))
        _restore(root)
        lock, before = root / LOCK, root / BEFORE
        if lock.is_file():
            recorded(str(lock), read_text(lock))
            with atomic_path(before) as part:
                shutil.copyfile(lock, part)
        try:
            yield
        except BaseException:
            _restore(root)
            raise
        before.unlink(missing_ok=True)


def under_way(who: str = "") -> str:
    """The sentence for who finds another run at work."""
    named = f" ({who})" if who else ""
    return f"another run is under way in this folder{named}; wait until it has ended"


def site_of(root: Path) -> Path:
    """Where DVC keeps what it unpickles again; like DVC, an empty variable is as none."""
    return root / (os.environ.get("DVC_SITE_CACHE_DIR") or SITE)


def make_private(folder: Path) -> None:
    """Have a folder that nobody else can enter: DVC would make it one that everybody may write."""
    folder.mkdir(0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid == os.getuid():
        folder.chmod(0o700)


def look(root: Path) -> Finding:
    """Whether `dvc.lock` can be read, and whether a run was interrupted."""
    if (root / BEFORE).is_file():
        return Finding(
            "a run of the pipeline is under way, or was killed", f"`{REPRODUCE}` goes on with it"
        )
    try:
        if (lock := root / LOCK).is_file():
            recorded(str(lock), read_text(lock))
    except LayerwiseError as error:
        return Finding(str(error), TAKE, (REPRODUCE, TEST, FULL))
    return Finding("dvc.lock is whole, and no run was interrupted")


def _restore(root: Path) -> None:
    """Put the copy back if `dvc.lock` lost some of it in a run that was killed; drop the copy."""
    lock, before = root / LOCK, root / BEFORE
    if not before.is_file():
        return
    if _n_stages(lock) < _n_stages(before):
        say(f"layerwise: {lock} was cut off as a run was killed; what it was before is put back")
        with atomic_path(lock) as part:
            shutil.copyfile(before, part)
    before.unlink()


def _n_stages(lock: Path) -> int:
    """How many stages are recorded; none where nothing can be read."""
    try:
        return len(recorded(str(lock), read_text(lock)))
    except (LayerwiseError, OSError):
        return 0


def recorded(place: str, text: str) -> dict[str, Any]:
    """The stages in the text of a `dvc.lock`.

    Raises:
        LayerwiseError: naming the place, if DVC did not write it so.
    """
    document = require_shape(place, Lock, parse_yaml(place, text, TAKE), TAKE)
    stages: dict[str, Any] = document["stages"]
    return stages
