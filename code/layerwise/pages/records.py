"""Judged claims as the report page shows them: checked, their values as text, their evidence."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.ledger.findings import origin, relative_difference
from layerwise.ledger.verdicts import TOLERANCES, VERDICTS

LONGEST_LIST = 6
NOTHING = "–"
_TEXTS = ("id", "where", "quantity", "verdict", "tolerance")
_FIELDS = ("model", "unit", "kind", "decimals", "published", "recomputed", "cause")
_ORIGIN_FIELDS = ("file", "key", "statistic", "inputs")


@dataclass(frozen=True)
class Evidence:
    """What the judged claims rest on.

    cells: {"file#/pointer": the published value}; files: {file: (sha256, the file that has it)};
    statistics: {analysis: (path, sha256)}; hashes: {path: sha256} of everything else used.
    """

    cells: Mapping[str, Any]
    files: Mapping[str, tuple[str, str]]
    statistics: Mapping[str, tuple[str, str]]
    hashes: Mapping[str, str]
    environment: Mapping[str, str]


def checked(document: Any, name: str, source: str) -> list[dict[str, Any]]:
    """The records of a `claims.json`, once all a page needs of them is there.

    Raises:
        LayerwiseError: naming file and claim for another source, a missing field, an unknown
            verdict or tolerance class, an id twice, or counts that are not those of the records.
    """
    keys = ("source", "counts", "statistics", "inputs", "claims")
    if not isinstance(document, dict) or not all(key in document for key in keys):
        raise LayerwiseError(
            f"{name}: judged claims are an object with {', '.join(keys)}; judge the ledger again"
        )
    if document["source"] != source:
        raise LayerwiseError(
            f"{name}: the page is for source {source!r}, these claims were judged for "
            f"{document['source']!r}; give that source's claims.json"
        )
    counts: dict[str, Counter[str]] = {}
    seen: set[str] = set()
    for position, record in enumerate(document["claims"]):
        _check_record(record, name, position)
        if record["id"] in seen:
            raise LayerwiseError(f"{name}: claim {record['id']} is there twice; judge again")
        seen.add(record["id"])
        counts.setdefault(f"paper{record['paper']}", Counter())[record["verdict"]] += 1
    if counts != document["counts"]:
        raise LayerwiseError(f"{name}: the counts are not those of its claims; judge again")
    return document["claims"]


def _check_record(record: Any, name: str, position: int) -> None:
    claim = record.get("id") if isinstance(record, dict) else None
    if not isinstance(claim, str) or not claim:
        raise LayerwiseError(f"{name}: claim number {position + 1} has no id; judge again")
    if not record.get("verdict"):
        raise LayerwiseError(f"{name}: claim {claim} has no verdict; judge the ledger again")
    if record["verdict"] not in VERDICTS:
        raise LayerwiseError(
            f"{name}: claim {claim}: verdict must be one of {', '.join(VERDICTS)}, "
            f"found {record['verdict']!r}"
        )
    wrong = [field for field in _TEXTS if not isinstance(record.get(field), str)]
    wrong += [field for field in _FIELDS if field not in record]
    provenance = record.get("provenance")
    given = provenance if isinstance(provenance, dict) else {}
    wrong += [f"provenance.{field}" for field in _ORIGIN_FIELDS if field not in given]
    if not isinstance(record.get("paper"), int):
        wrong.append("paper")
    if wrong:
        raise LayerwiseError(
            f"{name}: claim {claim} lacks {', '.join(wrong)}, or it is of another type; judge again"
        )
    if record["tolerance"] not in TOLERANCES:
        raise LayerwiseError(
            f"{name}: claim {claim}: tolerance must be one of {', '.join(TOLERANCES)}, "
            f"found {record['tolerance']!r}"
        )


def shown(value: Any, decimals: int | str | None = "full") -> str:
    """A value as text: numbers at `decimals`, or with every digit where that is "full"."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(shown(entry, decimals) for entry in value)
    if isinstance(value, float) and isinstance(decimals, int):
        return f"{value:.{decimals}f}"
    return value if isinstance(value, str) else json.dumps(value)


