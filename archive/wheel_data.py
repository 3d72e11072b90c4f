"""What a wheel brings beside the code, each file from its one place in the repository.

`[tool.hatch.build.targets.wheel.hooks.custom]` in pyproject.toml names the files. The judged
claims are no file of git: those of `make reproduce` are taken where dvc.lock records them, else
they are judged now. An editable install needs none of it: it reads the repository itself.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

JUDGED = "results/published/claims.json"


class WheelData(BuildHookInterface):  # type: ignore[misc]
    """Called by hatchling before a wheel is written, and after it."""

    scratch: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files, unless what is built is an editable install."""
        if version == "editable":
            return
        root = Path(self.root)
        files = {str(root / name): f"layerwise/data/{name}" for name in self.config["data"]}
        if not is_recorded(root):
            self.scratch = Path(tempfile.mkdtemp(prefix="layerwise-"))
            files[str(judge(root, self.scratch))] = f"layerwise/data/{JUDGED}"
        else:
            files[str(root / JUDGED)] = f"layerwise/data/{JUDGED}"
        build_data["force_include"] |= files

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was made for the wheel alone."""
        if self.scratch is not None:
            shutil.rmtree(self.scratch)


def is_recorded(root: Path) -> bool:
    """Whether the judged claims are there, and are those that dvc.lock records."""
    judged, lock = root / JUDGED, root / "dvc.lock"
    if not (judged.is_file() and lock.is_file()):
        return False
    return hashlib.md5(judged.read_bytes()).hexdigest() in lock.read_text("utf-8")


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
        command = [sys.executable, "-m", f"layerwise.steps.{stage}", "published", *options]
        if subprocess.run(command, cwd=root, env=environment, check=False).returncode:
            raise SystemExit(f"the wheel has no judged claims: the stage {stage} failed, see above")
    return judged
