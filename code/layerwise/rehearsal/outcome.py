"""What a rehearsal showed: which claims got a number, and which of these random weights gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from tabulate import tabulate

Record = Mapping[str, Any]  # of a claim, as in claims.json
NO_STATISTIC = "no statistic answers it, or it is a setting"
SILENT = "NO REASON GIVEN"
# What is reproduced because it does not depend on the weights.
COUNT = "counts and settings"


def outcome(records: Iterable[Record]) -> str:
    """Three tables: claims with a number by paper, why others have none, what is reproduced."""
    records = list(records)
    papers = sorted({record["paper"] for record in records})

    def row(name: str, chosen: Iterable[Record]) -> list[Any]:
        counts = Counter(record["paper"] for record in chosen)
        return [name, *(counts[paper] or "" for paper in papers)]

    found = [record for record in records if record["recomputed"] is not None]
    rows = [row("claims", records), row("got a number", found)]
    causes = Counter(why_without(record) for record in records if record["recomputed"] is None)
    for cause in sorted(causes, key=lambda name: -causes[name]):
        rows.append(row(f"  none: {cause}", (r for r in records if _is_without(r, cause))))
    again = [record for record in found if record["verdict"] == "reproduced"]
    rows.append(row("reproduced by random weights", again))
    for kind in sorted({kind_of(record) for record in again}):
        rows.append(row(f"  {kind}", (r for r in again if kind_of(r) == kind)))
    return tabulate(rows, headers=["", *(f"paper {paper}" for paper in papers)], tablefmt="plain")


def _is_without(record: Record, cause: str) -> bool:
    return record["recomputed"] is None and why_without(record) == cause


def why_without(record: Record) -> str:
    """Why a claim got no number."""
    if record["verdict"] in ("not checkable", "declared"):
        return NO_STATISTIC
    return record["cause"] or SILENT


def silent(records: Iterable[Record]) -> list[str]:
    """The claims that got no number and say nothing of why: there should be none."""
    return [r["id"] for r in records if r["recomputed"] is None and why_without(r) == SILENT]


def kind_of(record: Record) -> str:
    """What a claim's printed value is: chance, not the weights, decides on short lists of words."""
    printed = record["published"]
    if isinstance(printed, bool):
        return "flags"
    if isinstance(printed, str):
        return "words"
    if isinstance(printed, list):
        return "lists"
    return COUNT if isinstance(printed, int) else "numbers"
