"""The lock's proof finds every way in which dvc.lock can lie, and runs no stage to find it."""

import shutil
import subprocess
import sys

import pytest
import yaml

from git_repositories import git, needs_git
from lock_proof import prove

pytestmark = [
    needs_git,
    # DVC's own use of pygtrie
    pytest.mark.filterwarnings("ignore:_NoneStep.value:DeprecationWarning"),
]

PIPELINE = f"""
stages:
  values:
    cmd: {sys.executable} values.py results/published/values.txt
    deps: [values.py]
    params: [scale]
    outs: [results/published/values.txt]
  table:
    cmd: {sys.executable} values.py results/published/table.txt
    deps: [values.py, results/published/values.txt]
    outs: [results/published/table.txt]
  survey:
    cmd: {sys.executable} values.py results/measured/values.txt
    deps: [values.py]
    params: [scale]
    outs: [results/measured/values.txt]
"""
CHANGED = "it, or what it reads, changed since it was recorded"
PROGRAM = """import pathlib, sys
path = pathlib.Path(sys.argv[1])
path.parent.mkdir(parents=True, exist_ok=True)
path.write_text(path.name + open("params.yaml").read())
"""


def dvc(*arguments, root):
    subprocess.run([sys.executable, "-m", "dvc", *arguments], cwd=root, check=True)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A small pipeline with one stage of source measured; all of it run, recorded and committed."""
    root = tmp_path_factory.mktemp("recorded")
    git("init", "-q", root=root)
    dvc("init", "-q", root=root)
    dvc("config", "core.analytics", "false", root=root)
    (root / "values.py").write_text(PROGRAM)
    (root / "params.yaml").write_text("scale: 1\n")
    (root / "dvc.yaml").write_text(PIPELINE)
    (root / ".gitignore").write_text("/results/\n")
    dvc("repro", root=root)
    commit(root)
    return root


@pytest.fixture
def repository(recorded, tmp_path):
    return shutil.copytree(recorded, tmp_path / "repository")


def commit(root):
    git("add", "-A", root=root)
    git("commit", "-q", "--allow-empty", "-m", "state", root=root)


def test_a_recorded_pipeline_fits_without_its_outputs(repository):
    (repository / "params.yaml").write_text("scale: 2\n")  # not committed: it does not count
    summary, faults = prove(repository)
    assert faults == []
    assert "3 of 3 recorded stages fit" in summary
    assert "0 stages need a GPU" in summary


def test_code_that_changed_since(repository):
    path = repository / "values.py"
    path.write_text(f"# another\n{PROGRAM}")
    commit(repository)
    _, faults = prove(repository)
    assert faults == [f"{stage}: {CHANGED}" for stage in ("survey", "table", "values")]


def test_a_lock_that_lies(repository):
    """Of an output that its reader never read, a stage that is none, and two never recorded."""
    path = repository / "dvc.lock"
    lock = yaml.safe_load(path.read_text())
    stages = lock["stages"]
    stages["values"]["outs"][0]["md5"] = "0" * 32
    stages["old"] = stages["values"]
    del stages["survey"]  # only what measures may never have been recorded
    path.write_text(yaml.safe_dump(lock, sort_keys=False))
    commit(repository)
    summary, faults = prove(repository)
    assert "1 stages need a GPU and have never been" in summary
    assert faults == ["old: in dvc.lock, not in dvc.yaml", f"table: {CHANGED}"]
    del stages["table"]
    path.write_text(yaml.safe_dump(lock, sort_keys=False))
    commit(repository)
    assert "table: needs no GPU, not in dvc.lock" in prove(repository)[1]
