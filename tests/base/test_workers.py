"""Work done by other processes: the same results and errors, and nothing that outlives us."""

import importlib.util
import os
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import CancelledError
from pathlib import Path
from pickle import PicklingError

import psutil
import pytest

from layerwise import workers
from layerwise.errors import LayerwiseError
from layerwise.files import read_json


@pytest.mark.parametrize(("allowed", "expected"), [(1, 1), (3, 3), (None, 2)])
def test_the_cores_are_those_that_may_be_used(
    allowed: int | None, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a machine with two on which no system says which, as macOS; else as many as it says."""
    monkeypatch.setattr(psutil, "cpu_count", lambda logical=True: 2)
    if allowed is None:
        monkeypatch.delattr(psutil.Process, "cpu_affinity", raising=False)
        monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    else:
        cores = [*range(allowed)]
        monkeypatch.setattr(psutil.Process, "cpu_affinity", lambda self: cores, raising=False)
    assert workers.usable_cores() == expected


def test_a_process_starts_where_none_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_pools", {})
    monkeypatch.setattr(workers, "_processes", [])
    monkeypatch.setattr(workers, "usable_cores", lambda: 2)
    free = threading.Event()

    def wait() -> tuple[int]:
        free.wait()
        return (-1,)

    try:
        for _ in range(3):
            workers.submit(abs, lambda: (-1,)).result()
        assert len(workers._processes) == 1
        waiting = [workers.submit(abs, wait) for _ in range(3)]
        assert len(workers._processes) == 2
        free.set()
        assert [task.result() for task in waiting] == [1, 1, 1]
    finally:
        workers.end()


def test_more_processes_start_for_long_work_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_pools", {})
    monkeypatch.setattr(workers, "_processes", [])
    monkeypatch.setattr(workers, "usable_cores", lambda: 8)
    monkeypatch.setattr(workers, "_process", lambda modules=(): workers._processes.append(1))
    monkeypatch.setattr(workers, "_lead", lambda process, pool: None)
    for _ in range(8):
        workers.submit(abs, lambda: (-1,))
    assert len(workers._processes) == workers.MOST
    for _ in range(8):
        workers.submit(abs, lambda: (-1,), most=6)
    assert len(workers._processes) == 6
    workers._processes.clear()


def test_a_thread_hands_on_what_its_function_raises() -> None:
    assert workers.in_thread(lambda: 3).result() == 3
    with pytest.raises(ZeroDivisionError):
        workers.in_thread(lambda: 1 // 0).result()


def test_results_come_in_order_from_other_processes() -> None:
    given = [(n, 1) for n in range(20)]
    assert list(workers.results_in_order(divmod, given)) == [(n, 0) for n in range(20)]
    assert workers.submit(os.getpid, tuple).result() != os.getpid()


def test_an_error_is_raised_where_the_result_is_asked_for() -> None:
    """A broken rule stays one; the next task is done all the same."""
    with pytest.raises(LayerwiseError, match="no such file"):
        workers.submit(read_json, lambda: (Path("none.json"),)).result()
    with pytest.raises(ZeroDivisionError) as caught:
        next(workers.results_in_order(divmod, [(1, 0)]))
    assert "Traceback" in caught.value.__notes__[0]
    with pytest.raises(LayerwiseError, match="no such file"):
        workers.submit(len, lambda: (read_json(Path("none.json")),)).result()
    with pytest.raises((AttributeError, PicklingError)):  # a lambda does not travel
        workers.submit(lambda: 1, tuple).result()
    assert list(workers.results_in_order(abs, [(-n,) for n in range(9)])) == list(range(9))


def test_a_process_that_ends_is_said_and_replaced() -> None:
    for _ in range(workers.MOST + 1):
        with pytest.raises(workers.WorkerError, match=r"a process ended in abort .exit status -6"):
            workers.submit(os.abort, tuple).result()
    assert workers.submit(abs, lambda: (-1,)).result() == 1


def test_what_a_process_printed_is_told_when_it_ends() -> None:
    printing = "import os; print('first'); print('the last words', flush=True); os._exit(5)"
    with pytest.raises(workers.WorkerError, match=r"exit status 5, it printed the last words"):
        workers.submit(exec, lambda: (printing,)).result()


def test_no_file_of_the_current_folder_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a reader who has modules of the same names, with an entry of the path that means here."""
    for name in ("six", "token", "numpy", "layerwise"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep + os.environ.get("PYTHONPATH", ""))
    monkeypatch.setattr(workers, "_pools", {})
    monkeypatch.setattr(workers, "_processes", [])
    try:
        for name in ("six", "token", "numpy"):
            found = workers.submit(importlib.util.find_spec, lambda name=name: (name,)).result()
            assert Path(found.origin).parent != tmp_path
        assert workers.submit(abs, lambda: (-1,)).result() == 1
    finally:
        workers.end()


def test_what_was_not_begun_is_dropped() -> None:
    made: list[int] = []
    free = threading.Event()

    def wait() -> tuple[int]:
        free.wait()
        return (1,)

    busy = [workers.submit(abs, wait) for _ in range(workers.MOST)]

    def argument() -> tuple[int]:
        made.append(1)
        return (2,)

    with pytest.raises(KeyboardInterrupt), workers.dropped([late := workers.submit(abs, argument)]):
        raise KeyboardInterrupt
    free.set()
    assert [task.result() for task in busy] == [1] * workers.MOST
    with pytest.raises(CancelledError):
        late.result()
    assert not made


@pytest.mark.parametrize("end", ["os._exit(3)", "sys.exit(3)", "os.kill(os.getpid(), 9)"])
def test_processes_end_with_a_script_that_has_no_guard(tmp_path: Path, end: str) -> None:
    """It runs once, and whatever ends it ends them."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import os, sys
            from layerwise import workers
            print(workers.submit(os.getpid, tuple).result(), *(p.pid for p in workers._processes))
            sys.stdout.flush()
            {end}
            """
        )
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode in (3, -9), done.stderr
    first, *pids = map(int, done.stdout.split())
    assert first in pids
    patience = time.monotonic() + 30
    while any(map(psutil.pid_exists, pids)) and time.monotonic() < patience:
        time.sleep(0.05)
    assert not any(map(psutil.pid_exists, pids))
