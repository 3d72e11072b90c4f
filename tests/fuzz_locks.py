"""What a kill, a pull or a hand left of DVC's files: the newest whole `dvc.lock`, or words."""

import random
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import yaml

from fuzz import Attempt, Kind

RWLOCKS = (b"", b"{", b"[]", b"\xff", b'{"x": 1}', b"{}", b'{"read": {}, "write": {}}', b"null",
           b"[" * 10**5)  # fmt: skip
COPIES = ("none", "older", "same", "newer", "cut", "empty", "binary", "other stages", "list")


def lock_of(names: list[str]) -> str:
    """A whole lock, as DVC writes it."""
    stages = {
        name: {
            "cmd": f"python {name}",
            "outs": [{"path": f"{name}.txt", "hash": "md5", "md5": "a" * 32, "size": 17}],
        }
        for name in names
    }
    return yaml.safe_dump({"schema": "2.0", "stages": stages}, sort_keys=False)


def prepare(folder: Path) -> Path:
    """A clone without stages."""
    import layerwise.doctor.dvc_files  # noqa: F401

    folder.mkdir()
    for words in (["init", "-q"], ["commit", "-qm", "one", "--allow-empty"]):
        user = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run(["git", *user, *words], cwd=folder, check=True)
    return folder


def locks(rng: random.Random, folder: Path) -> Iterator[Attempt]:
    """`doctor` says what the run does; a whole lock stays, for a cut one the copy is put back."""
    while True:
        seed = rng.randrange(2**32)
        yield Attempt(f"seed {seed}", partial(locked, folder, seed))


def locked(folder: Path, seed: int, work: Path) -> None:
    """One of them."""
    from layerwise.doctor import REPRODUCE
    from layerwise.doctor.dvc_files import BEFORE, LOCK, RWLOCK, look, protected, site_of
    from layerwise.errors import LayerwiseError

    rng = random.Random(seed)
    root = Path(shutil.copytree(folder, work / "clone"))
    names = [f"stage-{n}" for n in range(rng.choice([1, 2, 5]))]
    older = lock_of(names)
    newer = lock_of([*names, *(f"new-{n}" for n in range(rng.choice([0, 1, 3])))])
    copies = {
        "older": older, "same": newer, "newer": lock_of([*names, "new-0", "new-1", "new-2", "x"]),
        "cut": older[: rng.randrange(len(older))], "empty": "", "list": "[]\n",
        "other stages": lock_of(["b", "a"]),
    }  # fmt: skip
    copy, lock = rng.choice(COPIES), rng.choice(["whole", "cut", "cut", "empty", "binary", "none"])
    cut = newer[: rng.randrange(len(newer))]
    (root / BEFORE).parent.mkdir(parents=True)
    if copy == "binary":
        (root / BEFORE).write_bytes(b"\xff\0\xfe")
    elif copy != "none":
        (root / BEFORE).write_text(copies[copy])
    made = {"whole": newer.encode(), "cut": cut.encode(), "empty": b"", "binary": b"\xff\0"}
    if lock != "none":
        (root / LOCK).write_bytes(made[lock])
    if rng.random() < 0.5:
        (root / RWLOCK).write_bytes(rng.choice(RWLOCKS))
    if rng.random() < 0.3:
        site_of(root).mkdir(0o777)
        site_of(root).chmod(0o777)
    said = f"copy {copy}, lock {lock} ({len(cut)} of {len(newer)})"
    can_run = REPRODUCE not in look(root).blocks
    try:
        with protected(root):
            found = (root / LOCK).read_text() if (root / LOCK).is_file() else None
            assert site_of(root).stat().st_mode & 0o777 == 0o700, said
    except LayerwiseError as error:
        if can_run or lock not in ("cut", "empty", "binary"):
            raise AssertionError(f"{said}: doctor: {can_run}; the run: {error}") from None
        raise
    assert can_run, f"doctor says that it cannot run: {said}"
    assert not (root / BEFORE).exists()
    whole = {older, newer, *(of for name, of in copies.items() if name not in ("cut", "list"))}
    # a cut between two stages leaves a whole file, of which nothing that the copy has is lost
    parts = {lock_of(names[:n]) for n in range(1, len(names) + 1)} | {
        lock_of([*names, *(f"new-{m}" for m in range(n))]) for n in range(4)
    }
    assert found in {None, *whole, *parts} - {""}, f"{said}: {found}"
    if lock == "whole" and copy in ("older", "same", "none", "cut", "empty", "binary", "list"):
        assert found == newer, said
    if copy in ("older", "same") and lock != "whole":
        assert found is not None, said
        assert found.startswith(older if copy == "older" else newer), said


KINDS = {"locks": Kind(locks, prepare, "dvc.lock")}
