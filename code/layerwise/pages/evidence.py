"""What judged claims rest on: cells and their values, and the hash of every file behind them."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import layerwise
from layerwise.errors import LayerwiseError
from layerwise.files import sha256_of
from layerwise.inputs.published import TYPED, Published, read_published


@dataclass(frozen=True)
class Evidence:
    """What the judged claims rest on.

    cells: {"file#/pointer": the value}; files: {file: (sha256, the file that has it)};
    statistics: {analysis: (path, sha256)}; hashes: {path: sha256} of everything else used;
    runs: {run: what measured it}, none where nothing was measured.
    """

    cells: Mapping[str, Any]
    files: Mapping[str, tuple[str, str]]
    statistics: Mapping[str, tuple[str, str]]
    hashes: Mapping[str, str]
    environment: Mapping[str, str]
    runs: Mapping[str, Mapping[str, Any]]


def gather(
    document: Mapping[str, Any],
    claims: Path,
    statistics: Path,
    published: Path,
    figures: Sequence[Path],
) -> Evidence:
    """The evidence of judged claims.

    Raises:
        LayerwiseError: for a cell that nobody published, or a file that is not the one that was
            judged.
    """
    tables = sorted(published.glob("*.csv"))
    known = read_published(published) if document["source"] == "published" else None
    return Evidence(
        input_cells(document["claims"], known, claims),
        file_hashes(document, published, claims),
        statistics_hashes(document["statistics"], statistics),
        {path.as_posix(): sha256_of(path) for path in (claims, *tables, *figures)}
        | ({} if known else document["inputs"]),
        environment(),
        document.get("runs", {}),
    )


def input_cells(
    records: Sequence[Mapping[str, Any]], published: Published | None, claims: Path
) -> dict[str, Any]:
    """The value of every cell that a recomputed number rests on; None for measured ones.

    Raises:
        LayerwiseError: naming the claim, for a cell that is not published.
    """
    cells: dict[str, Any] = {}
    for record in records:
        for cell in record["provenance"]["inputs"]:
            file, _, key = cell.partition("#")
            try:
                if published is None:
                    cells[cell] = None
                elif cell not in cells:
                    there = (file, key) in published.cells
                    cells[cell] = (
                        published.cells[file, key] if there else published.value(file, key)
                    )
            except LayerwiseError as error:
                raise LayerwiseError(f"{claims}: claim {record['id']}: {error}") from None
    return cells


def file_hashes(
    document: Mapping[str, Any], published: Path, claims: Path
) -> dict[str, tuple[str, str]]:
    """SHA-256 of the published files that claims stand in or rest on, and the file that has it.

    What a notebook typed into its cells is held by a table of ours, and has that table's hash; a
    text that is neither (a paper) has none.

    Raises:
        LayerwiseError: if a file is pinned by another hash than when the claims were judged.
    """
    with (published / "registry.csv").open(newline="", encoding="utf-8") as handle:
        pinned = {row["path"]: (row["sha256"], row["path"]) for row in csv.DictReader(handle)}
    typed = (sha256_of(published / TYPED), (published / TYPED).as_posix())
    origins = [record["provenance"] for record in document["claims"]]
    resting = {cell.partition("#")[0] for origin in origins for cell in origin["inputs"]}
    printed = {origin["file"] for origin in origins} - {None}
    hashes = {file: pinned.get(file, ("", "")) for file in printed - resting}
    if document["source"] == "published":
        hashes |= {file: pinned.get(file, typed) for file in resting}
    else:  # measured in the places of published numbers: the file itself was not read
        hashes |= dict.fromkeys(resting, ("", ""))
    for file in sorted(resting) if document["source"] == "published" else ():
        if document["inputs"].get(file) != hashes[file][0]:
            raise LayerwiseError(
                f"{claims}: {file} was judged with sha256 {document['inputs'].get(file)}, it is "
                f"pinned as {hashes[file][0]} now; judge the ledger again"
            )
    return dict(sorted(hashes.items()))


def statistics_hashes(judged: Mapping[str, str], folder: Path) -> dict[str, tuple[str, str]]:
    """Path and SHA-256 of every analysis's statistics.

    Raises:
        LayerwiseError: if a file is missing or is not the one that was judged.
    """
    hashes = {}
    for name, digest in sorted(judged.items()):
        path = folder / name
        if not path.is_file():
            raise LayerwiseError(f"{path}: the judged statistics are missing; run their stage")
        if sha256_of(path) != digest:
            raise LayerwiseError(
                f"{path}: these statistics are not the ones that were judged; judge again"
            )
        hashes[path.stem] = (path.as_posix(), digest)
    return hashes


def environment() -> dict[str, str]:
    """What made the page, and nothing that tells machines apart: its bytes are the same on all."""
    locks = "requirements/cpu.lock, cuda.lock or cuda12.lock: every file by its hash"
    return {"layerwise": layerwise.__version__, "Python and packages": locks}
