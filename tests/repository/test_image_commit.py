"""The commit that an image records, whoever builds it and by whatever command."""

import json
import subprocess

import pytest

from git_repositories import git, needs_git

REVISION = "0" * 40


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("x = 1\n")
    (tmp_path / "dvc.lock").write_text("1\n")
    return tmp_path


def record(root, folder, *arguments):
    """Return the commit that is recorded in a folder; None: none is."""
    command = ["bash", root / ".ci" / "record_commit.sh", *arguments]
    subprocess.run(command, cwd=folder, check=True)
    file = folder / "PROVENANCE.json"
    return json.loads(file.read_text())["commit"] if file.exists() else None


def commit(folder):
    git("init", "-q", root=folder)
    git("add", ".", root=folder)
    git("commit", "-qm", "one", root=folder)
    return git("rev-parse", "HEAD", root=folder)


@needs_git
def test_a_build_by_hand_records_the_commit_of_its_checkout(root, folder):
    head = commit(folder)
    (folder / "dvc.lock").write_text("2\n")  # as a run does
    assert record(root, folder) == head


@needs_git
@pytest.mark.parametrize("staged", [False, True])
def test_changed_code_is_recorded_as_changed(root, folder, staged):
    head = commit(folder)
    (folder / "code" / "a.py").write_text("x = 2\n")
    if staged:
        git("add", ".", root=folder)
    assert record(root, folder, REVISION) == f"{head} changed"


def test_without_a_repository_it_is_what_the_build_was_told(root, folder):
    assert record(root, folder) is None
    assert record(root, folder, REVISION) == REVISION
    assert record(root, folder, "1" * 40) == REVISION  # an archive's own record stays


def test_the_repository_is_sent_to_the_build(root):
    ignored = (root / ".dockerignore").read_text().split()
    assert not any(line == ".git" or line.startswith(".git/") for line in ignored)
