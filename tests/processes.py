"""Programs that a test starts: interruptible wherever tests run, and gone when the test ends."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil


def interruptible() -> None:
    """Ctrl-C ends this process again: a shell lets what it starts in the background ignore it.

    For `preexec_fn`: children inherit what their parent ignores.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def running_in(folder: Path) -> list[psutil.Process]:
    """The other processes whose working directory is this one, whoever started them."""
    processes = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            is_there = Path(process.cwd()) == folder and process.pid != os.getpid()
            if is_there and process.status() != psutil.STATUS_ZOMBIE:
                processes.append(process)
    return processes


def left_in(folder: Path, patience: float = 30) -> list[psutil.Process]:
    """Those that are still running after a while: who is told to end does so in its own time."""
    end = time.monotonic() + patience
    while (processes := running_in(folder)) and time.monotonic() < end:
        time.sleep(0.05)
    return processes


def commands_in(folder: Path) -> list[str]:
    """What they were started with."""
    commands = []
    for process in running_in(folder):
        with contextlib.suppress(psutil.Error):
            commands.append(" ".join(process.cmdline()))
    return commands


@contextlib.contextmanager
def program(
    command: Sequence[str | Path], folder: Path, **options: Any
) -> Iterator[subprocess.Popen[Any]]:
    """A program in a folder of its own; in the end whatever still runs there is killed."""
    with subprocess.Popen(
        command, cwd=folder, start_new_session=True, preexec_fn=interruptible, **options
    ) as process:
        try:
            yield process
        finally:
            for left in running_in(folder):
                with contextlib.suppress(psutil.Error):
                    left.kill()
