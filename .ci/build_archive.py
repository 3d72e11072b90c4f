#!/usr/bin/env python3
"""Write the versioned archive: what git holds at HEAD, where it comes from, and checksums.

    python3 .ci/build_archive.py [FOLDER]        (default: dist)

Makes FOLDER/layerwise-VERSION.tar.gz and its .sha256. The same commit gives the same bytes: names
in order, owners and clocks taken out, no time in the compressed header. (The bytes of a .gz also
depend on the zlib in use; those of the .tar inside do not.) Needs Python and git, nothing else.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONED = {
    "pyproject.toml": r'^version = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
    ".zenodo.json": r'^  "version": "(.+)",$',
}


class ArchiveError(Exception):
    """The archive cannot be made; the text says why and what to do."""


def git(*arguments: str, root: Path) -> bytes:
    """The output of a git command.

    Raises:
        ArchiveError: git is missing, or there is no repository.
    """
    try:
        return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True).stdout
    except FileNotFoundError:
        raise ArchiveError("git is needed to make an archive and not found; install it") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip()
        raise ArchiveError(f"an archive is made from a git repository: {said}") from None


def version_of(files: dict[str, bytes]) -> str:
    """The version that all files agree on.

    Raises:
        ArchiveError: a file names none, or they name different ones.
    """
    found = {}
    for name, pattern in VERSIONED.items():
        match = re.search(pattern, files.get(name, b"").decode(), re.M)
        if match is None:
            raise ArchiveError(f"{name} must name the version as /{pattern}/; it does not")
        found[name] = match[1]
    if len(set(found.values())) != 1:
        raise ArchiveError(f"one version for all, found {found}; make them equal")
    return found["pyproject.toml"]


def committed(root: Path) -> dict[str, tuple[bytes, int]]:
    """Name -> bytes and mode of every file at HEAD, as `git archive` gives them."""
    packed = git("archive", "--format=tar", "HEAD", root=root)
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        members = [member for member in tar if not member.isdir()]
        strange = [member.name for member in members if not member.isfile()]
        if strange:
            raise ArchiveError(f"only plain files can be archived, found {strange[0]}")
        return {
            member.name: (tar.extractfile(member).read(), 0o755 if member.mode & 0o100 else 0o644)
            for member in members
        }


def provenance(root: Path, files: dict[str, bytes], version: str) -> dict[str, object]:
    """Where the files come from, and the checksums of what fixes the numbers."""
    commit, tree, date = git("log", "-1", "--format=%H %T %cI", root=root).decode().split()
    fixes = ["dvc.lock", "dvc.yaml", "params.yaml", "models.yaml"]
    fixes += sorted(name for name in files if name.endswith(".lock") and "/" in name)
    return {
        "name": "layerwise",
        "version": version,
        "commit": commit,
        "tree": tree,
        "commit_date": date,
        "sha256": {name: hashlib.sha256(files[name]).hexdigest() for name in fixes},
    }


def build(folder: Path, root: Path = ROOT) -> Path:
    """Write the archive and its checksum file; return the archive's path.

    Raises:
        ArchiveError: changes are not committed, versions differ, or there is no repository.
    """
    if changed := git("status", "--porcelain", root=root).decode().strip():
        raise ArchiveError(f"an archive is what is committed; commit or remove first:\n{changed}")
    held = committed(root)
    plain = {name: data for name, (data, _) in held.items()}
    version = version_of(plain)
    record = provenance(root, plain, version)
    held["PROVENANCE.json"] = (json.dumps(record, indent=1).encode() + b"\n", 0o644)
    sums = "".join(
        f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, (data, _) in sorted(held.items())
    )
    held["SHA256SUMS"] = (sums.encode(), 0o644)
    clock = int(git("log", "-1", "--format=%ct", root=root))

    stem = f"layerwise-{version}"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{stem}.tar.gz"
    part = folder / f"{stem}.tar.gz.part"
    with (
        part.open("wb") as raw,
        gzip.GzipFile("", "wb", compresslevel=9, fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for name, (data, mode) in sorted(held.items()):
            member = tarfile.TarInfo(f"{stem}/{name}")
            member.size, member.mode, member.mtime = len(data), mode, clock
            tar.addfile(member, io.BytesIO(data))
    digest = hashlib.sha256(part.read_bytes()).hexdigest()
    part.replace(target)
    beside = folder / f"{target.name}.sha256"
    part = folder / f"{beside.name}.part"
    part.write_text(f"{digest}  {target.name}\n")
    part.replace(beside)
    return target


if __name__ == "__main__":
    try:
        made = build(Path(sys.argv[1] if len(sys.argv) > 1 else "dist"))
    except ArchiveError as error:
        print(f"archive: {error}", file=sys.stderr)
        sys.exit(2)
    print(f"{made} ({made.stat().st_size / 1e6:.1f} MB)")
