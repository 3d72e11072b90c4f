"""The stages of the copy, run by DVC with the copy's own code: a model per core, then the rest."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import psutil

from layerwise.errors import LayerwiseError
from layerwise.progress import Advance, meter
from layerwise.rehearsal import WORKER_BYTES
from layerwise.rehearsal.scratch import CACHE, LOG, MIRROR

MEASURE, OTHER_SOURCE = "measure@", "@published"
LAST = 12  # lines that tell why a stage failed


def environment(folder: Path) -> dict[str, str]:
    """What the stages run in: the copy's code, its twins, its texts, no network, no GPU."""
    programs = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    return os.environ | {
        "PATH": os.pathsep.join(programs),
        "PYTHONPATH": str(folder / "code"),
        "PYTHONHASHSEED": "0",
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_CACHE": str(folder / CACHE),
        "LAYERWISE_MIRROR": str(folder / MIRROR),
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "1",  # networks this small gain nothing from a second thread
        "DVC_NO_ANALYTICS": "1",
    }


def workers() -> int:
    """A process per core, as far as memory goes."""
    room = int(psutil.virtual_memory().available // WORKER_BYTES)
    return max(1, min(len(psutil.Process().cpu_affinity()), room))


class Pipeline:
    """DVC in the copy; what the stages say goes to its log."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.stopped = folder, False
        self._running: set[subprocess.Popen[str]] = set()

    def run(self, slowest_first: Sequence[str]) -> None:
        """Bring all that is measured up to date; `slowest_first` are the models' slugs.

        Raises:
            LayerwiseError: naming the stages that failed, with the last lines of one of them.
        """
        listed = self._dvc("stage", "list", "--name-only").split()
        stages = [name for name in listed if not name.endswith(OTHER_SOURCE)]
        models = [name for name in stages if name.startswith(MEASURE)]
        before = [name for name in stages if "@" not in name]  # the texts, and can it run here
        rest = [name for name in stages if name not in (*before, *models)]
        models.sort(key=lambda name: slowest_first.index(name.removeprefix(MEASURE)))
        with meter("rehearsal", "stages", len(stages)) as advance:
            try:
                self._dvc("repro", *before)
                advance(len(before))
                self._at_once(models, advance)
                self._dvc("repro", *rest)
                self._must_be_done(stages)
                advance(len(rest))
            except BaseException:  # Ctrl-C
                self._stop()
                raise

    def _must_be_done(self, stages: Sequence[str]) -> None:
        """What has run is recorded as it stands: another run must find nothing to do.

        Raises:
            LayerwiseError: naming the stages that would run once more.
        """
        again = re.findall("^Running stage '(.+)'", self._dvc("repro", "--dry", *stages), re.M)
        if again:
            raise LayerwiseError(
                f"a finished run must be up to date, {', '.join(again)} would run again; look "
                "for a dependency that a stage writes, or a command that DVC folds"
            )

    def _at_once(self, stages: Iterable[str], advance: Advance) -> None:
        """A stage per core; one that fails leaves the others alone, and is raised at the end."""
        errors = []
        with ThreadPoolExecutor(workers()) as pool:
            waiting = {
                pool.submit(self._dvc, "--wait-for-lock", "repro", "--single-item", stage): stage
                for stage in stages
            }
            try:
                for done in as_completed(waiting):
                    advance(1, waiting[done])
                    if error := done.exception():
                        errors.append(error)
            except BaseException:
                self._stop()
                pool.shutdown(cancel_futures=True)
                raise
        if errors:
            also = f"\nand {len(errors) - 1} others failed" if errors[1:] else ""
            raise LayerwiseError(f"{errors[0]}{also}")

    def _dvc(self, *arguments: str) -> str:
        """What DVC says; nothing where this was stopped."""
        if self.stopped:
            return ""
        process = subprocess.Popen(
            [sys.executable, "-m", "dvc", *arguments],
            cwd=self.folder, env=environment(self.folder), text=True, errors="replace",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for the parent, which ends this with all its own
        )  # fmt: skip
        self._running.add(process)
        said, _ = process.communicate()
        self._running.discard(process)
        log = self.folder / LOG
        with log.open("a", encoding="utf-8") as file:
            file.write(said)
        if process.returncode and not self.stopped:
            told = "\n".join(f"    {line}" for line in said.strip().splitlines()[-LAST:])
            raise LayerwiseError(f"dvc {' '.join(arguments)} failed; all is in {log}\n{told}")
        return said

    def _stop(self) -> None:
        """End what runs, with all that it started."""
        self.stopped = True
        for process in list(self._running):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
