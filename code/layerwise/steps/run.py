"""Run the pipeline's stages, counted, and end with what they found: what `make reproduce` calls."""

import contextlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any, Literal

import psutil
import typer
from dvc.exceptions import DvcException
from dvc.repo import Repo
from dvc.repo.reproduce import plan_repro
from tabulate import tabulate

from layerwise.doctor.dvc_files import protected, under_way
from layerwise.errors import LayerwiseError
from layerwise.files import atomic_path
from layerwise.inputs.measured import by_reason
from layerwise.ledger.records import read_judged
from layerwise.ledger.verdicts import VERDICTS
from layerwise.pages.paper import DOCUMENTS, REPORT
from layerwise.pages.records import answer
from layerwise.pages.typeset import NoLatexError, build_pdf
from layerwise.progress import meter
from layerwise.steps import Source, program
from layerwise.steps.time_left import TimeLeft, estimated

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
NEXT = """\
  once a reason is gone: make reproduce-full, which takes up what failed and nothing else
  to leave a model out, or to try another dtype: say so in its entry of models.yaml (`skip: why`,
  or the dtype under `experiments` or `extractions`), then make reproduce-full; others stay"""


class StageError(LayerwiseError):
    """Stages failed: those in `stages` began and said why; there are none where DVC stopped."""

    def __init__(self, failed: list[str], reasons: list[str]) -> None:
        what = f"stage {' and '.join(failed)}" if failed else "DVC"
        super().__init__(f"{what} failed; {why(reasons)}run it again to go on")
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
    said = "\n".join(map(summary, sources))
    return (said, 1) if what == "all" and judged("measured").get("failed") else said


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


def why(reasons: list[str]) -> str:
    """What DVC says of stages that never began, for the end of a sentence; else "mend that"."""
    said = dict.fromkeys(" ".join(reason.split()) for reason in reasons)
    if busy := BUSY.search("\n".join(reasons)):
        return f"{under_way([f'{busy[1]}: {busy[2]}'])}, then "
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


def typeset(source: Source, root: Path = Path()) -> None:
    """Bring `paper/SOURCE.pdf` and its supplement up to date with their LaTeX.

    No stage has them: their bytes are those of a TeX. Where there is none, one sentence says so.

    Raises:
        LayerwiseError: if LaTeX stops, or a reference stays undefined.
    """
    tex = root / "paper" / "generated" / source
    pdfs = {
        name: root / "paper" / f"{source}{'' if name == REPORT else f'-{name}'}.pdf"
        for name in DOCUMENTS.values()
    }
    stale = {
        name: pdf
        for name, pdf in pdfs.items()
        if not pdf.is_file() or pdf.stat().st_mtime < (tex / f"{name}.tex").stat().st_mtime
    }

    def made(name: str) -> None:
        with atomic_path(stale[name]) as part:
            shutil.move(build_pdf(tex, name), part)

    if not stale:
        return
    with meter(f"typesetting in {tex}"), ThreadPoolExecutor() as pool:
        for name, job in {name: pool.submit(made, name) for name in stale}.items():
            try:
                job.result()
            except NoLatexError as error:
                print(f"layerwise: no {stale[name]}: {error}", flush=True)
                return


def summary(source: Source, root: Path = Path()) -> str:
    """What was not measured; counts of verdicts, a column per paper; page and paper; the answer."""
    document = judged(source, root)
    counts = document["counts"]
    used = [verdict for verdict in VERDICTS if any(verdict in count for count in counts.values())]
    rows = [[verdict, *(count.get(verdict, 0) for count in counts.values())] for verdict in used]
    table = tabulate(rows, headers=["", *counts], tablefmt="plain")
    lines = [
        *absences(document),
        f"\n{len(document['claims'])} claims, source {source}",
        *(f"  {line}" for line in table.splitlines()),
    ]
    places = (Path("report") / source / "index.html", Path("paper") / f"{source}.pdf")
    lines += [f"  {place}" for place in places if (root / place).is_file()]
    return "\n".join([*lines, "", answer(document["headlines"])])


def judged(source: Source, root: Path = Path()) -> Mapping[str, Any]:
    """The judged claims of a source."""
    return read_judged(root / "results" / source / "claims.json", source)


def absences(document: Mapping[str, Any]) -> list[str]:
    """What failed and what was left out, by model and reason; how many claims wait; what to do."""
    lines = []
    for kind, title in (("failed", "could not be measured"), ("left_out", "left out")):
        found = document.get(kind) or {}
        lines += [f"\n{title}, of {len(found)} models:"] if found else []
        for slug, one in found.items():
            lines.append(f"  {slug} ({one['claims']} claims wait for it)")
            for reason, names in by_reason(one["reasons"]).items():
                lines.append(f"    {', '.join(names)}: {reason}")
    return [*lines, NEXT] if document.get("failed") else lines


if __name__ == "__main__":
    program(run)
