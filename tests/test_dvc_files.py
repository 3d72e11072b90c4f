"""What a kill leaves of DVC's files is mended or named, and nothing that is newer is lost."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from layerwise.doctor import FULL, REPRODUCE, TARGETS, dvc_files
from layerwise.doctor.dvc_files import BEFORE, LOCK, RWLOCK, look, protected, running, site_of
from layerwise.errors import LayerwiseError
from layerwise.files import write_text
from layerwise.rehearsal import scratch
from layerwise.steps import run


@pytest.fixture
def text(root: Path) -> str:
    """Of a lock with two stages."""
    return (root / LOCK).read_text().partition("  judge@")[0]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pipeline of one stage, which sleeps until it is told to end."""
    write_text(tmp_path / ".dvc" / "config", scratch.DVC_CONFIG)
    stage = {"cmd": "while [ ! -e end ]; do sleep 0.05; done; echo 1 > out", "outs": ["out"]}
    (tmp_path / "dvc.yaml").write_text(json.dumps({"stages": {"a": stage, "b": {
        "cmd": "cp out copy", "deps": ["out"], "outs": ["copy"]}}}))  # fmt: skip
    (tmp_path / ".dvc" / "tmp").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def repro() -> None:
    run._repro(["b"], {"a": "it waits", "b": "it copies"}, [])


# --- dvc.lock -----------------------------------------------------------------------------------


def test_a_lock_that_a_kill_cut_off_is_put_back(tmp_path, text):
    """Cut anywhere: in the middle of the run, or found so at the next start after a SIGKILL."""
    lock, copy = tmp_path / LOCK, tmp_path / BEFORE
    with protected(tmp_path):  # nothing is recorded yet
        lock.write_text(text)
    assert not copy.exists()

    def interrupted(length):
        lock.write_text(text[:length])
        raise KeyboardInterrupt

    for length in (0, 9, *range(len(text) - 60, len(text))):
        with pytest.raises(KeyboardInterrupt), protected(tmp_path):
            interrupted(length)
        assert (length, lock.read_text() == text, copy.exists()) == (length, True, False)
    copy.write_text(text)
    lock.write_text(text[:500])
    assert look(tmp_path).blocks == ()
    assert f"{BEFORE} has what it was before" in look(tmp_path).found
    with protected(tmp_path):
        assert lock.read_text() == text
        lock.write_text(re.sub(r"size: \d+", "size: 1", text, count=1))
    assert lock.read_text() != text  # what a run that ended recorded stays
    lock.write_text(text[:-5])
    assert look(tmp_path).blocks == TARGETS
    with (
        pytest.raises(LayerwiseError, match="ends too early, a run was killed; take the committed"),
        protected(tmp_path),
    ):
        pass


def stages(*names: str) -> str:
    """A whole lock."""
    rows = [f"  {name}:\n    outs:\n    - {{path: {name}.txt, md5: a, size: 1}}" for name in names]
    return "\n".join(["schema: '2.0'", "stages:", *rows, ""])


@pytest.mark.parametrize(
    ("copy", "lock"),
    [
        (stages("a", "b"), stages("a", "b", "c")),  # a stage more is recorded
        (stages("a", "b"), stages("a", "c")),  # the commit that was pulled has other stages
        (stages("a", "b"), stages("b")),
        (b"\xff\xfe" + stages("a", "b").encode("utf-16-le"), stages("a")),
        (b"\0\xff", stages("a")),
        ("[1, 2]\n", stages("a")),
        ("", stages("a")),
    ],
)
def test_an_older_copy_never_takes_the_place_of_a_newer_lock(tmp_path, copy, lock, capfd):
    """Neither at the next start, nor if that run is killed."""
    (tmp_path / BEFORE).parent.mkdir(parents=True)
    (tmp_path / BEFORE).write_bytes(copy if isinstance(copy, bytes) else copy.encode())
    (tmp_path / LOCK).write_text(lock)
    assert f"{BEFORE} was left by a run that was killed" in look(tmp_path).found

    def killed():
        assert (tmp_path / LOCK).read_text() == lock
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), protected(tmp_path):
        killed()
    assert (tmp_path / LOCK).read_text() == lock
    assert not (tmp_path / BEFORE).exists()
    assert "put back" not in capfd.readouterr().err


def test_what_is_committed_is_whole(tmp_path, capfd):
    """A commit that took the last stages out looks like a file that was cut."""
    short, long = stages("a"), stages("a", "b")
    (tmp_path / BEFORE).parent.mkdir(parents=True)
    (tmp_path / LOCK).write_text(short)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", str(LOCK)], ["commit", "-qm", "one"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    for text, expected in ((short, short), (short + "# changed\n", long)):
        (tmp_path / BEFORE).write_text(long)
        (tmp_path / LOCK).write_text(text)
        with protected(tmp_path):
            assert (tmp_path / LOCK).read_text() == expected
    assert capfd.readouterr().err.count("put back") == 1


def test_what_git_does_not_hold_was_not_committed(tmp_path, capfd):
    """Cut just behind a stage in a repository that never had the file."""
    (tmp_path / BEFORE).parent.mkdir(parents=True)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    (tmp_path / BEFORE).write_text(stages("a", "b"))
    (tmp_path / LOCK).write_text(stages("a"))
    with protected(tmp_path):
        assert (tmp_path / LOCK).read_text() == stages("a", "b")
    assert "put back" in capfd.readouterr().err


