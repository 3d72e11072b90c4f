"""What the image does with its command, with stand-ins for python, make and layerwise."""

import os
import re
import shutil
import stat
import subprocess

import pytest
import torch

STAND_IN = """#!/bin/sh
echo "$(basename "$0") $* in $(pwd -P) with $PYTHONPATH"
"""
MAKE = "make --old-file=setup --old-file=setup-models --old-file=setup-test --old-file=setup-dev"
BROKEN = "a GPU is there but torch cannot use it"
NO_GPU = "layerwise: no GPU is visible (with one: docker run --gpus all ...); reproduce and"


@pytest.fixture
def image(root, tmp_path):
    """A folder like the image's, an empty mounted one, and programs that say how they were run."""
    folder = tmp_path / "image"
    (folder / ".dvc").mkdir(parents=True)
    (folder / "code").mkdir()
    (folder / "code" / "module.py").write_text("x = 1\n")
    (folder / ".venv").mkdir()
    (folder / ".image").write_text("one\n")
    (folder / ".ci").mkdir()
    shutil.copy(root / ".ci" / "entrypoint.sh", folder / ".ci" / "entrypoint.sh")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("make", "layerwise"):
        program(programs / name, STAND_IN)
    gpu(tmp_path, 3, "torch 2, no device")
    (tmp_path / "work").mkdir()
    return tmp_path


def program(path, text):
    path.write_text(text)
    path.chmod(0o755)


def gpu(image, status, report):
    """A python that answers like the check of the GPU: 0 well, 3 none, else an error."""
    program(image / "programs" / "python", f"#!/bin/sh\necho '{report}'\nexit {status}\n")


def run(image, *arguments, **variables):
    work = image / "work"
    done = subprocess.run(
        ["bash", str(image / "image" / ".ci" / "entrypoint.sh"), *arguments],
        env={
            "PATH": f"{image / 'programs'}{os.pathsep}{os.environ['PATH']}",
            "LAYERWISE_IMAGE": str(image / "image"),
            "LAYERWISE_WORK": str(work),
            "HOME": str(work / "cache" / "home"),
            "HF_HOME": str(work / "cache" / "huggingface"),
            "MPLCONFIGDIR": str(work / "cache" / "matplotlib"),
            "DVC_SITE_CACHE_DIR": str(work / "cache" / "dvc-site"),
        }
        | variables,
        cwd=work,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def tree(image):
    return (image / "work" / "layerwise").resolve()


def test_the_default_is_what_the_machine_can_do(image):
    code, said, warned = run(image)
    assert (code, said) == (
        0,
        f"{MAKE} reproduce in {tree(image)} with {tree(image)}/code",
    )
    assert warned.startswith(NO_GPU)
    assert len(warned.splitlines()) == 1
    gpu(image, 0, "torch 2, NVIDIA X")
    code, said, warned = run(image)
    assert said.startswith(f"{MAKE} reproduce-full in")
    assert (code, warned) == (0, "layerwise: GPU: torch 2, NVIDIA X")
    gpu(image, 1, "RuntimeError: the driver is too old")
    code, said, warned = run(image)
    assert (code, said) == (2, "")
    assert warned.startswith(f"layerwise: {BROKEN} (RuntimeError: the driver is too old): the ")


def test_the_check_of_the_gpu_is_right_about_this_machine(image):
    """The real check, on the real torch: silent about nothing, and never a traceback."""
    (image / "programs" / "python").unlink()
    _, _, warned = run(image)
    expected = "layerwise: GPU: torch " if torch.cuda.is_available() else NO_GPU
    assert warned.startswith(expected)
    assert "Traceback" not in warned


def test_every_command_is_run_where_it_belongs(image, root):
    text = (root / ".ci" / "entrypoint.sh").read_text()
    (targets,) = re.findall(r"^ *(test \| .*)\)$", text, re.MULTILINE)
    rules = (root / "Makefile").read_text() + (root / ".ci/maintain.mk").read_text()
    for target in targets.split(" | "):
        assert f"\n{target}:" in rules
        assert run(image, target)[1].startswith(f"{MAKE} {target} in {tree(image)}")
    # paths of an analysis are those of the mounted folder
    code, said, _ = run(image, "analyze", "--pairs", "my pairs.json")
    work = (image / "work").resolve()
    assert said == f"layerwise analyze --pairs my pairs.json in {work} with {tree(image)}/code"
    assert run(image, "trace", "p1.x")[1].startswith(f"layerwise trace p1.x in {tree(image)} with")
    code, said, _ = run(image, "bash", "-c", "pwd -P; exit 7")
    assert (code, said) == (7, str(tree(image)))


def test_the_copy_is_made_once_and_kept(image):
    run(image, "help")
    assert not (tree(image) / ".venv").exists()
    settings = (tree(image) / ".dvc" / "config.local").read_text()
    assert f"dir = {image / 'work'}/cache/dvc" in settings
    module = tree(image) / "code" / "module.py"
    module.write_text("x = 2\n")  # the reader's own change
    assert run(image, "help")[0] == 0
    assert module.read_text() == "x = 2\n"
    (image / "image" / ".image").write_text("two\n")
    code, said, warned = run(image, "help")
    assert (code, said) == (2, "")
    assert f"{image / 'work'}/layerwise was made by another image: move it away" in warned
    assert module.read_text() == "x = 2\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_refused(image):
    (image / "work").chmod(stat.S_IRUSR | stat.S_IXUSR)
    code, _, warned = run(image, "help")
    assert code == 2
    assert f"is not writable for user {os.geteuid()}: run with --user" in warned
