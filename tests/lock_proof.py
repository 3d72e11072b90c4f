#!/usr/bin/env python3
"""Prove from a bare clone that dvc.lock fits the committed code and parameters. Runs no stage.

    python tests/lock_proof.py [REPOSITORY]

The clone has neither data nor results nor a cache, so nothing can be compared but the recorded
checksums: of commands, code, parameters and the files in git against the tree, and of outputs
against the stages that read them. A stage that would run again has changed since it was recorded.
Stages that were never recorded are allowed only where they need a GPU: all but those of the
source `published`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from dvc.repo import Repo

DRY_RUN = [sys.executable, "-m", "dvc", "repro", "--dry", "--allow-missing", "--keep-going"]


def pipeline(root: Path) -> tuple[dict[str, list[str]], set[tuple[str, str]]]:
    """The paths of the outputs of each stage, and the pairs (stage, a stage that it reads)."""
    with Repo(str(root)) as repo:
        index = repo.index
        outputs = {
            stage.name: [out.def_path for out in stage.outs]
            for stage in index.stages
            if not stage.is_data_source
        }
        arrows = {
            (reader.name, read.name)
            for reader, read in index.graph.edges
            if not (reader.is_data_source or read.is_data_source)
        }
    return outputs, arrows


def git(*arguments: str) -> str:
    """What git prints; what stands in its way ends the program in a sentence."""
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        sys.exit("verify-lock: a clone is compared, and there is no git; install it")
    if done.returncode:
        sys.exit(f"verify-lock: git {arguments[0]} refused; mend what it says:\n{done.stderr}")
    return done.stdout


def needs_a_gpu(outputs: list[str]) -> bool:
    """Whether a stage measures, or fetches what is measured: all but source `published`."""
    return not any("published" in re.split(r"[/.]", path) for path in outputs)


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
        known, arrows = pipeline(clone)
        recorded = list(yaml.safe_load((clone / "dvc.lock").read_text())["stages"])
        faults = [f"{name}: in dvc.lock, not in dvc.yaml" for name in set(recorded) - set(known)]
        missing = set(known) - set(recorded)
        faults += [f"{name}: needs no GPU, not in dvc.lock"
                   for name in missing if not needs_a_gpu(known[name])]  # fmt: skip
        present = {name for name in recorded if name in known}
        if not present:
            return "dvc.lock records no stage of this pipeline", sorted(faults)
        # The last stages are asked for; DVC goes through all that they need.
        last = present - {read for reader, read in arrows if reader in present}
        done = subprocess.run(
            [*DRY_RUN, *sorted(last)],
            cwd=clone,
            capture_output=True,
            text=True,
        )
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
