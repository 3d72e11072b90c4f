"""What a kill leaves of DVC's files is mended or named, and nothing that is newer is lost."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from layerwise.doctor import FULL, REPRODUCE, TEST, dvc_files
from layerwise.doctor.dvc_files import BEFORE, LOCK, RWLOCK, look, protected, running, site_of
from layerwise.errors import LayerwiseError
from layerwise.files import write_text
from layerwise.rehearsal import scratch
from layerwise.steps import run
from processes import program


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
    assert look(tmp_path).blocks == (REPRODUCE, TEST, FULL)
    with (
        pytest.raises(
            LayerwiseError, match="not as DVC writes it, as where a run was killed; take the comm"
        ),
        protected(tmp_path),
    ):
        pass


MD5 = "a" * 32


def stages(*names: str) -> str:
    """A whole lock."""
    rows = [
        f"  {name}:\n    cmd: x\n    outs:\n    - {{path: {name}.txt, md5: {MD5}, size: 1}}"
        for name in names
    ]
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


@pytest.mark.parametrize(
    "odd",
    [
        "[]",
        "7",
        "{}",
        "stages: []",
        "stages: {a: 7}",
        "stages: {a: {cmd: x, outs: []}}",
        "[" * 10**5,
        "&a [*a]",
        "stages: {a: {cmd: x, deps: []}}",
        "stages: {a: {cmd: x, outs: [{path: b}]}}",
        "!!int ''",
        "<<<<<<< ours",
        "!!timestamp x",
        "\0",
    ],
)
def test_a_lock_of_any_content_is_said_to_be_none(tmp_path, odd):
    """Whoever wrote it; a run does not begin."""
    odd = f"schema: '2.0'\n{odd}\n" if odd.startswith("stages") else f"{odd}\n"
    (tmp_path / LOCK).write_text(odd)
    assert look(tmp_path).found == f"{LOCK}: {dvc_files.ODD}"
    with pytest.raises(LayerwiseError, match=r"dvc\.lock: .*; take the committed one"):
        dvc_files.recorded("dvc.lock", odd)
    with pytest.raises(LayerwiseError, match="not as DVC writes it"), protected(tmp_path):
        pass


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


@pytest.mark.parametrize("given", [None, ""])
def test_without_a_name_it_is_the_folder_that_dvc_itself_takes(here, monkeypatch, given):
    """A variable that is empty names none: the checkout itself stays as open as it was."""
    (here / ".dvc" / "config").write_text(f"{scratch.DVC_CONFIG}    site_cache_dir = .dvc-site\n")
    monkeypatch.delenv("DVC_SITE_CACHE_DIR", raising=False)
    if given is not None:
        monkeypatch.setenv("DVC_SITE_CACHE_DIR", given)
    here.chmod(0o755)
    (here / "end").touch()
    with protected(here):
        repro()
    assert here.stat().st_mode & 0o777 == 0o755
    assert site_of(here) == here / ".dvc-site"
    assert any(site_of(here).iterdir())


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
    assert f"{RWLOCK} is not as DVC writes it" in look(here).found
    with protected(here):
        repro()
    assert "a run was killed, and no DVC is at work here" in capfd.readouterr().err
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


NAMES = ("dvc", "layerwise.steps.run")
SCRIPT, MODULE = Path(sys.executable).with_name("dvc"), (sys.executable, "-m", "dvc")
SLEEP = "import time; time.sleep(600)"


@pytest.mark.parametrize(
    ("command", "folder", "is_at_work"),
    [
        (MODULE, ".", True),
        (MODULE, "below", True),
        (MODULE, "below/another", False),
        (MODULE, "../beside", False),
        ((sys.executable, "-W", "default", "-X", "dev", "-m", "dvc"), ".", True),
        ((sys.executable, SCRIPT), ".", True),
        ((SCRIPT,), ".", True),
        ((sys.executable, "-c", SLEEP, "dvc", "repro"), ".", None),
        ((sys.executable, "-c", SLEEP, "-m", "dvc"), ".", None),
        ((sys.executable, "wait.py", "dvc"), ".", None),
        (("tail", "-f", "dvc"), ".", None),
        (("tail", "-f", "-n", "1", "layerwise.steps.run"), ".", None),
        (("sh", "-c", "sleep 600; true", "dvc"), ".", None),
    ],
)
def test_only_what_writes_the_files_of_this_checkout_is_at_work_in_it(
    tmp_path, here, command, folder, is_at_work
):
    """Real programs: DVC in the middle of a stage, and what has no more than its name."""
    checkout = tmp_path / "checkout"
    place = checkout / folder
    for one in (checkout, place):
        one.mkdir(parents=True, exist_ok=True)
    for one in {checkout, checkout if folder == "below" else place}:
        shutil.copytree(here / ".dvc", one / ".dvc")
        shutil.copy(here / "dvc.yaml", one)
    for name in NAMES:
        (place / name).touch()
    (place / "wait.py").write_text(SLEEP)
    words = [*map(str, command)]
    if is_at_work is not None:
        words += ["repro", f"{'../' * (folder == 'below')}dvc.yaml:a"]
    with program(words, place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        if is_at_work is None:
            until(lambda: psutil.Process(process.pid).cmdline()[1:] == words[1:], process)
        else:
            until(lambda: children(process), process)
        found = [one.split()[1] for one in running(checkout)]
        for child in children(process):
            child.kill()
    assert found == ([f"{process.pid}:"] if is_at_work else [])


def children(process: subprocess.Popen) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def until(holds, process) -> None:
    """Wait for it, while a program runs."""
    while not holds():
        assert process.poll() is None
        time.sleep(0.05)


def test_two_runs_at_once_refused(here):
    """The second says whose the first is, and leaves its copy of the lock alone."""
    (here / LOCK).write_text(stages("a"))
    name = "page@published"
    stage = json.loads((here / "dvc.yaml").read_text())["stages"]["a"]
    both = {"page": stage, "paper": stage | {"outs": ["paper"], "cmd": "echo > paper"}}
    each = {name: {"foreach": ["published"], "do": of} for name, of in both.items()}
    (here / "dvc.yaml").write_text(json.dumps({"stages": each}))
    command = [sys.executable, "-m", "layerwise.steps.run", "published"]
    with program(command, here, stdout=subprocess.PIPE, text=True) as first:
        while name not in first.stdout.readline():
            assert first.poll() is None
        with (
            pytest.raises(LayerwiseError, match=rf"^another run is under way .*PID {first.pid}: "),
            protected(here),
        ):
            pass
        assert (here / BEFORE).read_text() == stages("a")
        for one in (*children(first), psutil.Process(first.pid)):
            one.kill()
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
