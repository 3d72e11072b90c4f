"""What a wheel brings beside the code, each file from its one place in the repository.

`[tool.hatch.build.targets.wheel.hooks.custom]` in pyproject.toml names the files. The judged
claims are no file of git: those of `make reproduce` are taken where dvc.lock records them, and
records of the ledger, the numbers and the code that they follow from what is there; else they are
judged now. An editable install needs none of it: it reads the repository itself.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

JUDGED = "results/published/claims.json"
STAGES = ("analyse@published", "judge@published")  # by which the claims follow from what git holds
MADE = "results/"  # begins the name of what one of them makes for the other


class WheelData(BuildHookInterface):  # type: ignore[misc]
    """Called by hatchling before a wheel is written, and after it."""

    # a folder, which goes with the process too, where a build fails later
    scratch: tempfile.TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files, unless what is built is an editable install."""
        if version == "editable":
            return
        root = Path(self.root)
        files = {str(root / name): f"layerwise/data/{name}" for name in self.config["data"]}
        if not is_recorded(root):
            self.scratch = tempfile.TemporaryDirectory(prefix="layerwise-")
            try:
                judged = judge(root, Path(self.scratch.name))
            except BaseException:
                self.scratch.cleanup()
                raise
            files[str(judged)] = f"layerwise/data/{JUDGED}"
        else:
            files[str(root / JUDGED)] = f"layerwise/data/{JUDGED}"
        build_data["force_include"] |= files

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was made for the wheel alone."""
        if self.scratch is not None:
            self.scratch.cleanup()


def is_recorded(root: Path) -> bool:
    """Whether the judged claims, and all that they follow from, are as dvc.lock records them."""
    import yaml  # which pip installs for the build once this module said so

    try:
        lock = yaml.safe_load((root / "dvc.lock").read_bytes())["stages"]
        stages = [lock[name] for name in STAGES]
        rests_on = [of for stage in stages for of in stage["deps"]]
        rests_on = [of for of in rests_on if not of["path"].startswith(MADE)]
        judged = [of for of in stages[-1]["outs"] if of["path"] == JUDGED]
        chosen = [of for stage in stages for of in stage.get("params", {}).items()]
        return bool(judged) and (
            all(_digest(root / of["path"]) == of["md5"] for of in (*judged, *rests_on))
            and all(of.items() <= _chosen(root / name).items() for name, of in chosen)
        )
    except (OSError, yaml.YAMLError, LookupError, TypeError, AttributeError, ValueError):
        return False  # no run recorded it so: it is judged now


def _chosen(params: Path) -> dict[str, Any]:
    import yaml

    return dict(yaml.safe_load(params.read_bytes()))


def _digest(path: Path) -> str:
    """What DVC calls a file or a folder: md5 of the bytes, or of a list of files with theirs."""
    if path.is_file():
        return hashlib.md5(path.read_bytes()).hexdigest()
    files = {file.relative_to(path).as_posix(): file for file in _held(path)}
    listed = [{"md5": _digest(files[name]), "relpath": name} for name in sorted(files)]
    return f"{hashlib.md5(json.dumps(listed).encode()).hexdigest()}.dir"


def _held(folder: Path) -> Iterator[Path]:
    """The files that .dvcignore leaves."""
    for file in folder.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts and file.suffix != ".part":
            yield file


def judge(root: Path, scratch: Path) -> Path:
    """Judge the claims by the published numbers, in another folder: a quarter of a minute.

    Raises:
        SystemExit: if a stage fails, which has said why.
    """
    statistics, judged = scratch / "statistics", scratch / "claims.json"
    stages = (
        ("analyse", "--numbers", "published", "--out", str(statistics)),
        ("judge", "--numbers", "published", "--statistics", str(statistics), "--out", str(judged)),
    )
    # what pip installed for the build is on the path that this process was given
    paths = [str(root / "code"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    for stage, *options in stages:
        command = [sys.executable, "-m", f"layerwise.run.steps.{stage}", "published", *options]
        if subprocess.run(command, cwd=root, env=environment, check=False).returncode:
            raise SystemExit(f"the wheel has no judged claims: the stage {stage} failed, see above")
    return judged
