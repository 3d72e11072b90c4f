"""What a source's claims came to, per paper, and where to look: how a run of the pipeline ends."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tabulate import tabulate

from layerwise.ledger.verdicts import VERDICTS
from layerwise.steps import Source
from layerwise.steps.trace import read_records

AGAIN = "dvc repro --force --single-item measure@"


def summary(source: Source, root: Path = Path()) -> str:
    """What could not be measured; counts of verdicts, a column per paper; page and paper."""
    document = read_records(source, root / "results")
    counts = document["counts"]
    used = [verdict for verdict in VERDICTS if any(verdict in count for count in counts.values())]
    rows = [[verdict, *(count.get(verdict, 0) for count in counts.values())] for verdict in used]
    table = tabulate(rows, headers=["", *counts], tablefmt="plain")
    lines = [
        *absences(document.get("absent", {})),
        f"\n{len(document['claims'])} claims, source {source}",
        *(f"  {line}" for line in table.splitlines()),
    ]
    places = (Path("report") / source / "index.html", Path("paper") / f"{source}.pdf")
    lines += [f"  {place}" for place in places if (root / place).is_file()]
    return "\n".join(lines)


def absences(absent: Mapping[str, Mapping[str, str]]) -> list[str]:
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
