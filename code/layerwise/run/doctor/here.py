"""Checks of what everything needs: packages, the repository, room, programs.

Packages are imported where they are asked for: that one cannot be is a finding, not an end.
"""

import importlib
import importlib.metadata
import os
import platform
import re
import shutil
from pathlib import Path

from layerwise.errors import LayerwiseError
from layerwise.files import nearest_existing, read_text
from layerwise.present.typeset import APT
from layerwise.run.doctor import (
    REHEARSE,
    REPRODUCE,
    TARGETS,
    TEST,
    Check,
    Finding,
    first_few,
    free,
)
from layerwise.run.rehearsal import DISK_BYTES, WORKER_BYTES, default_folder
from layerwise.workers import usable_cores

PIPELINE = "pipeline.lock"  # what `make reproduce` runs with
ANEW = "remove .venv and run `make setup`"
RESTORE = "take the committed one: `git checkout requirements`, in an archive unpack it again"
NEEDED = ("dvc.yaml", "params.yaml", "models.yaml", "published", "claims", "requirements")
IMPORTED = ("numpy", "scipy", "matplotlib", "dvc")
OF_MODELS = ("torch", "transformers")  # a layer of its own: requirements/setup.sh
WRITTEN = ("results", "figures", "paper", "report", ".dvc")
RESULTS_BYTES = 0.2e9  # what `make reproduce` makes, kept twice: in the folder and in DVC's cache
TESTS = "apt install chromium chromium-driver poppler-utils, or their tests are skipped"
PROGRAMS = {
    "latexmk": f"{APT}, or the papers stay LaTeX source",
    **dict.fromkeys(("chromium", "chromedriver", "pdftoppm"), TESTS),
}
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)(?: ; (.*?))?(?: \\)?$", re.M)


def repository(root: Path) -> Finding:
    """Check that the folder is the repository, and that this user may write results into it."""
    if missing := [name for name in NEEDED if not (root / name).exists()]:
        fix = "run it in a clone of the repository or below; restore what is missing"
        return Finding(f"no {first_few(missing)} in this folder", fix, TARGETS)
    rights = os.W_OK | os.X_OK
    if refused := [
        name for name in WRITTEN if not os.access(nearest_existing(root / name), rights)
    ]:
        fix = "make them writable for this user, or copy the repository"
        return Finding(f"{first_few(refused)} cannot be written", fix, TARGETS)
    return Finding("a git clone" if (root / ".git").exists() else "an unpacked archive")


def packages(root: Path) -> Finding:
    """Check what can be imported, its versions against the lock in use, and other programs."""
    torch = installed("torch")
    for package in (*IMPORTED, *(OF_MODELS if torch else ())):
        try:
            importlib.import_module(package)
        except Exception as error:  # a broken binary raises what it likes
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            needing: tuple[str, ...] = TARGETS
            if package in OF_MODELS:
                needing = tuple(target for target in TARGETS if target != REPRODUCE)
            return Finding(f"no {package} ({why})", ANEW, needing)
    locks = locked(root / "requirements")
    of_torch = {lock: pins["torch"] for lock, pins in locks.items() if "torch" in pins}
    in_use = next((lock for lock, pin in of_torch.items() if pin == torch), None)
    if torch is None:
        if PIPELINE not in locks:
            raise LayerwiseError(f"there is no requirements/{PIPELINE}; {RESTORE}")
        in_use = PIPELINE
    if in_use is None:
        known = ", ".join(f"{lock}: {pin}" for lock, pin in of_torch.items())
        return Finding(f"torch {torch} is in no lock ({known})", ANEW)
    there = {package: installed(package) for package in locks[in_use]}
    if other := [
        f"{package} is {there[package]}, locked {pin}"
        for package, pin in locks[in_use].items()
        if there[package] != pin
    ]:
        found = f"{in_use}: {first_few(other)}; numbers may differ"
        return Finding(found, ANEW, TARGETS if None in there.values() else ())
    version = platform.python_version()
    models = f"torch {torch}" if torch else "no torch (`make setup-models` adds it)"
    found = f"Python {version}, all {len(there)} as in {in_use}, {models}"
    if absent := [name for name in PROGRAMS if shutil.which(name) is None]:
        fixes = dict.fromkeys(PROGRAMS[name] for name in absent)
        return Finding(f"{found}; no {', '.join(absent)}", "; ".join(fixes))
    return Finding(found)


def locked(folder: Path) -> dict[str, dict[str, str]]:
    """Return the versions that apply to this interpreter, by file name of a lock."""
    from packaging.markers import Marker

    return {
        path.name: {
            name: version
            for name, version, marker in _PIN.findall(read_text(path))
            if not marker or Marker(marker).evaluate()
        }
        for path in sorted(folder.glob("*.lock"))
    }


def installed(package: str) -> str | None:
    """Return the version of a package, however its name is spelled; None: it is not there."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def room(root: Path) -> Finding:
    """Check the disk for results and for the rehearsal's stand-ins, and the memory for one."""
    import psutil

    folder, memory = default_folder(root), psutil.virtual_memory().available
    here, there = free(root / "results"), free(folder)
    found = (
        f"{here / 1e9:.1f} GB free for results, {RESULTS_BYTES / 1e9:.1f} GB needed; "
        f"{there / 1e9:.1f} GB free for {folder}, {DISK_BYTES / 1e9:.1f} GB needed; "
        f"{memory / 2**30:.1f} GiB of memory, up to {WORKER_BYTES / 2**30:.1f} GiB for each of "
        f"{usable_cores()} cores"
    )
    if here < RESULTS_BYTES:
        return Finding(found, "make room, or put it on another disk", TARGETS)
    if there < DISK_BYTES:
        return Finding(found, "make room, or name a --folder on another disk", (REHEARSE,))
    if memory < WORKER_BYTES:
        fix = "close other programs, or take a machine with more memory"
        return Finding(found, fix, (TEST, REHEARSE))
    return Finding(found)


CHECKS: dict[str, Check] = {
    "repository": Check(repository, TARGETS),
    "packages": Check(packages, TARGETS),
    "room": Check(room, TARGETS),
}
