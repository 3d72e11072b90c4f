"""The provenance of one number, and the list of all of them."""

import shutil
import textwrap
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.files import read_json, revealed, sha256_of
from layerwise.ledger.verdicts import VERDICTS


def read_records(source: str, results: Path) -> dict[str, Any]:
    """`results/<source>/claims.json`.

    Raises:
        LayerwiseError: if the ledger was not judged for this source yet.
    """
    path = results / source / "claims.json"
    if not path.is_file():
        raise LayerwiseError(
            f"{path}: the ledger was not judged for source {source!r} yet; run `make reproduce` "
            "(or `make reproduce-full` for source measured) first"
        )
    return read_json(path)


def trace(claim_id: str, source: str, results: Path) -> dict[str, Any]:
    """A claim's record with its inputs and the statistics file by hash, the command.

    Raises:
        LayerwiseError: if the ledger was not judged yet, the id is unknown, or the statistics
            were written again since they were judged.
    """
    document = read_records(source, results)
    records = {record["id"]: record for record in document["claims"]}
    if claim_id not in records:
        start = claim_id.rsplit(".", 1)[0]
        near = [other for other in records if other.startswith(start)][:5]
        raise LayerwiseError(
            f"no claim {claim_id!r} in the ledger; "
            + (f"near it: {', '.join(near)}" if near else "`layerwise claims` lists all ids")
        )
    record = dict(records[claim_id])
    selection = record["provenance"]["statistic"]
    if selection is not None:
        analysis = selection.split(":", 1)[0]
        path = results / source / "statistics" / f"{analysis}.json"
        judged = document["statistics"].get(path.name)
        if path.is_file() and sha256_of(path) != judged:
            raise LayerwiseError(
                f"{path}: these statistics are not the ones that were judged; "
                f"run `dvc repro judge@{source}` first"
            )
        runs = {run: document["runs"][run] for run in record["provenance"].get("runs", ())}
        files = {cell.partition("#")[0] for cell in record["provenance"]["inputs"]}
        if source == "measured":
            files = {measured_by(run, document["inputs"]) for run in runs}
        used = {file: document["inputs"][file] for file in files}
        record["provenance"] = {
            **record["provenance"],
            "statistics_file": str(path),
            "statistics_sha256": judged,
            "input_files": dict(sorted(used.items())),
            **({"runs": runs} if runs else {}),
            "command": f"dvc repro analyse@{source}",
        }
    return record


def measured_by(run: str, files: Iterable[str]) -> str:
    """The file that holds a run "slug/experiment": FOLDER/SLUG/measured.json."""
    slug = run.partition("/")[0]
    return next(file for file in files if Path(file).parent.name == slug)


def list_claims(
    source: str,
    results: Path,
    verdict: str | None,
    paper: int | None,
    analysis: str | None = None,
) -> list[dict[str, Any]]:
    """The records with that verdict, of that paper, answered by that analysis.

    Raises:
        LayerwiseError: for an unknown verdict, and for an analysis that no claim rests on.
    """
    if verdict is not None and verdict not in VERDICTS:
        raise LayerwiseError(f"verdict must be one of {', '.join(VERDICTS)}, found {verdict!r}")
    records = read_records(source, results)["claims"]
    known = {_analysis_of(record) for record in records} - {""}
    if analysis is not None and analysis not in known:
        raise LayerwiseError(
            f"analysis must be one of {', '.join(sorted(known))}, found {analysis!r:.80}"
        )
    return [
        record
        for record in records
        if verdict in (None, record["verdict"])
        and paper in (None, record["paper"])
        and analysis in (None, _analysis_of(record))
    ]


def _analysis_of(record: dict[str, Any]) -> str:
    return (record["provenance"]["statistic"] or "").split(":")[0]


def as_text(record: dict[str, Any]) -> str:
    """A record for the terminal, one field a line."""
    origin = record["provenance"]
    unit = f" {record['unit']}" if record["unit"] else ""
    lines = [
        record["id"],
        f"  quantity    {record['quantity']}",
        f"  where       paper {record['paper']}, {record['where']}",
        f"  printed     {_shown(record['published'])}{unit}",
        f"  recomputed  {_shown(record['recomputed'])}{unit}",
        f"  verdict     {record['verdict']} (tolerance class {record['tolerance']})",
    ]
    if record["cause"]:
        lines.append(f"  cause       {record['cause']}")
    if origin["file"]:
        lines.append(f"  print from  {origin['file']} {origin['key'] or ''}".rstrip())
    if origin["statistic"]:
        lines.append(f"  statistic   {origin['statistic']}")
    if origin["statistic"]:
        lines += [
            f"  in          {origin['statistics_file']}",
            f"  sha256      {origin['statistics_sha256'] or 'missing: run the stage'}",
            f"  command     {origin['command']}",
        ]
    for number, cell in enumerate(origin["inputs"]):
        lines.append(f"  {'inputs' if number == 0 else '':<10}  {cell}")
    for run, how in origin.get("runs", {}).items():
        lines.append(f"  {'run':<10}  {run}: {', '.join(f'{k} {v}' for k, v in how.items())}")
    for number, (file, digest) in enumerate(origin.get("input_files", {}).items()):
        lines.append(f"  {'files' if number == 0 else '':<10}  {digest}  {file}")
    return "\n".join(map(revealed, lines))  # a line break in a text makes no line


def headlines_as_text(graded: list[dict[str, Any]]) -> str:
    """The headlines by paper: grade and claim, the reason below it."""
    width = max(60, min(shutil.get_terminal_size().columns, 110))
    lines = []
    for paper, group in groupby(graded, key=lambda headline: headline["paper"]):
        lines += [f"Paper {paper}"]
        for headline in group:
            said = f"{headline['grade'].upper()}: {headline['says']}"
            lines += textwrap.wrap(said, width, initial_indent="  ", subsequent_indent="    ")
            lines += textwrap.wrap(
                headline["reason"], width, initial_indent=" " * 6, subsequent_indent=" " * 6
            )
    return "\n".join(map(revealed, lines))


def as_lines(records: list[dict[str, Any]]) -> str:
    """One line per claim: id, printed, recomputed, verdict."""
    fields = [
        (record["id"], _shown(record["published"]), _shown(record["recomputed"]), record["verdict"])
        for record in records
    ]
    rows = [tuple(map(revealed, row)) for row in fields]
    rows.insert(0, ("claim", "printed", "recomputed", "verdict"))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        text = ", ".join(map(str, value[:6]))
        return f"{text}, ... ({len(value)})" if len(value) > 6 else text
    return str(value)
