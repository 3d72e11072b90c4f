"""Checks of what everything needs: Python, packages, the repository, room, a browser.

Packages are imported where they are asked for: that one cannot be is a finding, not an end.
"""

from __future__ import annotations

import configparser
import importlib
import importlib.metadata
import os
import re
import shutil
import sys
from pathlib import Path

from layerwise.doctor import (
    FULL,
    REHEARSE,
    REPRODUCE,
    TARGETS,
    TEST,
    Check,
    Finding,
    existing,
    room,
    some,
)
from layerwise.rehearsal import DISK_BYTES, WORKER_BYTES, default_folder

PYTHONS = ((3, 11), (3, 12), (3, 13))  # that the tests have run on
ANEW = "remove .venv and run `make setup`"
NEEDED = ("dvc.yaml", "params.yaml", "models.yaml", "published", "claims", "requirements")
IMPORTED = ("torch", "transformers", "numpy", "scipy", "matplotlib", "dvc")
WRITTEN = ("results", "figures", "paper", "report", ".dvc")
RESULTS_BYTES = 0.2e9  # what `make reproduce` makes, kept twice: in the folder and in DVC's cache
GIB = 2**30
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)(?: ; (.*?))?(?: \\)?$", re.M)


def python(root: Path) -> Finding:
    """The interpreter."""
    version = sys.version_info[:3]
    found = ".".join(map(str, version))
    if version < PYTHONS[0]:
        fix = "install Python 3.12, then `make setup PYTHON=python3.12`"
        return Finding(f"{found}, 3.11 or newer is needed", fix, TARGETS)
    if version[:2] not in PYTHONS:
        fix = "if something fails, take 3.12: `make setup PYTHON=python3.12`"
        return Finding(f"{found}, the tests have run on 3.11 to 3.13 only", fix)
    return Finding(found)


def packages(root: Path) -> Finding:
    """The installed versions against the lock that holds the installed torch."""
    locks, torch = locked(root / "requirements"), installed("torch")
    in_use = next((lock for lock, pins in locks.items() if pins.get("torch") == torch), None)
    if torch is None or in_use is None:
        known = ", ".join(f"{lock}: {pins.get('torch')}" for lock, pins in locks.items())
        return Finding(f"torch {torch} is in no lock ({known})", ANEW, () if torch else TARGETS)
    pins = locks[in_use].items()
    there = {package: installed(package) for package in locks[in_use]}
    if other := [f"{p} is {there[p]}, locked {pin}" for p, pin in pins if there[p] != pin]:
        found = f"{in_use}: {some(other)}; numbers may differ"
        return Finding(found, ANEW, TARGETS if None in there.values() else ())
    return Finding(f"all {len(pins)} as in {in_use}, torch {torch}")


def locked(folder: Path) -> dict[str, dict[str, str]]:
    """By file name of a lock, the versions that apply to this interpreter."""
    from packaging.markers import Marker

    return {
        path.name: {
            name: version
            for name, version, marker in _PIN.findall(path.read_text(encoding="utf-8"))
            if not marker or Marker(marker).evaluate()
        }
        for path in sorted(folder.glob("*.lock"))
    }


def installed(package: str) -> str | None:
    """The version of a package, however its name is spelled; None: it is not there."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def imports(root: Path) -> Finding:
    """The packages that cannot be imported, and why."""
    reasons: dict[str, list[str]] = {}
    for package in IMPORTED:
        try:
            importlib.import_module(package)
        except Exception as error:  # a broken binary raises what it likes
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            reasons.setdefault(why, []).append(package)
    if reasons:
        found = "; ".join(f"no {', '.join(names)} ({why})" for why, names in reasons.items())
        return Finding(found, ANEW, TARGETS)
    return Finding(f"{', '.join(IMPORTED)} can be imported")


def repository(root: Path) -> Finding:
    """Whether the folder is the repository, as a clone or as an unpacked archive."""
    if missing := [name for name in NEEDED if not (root / name).exists()]:
        fix = "run it in the repository's root; restore what is missing"
        return Finding(f"no {some(missing)} in this folder", fix, TARGETS)
    if (root / ".git").exists():
        return Finding("a git clone")
    config = configparser.ConfigParser()
    config.read([root / ".dvc" / "config", root / ".dvc" / "config.local"])
    if not config.getboolean("core", "no_scm", fallback=False):
        fix = "run `make setup`, or `dvc config --local core.no_scm true`"
        return Finding("an archive without .git, of which DVC is not told", fix, TARGETS)
    return Finding("an unpacked archive; DVC works without git")


def recorded(root: Path) -> Finding:
    """What DVC recorded of earlier runs; a kill while it writes can cut it off."""
    from layerwise.inputs.dvc_lock import FIX, is_whole

    if not (root / "dvc.lock").exists() or is_whole(root / "dvc.lock"):
        return Finding("dvc.lock is not cut off")
    return Finding("dvc.lock ends too early: a run was killed", FIX, (REPRODUCE, FULL))


def writable(root: Path) -> Finding:
    """The folders of results that this user cannot write, or make."""
    rights = os.W_OK | os.X_OK
    if refused := [name for name in WRITTEN if not os.access(existing(root / name), rights)]:
        fix = "make them writable for this user, or copy the repository"
        return Finding(f"none for {some(refused)}", fix, TARGETS)
    return Finding(f"{', '.join(WRITTEN)} can be written")


def disk(root: Path) -> Finding:
    """Room for the results."""
    fix = "make room, or put it on another disk"
    return room(root / "results", RESULTS_BYTES, fix, TARGETS)


def disk_of_rehearsal(root: Path) -> Finding:
    """Room for the twins of all models and what is measured on them."""
    fix = "make room, or name a --folder on another disk"
    return room(default_folder(root), DISK_BYTES, fix, (REHEARSE,))


def memory(root: Path) -> Finding:
    """Free memory against a process of the rehearsal; it takes as many cores as there is room."""
    import psutil

    free = psutil.virtual_memory().available
    found = (
        f"{free / GIB:.1f} GiB free, {os.cpu_count()} cores; a process of the rehearsal takes up "
        f"to {WORKER_BYTES / GIB:.1f} GiB"
    )
    if free < WORKER_BYTES:
        fix = "close other programs, or take a machine with more memory"
        return Finding(found, fix, (TEST, REHEARSE))
    return Finding(found)


def browser(root: Path) -> Finding:
    """The programs that only tests use."""
    programs = ("chromium", "chromedriver", "pdftoppm")
    if absent := [name for name in programs if shutil.which(name) is None]:
        fix = "apt install chromium chromium-driver poppler-utils; without, their tests are skipped"
        return Finding(f"no {some(absent)}", fix)
    return Finding("chromium, chromedriver and pdftoppm")


CHECKS: dict[str, Check] = {
    "Python": python,
    "locked packages": packages,
    "imports": imports,
    "repository": repository,
    "recorded stages": recorded,
    "write permission": writable,
    "disk of results": disk,
    "disk of rehearsal": disk_of_rehearsal,
    "memory": memory,
    "tools of tests": browser,
}
