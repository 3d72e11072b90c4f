"""The stages of the copy, run by DVC with the copy's own code: a model per core, then the rest.

Which stages there are and which are stale is asked of DVC's Python interface, as `make reproduce`
does. They run in processes of DVC: a stage inherits folder and environment, which are the copy's,
and two models at a time take two of them.
"""

import contextlib
import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path

import psutil
from dvc.repo import Repo

from layerwise.errors import LayerwiseError
from layerwise.progress import meter
from layerwise.run.rehearsal import WORKER_BYTES
from layerwise.run.rehearsal.scratch import CACHE, LOG, MIRROR
from layerwise.workers import usable_cores

MEASURE, OTHER_SOURCE = "measure@", "@published"
# Of DVC's words, for the progress and for the sentence on a failure; nothing is decided by them.
FAILED = re.compile("^ERROR: failed to reproduce (?:stages: )?(.+?)(?::|$)", re.MULTILINE)
BEGUN = re.compile("(?:Running stage|Stage) '(.+?)'")  # or it is up to date
LAST = 12  # lines that tell why a stage failed


def copy_environment(folder: Path) -> dict[str, str]:
    """Return the environment of a copy's stages: its code, this machine's cache, no GPU."""
    # an empty part of it would be the folder that a program runs in
    programs = filter(None, [str(Path(sys.executable).parent), os.environ.get("PATH")])
    return os.environ | {
        "PATH": os.pathsep.join(programs),
        "PYTHONPATH": str(folder / "code"),
        "CUDA_VISIBLE_DEVICES": "",
    }


def run_pipeline(folder: Path) -> int:
    """Run the copy's own launcher on all sources, to its exit code.

    It stands in a session of its own: when this process is stopped, by Ctrl-C or alone, it is told
    to end, and ends DVC and the stage at hand.
    """
    command = [sys.executable, "-P", "-m", "layerwise.run.steps.run", "all"]
    with subprocess.Popen(
        command, cwd=folder, env=copy_environment(folder), start_new_session=True
    ) as launcher:
        try:
            return launcher.wait()
        except KeyboardInterrupt:
            launcher.terminate()
            launcher.wait()
            raise


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of the rehearsal's stages: twins, texts, no network."""
    return copy_environment(folder) | {
        "PYTHONHASHSEED": "0",
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_CACHE": str(folder / CACHE),
        "LAYERWISE_MIRROR": str(folder / MIRROR),
        "OMP_NUM_THREADS": "1",  # networks this small gain nothing from a second thread
        "DVC_NO_ANALYTICS": "1",
    }


def workers() -> int:
    """Return the number of processes: one per core, as far as memory goes."""
    room = int(psutil.virtual_memory().available // WORKER_BYTES)
    return max(1, min(usable_cores(), room))


def run_stages(folder: Path, slowest_first: Sequence[str]) -> None:
    """Bring all that is measured up to date; `slowest_first` are the models' slugs.

    A model that fails leaves the others alone.

    Raises:
        LayerwiseError: naming the stages that failed, with the last lines of one of them; or those
            that would run once more, though all is as it was.
    """
    stages, stale = _stages(folder)
    if not stale:
        return
    before, models, rest = _in_order(stages, slowest_first)
    begun: set[str] = set()
    with meter("rehearsal", "stages", len(stages)) as tick, ThreadPoolExecutor(workers()) as pool:

        def count(stage: str) -> None:
            """Count a stage once: DVC names it again where another one needs it."""
            if stage in stages and stage not in begun:
                begun.add(stage)
                tick(1, stage)

        def dvc(*arguments: str) -> Future[str]:  # Ctrl-C finds it running, with its stage
            return pool.submit(_run_dvc, folder, arguments, count)

        try:
            dvc("repro", *before).result()
            # a process of DVC per core, each with its share: one takes two seconds to begin
            alone = ("--wait-for-lock", "repro", "--single-item", "--keep-going")
            shares = filter(None, (models[n :: workers()] for n in range(workers())))
            _wait_for_all([dvc(*alone, *share) for share in shares])
            dvc("repro", *rest).result()
            _require_up_to_date(folder)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            _end_children()
            raise


def _in_order(
    stages: Sequence[str], slowest_first: Sequence[str]
) -> tuple[list[str], list[str], list[str]]:
    """Return the stages before the models', those of the models, and the rest."""
    models = sorted(
        (name for name in stages if name.startswith(MEASURE)),
        key=lambda name: slowest_first.index(name.removeprefix(MEASURE)),
    )
    before = [name for name in stages if "@" not in name]  # the texts, and can it run here
    return before, models, [name for name in stages if name not in (*before, *models)]


def _wait_for_all(jobs: Sequence[Future[str]]) -> None:
    """Wait for all jobs; then raise the error of the first that failed, and count the others."""
    if errors := [error for job in as_completed(jobs) if (error := job.exception())]:
        also = f"\nand {len(errors) - 1} others failed" if errors[1:] else ""
        raise LayerwiseError(f"{errors[0]}{also}")


def _require_up_to_date(folder: Path) -> None:
    """Refuse a finished run of which a stage would run once more."""
    if again := _stages(folder)[1]:
        raise LayerwiseError(
            f"a finished run must be up to date, {', '.join(again)} would run again; look "
            "for a dependency that a stage writes, or a command that DVC folds"
        )


def _end_children() -> None:
    """Tell every process of DVC to end, with its stage."""
    for child in psutil.Process().children():
        # it ended; on macOS one that nobody has waited for may not be told
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGTERM)


def _stages(folder: Path) -> tuple[list[str], list[str]]:
    """Return the stages of what is measured, and those of them that are not up to date."""
    logging.getLogger("dvc").setLevel(logging.CRITICAL)
    with Repo(folder) as repo, repo.lock:
        stages = {
            stage.name: stage
            for stage in repo.index.stages
            if stage.cmd and not stage.name.endswith(OTHER_SOURCE)
        }
        return list(stages), [name for name, stage in stages.items() if stage.changed()]


def _run_dvc(
    folder: Path, arguments: Sequence[str], begun: Callable[[str], None] = lambda stage: None
) -> str:
    """Run DVC, log its words as they come, and return them; `begun` is told of every stage."""
    log, said = folder / LOG, []
    with (
        log.open("a", encoding="utf-8") as file,
        subprocess.Popen(
            [sys.executable, "-P", "-m", "dvc", *arguments],
            cwd=folder,
            env=environment(folder),
            text=True,
            errors="replace",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for the parent, which ends this with all its own
        ) as process,
    ):
        for line in process.stdout or ():
            said.append(line)
            file.write(line)
            file.flush()
            if stage := BEGUN.match(line):
                begun(stage[1])
    if process.returncode:
        ending = "\n".join(f"    {line}" for line in "".join(said).strip().splitlines()[-LAST:])
        failed = ", ".join(FAILED.findall("".join(said))) or f"dvc {' '.join(arguments)}"
        raise LayerwiseError(f"{failed} failed; all is in {log}\n{ending}")
    return "".join(said)
