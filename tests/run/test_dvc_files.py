"""A run is alone in its checkout, and a kill does not cost the record of what was made."""

import contextlib
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from layerwise.errors import LayerwiseError
from layerwise.files import locked, write_text
from layerwise.run.doctor import REPRODUCE
from layerwise.run.doctor.dvc_files import BEFORE, LOCK, RUN, look, protected, recorded, site_of
from layerwise.run.steps import run


@pytest.fixture
def text(root: Path) -> str:
    """Of a lock with two stages."""
    return (root / LOCK).read_text().partition("  judge@")[0]


@pytest.mark.parametrize("left", [0, 20, 300, -40])
@pytest.mark.parametrize("is_killed", [True, False])
def test_a_lock_that_was_cut_off_is_put_back(
    tmp_path: Path, text: str, left: int, is_killed: bool
) -> None:
    """By the interrupted run itself, or by the next one where it could not."""
    lock, copy = tmp_path / LOCK, tmp_path / BEFORE
    whole = text + text[text.index("  ") :].replace("  analyse@", "  last@")
    lock.write_text(whole)
    if is_killed:
        write_text(copy, whole)
        lock.write_text(whole[:left])
        assert REPRODUCE not in look(tmp_path).blocks
        with protected(tmp_path):
            assert lock.read_text() == whole
    else:
        with contextlib.suppress(KeyboardInterrupt), protected(tmp_path):
            lock.write_text(whole[:left])
            raise KeyboardInterrupt
    assert lock.read_text() == whole
    assert not copy.exists()


def test_what_a_killed_run_recorded_stays(tmp_path: Path, text: str) -> None:
    """DVC had written a whole file with one stage more: no stage is run again."""
    lock = tmp_path / LOCK
    more = text + text[text.index("  ") :].replace("  analyse@", "  last@")
    write_text(tmp_path / BEFORE, text)
    lock.write_text(more)
    with protected(tmp_path):
        pass
    assert lock.read_text() == more


@pytest.mark.parametrize("odd", ["", "stages: {", "schema: '2.0'\n", "[]", "stages: {a: {}}"])
def test_a_lock_that_nobody_cut_off_is_refused(tmp_path: Path, odd: str) -> None:
    (tmp_path / LOCK).write_text(odd)
    assert REPRODUCE in look(tmp_path).blocks
    with pytest.raises(LayerwiseError, match="git checkout"), protected(tmp_path):
        pass
    with pytest.raises(LayerwiseError, match=r"^x: .*git checkout dvc.lock"):
        recorded("x", odd)
    assert (tmp_path / LOCK).read_text() == odd


def test_two_runs_at_once_are_refused(tmp_path: Path) -> None:
    def begin() -> None:
        with protected(tmp_path):
            pass

    with locked(tmp_path / RUN), ThreadPoolExecutor(1) as other:
        assert "another run is under way" in str(other.submit(begin).exception())


def test_what_dvc_reads_again_is_its_owners_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site_of(tmp_path).mkdir()
    site_of(tmp_path).chmod(0o777)
    with protected(tmp_path):
        assert stat.S_IMODE(site_of(tmp_path).stat().st_mode) == 0o700
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", os.fspath(tmp_path / "other"))
    assert site_of(tmp_path) == tmp_path / "other"


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
