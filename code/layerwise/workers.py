"""Work that other processes do meanwhile: a function of this package on its arguments, a core each.

Why not `ProcessPoolExecutor`: who calls `layerwise.analyze` is a reader's script or notebook.

- A spawned process begins by running that script once more, which without `if __name__ ==
  "__main__"` ends in an error; a forked one has torch's threads and the GPU's context half alive.
- One process that the system ends for want of memory breaks that whole pool; here its task alone
  fails, and another process takes its place.
- There arguments wait in the queue; here they are made when a process is free, so of a large
  model's matrices one for each process is in memory at a time.

Why not threads: most of the work is Python (statistics, figures), which they do one at a time.

The processes are `python -P -m layerwise.workers FD`, started when work comes that none is free
for, and kept for the next; they end with the process that started them. They write nothing: what a
killed run leaves behind is one process's alone. With -P no file of the current folder, which is the
reader's, stands before a module that they import; what they print is told where one of them ends.
"""

import atexit
import contextlib
import gc
import os
import queue
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any, TypeVar

import psutil

MOST = 4  # processes, where the work is short; singular values of large matrices take every core
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
HERE = Path(__file__).parent.parent  # where the package is, for a process that knows it not
PATIENCE = 10  # seconds for a process to end that has closed its connection
Task = tuple[Future[Any], Callable[..., Any], Callable[[], tuple[Any, ...]]]
T = TypeVar("T")

_pools: dict[int, "_Pool"] = {}  # by id of the process: a fork has none of its parent's threads
_processes: list[subprocess.Popen[bytes]] = []


class WorkerError(RuntimeError):
    """Another process ended, or what it raised cannot be told but in words."""


def usable_cores() -> int:
    """Return how many cores this process may use; on macOS, which cannot say, all of them."""
    if hasattr(psutil.Process, "cpu_affinity"):
        return len(psutil.Process().cpu_affinity())
    return psutil.cpu_count() or 1


def submit(
    function: Callable[..., T], arguments: Callable[[], tuple[Any, ...]], *, most: int = MOST
) -> Future[T]:
    """Have `function(*arguments())` computed; the arguments are made when a process is free.

    There may be `most` processes for it.

    Function, arguments and result are such as `pickle` takes; a thread sends them, so what the
    caller goes on to change, or to read with a cache that fills, is given as a copy. What the
    function raises is the future's, with a note of where; what `pickle` does not take is a
    `WorkerError` that says it.
    """
    future: Future[T] = Future()
    _Pool.of_this_process().take((future, function, arguments), most)
    return future


def in_thread(function: Callable[[], T]) -> Future[T]:
    """Have a function that waits for other processes run meanwhile; it ends with this process."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def results_in_order(
    function: Callable[..., T], arguments: Iterable[tuple[Any, ...]]
) -> Iterator[T]:
    """Yield the results in order; what was not begun is dropped with the iterator."""
    futures = [submit(function, partial(tuple, given)) for given in arguments]
    with dropped(futures):
        yield from (future.result() for future in futures)


@contextlib.contextmanager
def dropped(futures: Iterable[Future[Any]]) -> Iterator[None]:
    """After the block, whatever happens in it, none of these is begun any more."""
    try:
        yield
    finally:
        for future in futures:
            future.cancel()


def start(*modules: str) -> None:
    """Start all processes, unless they run; they import these modules while others compute."""
    _Pool.of_this_process().grow(MOST, modules)


class _Pool:
    """The processes of this process, a thread for each, and what they are to do."""

    def __init__(self) -> None:
        self.tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()
        self.size = 0
        self.unfinished = 0
        self.changing = threading.Lock()

    @staticmethod
    def of_this_process() -> "_Pool":
        return _pools.setdefault(os.getpid(), _Pool())

    def take(self, task: Task, most: int) -> None:
        """Have a task done, by a process of its own as far as there are cores."""
        with self.changing:
            self.unfinished += 1
        self.grow(min(self.unfinished, most))
        self.tasks.put(task)

    def finish(self) -> None:
        """Count a task as done, before its result can be asked for."""
        with self.changing:
            self.unfinished -= 1

    def grow(self, wanted: int, modules: Iterable[str] = ()) -> None:
        """Start processes until so many run, or one for each core."""
        with self.changing:
            while self.size < min(wanted, usable_cores()):
                self.size += 1
                leader = threading.Thread(target=_lead, args=(_process(modules), self), daemon=True)
                leader.start()


@dataclass(frozen=True)
class _Worker:
    """Another process, the connection to it, and the file of what it prints."""

    process: subprocess.Popen[bytes]
    connection: Connection
    printed: IO[bytes]

    def last_words(self) -> str:
        """Return how a process ended, and the last line that it printed."""
        self.connection.close()
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self.printed.seek(0)
        lines = self.printed.read().decode(errors="replace").split("\n")
        self.printed.close()
        said = next((line.strip() for line in reversed(lines) if line.strip()), "nothing")
        return f"exit status {status}, it printed {said:.300}"


def _process(modules: Iterable[str] = ()) -> _Worker:
    """Start a process."""
    ours, theirs = Pipe()
    # an empty entry is the current folder
    path = [str(HERE), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    printed = tempfile.TemporaryFile()  # noqa: SIM115
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "layerwise.workers", str(theirs.fileno()), *modules],
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=printed,
        stderr=printed,
        env=os.environ | ONE_THREAD | {"PYTHONPATH": os.pathsep.join(path)},
        start_new_session=True,  # Ctrl-C is for the parent, with which this ends
    )
    _processes.append(process)
    theirs.close()
    return _Worker(process, ours, printed)


def _lead(worker: _Worker, pool: _Pool) -> None:
    """Give a process its tasks one by one, in a thread; one that has ended is replaced."""
    while True:
        future, function, arguments = pool.tasks.get()
        if not future.set_running_or_notify_cancel():
            pool.finish()
            continue
        result, failed = None, None
        try:
            values = arguments()
        except BaseException as error:
            failed = error
        else:
            try:
                worker.connection.send((function, values))
                result, failed = worker.connection.recv()
            except (EOFError, OSError):
                name, words = function.__qualname__, worker.last_words()
                failed = WorkerError(f"a process ended in {name} ({words}); is memory short?")
                worker = _process()
            except Exception as error:  # what came is whole, and cannot be read
                failed = error
        pool.finish()
        if failed is None:
            future.set_result(result)
        else:
            future.set_exception(failed)


@atexit.register
def end() -> None:
    """End the processes; others are started where there is work again."""
    _pools.pop(os.getpid(), None)
    for process in _processes:
        process.kill()  # it writes nothing
        process.wait()
    _processes.clear()


def _follow(leader: Connection, modules: Iterable[str]) -> None:
    """Do what comes, in the other process, until nobody is there."""
    for name in modules:
        import_module(name)
    gc.freeze()  # what was imported is no garbage: each collection looks at the rest
    while True:
        try:
            function, arguments = leader.recv()
            leader.send((function(*arguments), None))
        except (EOFError, BrokenPipeError):
            return
        except Exception as error:
            error.add_note(traceback.format_exc())
            try:
                leader.send((None, error))
            except Exception:
                leader.send((None, WorkerError(traceback.format_exc())))


if __name__ == "__main__":
    _follow(Connection(int(sys.argv[1])), sys.argv[2:])
