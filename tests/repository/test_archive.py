"""The archive: the same bytes for the same commit, whole, and honest about where it comes from."""

import hashlib
import json
import runpy
import tarfile
from types import SimpleNamespace

import pytest
import yaml

from git_repositories import git, needs_git
from layerwise.papers.fetching.upstream import COMMIT, REPOSITORY


@pytest.fixture(scope="module")
def archive(root):
    return SimpleNamespace(**runpy.run_path(str(root / ".ci" / "build_archive.py")))


@pytest.fixture(scope="module")
def manifest(root):
    return SimpleNamespace(**runpy.run_path(str(root / ".ci" / "manifest.py")))


@pytest.fixture
def repository(tmp_path):
    """A repository with a program, a link-free tree and the three files that name a version."""
    root = tmp_path / "repository"
    (root / "requirements").mkdir(parents=True)
    (root / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n')
    (root / "CITATION.cff").write_text("version: 1.2.3\n")
    (root / ".zenodo.json").write_text('{\n  "version": "1.2.3",\n  "title": "t"\n}\n')
    for name in ("dvc.lock", "dvc.yaml", "params.yaml", "models.yaml"):
        (root / name).write_text(name)
    (root / "requirements" / "cpu.lock").write_text("lock")
    (root / "run.sh").write_text("echo\n")
    (root / "run.sh").chmod(0o755)
    (root / "café.txt").write_text("é")
    git("init", "-q", root=root)
    git("add", "-A", root=root)
    git("commit", "-q", "-m", "first", root=root)
    return root


@needs_git
def test_the_same_commit_gives_the_same_bytes(archive, repository, tmp_path):
    first = archive.build(tmp_path / "a", repository)
    clone = tmp_path / "clone"
    git("clone", "-q", str(repository), str(clone), root=tmp_path)
    for path in clone.rglob("*.txt"):  # another owner, another mode of reading, another clock
        path.chmod(0o600)
    second = archive.build(tmp_path / "b", clone)
    assert first.name == second.name == "layerwise-1.2.3.tar.gz"
    assert first.read_bytes() == second.read_bytes()
    beside = (tmp_path / "a" / "layerwise-1.2.3.tar.gz.sha256").read_text()
    assert beside == f"{hashlib.sha256(first.read_bytes()).hexdigest()}  layerwise-1.2.3.tar.gz\n"


@needs_git
def test_it_holds_what_is_committed_with_checksums_and_provenance(archive, repository, tmp_path):
    built = archive.build(tmp_path / "out", repository)
    with tarfile.open(built) as tar:
        members = {member.name: member for member in tar}
        tar.extractall(tmp_path / "unpacked", filter="data")
    folder = tmp_path / "unpacked" / "layerwise-1.2.3"
    held = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    tracked = set(git("-c", "core.quotepath=off", "ls-files", root=repository).splitlines())
    assert held == tracked | {"PROVENANCE.json", "SHA256SUMS"}
    for name in tracked:
        assert (folder / name).read_bytes() == (repository / name).read_bytes()
    sums = dict(line.split("  ")[::-1] for line in (folder / "SHA256SUMS").read_text().splitlines())
    assert sums == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in held - {"SHA256SUMS"}
    }
    clock = int(git("log", "-1", "--format=%ct", root=repository))
    owners = {(file.uid, file.gid, file.uname, file.gname) for file in members.values()}
    assert owners == {(0, 0, "", "")}
    assert {file.mtime for file in members.values()} == {clock}
    assert members["layerwise-1.2.3/run.sh"].mode == 0o755
    assert members["layerwise-1.2.3/params.yaml"].mode == 0o644
    record = json.loads((folder / "PROVENANCE.json").read_text())
    assert record["commit"] == git("rev-parse", "HEAD", root=repository)
    assert record["tree"] == git("rev-parse", "HEAD^{tree}", root=repository)
    assert record["version"] == "1.2.3"
    recorded = ("dvc.lock", "dvc.yaml", "params.yaml", "models.yaml", "requirements/cpu.lock")
    assert record["sha256"] == {
        name: hashlib.sha256((repository / name).read_bytes()).hexdigest() for name in recorded
    }


@needs_git
@pytest.mark.parametrize(
    ("name", "text", "commit", "message"),
    [
        ("params.yaml", "changed", False, r"commit or remove first:\nM params\.yaml"),
        ("CITATION.cff", "version: 1.2.4\n", True, r"one version for all, found .*'1\.2\.4'"),
        ("CITATION.cff", "title: none\n", True, r"CITATION\.cff must name the version"),
        ("link", None, True, "only plain files can be archived, found link"),
    ],
)
def test_what_is_wrong_is_refused(archive, repository, tmp_path, name, text, commit, message):
    place = repository / name
    place.write_text(text) if text else place.symlink_to("/etc/passwd")
    if commit:
        git("add", "-A", root=repository)
        git("commit", "-q", "-m", "second", root=repository)
    with pytest.raises(archive.ArchiveError, match=message):
        archive.build(tmp_path / "out", repository)
    assert not (tmp_path / "out").exists()


# The descriptions that travel with the archive


def test_descriptions_name_the_same_papers_and_licence(root):
    citation = yaml.safe_load((root / "CITATION.cff").read_text())
    zenodo = json.loads((root / ".zenodo.json").read_text())
    check = yaml.safe_load((root / "codecheck.yml").read_text())
    papers = {item["doi"]: item["title"] for item in citation["references"] if "doi" in item}
    *first, last = papers
    assert len(first) == 2
    related = {item["identifier"]: item["relation"] for item in zenodo["related_identifiers"]}
    derived = [place for place, relation in related.items() if relation == "isDerivedFrom"]
    assert related.keys() == {*papers, *derived}
    assert check["paper"]["reference"] == f"https://doi.org/{last}"
    assert check["paper"]["reference-other"] == [f"https://doi.org/{doi}" for doi in first]
    assert check["paper"]["title"] == " ".join(papers[last].split())
    assert zenodo["license"] == citation["license"] == "MIT"
    assert zenodo["title"] == citation["title"]
    assert [c["name"] for c in zenodo["creators"]] == [a["name"] for a in citation["authors"]]
    (source,) = (item for item in citation["references"] if item["type"] == "data")
    assert derived == [f"{source['repository-code']}/tree/{source['commit']}"]
    assert (source["repository-code"], source["commit"]) == (REPOSITORY, COMMIT)


# made by a stage in a folder of its own, or typeset after the stages; `.ci/run` finds them all
IN_FOLDERS = {"report/published/index.html", "paper/published.pdf"}


def test_files_of_the_codecheck_are_in_git_or_made_by_stages(root, manifest):
    lock = yaml.safe_load((root / "dvc.lock").read_text())
    made = {out["path"] for stage in lock["stages"].values() for out in stage["outs"]}
    named = manifest.read_manifest(root)
    assert len(named) >= 6
    others = set(named) - made - IN_FOLDERS
    assert [name for name in others if not (root / name).is_file()] == []


@needs_git
def test_the_assets_are_what_the_manifest_names_beside_git(manifest, tmp_path, capsys):
    (tmp_path / "codecheck.yml").write_text("---\nmanifest: [{file: held.csv}, {file: made.pdf}]\n")
    (tmp_path / "held.csv").write_text("1\n")
    git("init", "-q", root=tmp_path)
    git("add", "-A", root=tmp_path)
    assert manifest.main(tmp_path) == 1
    assert "made.pdf" in capsys.readouterr().err
    (tmp_path / "made.pdf").write_text("%PDF")
    assert manifest.main(tmp_path) == 0
    assert capsys.readouterr().out == "made.pdf\n"
