"""Run the pipeline's stages, counted, and end with what they found: what `make reproduce` calls."""

from __future__ import annotations

import contextlib
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import psutil
import typer
import yaml
from tabulate import tabulate

from layerwise.errors import LayerwiseError
from layerwise.files import atomic_path
from layerwise.inputs.dvc_lock import protected
from layerwise.ledger.verdicts import VERDICTS
from layerwise.pages.paper import DOCUMENTS, REPORT
from layerwise.pages.typeset import NoLatexError, build_pdf
from layerwise.progress import meter
from layerwise.steps import Source, program
from layerwise.steps.claims import read_judged

BEGUN = re.compile(r"(?:Running stage|Stage) '(.+?)'")
DVC_ONLY_REPEATS = "failed to run: "  # what the stage itself has said
AGAIN = "dvc repro --force --single-item measure@"


def run(
    what: Literal["published", "all"],
    force: Annotated[bool, typer.Option(help="run also what did not change")] = False,
) -> str:
    """Bring the source `published` up to date, or all sources.

    A stage whose inputs are as they were is left alone; its log is shown only if it fails.

    Raises:
        LayerwiseError: naming the stage that failed.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C
    sources: list[Source] = ["published"] if what == "published" else ["published", "measured"]
    wanted = {
        name: desc
        for name, desc in _stages(Path("dvc.yaml"))
        if what == "all" or name.endswith("@published")
    }
    done: list[str] = []
    for source in sources:  # one after the other: DVC has an order of its own for its targets
        targets = [f"page@{source}", f"paper@{source}"]
        command = [sys.executable, "-m", "dvc", "repro", *(["--force"] if force else []), *targets]
        with (
            protected(Path("dvc.lock")),
            subprocess.Popen(command, stdout=-1, stderr=-1, text=True, errors="replace") as dvc,
        ):
            try:
                _follow(dvc, wanted, done)
            except KeyboardInterrupt:
                _stop(dvc)
                raise
        typeset(source)
    return "\n".join(map(summary, sources))


def typeset(source: Source, root: Path = Path()) -> None:
    """Bring `paper/SOURCE.pdf` and its supplement up to date with their LaTeX.

    No stage has them: their bytes are those of a TeX. Where there is none, one sentence says so.

    Raises:
        LayerwiseError: if LaTeX stops, or a reference stays undefined.
    """
    tex = root / "paper" / "generated" / source
    for name in DOCUMENTS.values():
        pdf = root / "paper" / f"{source}{'' if name == REPORT else f'-{name}'}.pdf"
        if not pdf.is_file() or pdf.stat().st_mtime < (tex / f"{name}.tex").stat().st_mtime:
            try:
                with meter(f"typesetting {tex / name}.tex"), atomic_path(pdf) as part:
                    shutil.move(build_pdf(tex, name), part)
            except NoLatexError as error:
                print(f"layerwise: no {pdf}: {error}", flush=True)
                return


def summary(source: Source, root: Path = Path()) -> str:
    """What could not be measured; counts of verdicts, a column per paper; page and paper."""
    document = read_judged(source, root / "results")
    counts = document["counts"]
    used = [verdict for verdict in VERDICTS if any(verdict in count for count in counts.values())]
    rows = [[verdict, *(count.get(verdict, 0) for count in counts.values())] for verdict in used]
    table = tabulate(rows, headers=["", *counts], tablefmt="plain")
    lines = [
        *_absences(document.get("absent", {})),
        f"\n{len(document['claims'])} claims, source {source}",
        *(f"  {line}" for line in table.splitlines()),
    ]
    places = (Path("report") / source / "index.html", Path("paper") / f"{source}.pdf")
    lines += [f"  {place}" for place in places if (root / place).is_file()]
    return "\n".join(lines)


def _absences(absent: Mapping[str, Mapping[str, str]]) -> list[str]:
    """A line per model and reason, and how to measure one again."""
    lines = [
        f"  {slug}: {', '.join(name for name, why in runs.items() if why == reason)}: {reason}"
        for slug, runs in absent.items()
        for reason in dict.fromkeys(runs.values())
    ]
    if not lines:
        return []
    again = f"  once a reason is gone: {AGAIN}MODEL, then run this again"
    return [f"\nnot measured, of {len(absent)} models:", *lines, again]


def _stages(path: Path) -> Iterator[tuple[str, str]]:
    """Name and description of every stage of dvc.yaml, in the order of flow."""
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    files = {name: yaml.safe_load(Path(name).read_text("utf-8")) for name in document["vars"]}
    for name, stage in document["stages"].items():
        if "foreach" not in stage:
            yield name, stage["desc"]
            continue
        items: Any = stage["foreach"]
        if isinstance(items, str):  # "${models}": a key of one of the files
            (items,) = (file[items[2:-1]] for file in files.values() if items[2:-1] in file)
        for item in items:
            yield f"{name}@{item}", stage["do"]["desc"]


def _follow(dvc: subprocess.Popen[str], stages: dict[str, str], done: list[str]) -> None:
    """Say which stage runs, counted in `done`; leave out what DVC says, and stages that succeed."""
    log: list[str] = []
    errors = threading.Thread(target=_pass_on, args=(dvc,), daemon=True)
    errors.start()
    name = ""
    for line in dvc.stdout or ():
        if begun := BEGUN.match(line):
            name, log = begun[1], []
            done += [name] if name in stages else []
            if line.startswith("Running"):
                print(
                    f"layerwise: stage {len(done)} of {len(stages)}: {name}: {stages.get(name)}",
                    flush=True,
                )
        else:
            log.append(line)
    errors.join()
    if dvc.wait():
        sys.stdout.writelines(log)
        raise LayerwiseError(f"stage {name} failed; mend that, then run it again to go on")


def _stop(dvc: subprocess.Popen[str]) -> None:
    """End the stage at hand: DVC then ends by itself, and not while it writes."""
    with contextlib.suppress(psutil.Error):
        for child in psutil.Process(dvc.pid).children(recursive=True):
            child.terminate()
    try:
        dvc.wait(20)
    except subprocess.TimeoutExpired:
        dvc.kill()
        dvc.wait()


def _pass_on(dvc: subprocess.Popen[str]) -> None:
    for line in dvc.stderr or ():
        if DVC_ONLY_REPEATS not in line:
            sys.stderr.write(line)


if __name__ == "__main__":
    program(run)