def brief(value: Any, decimals: int | str | None) -> str:
    """A value for a narrow column: six significant digits where every digit is published."""
    if isinstance(value, list) and len(value) > LONGEST_LIST:
        return f"{brief(value[:LONGEST_LIST], decimals)}, … ({len(value)} values)"
    if isinstance(value, list):
        return ", ".join(brief(entry, decimals) for entry in value)
    if isinstance(value, float) and not isinstance(decimals, int):
        return f"{value:.6g}"
    return shown(value, decimals)


def analysis_of(record: Mapping[str, Any]) -> str | None:
    """The analysis that a claim's statistic belongs to, None where it has none."""
    statistic = record["provenance"]["statistic"]
    return None if statistic is None else statistic.split(":", 1)[0]


def stage_of(source: str, analysis: str) -> str:
    """The pipeline stage that computes an analysis."""
    return f"analyse@{source}"


def view(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as the page shows it: values as text, what is empty left out."""
    decimals, differs = record["decimals"], record["verdict"] == "differs"
    # two more digits tell a rounding from another value
    closer = decimals + 2 if differs and isinstance(decimals, int) else decimals
    gap = relative_difference(record["published"], record["recomputed"])
    provenance, where = record["provenance"], record["where"]
    seen = {
        "place": where if where.startswith("Paper") else f"Paper {record['paper']}, {where}",
        **{name: record[name] for name in ("id", "paper", "where", "quantity", "model", "unit")},
        **{name: record[name] for name in ("kind", "verdict", "tolerance", "cause")},
        "published": brief(record["published"], decimals),
        "recomputed": brief(record["recomputed"], closer),
        "published_full": shown(record["published"], decimals),
        "recomputed_full": shown(record["recomputed"]),
        "published_number": _number(record["published"]),
        "recomputed_number": _number(record["recomputed"]),
        # JSON has no infinity
        "difference": None if gap is None else min(gap, sys.float_info.max),
        "origin": origin(record),
        "analysis": analysis_of(record),
        **{name: provenance[name] for name in ("file", "key", "statistic")},
    }
    return {name: value for name, value in seen.items() if value is not None}


def _number(value: Any) -> float | int | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def beside(records: Sequence[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Positions of each analysis's claims: those that differ, those with both values, the rest."""

    def rank(record: Mapping[str, Any]) -> int:
        if record["verdict"] == "differs":
            return 0
        return 1 if None not in (record["published"], record["recomputed"]) else 2

    groups: dict[str, list[int]] = {}
    for position in sorted(range(len(records)), key=lambda position: rank(records[position])):
        analysis = analysis_of(records[position])
        if analysis is not None:
            groups.setdefault(analysis, []).append(position)
    return groups


def bands() -> dict[str, str]:
    """The tolerance classes in words."""
    return {name: _band(*band) for name, band in TOLERANCES.items()}


def _band(relative: float, absolute: float) -> str:
    parts = [f"{relative:g} relative"] if relative else []
    parts += [f"{absolute:g} absolute"] if absolute else []
    return " or ".join(parts) or "equal"


def page_data(
    source: str,
    records: Sequence[Mapping[str, Any]],
    views: Sequence[Mapping[str, Any]],
    groups: Mapping[str, list[int]],
    evidence: Evidence,
) -> dict[str, Any]:
    """What the page's script reads; files and cells are listed once and named by position.

    Raises:
        LayerwiseError: naming a claim with a recomputed value whose statistics are missing.
    """
    cells = {cell: position for position, cell in enumerate(evidence.cells)}
    files = {file: position for position, file in enumerate(evidence.files)}
    listed = []
    for cell, value in evidence.cells.items():
        file, _, key = cell.partition("#")
        listed.append([files[file], key, shown(value)])
    claims = []
    for record, seen in zip(records, views, strict=True):
        analysis = seen.get("analysis")
        if analysis not in evidence.statistics and record["recomputed"] is not None:
            raise LayerwiseError(
                f"claim {record['id']} was recomputed, but there are no statistics {analysis!r}; "
                "run the stage and judge again"
            )
        inputs = [cells[cell] for cell in record["provenance"]["inputs"]]
        claims.append({**seen, **({"inputs": inputs} if inputs else {})})
    return {
        "source": source,
        "verdicts": VERDICTS,
        "tolerances": bands(),
        "files": [[file, *evidence.files[file]] for file in files],
        "cells": listed,
        "statistics": evidence.statistics,
        "stages": {analysis: stage_of(source, analysis) for analysis in groups},
        "beside": groups,
        "claims": claims,
    }
