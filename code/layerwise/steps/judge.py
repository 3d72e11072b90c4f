"""verdicts <- ledger and statistics."""

import csv
from collections import Counter
from pathlib import Path
from typing import Any

from layerwise.files import read_json, sha256_of, write_json
from layerwise.inputs.published import TYPED, read_published
from layerwise.ledger.claims import read_ledger
from layerwise.ledger.verdicts import Statistics, judge
from layerwise.steps import Place, Source, program


def read_statistics(source: str, folder: Path) -> Statistics:
    """The statistics of one source, every analysis of the folder."""
    documents: dict[str, Any] = {}
    derived: dict[str, list[str]] = {}
    given: dict[str, str] = {}
    undefined: dict[str, str] = {}
    for path in sorted(folder.glob("*.json")):
        result = read_json(path)
        documents[path.stem] = result["documents"]
        for key, inputs in result["derived"].items():
            derived[f"{path.stem}:{key}"] = inputs
        for key, origin in result["given"].items():
            given[f"{path.stem}:{key}"] = origin
        for key, reason in result.get("undefined", {}).items():
            undefined[f"{path.stem}:{key}"] = reason
    return Statistics(source, documents, derived, given, undefined)


def input_hashes(files: set[str], published: Path) -> dict[str, str]:
    """SHA-256 of the published files that claims rest on, as pinned.

    What a notebook typed into its cells is held by a table of ours; it has that table's hash.
    """
    with (published / "registry.csv").open(newline="", encoding="utf-8") as handle:
        pinned = {row["path"]: row["sha256"] for row in csv.DictReader(handle)}
    typed = sha256_of(published / TYPED)
    return {file: pinned.get(file, typed) for file in sorted(files)}


def run(
    source: Source,
    statistics: Place,
    out: Place,
    claims: Place = Path("claims"),
    published: Place = Path("published"),
) -> str:
    """Judge every claim; counts per paper and verdict go to `verdicts.json` beside the records."""
    ledger = read_ledger(claims, read_published(published))
    results = read_statistics(source, statistics)
    records = [judge(claim, results) for claim in ledger]
    counts: dict[str, dict[str, int]] = {}
    for record in records:
        paper = counts.setdefault(f"paper{record['paper']}", Counter())
        paper[record["verdict"]] += 1
    hashes = {path.name: sha256_of(path) for path in sorted(statistics.glob("*.json"))}
    cells = [cell for record in records for cell in record["provenance"]["inputs"]]
    document = {
        "source": source,
        "counts": counts,
        "statistics": hashes,
        "inputs": input_hashes({cell.partition("#")[0] for cell in cells}, published),
        "claims": records,
    }
    write_json(out.with_name("verdicts.json"), counts)
    write_json(out, document)
    return f"{len(records)} claims judged in {out}"


if __name__ == "__main__":
    program(run)
