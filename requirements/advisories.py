#!/usr/bin/env python3
"""Look up known vulnerabilities of the locked packages, offline.

    python requirements/advisories.py DATABASE     a clone of github.com/pypa/advisory-database

Its records are in the OSV format, vulns/PACKAGE/ID.yaml. What is found and stands in accepted.yaml
is said and passes; anything else is exit code 1.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from packaging.version import InvalidVersion, Version

HERE = Path(__file__).parent


def locked(folder: Path = HERE) -> set[tuple[str, str]]:
    """Every package and version that a lock names."""
    return {
        (re.sub(r"[-_.]+", "-", name).lower(), version)
        for lock in folder.glob("*.lock")
        for name, version in re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", lock.read_text(), re.M)
    }


def found(database: Path, packages: set[tuple[str, str]]) -> Iterator[tuple[str, str, list[str]]]:
    """Package, version and all ids of each record that holds for it."""
    for name, version in sorted(packages):
        for path in sorted((database / "vulns" / name).glob("*.yaml")):
            record = yaml.safe_load(path.read_text(encoding="utf-8"))
            if "withdrawn" not in record and any(
                holds(of, version) for of in record["affected"] if of["package"]["name"] == name
            ):
                yield name, version, [record["id"], *record.get("aliases", [])]


def holds(affected: dict[str, Any], version: str) -> bool:
    """Whether a version is listed, or lies in a range, each from its start to before its end."""
    at = Version(version)
    if any(same(one, at) for one in affected.get("versions", [])):
        return True
    for of in affected.get("ranges", []):
        if of["type"] != "ECOSYSTEM":
            continue
        inside = False
        for event in of["events"]:
            ((kind, said),) = event.items()
            limit = Version("0" if said == "0" else said)
            if kind == "introduced" and at >= limit:
                inside = True
            elif (kind == "fixed" and at >= limit) or (kind == "last_affected" and at > limit):
                inside = False
        if inside:
            return True
    return False


def same(text: str, version: Version) -> bool:
    """Whether a text is that version; a local part, as in +cpu, makes no other."""
    try:
        return Version(text) == Version(version.public)
    except InvalidVersion:  # of a release before there was a rule
        return False


def main(database: Path) -> int:
    """Say what is found; 1 where something is not accepted, 2 where there is no database."""
    records = sorted((database / "vulns").rglob("*.yaml"))
    if not records:
        print(f"advisories: {database} has no vulns/PACKAGE/ID.yaml; clone it", file=sys.stderr)
        return 2
    texts = (path.read_text(encoding="utf-8") for path in records)
    days = [
        day for text in texts for day in re.findall(r'^modified: "?(\d{4}-\d\d-\d\d)', text, re.M)
    ]
    packages = locked()
    accepted = yaml.safe_load((HERE / "accepted.yaml").read_text(encoding="utf-8"))
    refused = 0
    for name, version, ids in found(database, packages):
        reason = next((accepted[one] for one in ids if one in accepted), None)
        refused += reason is None
        print(f"advisories: {name} {version}: {', '.join(ids)}; {reason or 'NOT ACCEPTED'}")
    print(f"advisories: {len(packages)} locked packages, {len(records)} records until {max(days)}, "
          f"{refused} that are not accepted")  # fmt: skip
    return int(refused > 0)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
