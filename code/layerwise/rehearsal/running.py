"""The stages of the copy, run by DVC with the copy's own code: a model per core, then the rest."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path

import psutil

from layerwise.errors import LayerwiseError
from layerwise.progress import meter
from layerwise.rehearsal import WORKER_BYTES
from layerwise.rehearsal.scratch import CACHE, LOG, MIRROR

MEASURE, OTHER_SOURCE = "measure@", "@published"
BEGUN = re.compile("^Running stage '(.+)'", re.MULTILINE)
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


def run_stages(folder: Path, slowest_first: Sequence[str]) -> None:
    """Bring all that is measured up to date; `slowest_first` are the models' slugs.

    A model that fails leaves the others alone.

    Raises:
        LayerwiseError: naming the stages that failed, with the last lines of one of them; or those
            that would run once more, though all is as it was.
    """
    listed = _dvc(folder, "stage", "list", "--name-only").split()
    stages = [name for name in listed if not name.endswith(OTHER_SOURCE)]
    models = sorted(
        (name for name in stages if name.startswith(MEASURE)),
        key=lambda name: slowest_first.index(name.removeprefix(MEASURE)),
    )
    before = [name for name in stages if "@" not in name]  # the texts, and can it run here
    rest = [name for name in stages if name not in (*before, *models)]
    with meter("rehearsal", "stages", len(stages)) as tick, ThreadPoolExecutor(workers()) as pool:

        def dvc(*arguments: str) -> Future[str]:  # Ctrl-C finds it running, with its stage
            return pool.submit(_dvc, folder, *arguments)

        try:
            dvc("repro", *before).result()
            tick(len(before))
            alone = ("--wait-for-lock", "repro", "--single-item")
            jobs = {dvc(*alone, stage): stage for stage in models}
            for job in as_completed(jobs):
                tick(1, jobs[job])
            if errors := [error for job in jobs if (error := job.exception())]:
                also = f"\nand {len(errors) - 1} others failed" if errors[1:] else ""
                raise LayerwiseError(f"{errors[0]}{also}")
            dvc("repro", *rest).result()
            if again := BEGUN.findall(dvc("repro", "--dry", *stages).result()):
                raise LayerwiseError(
                    f"a finished run must be up to date, {', '.join(again)} would run again; look "
                    "for a dependency that a stage writes, or a command that DVC folds"
                )
            tick(len(rest))
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in psutil.Process().children():
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGTERM)
            raise


def _dvc(folder: Path, *arguments: str) -> str:
    """What DVC says, which goes to the log."""
    done = subprocess.run(
        [sys.executable, "-m", "dvc", *arguments],
        cwd=folder, env=environment(folder), text=True, errors="replace", check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,  # Ctrl-C is for the parent, which ends this with all its own
    )  # fmt: skip
    log = folder / LOG
    with log.open("a", encoding="utf-8") as file:
        file.write(done.stdout)
    if done.returncode:
        told = "\n".join(f"    {line}" for line in done.stdout.strip().splitlines()[-LAST:])
        raise LayerwiseError(f"dvc {' '.join(arguments)} failed; all is in {log}\n{told}")
    return done.stdout
