"""requirements/setup.sh with a stand-in for Python: which locks it installs, and when."""

import os
import re
import shutil
import subprocess
import sys

import pytest

# makes a .venv with itself as its python, notes the locks, fails where it is told to
PYTHON = """#!/bin/bash
case "$*" in
    *"-m venv"*) mkdir -p .venv/bin; touch .venv/pyvenv.cfg; cp "$0" .venv/bin/python ;;
    *--dry-run*) [ ! -e no-cpu-build ] ;;
    *"install"*"-r requirements/"*) echo "${@: -1}" >>calls; [ ! -e broken ] ;;
    *"install"*"-e ."*) echo "-e ." >>calls ;;
    *version_info*) echo 3.11 ;;
    --version) echo Python 3.11.0 ;;
esac
"""


@pytest.fixture
def tree(root, tmp_path):
    """A checkout with locks of one line, and programs of its own."""
    folder = tmp_path / "tree"
    (folder / "requirements").mkdir(parents=True)
    shutil.copy(root / "requirements" / "setup.sh", folder / "requirements")
    for lock in (root / "requirements").glob("*.lock"):
        (folder / "requirements" / lock.name).write_text("pip==1\n")
    (folder / "pyproject.toml").write_text("")
    (tmp_path / "python3.11").write_text(PYTHON)
    (tmp_path / "python3.11").chmod(0o755)
    return folder


# What GNU's programs alone know, or a bash newer than 3.2: macOS has neither.
GNU = (
    r"\b(nproc|timeout|mapfile|readarray|realpath|tac|md5sum|sha256sum|flock)\b",
    r"\bsed\b.* -i",
    r"\bsed\b.*[a-z]\}",  # BSD's wants a ; before the brace
    r"\bsed\b.*s(.).*\1.*\\[tn].*\1",
    r"\b(readlink -f|stat -c|mv -T|cp --|date -d|grep -P|xargs -r)",
    r"\$\{\w+(,,|\^\^|@)",
    r"declare -A|\|&|&>>",
)


@pytest.mark.parametrize("name", ["Makefile", ".ci/maintain.mk", "requirements/setup.sh"])
def test_what_a_reader_runs_first_asks_for_nothing_of_gnu(root, name):
    lines = (root / name).read_text().splitlines()
    assert [line for line in lines if any(re.search(pattern, line) for pattern in GNU)] == []


def set_up(tree, *layers, **variables):
    """Exit code, the locks that were installed, what was said on stderr."""
    (tree / "calls").unlink(missing_ok=True)
    done = subprocess.run(
        ["bash", str(tree / "requirements" / "setup.sh"), *layers],
        env={"PATH": f"{tree.parent}{os.pathsep}/usr/bin:/bin"} | variables,
        capture_output=True,
        text=True,
    )
    calls = (tree / "calls").read_text().splitlines() if (tree / "calls").exists() else []
    locks = [re.sub(r"requirements/(.*)\.lock", r"\1", call) for call in calls]
    return done.returncode, " ".join(locks), done.stderr + done.stdout


def test_layers_are_added_and_installed_once(tree):
    assert set_up(tree)[:2] == (0, "pipeline -e .")
    assert set_up(tree)[:2] == (0, "")
    assert set_up(tree, "models")[:2] == (0, "cpu -e .")
    assert set_up(tree, "models", "dev")[:2] == (0, "dev -e .")
    for layers in ((), ("models",), ("dev", "models")):
        assert set_up(tree, *layers)[:2] == (0, "")
    (tree / "requirements" / "dev.lock").write_text("pip==2\n")  # all that is there, once more
    assert set_up(tree)[:2] == (0, "pipeline dev cpu -e .")


def test_another_build_of_torch_is_asked_for_by_name(tree):
    assert set_up(tree, "models")[:2] == (0, "pipeline cpu -e .")
    assert set_up(tree, "models", TORCH="cpu")[:2] == (0, "")
    assert set_up(tree, TORCH="cuda12")[:2] == (0, "cuda12 -e .")
    assert set_up(tree, "models")[:2] == (0, "")
    code, locks, said = set_up(tree, TORCH="metal")
    assert (code, locks) == (2, "")
    assert "TORCH must be cpu, cuda or cuda12, found 'metal'" in said


