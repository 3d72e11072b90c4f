"""Where files are looked for: in a checkout, below it, outside, and in a package from a wheel."""

import json
import runpy
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from layerwise import errors
from layerwise.errors import EXTRAS, LayerwiseError, require_extra
from layerwise.home import MARKS, REPOSITORY, checkout, find_home, here, repository
from layerwise.papers.fetching.upstream import papers_folder
from layerwise.run.cli import main
from layerwise.run.rehearsal.scratch import DVC_CONFIG
from layerwise.run.steps import sentences


@pytest.mark.parametrize(
    ("below", "found"), [(".", "."), ("tests", ".."), ("code/layerwise", "../..")]
)
def test_a_checkout_is_found_from_any_folder_below_it(root, monkeypatch, capsys, below, found):
    monkeypatch.chdir(root / below)
    assert (checkout(), here(), papers_folder()) == (*[Path(found)] * 2, Path(found) / "data")
    assert main(["models", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["models"]


def test_elsewhere_it_is_what_belongs_to_the_code(root, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert checkout() is None
    assert here() == find_home() == root
    assert papers_folder().is_absolute()
    assert main(["models", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["models"]


def put(folder: Path) -> Path:
    for mark in MARKS:
        (folder / mark).parent.mkdir(parents=True, exist_ok=True)
        (folder / mark).write_text("")
    return folder


@pytest.mark.parametrize("lost", MARKS)
def test_a_repository_that_lacks_a_file_is_not_passed_over(tmp_path, monkeypatch, lost):
    """Until it was, a reader who asked in it was answered from the package."""
    for name in REPOSITORY:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    put(tmp_path)
    monkeypatch.chdir(tmp_path / "claims")
    assert (checkout(), repository()) == (Path(".."), Path(".."))
    (tmp_path / lost).unlink()
    said = rf"{tmp_path}: the repository must have all its files, there is no {lost}; restore them"
    with pytest.raises(LayerwiseError, match=said):
        here()
    assert repository() == Path("..")


@pytest.mark.parametrize("lost", REPOSITORY)
def test_a_project_of_somebody_elses_is_no_repository(tmp_path, monkeypatch, lost):
    for name in {*REPOSITORY, *MARKS} - {lost}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    assert checkout() is None


def test_of_a_wheel_the_package_brings_the_files(tmp_path):
    """Also where the package lies below a checkout, as in its .venv."""
    package = tmp_path / ".venv" / "site-packages" / "layerwise"
    put(tmp_path / ".venv")  # two above the package, as the repository is of an editable one
    assert find_home(package) == tmp_path / ".venv"
    put(package / "data")
    assert find_home(package) == package / "data"


def test_a_package_without_its_files_is_none(tmp_path):
    with pytest.raises(LayerwiseError, match=r"belong to the package, .* \(pip install \.\) or"):
        find_home(tmp_path / "code" / "layerwise")


# --- what a wheel brings ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hook(root):
    return SimpleNamespace(**runpy.run_path(str(root / ".ci" / "wheel_data.py")))


def included(hook, root, version="standard"):
    """What a build takes in; a build is one that hatchling would make."""
    data = {"force_include": {}}
    build = SimpleNamespace(root=str(root), config={"data": ["claims"]}, scratch=None)
    hook.WheelData.initialize(build, version, data)
    return data["force_include"], build


FILES = {  # what the judged claims follow from, and what they are
    "claims/paper1/paper.csv": "a ledger",
    "claims/more/paper2.yaml": "another",
    "models.yaml": "models",
    "code/a.py": "1",
    "params.yaml": "analyse: {seed: 1}\nmeasure: {seed: 2}\n",
    "results/published/claims.json": "{}",
}


@pytest.fixture(scope="module")
def as_recorded(tmp_path_factory):
    """A checkout whose dvc.lock DVC itself wrote."""
    tmp_path = tmp_path_factory.mktemp("recorded")
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    deps = ["claims", "models.yaml", "code/a.py"]
    analyse = {"cmd": "x", "deps": deps, "params": ["analyse"], "outs": ["results/published/s"]}
    judge = {
        "cmd": "x",
        "deps": ["results/published/s", *deps],
        "outs": ["results/published/claims.json"],
    }
    stages = {"analyse@published": analyse, "judge@published": judge}
    each = {
        name.partition("@")[0]: {"foreach": ["published"], "do": stage}
        for name, stage in stages.items()
    }
    (tmp_path / "results" / "published" / "s").mkdir()
    (tmp_path / "results" / "published" / "s" / "one.json").write_text("1")
    (tmp_path / "dvc.yaml").write_text(json.dumps({"stages": each}))
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc" / "config").write_text(DVC_CONFIG)
    command = [sys.executable, "-m", "dvc", "commit", "--force", "--quiet", *stages]
    subprocess.run(command, cwd=tmp_path, check=True)
    return tmp_path


@pytest.fixture
def recorded(as_recorded, tmp_path):
    """A copy of it that a test may change."""
    return Path(shutil.copytree(as_recorded, tmp_path / "recorded"))


def test_a_wheel_brings_the_judged_claims_that_are_recorded(hook, recorded):
    """Also where Python compiled what they follow from, and where the statistics are gone."""
    (recorded / "claims" / "__pycache__").mkdir()
    (recorded / "claims" / "__pycache__" / "a.pyc").touch()
    shutil.rmtree(recorded / "results" / "published" / "s")
    (recorded / "params.yaml").write_text("analyse: {seed: 1}\nmeasure: {seed: 3}\n")
    assert included(hook, recorded)[0] == {
        str(recorded / name): f"layerwise/data/{name}" for name in ("claims", hook.JUDGED)
    }
    assert included(hook, recorded, "editable")[0] == {}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("claims/paper1/paper.csv", "another"),
        ("claims/paper3/paper.csv", "one more"),
        ("code/a.py", None),
        ("params.yaml", "analyse: {seed: 3}\n"),
        ("results/published/claims.json", "others"),
        ("dvc.lock", "["),
        ("dvc.lock", None),
    ],
)
def test_what_does_not_follow_from_what_is_there_is_no_record(hook, recorded, name, text):
    """A ledger, a number or code that was changed since."""
    assert hook.is_recorded(recorded)
    (recorded / name).unlink(missing_ok=True)
    if text is not None:
        (recorded / name).parent.mkdir(parents=True, exist_ok=True)
        (recorded / name).write_text(text)
    assert not hook.is_recorded(recorded)


@pytest.mark.parametrize("there", [None, "{}"], ids=["none", "others"])
def test_a_wheel_of_a_fresh_clone_judges_them(hook, tmp_path, monkeypatch, there):
    """Also where they are others than those that dvc.lock records."""
    if there is not None:
        (tmp_path / hook.JUDGED).parent.mkdir(parents=True)
        (tmp_path / hook.JUDGED).write_text(there)
        (tmp_path / "dvc.lock").write_text("md5: 0\n")
    ran = []

    def run(command, **how):
        ran.append(command)
        Path(command[-1]).write_text("judged")
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(hook.subprocess, "run", run)
    files, build = included(hook, tmp_path)
    assert [command[2] for command in ran] == [
        "layerwise.run.steps.analyse",
        "layerwise.run.steps.judge",
    ]
    (judged,) = [Path(file) for file, place in files.items() if place.endswith(hook.JUDGED)]
    assert judged.read_text() == "judged"
    hook.WheelData.finalize(build, "standard", {}, "")
    assert not judged.exists()


def test_the_hook_says_what_it_needs_before_that_is_installed(root):
    """pip asks it first, where nothing is but what builds."""
    hidden = "import runpy, sys; sys.modules['yaml'] = None; runpy.run_path(sys.argv[1])"
    hook = root / ".ci" / "wheel_data.py"
    subprocess.run([sys.executable, "-c", hidden, hook], check=True)


# --- what the base install leaves out -----------------------------------------------------------


@pytest.mark.parametrize("extra", EXTRAS)
def test_a_missing_extra_is_named_with_what_installs_it(monkeypatch, extra):
    package = EXTRAS[extra][-1]
    monkeypatch.setattr(
        errors, "find_spec", lambda name: None if name == package else find_spec("json")
    )
    target = {"pipeline": "setup", "models": "setup-models"}[extra]
    said = f"needs the package {package}, which is not installed; run `make {target}` in a clone"
    with pytest.raises(LayerwiseError, match=said):
        require_extra(extra)


def test_what_a_verb_imports_late_is_named_too(capsys):
    with pytest.raises(SystemExit, match="2"), sentences("layerwise"):
        raise ModuleNotFoundError("No module named 'dvc.repo'", name="dvc.repo")
    assert "layerwise: this needs the package dvc, " in capsys.readouterr().err
    with pytest.raises(ModuleNotFoundError), sentences("layerwise"):  # a fault of ours
        raise ModuleNotFoundError("No module named 'layerwise.x'", name="layerwise.x")