# --- what DVC pickles ---------------------------------------------------------------------------


def test_what_dvc_reads_again_is_its_owners_alone(here, monkeypatch):
    """DVC itself makes the folder one that everybody may write, but leaves one that is there."""
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(here / ".dvc-site"))
    (here / "end").touch()
    with protected(here):
        repro()
    assert site_of(here).stat().st_mode & 0o777 == 0o700
    assert any(site_of(here).iterdir())
    site_of(here).chmod(0o777)
    finding = look(here)
    assert "can be written by others, whose pickles DVC would read" in finding.found
    assert finding.blocks == ()
    with protected(here):
        assert look(here).fix == "" or "others" not in look(here).found


# --- rwlock -------------------------------------------------------------------------------------


@pytest.mark.parametrize("left", [b"", b'{"read": {"/a": [{"pid"', b"\xff", b"[]", b'{"x": 1}'])
def test_an_rwlock_that_dvc_cannot_read_is_removed_and_said(here, left, capfd):
    """DVC itself stops at it, for ever; its reason is shown."""
    (here / "end").touch()
    (here / RWLOCK).write_bytes(left)
    if left != b"\xff":  # of which DVC makes a traceback
        with pytest.raises(
            LayerwiseError, match=r"^stage a failed; DVC says: .*RWLock-file.*; mend"
        ):
            repro()
    assert f"{RWLOCK} was cut off by a kill, DVC stops at it" in look(here).found
    with protected(here):
        repro()
    assert "rwlock was cut off by a kill, and no DVC is at work here" in capfd.readouterr().err
    assert (here / "copy").exists()
    assert look(here).fix == ""


def test_an_rwlock_of_a_run_that_was_killed_is_left_to_dvc(here):
    """Its own entries it drops by itself."""
    (here / "end").touch()
    gone = subprocess.Popen(["true"])
    gone.wait()
    entry = {"pid": gone.pid, "cmd": "dvc repro"}
    (here / RWLOCK).write_text(json.dumps({"write": {str(here / "out"): entry}, "read": {}}))
    with protected(here):
        assert (here / RWLOCK).exists()
        repro()
    assert (here / "copy").exists()


@pytest.fixture
def at_work(here):
    """DVC in another process, in the middle of its stage."""
    command = [sys.executable, "-m", "dvc", "repro", "a"]
    process = subprocess.Popen(command, cwd=here, start_new_session=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    while not (here / RWLOCK).is_file() or "out" not in (here / RWLOCK).read_text():
        assert process.poll() is None
        time.sleep(0.05)
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def test_another_dvc_is_named_and_its_files_stay(here, at_work):
    """It goes on unharmed."""
    under_way = rf"another run is under way in this folder \(PID {at_work.pid}: .*dvc.* repro a\)"
    with pytest.raises(LayerwiseError, match=rf"^stage a failed; {under_way}; wait until it has "):
        repro()
    finding = look(here)
    assert re.match(under_way, finding.found)
    assert finding.blocks == (REPRODUCE, FULL)
    held = (here / RWLOCK).read_text()
    (here / RWLOCK).write_text("")  # a third one was killed
    with protected(here):
        assert (here / RWLOCK).read_text() == ""
    (here / RWLOCK).write_text(held)
    (here / "end").touch()
    assert at_work.wait(60) == 0
    assert running(here) == []


def test_two_runs_at_once_refused(here):
    """The second says whose the first is, and leaves its copy of the lock alone."""
    code = (
        "import pathlib, time; from layerwise.doctor.dvc_files import protected\n"
        "with protected(pathlib.Path()): print('at it', flush=True); time.sleep(60)"
    )
    (here / LOCK).write_text(stages("a"))
    command = [sys.executable, "-c", code, "layerwise.steps.run"]
    with subprocess.Popen(command, cwd=here, stdout=subprocess.PIPE) as first:
        first.stdout.readline()
        with (
            pytest.raises(LayerwiseError, match=rf"^another run is under way .*PID {first.pid}: "),
            protected(here),
        ):
            pass
        assert (here / BEFORE).read_text() == stages("a")
        first.kill()
    with protected(here):
        assert dvc_files.running(here) == []
    assert not (here / BEFORE).exists()


def test_every_failure_that_dvc_tells_has_its_reason():
    """As it words them, in both of its ways to go on."""
    lines = """Running stage 'a':
> python a.py
WARNING: words of the stage
WARNING: failed to run: python a.py, exited with 1
WARNING: Stages 'b' and 'c' will be skipped due to this failure
WARNING: Unable to read it
 whole
WARNING: Stage 'd' will be skipped due to this failure
ERROR: failed to reproduce stages: 'a', 'e' and 'f@g'
ERROR: failed to reproduce 'h': output 'x' is missing: twice
"""
    failed, reasons = run._follow(lines.splitlines(keepends=True)[:-1], {}, [])
    assert failed == ["a", "e", "f@g"]
    assert reasons == ["Unable to read it\n whole\n"]
    failed, reasons = run._follow(lines.splitlines(keepends=True)[-1:], {}, [])
    assert (failed, reasons) == (["h"], ["output 'x' is missing: twice"])