@pytest.mark.parametrize(
    ("driver", "locks"),
    [
        ("580.65.06", "pipeline cuda -e ."),
        ("550.54.15\n550.54.15", "pipeline cuda12 -e ."),  # a line for each GPU
        ("525.60.13", "pipeline cuda12 -e ."),
        ("[N/A]", "pipeline cuda -e ."),
        ("470.82.01", ""),
    ],
)
def test_the_build_of_torch_fits_the_driver(tree, driver, locks):
    """Before it is fetched; a build that is asked for by name is taken."""
    smi = tree.parent / "nvidia-smi"
    asked = '[ "$*" = "--query-gpu=driver_version --format=csv,noheader" ]'
    smi.write_text(f"#!/bin/sh\n{asked} && echo '{driver}'\n")
    smi.chmod(0o755)
    code, installed, said = set_up(tree, "models")
    assert (code, installed) == (0 if locks else 2, locks)
    assert locks or re.search("must be 525 or newer, found 470;", said)
    assert set_up(tree, "models", TORCH="cpu")[0] == 0


def test_without_the_cpu_build_it_says_what_is_taken(tree):
    (tree / "no-cpu-build").touch()
    code, locks, said = set_up(tree, "models")
    assert (code, locks) == (0, "pipeline cuda -e .")
    assert "the CPU build of torch is not in reach for Python 3.11.0; the CUDA build is" in said


@pytest.mark.parametrize("before", [(), ("models",)])
def test_what_was_cut_short_is_done_from_the_start(tree, before):
    if before:
        set_up(tree)
    (tree / "broken").touch()
    assert set_up(tree, *before)[0] == 1
    (tree / "broken").unlink()
    code, locks, said = set_up(tree, *before)
    assert (code, locks) == (0, "pipeline cpu -e ." if before else "pipeline -e .")
    assert ".venv is not whole, or was moved: making it anew" in said


def test_a_moved_folder_is_set_up_again(tree):
    set_up(tree, "models", "dev")
    moved = tree.rename(tree.with_name("elsewhere"))
    assert set_up(moved)[:2] == (0, "pipeline dev cpu -e .")


def test_a_clone_by_another_spelling_of_its_path_is_the_same_clone(tree):
    """As below a home that is a link."""
    set_up(tree, "models")
    link = tree.with_name("link")
    link.symlink_to(tree)
    assert set_up(link, "models")[:2] == (0, "")
    shutil.rmtree(tree / ".venv")
    assert set_up(link, "models")[0] == 0
    assert set_up(tree, "models")[:2] == (0, "")


def test_the_python_that_is_found_is_none_of_a_venv_that_goes(tree):
    """Whether PATH leads to it or it is named; nothing is gone where there is no other."""
    set_up(tree)
    moved = tree.rename(tree.with_name("elsewhere"))
    inside, own = moved / ".venv" / "bin", "python-of-the-test"  # that no machine has
    shutil.copy(inside / "python", inside / own)
    first = {"PATH": f"{inside}:{tree.parent}:/usr/bin:/bin"}
    for named in (own, str(inside / own)):
        code, locks, said = set_up(moved, **first, PYTHON=named)
        assert (code, locks) == (2, ""), said
        assert "Python 3.11 or newer is needed" in said
        assert (inside / own).is_file()
    shutil.copy(inside / own, tree.parent)
    assert set_up(moved, **first, PYTHON=own)[:2] == (0, "pipeline -e .")
    assert not (inside / own).exists()
    assert [path.name for path in moved.glob(".venv*")] == [".venv"]


def test_one_set_up_at_a_time(tree):
    """Whatever a killed one left; and what another one makes stays."""
    set_up(tree)
    (lock := tree / ".venv.lock").symlink_to(str(os.getpid()))
    code, locks, said = set_up(tree, "models")
    assert (code, locks) == (2, "")
    assert f"process {os.getpid()} is at it" in said
    assert lock.is_symlink()
    lock.unlink()
    ended = subprocess.Popen(["true"])
    ended.wait()
    lock.symlink_to(str(ended.pid))
    assert set_up(tree, "models")[:2] == (0, "cpu -e .")
    assert not lock.is_symlink()


def test_what_is_not_ours_is_left_alone(tree):
    assert "a layer must be pipeline, models, dev or docs, found 'x'" in set_up(tree, "x")[2]
    (tree / ".venv").mkdir()
    code, locks, said = set_up(tree)
    assert (code, locks) == (2, "")
    assert ".venv is no virtual environment; move it away" in said


HIDES_TORCH = """import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name=name)
sys.meta_path.insert(0, Hidden())
"""


def test_plain_pytest_without_torch_skips_what_imports_it(root, tmp_path):
    """A file that imports it on top, and a test that does."""
    (tmp_path / "hides_torch.py").write_text(HIDES_TORCH)
    files = ("base/test_faults.py", "statistics/test_profiles.py", "run/test_rehearsal.py")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", "-p", "hides_torch", "-p", "no:cacheprovider"]
        + [str(root / "tests" / name) for name in files],
        cwd=root,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(root / "code")])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"passed, \d+ skipped", done.stdout), done.stdout
