"""`dvc.lock`, which DVC writes in place after every stage: whole, or cut off by a kill."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import yaml

from layerwise.errors import LayerwiseError
from layerwise.files import atomic_path, read_text
from layerwise.progress import say

BEFORE = Path(".dvc/tmp/dvc.lock.before")  # the copy of a run under way


@contextlib.contextmanager
def protected(path: Path) -> Iterator[None]:
    """Keep a copy of the file; if the block, or an earlier one, ends too early, put it back."""
    before = path.parent / BEFORE
    _restore(path, before)
    if path.is_file():
        if _outs(path) is None:
            raise LayerwiseError(
                f"{path}: it ends too early, a run was killed; take the committed one: `git "
                "checkout dvc.lock`, in an archive unpack it again"
            )
        with atomic_path(before) as part:
            shutil.copyfile(path, part)
    try:
        yield
    except BaseException:
        _restore(path, before)
        raise
    before.unlink(missing_ok=True)


def _restore(path: Path, before: Path) -> None:
    if not before.is_file():
        return
    found, older = _outs(path), _outs(before) or {}
    if found is None or not older.items() <= found.items():
        say(f"layerwise: {path} was cut off by a kill; what it was before is put back")
        with atomic_path(path) as part:
            shutil.copyfile(before, part)
    before.unlink()


def _outs(path: Path) -> dict[str, list[str]] | None:
    """What every recorded stage made, by stage; None where the file is cut off, or not there."""
    if not path.is_file():
        return None
    text = read_text(path)
    try:
        stages = yaml.safe_load(text)["stages"]
        made = {
            name: [out["path"] for out in stage["outs"] if str(out["size"])]
            for name, stage in stages.items()
        }
        last = stages[list(stages)[-1]]["outs"][-1]
        whole = text.endswith("\n") and (last["md5"].endswith(".dir") <= ("nfiles" in last))
    except (yaml.YAMLError, LookupError, TypeError, AttributeError):
        return None
    return made if whole else None
