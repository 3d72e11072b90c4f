"""What does not follow from the published numbers, in order of consequence.

A number in a paper's text weighs more than one in a notebook or on a page beside the paper, and
that more than one in a result file; a word (a verdict, a label) more than a
number; a large relative difference more than a small one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

# Where a claim stands, the most read first.
ORIGINS = ("paper text", "notebook or page", "result file")
_BESIDE = re.compile(r"notebook|supplement|draft|page on|(summary|front) page$", re.IGNORECASE)
_SAVED = re.compile(r"saved results|result file|\b(csv|json)\b", re.IGNORECASE)
_PAPER = re.compile(
    r"(paper|abstract|introduction|contrib|method|section|results? \d|table|fig|caption|appendix|"
    r"equation|disc|limit|concl)",
    re.IGNORECASE,
)


def origin(record: Mapping[str, Any]) -> str:
    """The kind of text a claim stands in, from its `where` and, failing that, its file."""
    where, file = record["where"], record["provenance"]["file"] or ""
    if _PAPER.match(where):
        return "paper text"
    if _BESIDE.search(where):
        return "result file" if _SAVED.search(where) else "notebook or page"
    if _SAVED.search(where) or file.endswith((".csv", ".json")):
        return "result file"
    return "paper text"


def is_label(value: Any) -> bool:
    """Whether a published value is a word, a truth value, or a list that holds one."""
    if isinstance(value, list):
        return any(is_label(entry) for entry in value)
    return isinstance(value, str | bool)


def relative_difference(published: Any, recomputed: Any) -> float | None:
    """|recomputed - published| / |published|; of lists the largest entry's.

    Infinite where only the published number is 0 or the lists differ in length; None where there
    is nothing to subtract: a label, or a value that is missing.
    """
    if published is None or recomputed is None or is_label(published) or is_label(recomputed):
        return None
    if isinstance(published, list) or isinstance(recomputed, list):
        if not (isinstance(published, list) and isinstance(recomputed, list)):
            return math.inf
        if len(published) != len(recomputed):
            return math.inf
        pairs = zip(published, recomputed, strict=True)
        known = [gap for gap in (relative_difference(p, r) for p, r in pairs) if gap is not None]
        return max(known, default=None)
    if not isinstance(published, int | float) or not isinstance(recomputed, int | float):
        return None
    if published == recomputed:
        return 0.0
    return abs(recomputed - published) / abs(published) if published else math.inf


def findings(records: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The records whose verdict is `differs`, the most consequential first; ties by id."""

    def weight(record: Mapping[str, Any]) -> tuple[int, bool, float, str]:
        gap = relative_difference(record["published"], record["recomputed"])
        return (
            ORIGINS.index(origin(record)),
            not is_label(record["published"]),
            -(gap or 0.0),
            record["id"],
        )

    return sorted((record for record in records if record["verdict"] == "differs"), key=weight)
