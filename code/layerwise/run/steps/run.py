"""Run the pipeline's stages, counted, and end with what they found: what `make reproduce` calls."""

import contextlib
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import psutil
import typer
from dvc.exceptions import DvcException
from dvc.repo import Repo
from dvc.repo.reproduce import plan_repro

from layerwise.engine.records import judged
from layerwise.errors import LayerwiseError
from layerwise.present.pdfs import typeset
from layerwise.present.run_summary import summary
from layerwise.run.doctor.dvc_files import protected, under_way
from layerwise.run.doctor.recorded import against_record
from layerwise.run.doctor.time_left import TimeLeft, estimated
from layerwise.run.steps import Source, program

BEGUN = re.compile(r"(Running stage|Stage) '(.+?)'")
FAILED = re.compile(  # 'a', or stages: 'a', 'b' and 'c'; and perhaps why
    r"ERROR: failed to reproduce (?:stages: )?((?:'[^']+'(?:, | and )?)+)(?:: (.+))?"
)
OF_DVC = re.compile(
    "Running stage|Stage '|(Gener|Upd)ating lock file|WARNING: failed to run: |ERROR: |Use `dvc "
)
# Of a stage that never began DVC warns with the reason, perhaps in some lines.
REASON, OTHERS = "WARNING: ", re.compile(r"WARNING: (failed to run: |Stages? '.* will be skipped)")
BUSY = re.compile(r"is busy, it is being blocked by:\s+\((PID \d+)\): (.+)")
MEASURED = "results/measured/models/{}/measured.json"  # what a model's stage leaves


class StageError(LayerwiseError):
    """Stages failed: those in `stages` began and said why; there are none where DVC stopped."""

    def __init__(self, failed: list[str], reasons: list[str]) -> None:
        what = f"stage {' and '.join(failed)}" if failed else "DVC"
        super().__init__(f"{what} failed; {reason_of_dvc(reasons)}run it again to go on")
        self.stages = [] if reasons else failed


def run(
    what: Literal["published", "all"],
    force: Annotated[bool, typer.Option(help="run also what did not change")] = False,
) -> str | tuple[str, int]:
    """Bring the source `published` up to date, or all sources.

    A stage whose inputs are as they were is left alone. One that fails stops only what needs it; a
    model that could not be measured, or not all of it, does not stop the report, and is taken up
    by the next run. Exit code 1 where there is such a model.

    Raises:
        LayerwiseError: naming the stages that failed.
    """
    sources: list[Source] = ["published"] if what == "published" else ["published", "measured"]
    done: list[str] = []
    forced = ["--force"] if force else []
    with protected(Path()):
        stages = _stages(what)
        clock = TimeLeft(estimated(stages)) if what == "all" else None
        for source in sources:  # one after the other: DVC has an order of its own for its targets
            targets = [f"page@{source}", f"paper@{source}"]
            try:
                _repro([*forced, *targets], stages, done, clock)
            except StageError as error:
                if not error.stages or not all(map(_has_measured, error.stages)):
                    raise
                rest = [name for name in stages if name not in error.stages]
                _repro(["--single-item", *rest], stages, done, clock)
            typeset(source)
    documents = [judged(source, Path("results")) for source in sources]
    said = "\n".join([*map(summary, documents), against_record()])
    return (said, 1) if any(document.get("failed") for document in documents) else said


def _has_measured(stage: str) -> bool:
    """Whether a stage that failed is a model's, which wrote down what it has and what it lacks.

    DVC removes the outputs of a stage before it begins, so the file is of this run.
    """
    _, _, slug = stage.partition("measure@")
    return bool(slug) and Path(MEASURED.format(slug)).is_file()


def _stages(what: str) -> dict[str, str]:
    """Name and description of the stages that are wanted, each after what it needs."""
    try:
        with Repo() as repo:
            order = [stage for stage in plan_repro(repo.index.graph) if stage.cmd]
            stages = {str(stage.addressing): str(stage.desc) for stage in order}
    except DvcException as error:
        raise LayerwiseError(f"DVC: {error}; run it in the repository's root") from None
    return {name: stages[name] for name in stages if what == "all" or name.endswith("@published")}


def _repro(
    arguments: list[str], stages: dict[str, str], done: list[str], clock: TimeLeft | None = None
) -> None:
    command = [sys.executable, "-m", "dvc", "repro", "--keep-going", *arguments]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, **pipes, text=True, errors="replace") as dvc:
        try:
            failed, reasons = _follow(dvc.stdout or (), stages, done, clock)
        except KeyboardInterrupt:
            _stop(dvc)
            raise
    if dvc.returncode:
        raise StageError(failed, reasons)


def reason_of_dvc(reasons: list[str]) -> str:
    """What DVC says of stages that never began, for the end of a sentence; else "mend that"."""
    said = dict.fromkeys(" ".join(reason.split()) for reason in reasons)
    if busy := BUSY.search("\n".join(reasons)):
        return f"{under_way(f'{busy[1]}: {busy[2]}')}, then "
    return f"DVC says: {'; '.join(said)}; mend that, then " if said else "mend that, then "


def _follow(
    lines: Iterable[str], stages: dict[str, str], done: list[str], clock: TimeLeft | None = None
) -> tuple[list[str], list[str]]:
    """Count stages in `done`, pass on what they say; which failed, and what DVC says of why."""
    failed: list[str] = []
    reasons: list[str] = []
    of_stage = of_reason = False
    for line in lines:
        begun, of_dvc, ended = BEGUN.match(line), OF_DVC.match(line), FAILED.match(line)
        of_stage = line.startswith("> ") or (of_stage and not of_dvc)
        of_reason = not of_stage and not of_dvc and (of_reason or line.startswith(REASON))
        of_reason = of_reason and not OTHERS.match(line)
        if begun and begun[2] in stages and begun[2] not in done:
            done.append(begun[2])
        if begun and begun[1] == "Running stage":
            at = f"stage {len(done)} of {len(stages)}: {begun[2]}"
            time = f" ({clock.said(begun[2])})" if clock else ""
            print(f"layerwise: {at}: {stages.get(begun[2])}{time}", flush=True)
        elif begun and clock:
            clock.skip(begun[2])
        elif ended:
            failed = re.findall(r"'(.+?)'", ended[1])
            reasons += [ended[2]] if ended[2] else []
        elif of_reason:
            reasons += [""] if line.startswith(REASON) else []
            reasons[-1] += line.removeprefix(REASON)
        elif line.startswith("ERROR: ") or (of_stage and not line.startswith("> ")):
            print(line, end="", flush=True)
    return failed, reasons


def _stop(dvc: subprocess.Popen[str]) -> None:
    """End DVC with the stage at hand: of Ctrl-C it takes no notice, and would run the next."""
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(dvc.pid)
        process.suspend()  # it begins no other
        stages = process.children(recursive=True)
        for stage in stages:
            stage.terminate()
        process.kill()
        psutil.wait_procs(stages, 20)


if __name__ == "__main__":
    program(run)
