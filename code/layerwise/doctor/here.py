"""Checks of what everything needs: Python, packages, the repository, room, LaTeX, a browser."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from layerwise.doctor import REHEARSE, TARGETS, TEST, Check, Finding, look, room, some
from layerwise.rehearsal import DISK_BYTES, WORKER_BYTES, default_folder

PYTHONS = ((3, 11), (3, 12), (3, 13))  # that the tests have run on
ANEW = "remove .venv and run `make setup`"
LATEX = "apt install texlive-latex-recommended texlive-latex-extra texlive-science latexmk"
NEEDED = ("dvc.yaml", "params.yaml", "models.yaml", "published", "claims", "requirements")
# What `make reproduce` makes, kept twice: in the folder and in DVC's cache.
RESULTS_BYTES = 0.2e9
GIB = 2**30


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
    locks, torch = look.locked(root / "requirements"), look.installed("torch")
    if torch is None:
        return Finding("torch is not installed", ANEW, TARGETS)
    in_use = next((lock for lock, pins in locks.items() if pins.get("torch") == torch), None)
    if in_use is None:
        known = ", ".join(f"{lock}: {pins.get('torch')}" for lock, pins in locks.items())
        return Finding(f"torch {torch} is in no lock ({known})", ANEW)
    there = {package: look.installed(package) for package in locks[in_use]}
    if missing := [package for package, version in there.items() if version is None]:
        return Finding(f"{in_use}: {some(missing)} not installed", ANEW, TARGETS)
    pins = locks[in_use].items()
    if other := [f"{p} is {there[p]}, locked {pin}" for p, pin in pins if there[p] != pin]:
        return Finding(f"{in_use}: {some(other)}; numbers may differ", ANEW)
    return Finding(f"all {len(pins)} as in {in_use}, torch {torch}")


def imports(root: Path) -> Finding:
    """The packages that cannot be imported, and why."""
    reasons: dict[str, list[str]] = {}
    for package, why in look.broken_imports().items():
        reasons.setdefault(why, []).append(package)
    if reasons:
        found = "; ".join(f"no {', '.join(names)} ({why})" for why, names in reasons.items())
        return Finding(found, ANEW, TARGETS)
    return Finding(f"{', '.join(look.IMPORTED)} can be imported")


def repository(root: Path) -> Finding:
    """Whether the folder is the repository, as a clone or as an unpacked archive."""
    if missing := [name for name in NEEDED if not (root / name).exists()]:
        fix = "run it in the repository's root; restore what is missing"
        return Finding(f"no {some(missing)} in this folder", fix, TARGETS)
    if (root / ".git").exists():
        return Finding("a git clone")
    if not look.without_scm(root):
        fix = "run `make setup`, or `dvc config --local core.no_scm true`"
        return Finding("an archive without .git, of which DVC is not told", fix, TARGETS)
    return Finding("an unpacked archive; DVC works without git")


def writable(root: Path) -> Finding:
    """The folders of results that cannot be written."""
    if refused := look.not_writable(root):
        fix = "make them writable for this user, or copy the repository"
        return Finding(f"none for {some(refused)}", fix, TARGETS)
    return Finding(f"{', '.join(look.WRITTEN)} can be written")


def disk(root: Path) -> Finding:
    """Room for the results."""
    free, fix = look.free_bytes(root / "results"), "make room, or put it on another disk"
    return room(free, RESULTS_BYTES, "free in results/", fix, TARGETS)


def disk_of_rehearsal(root: Path) -> Finding:
    """Room for the twins of all models and what is measured on them."""
    place, fix = default_folder(root), "make room, or name a --folder on another disk"
    return room(look.free_bytes(place), DISK_BYTES, f"free in {place}", fix, (REHEARSE,))


def memory(root: Path) -> Finding:
    """Free memory against the rehearsal, a process per core."""
    import psutil

    free, cores = psutil.virtual_memory().available, os.cpu_count() or 1
    found = f"{free / GIB:.1f} GiB free, {cores} cores"
    wanted = f"{found}; a process of the rehearsal takes up to {WORKER_BYTES / GIB:.1f} GiB"
    if free < WORKER_BYTES:
        fix = "close other programs, or take a machine with more memory"
        return Finding(wanted, fix, (TEST, REHEARSE))
    if free < cores * WORKER_BYTES:
        return Finding(wanted, "close other programs, and it runs on more of the cores")
    return Finding(found)


def latex(root: Path) -> Finding:
    """latexmk, and the files of LaTeX that the paper uses and that are not there."""
    if look.missing_programs("latexmk"):
        return Finding("no latexmk: the papers stay LaTeX source", LATEX)
    if absent := look.missing_latex(root / "paper" / "main.tex.j2"):
        return Finding(f"latexmk, but no {some(absent)}", LATEX, TARGETS)
    return Finding("latexmk and every package of the paper")


def browser(root: Path) -> Finding:
    """The programs that only tests use."""
    if absent := look.missing_programs("chromium", "chromedriver", "pdftoppm"):
        fix = "apt install chromium chromium-driver poppler-utils; without, their tests are skipped"
        return Finding(f"no {some(absent)}", fix)
    return Finding("chromium, chromedriver and pdftoppm")


CHECKS: dict[str, Check] = {
    "Python": python,
    "locked packages": packages,
    "imports": imports,
    "repository": repository,
    "write permission": writable,
    "disk of results": disk,
    "disk of rehearsal": disk_of_rehearsal,
    "memory": memory,
    "LaTeX": latex,
    "tools of tests": browser,
}
