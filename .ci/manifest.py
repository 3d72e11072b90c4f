#!/usr/bin/env python3
"""Print the files of codecheck.yml's manifest that git does not hold: the assets of a release.

    python3 .ci/manifest.py        (after `make reproduce`)

Every file of the manifest must be there, in git or not. Needs PyYAML and git.
"""

import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent


def read_manifest(root: Path = ROOT) -> list[str]:
    """Return the paths of the manifest in its order."""
    check = yaml.safe_load((root / "codecheck.yml").read_text(encoding="utf-8"))
    return [entry["file"] for entry in check["manifest"]]


def list_tracked(names: list[str], root: Path = ROOT) -> set[str]:
    """Return those of the paths that git holds."""
    command = ["git", "ls-files", "-z", "--", *names]
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    return set(done.stdout.split("\0")) - {""}


def main(root: Path = ROOT) -> int:
    """Print the assets, or what is missing; the exit code says which."""
    names = read_manifest(root)
    if missing := [name for name in names if not (root / name).is_file()]:
        fix = "run `make reproduce` (with latexmk), or correct the name"
        print(f"codecheck.yml names {', '.join(missing)}, not there; {fix}", file=sys.stderr)
        return 1
    tracked = list_tracked(names, root)
    print("\n".join(name for name in names if name not in tracked))
    return 0


if __name__ == "__main__":
    sys.exit(main())
