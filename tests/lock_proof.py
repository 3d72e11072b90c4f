#!/usr/bin/env python3
"""Prove from a bare clone that dvc.lock fits the committed code and parameters. Runs no stage.

    python tests/lock_proof.py [REPOSITORY]

The clone has neither data nor results nor a cache, so nothing can be compared but the recorded
checksums: of commands, code, parameters and the files in git against the tree, and of outputs
against the stages that read them. A stage that would run again has changed since it was recorded.
Stages that were never recorded are allowed only where they need a GPU: all but those of the
source `published`.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from dvc.repo import Repo

DRY_RUN = [sys.executable, "-m", "dvc", "repro", "--dry", "--allow-missing", "--keep-going"]


def git(*arguments: str) -> str:
    """What git prints; what stands in its way ends the program in a sentence."""
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        sys.exit("verify-lock: a clone is compared, and there is no git; install it")
    if done.returncode:
        sys.exit(f"verify-lock: git {arguments[0]} refused; mend what it says:\n{done.stderr}")
    return done.stdout


def prove(repository: Path) -> tuple[str, list[str]]:
    """Compare the lock of a repository's HEAD with its code, in a clone.

    Args:
        repository: a git repository with dvc.yaml and dvc.lock.

    Returns:
        One sentence for the reader, and the faults found (none: the lock fits).
    """
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        git("clone", "-q", str(repository), str(clone))
        with Repo(str(clone)) as repo:
            made = {s.name: [o.def_path for o in s.outs] for s in repo.index.stages if s.cmd}
        recorded = set(yaml.safe_load((clone / "dvc.lock").read_text())["stages"])
        faults = [f"{name}: in dvc.lock, not in dvc.yaml" for name in recorded - set(made)]
        missing, present = set(made) - recorded, set(made) & recorded
        # all but source `published` needs a GPU: it measures, or fetches what is measured
        faults += [
            f"{name}: needs no GPU, not in dvc.lock"
            for name in missing
            if any("published" in re.split(r"[/.]", path) for path in made[name])
        ]
        if not present:
            return "dvc.lock records no stage of this pipeline", sorted(faults)
        command = [*DRY_RUN, *sorted(present)]
        done = subprocess.run(command, cwd=clone, capture_output=True, text=True)
        fits = set(re.findall(r"^Stage '(.+)' didn't change, skipping$", done.stdout, re.M))
        faults += [
            f"{name}: it, or what it reads, changed since it was recorded"
            for name in present - fits
        ]
        if done.returncode and present <= fits:
            faults.append(f"DVC said: {done.stderr.strip()}")
        dirty = git("-C", str(clone), "status", "--porcelain")
        faults += [f"the check itself changed {line}" for line in dirty.splitlines()]
    return (
        f"dvc.lock: {len(fits)} of {len(recorded)} recorded stages fit code, parameters and each "
        f"other; {len(missing)} stages need a GPU and have never been recorded",
        sorted(faults),
    )


if __name__ == "__main__":
    summary, faults = prove(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
    print(summary)
    for fault in faults:
        print(f"  {fault}; run `make reproduce` and commit dvc.lock")
    sys.exit(bool(faults))
