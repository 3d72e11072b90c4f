"""Looks at this machine. Packages are imported where they are needed: that one of them cannot be is
a finding, not an end."""

from __future__ import annotations

import configparser
import importlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

IMPORTED = ("torch", "transformers", "numpy", "scipy", "matplotlib", "dvc")
WRITTEN = ("results", "figures", "paper", "report", ".dvc")
TIMEOUT = 5  # seconds for a server, or nvidia-smi, to answer
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)(?: ; (.*?))?(?: \\)?$", re.M)


@dataclass(frozen=True)
class Gpus:
    """What nvidia-smi says: its driver, and name and memory of every GPU in bytes."""

    driver: str
    names: tuple[str, ...]
    memory: tuple[int, ...]


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


def broken_imports() -> dict[str, str]:
    """Why a package cannot be imported, for those that cannot."""
    broken = {}
    for package in IMPORTED:
        try:
            importlib.import_module(package)
        except Exception as error:  # a broken binary raises what it likes
            broken[package] = f"{type(error).__name__}: {error}".splitlines()[0]
    return broken


def torch_build() -> tuple[str | None, bool]:
    """The version of CUDA that torch was built for (None: no), and whether it sees a device."""
    try:
        torch: Any = importlib.import_module("torch")
    except Exception:  # `broken_imports` says so
        return None, False
    return torch.version.cuda, torch.cuda.is_available()


def gpus() -> Gpus | None:
    """What nvidia-smi says, or None where it is missing or finds nothing."""
    asked = "--query-gpu=driver_version,name,memory.total"
    try:
        said = subprocess.run(
            ["nvidia-smi", asked, "--format=csv,noheader,nounits"],
            capture_output=True, text=True, check=True, timeout=4 * TIMEOUT,
        ).stdout  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    rows = [[cell.strip() for cell in line.split(",")] for line in said.splitlines() if line]
    memory = tuple(int(row[2]) * 2**20 for row in rows if row[2].isdigit())  # or [N/A]
    return Gpus(rows[0][0], tuple(row[1] for row in rows), memory) if rows else None


def free_bytes(place: Path) -> int:
    """Free bytes of the disk that a folder is on, or will be."""
    return shutil.disk_usage(_existing(place)).free


def not_writable(root: Path) -> list[str]:
    """The folders of `WRITTEN` that this user cannot write, or make."""
    return [name for name in WRITTEN if not os.access(_existing(root / name), os.W_OK | os.X_OK)]


def _existing(place: Path) -> Path:
    return next(path for path in (place, *place.absolute().parents) if path.exists())


def without_scm(root: Path) -> bool:
    """DVC is told that there is no git repository around it."""
    config = configparser.ConfigParser()
    config.read([root / ".dvc" / "config", root / ".dvc" / "config.local"])
    return config.getboolean("core", "no_scm", fallback=False)


def missing_programs(*names: str) -> list[str]:
    """Those that are not on PATH."""
    return [name for name in names if shutil.which(name) is None]


def missing_latex(template: Path) -> list[str]:
    """The packages of a template's preamble that LaTeX does not find."""
    named = re.findall(r"\\usepackage(?:\[[^]]*\])?\{([^}]*)\}", template.read_text("utf-8"))
    files = [f"{package}.sty" for group in named for package in group.split(",")]
    done = subprocess.run(["kpsewhich", *files], capture_output=True, text=True, check=False)
    found = {Path(line).name for line in done.stdout.splitlines()}
    return [file for file in files if file not in found]


def reach(address: str) -> str | None:
    """Why an address cannot be reached; None: something answers there."""
    try:
        request = urllib.request.Request(address, method="HEAD")
        with urllib.request.urlopen(request, timeout=TIMEOUT):
            return None
    except urllib.error.HTTPError:
        return None  # it answers
    except (OSError, ValueError) as error:
        return str(getattr(error, "reason", error))
