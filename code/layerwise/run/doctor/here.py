"""Checks of what everything needs: the locked packages, and room."""

import importlib.metadata
import platform
import re
from pathlib import Path

from layerwise.files import read_text
from layerwise.run.doctor import REHEARSE, TARGETS, TEST, Check, Diagnosis, first_few, free
from layerwise.run.rehearsal import DISK_BYTES, WORKER_BYTES, default_folder
from layerwise.workers import usable_cores

RESULTS_BYTES = 0.2e9  # what `make reproduce` makes, kept twice: in the folder and in DVC's cache
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.M)


def packages(root: Path) -> Diagnosis:
    """Compare the versions of the packages with the locks."""
    locked = locked_versions(root / "requirements")
    present = {package: version for package in locked if (version := installed(package))}
    if other := [
        f"{package} is {version}, locked {' or '.join(sorted(locked[package]))}"
        for package, version in present.items()
        if version not in locked[package]
    ]:
        fix = "remove .venv and run `make setup`"
        return Diagnosis(f"{first_few(other)}; numbers may differ", fix)
    torch = f"torch {present['torch']}" if "torch" in present else "no torch (`make setup-models`)"
    version = platform.python_version()
    return Diagnosis(f"Python {version}, all {len(present)} packages as locked, {torch}")


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
    finding = (
        f"{here / 1e9:.1f} GB free for results, {RESULTS_BYTES / 1e9:.1f} GB needed; "
        f"{there / 1e9:.1f} GB free for {folder}, {DISK_BYTES / 1e9:.1f} GB needed; "
        f"{memory / 2**30:.1f} GiB of memory, up to {WORKER_BYTES / 2**30:.1f} GiB for each of "
        f"{usable_cores()} cores"
    )
    blocks: tuple[str, ...] = ()
    if memory < WORKER_BYTES:
        blocks = (TEST, REHEARSE)
    if there < DISK_BYTES:
        blocks = (*blocks, REHEARSE)
    if here < RESULTS_BYTES:
        blocks = TARGETS
    return Diagnosis(finding, "make room for what is short" if blocks else "", blocks)


CHECKS: dict[str, Check] = {
    "packages": Check(packages, TARGETS),
    "room": Check(room, TARGETS),
}
