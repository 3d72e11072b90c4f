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

from layerwise.files import nearest_existing, read_text
from layerwise.present.typeset import APT
from layerwise.run.doctor import (
    REHEARSE,
    REPRODUCE,
    TARGETS,
    TEST,
    Check,
    Diagnosis,
    first_few,
    free,
)
from layerwise.run.rehearsal import DISK_BYTES, WORKER_BYTES, default_folder
from layerwise.workers import usable_cores

ANEW = "remove .venv and run `make setup`"
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
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.M)


def repository(root: Path) -> Diagnosis:
    """Check that the folder is the repository, and that this user may write results into it."""
    if missing := [name for name in NEEDED if not (root / name).exists()]:
        fix = "run it in a clone of the repository or below; restore what is missing"
        return Diagnosis(f"no {first_few(missing)} in this folder", fix, TARGETS)
    rights = os.W_OK | os.X_OK
    if refused := [
        name for name in WRITTEN if not os.access(nearest_existing(root / name), rights)
    ]:
        fix = "make them writable for this user, or copy the repository"
        return Diagnosis(f"{first_few(refused)} cannot be written", fix, TARGETS)
    return Diagnosis("a git clone" if (root / ".git").exists() else "an unpacked archive")


def packages(root: Path) -> Diagnosis:
    """Check that packages can be imported, their versions against the locks, other programs."""
    torch = installed("torch")
    for package in (*IMPORTED, *(OF_MODELS if torch else ())):
        try:
            importlib.import_module(package)
        except Exception as error:  # a broken binary raises what it likes
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            needing: tuple[str, ...] = TARGETS
            if package in OF_MODELS:
                needing = tuple(target for target in TARGETS if target != REPRODUCE)
            return Diagnosis(f"no {package} ({why})", ANEW, needing)
    locked = locked_versions(root / "requirements")
    present = {package: version for package in locked if (version := installed(package))}
    if other := [
        f"{package} is {version}, locked {' or '.join(sorted(locked[package]))}"
        for package, version in present.items()
        if version not in locked[package]
    ]:
        return Diagnosis(f"{first_few(other)}; numbers may differ", ANEW)
    models = f"torch {torch}" if torch else "no torch (`make setup-models` adds it)"
    version = platform.python_version()
    found = f"Python {version}, all {len(present)} packages as locked, {models}"
    if absent := [name for name in PROGRAMS if shutil.which(name) is None]:
        fixes = dict.fromkeys(PROGRAMS[name] for name in absent)
        return Diagnosis(f"{found}; no {', '.join(absent)}", "; ".join(fixes))
    return Diagnosis(found)


def locked_versions(folder: Path) -> dict[str, set[str]]:
    """Return the versions that the locks pin a package to: of torch one for each build."""
    versions: dict[str, set[str]] = {}
    for path in sorted(folder.glob("*.lock")):
        for package, version in _PIN.findall(read_text(path)):
            versions.setdefault(package, set()).add(version)
    return versions


def installed(package: str) -> str | None:
    """Return the version of a package, however its name is spelled; None: it is not there."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def room(root: Path) -> Diagnosis:
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
        return Diagnosis(found, "make room, or put it on another disk", TARGETS)
    if there < DISK_BYTES:
        return Diagnosis(found, "make room, or name a --folder on another disk", (REHEARSE,))
    if memory < WORKER_BYTES:
        fix = "close other programs, or take a machine with more memory"
        return Diagnosis(found, fix, (TEST, REHEARSE))
    return Diagnosis(found)


CHECKS: dict[str, Check] = {
    "repository": Check(repository, TARGETS),
    "packages": Check(packages, TARGETS),
    "room": Check(room, TARGETS),
}
