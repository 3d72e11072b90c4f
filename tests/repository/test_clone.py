"""A clone has the bytes that are committed, whatever the settings of its owner's git."""

import shutil

import pytest

from git_repositories import git, needs_git

FILES = (".gitattributes", "requirements/setup.sh", "params.yaml", "published/dataset.csv")


@needs_git
@pytest.mark.parametrize("setting", ["core.autocrlf=true", "core.eol=crlf"])
def test_no_setting_changes_the_ends_of_lines(root, tmp_path, setting):
    repository, clone = tmp_path / "repository", tmp_path / "clone"
    for name in FILES:
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, repository / name)
    git("init", "-q", root=repository)
    git("add", "-A", root=repository)
    git("commit", "-q", "-m", "first", root=repository)
    git("-c", setting, "clone", "-q", str(repository), str(clone), root=tmp_path)
    for name in FILES:
        assert (clone / name).read_bytes() == (root / name).read_bytes(), name
