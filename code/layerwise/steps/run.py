"""Run the pipeline's stages, counted, and end with what they found: what `make reproduce` calls."""

from __future__ import annotations

import contextlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
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
from layerwise.ledger.origins import by_reason
from layerwise.ledger.records import read_judged
from layerwise.ledger.verdicts import VERDICTS
from layerwise.pages.paper import DOCUMENTS, REPORT
from layerwise.pages.typeset import NoLatexError, build_pdf
from layerwise.progress import meter
from layerwise.steps import Source, program

BEGUN = re.compile(r"(?:Running stage|Stage) '(.+?)'")
FAILED = "ERROR: failed to reproduce "  # 'a', or stages: 'a', 'b' and 'c'
DVC_ONLY_REPEATS = ("failed to run: ", "failed to reproduce ", " due to this failure")
NEXT = """\
  once a reason is gone: make reproduce-full AGAIN=1
  to leave a model out, or to try another dtype: say so in its entry of models.yaml (`skip: why`,
  or the dtype under `experiments` or `extractions`), then make reproduce-full; others stay"""


def run(
    what: Literal["published", "all"],
    force: Annotated[bool, typer.Option(help="run also what did not change")] = False,
    again: Annotated[bool, typer.Option(help="measure again the models that failed")] = False,
) -> str | tuple[str, int]:
    """Bring the source `published` up to date, or all sources.

    A stage whose inputs are as they were is left alone; its log is shown only if it fails. One
    that fails stops only what needs it. Exit code 1 where all ran, and something could not be
    measured.

    Raises:
        LayerwiseError: naming the stages that failed.
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
        if again and source == "measured":
            once_more = [f"measure@{slug}" for slug in judged(source).get("failed", {})]
            if once_more:
                _repro(["--force", "--single-item", *once_more], wanted, done)
        targets = [f"page@{source}", f"paper@{source}"]
        _repro([*(["--force"] if force else []), *targets], wanted, done)
        typeset(source)
    said = "\n".join(map(summary, sources))
    return (said, 1) if what == "all" and judged("measured").get("failed") else said


def _repro(arguments: list[str], wanted: dict[str, str], done: list[str]) -> None:
    command = [sys.executable, "-m", "dvc", "repro", "--keep-going", *arguments]
    with (
        protected(Path("dvc.lock")),
        subprocess.Popen(command, stdout=-1, stderr=-1, text=True, errors="replace") as dvc,
    ):
        try:
            _follow(dvc, wanted, done)
        except KeyboardInterrupt:
            _stop(dvc)
            raise


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
    """What was not measured; counts of verdicts, a column per paper; page and paper."""
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
    return "\n".join(lines)


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
    logs: dict[str, list[str]] = {}
    failed: list[str] = []
    errors = threading.Thread(target=_pass_on, args=(dvc, failed), daemon=True)
    errors.start()
    name = ""
    for line in dvc.stdout or ():
        if begun := BEGUN.match(line):
            name = begun[1]
            done += [name] if name in stages and name not in done else []
            if line.startswith("Running"):
                print(
                    f"layerwise: stage {len(done)} of {len(stages)}: {name}: {stages.get(name)}",
                    flush=True,
                )
        else:
            logs.setdefault(name, []).append(line)
    errors.join()
    if dvc.wait():
        failed = failed or [name]
        for one in failed:
            sys.stdout.writelines(logs.get(one, []))
        raise LayerwiseError(
            f"stage {' and '.join(failed)} failed; mend that, then run it again to go on"
        )


def _stop(dvc: subprocess.Popen[str]) -> None:
    """End DVC with the stage at hand: while that runs, DVC writes nothing."""
    give_up = time.monotonic() + 20
    with contextlib.suppress(psutil.Error):
        while dvc.poll() is None:
            children = psutil.Process(dvc.pid).children(recursive=True)
            if children or time.monotonic() > give_up:
                dvc.terminate()
                for child in children:
                    child.terminate()
                break
            time.sleep(0.02)
    try:
        dvc.wait(20)
    except subprocess.TimeoutExpired:
        dvc.kill()
        dvc.wait()


def _pass_on(dvc: subprocess.Popen[str], failed: list[str]) -> None:
    """What stages say on stderr, as they say it; the names of those that DVC calls failed."""
    for line in dvc.stderr or ():
        failed += re.findall(r"'(.+?)'", line) if line.startswith(FAILED) else []
        if not any(said in line for said in DVC_ONLY_REPEATS):
            sys.stderr.write(line)


if __name__ == "__main__":
    program(run)
