"""Findings: the facts that do not stand.

`claims/findings.yaml` says which claims are one fact, what gives the printed value (and among how
many alternatives that was found), and what it means for the argument; the numbers come from the
records.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Required

from layerwise.engine.sentences import (
    Entry,
    Record,
    Said,
    Value,
    fill,
    match_claims,
    name_entry_in_errors,
    read_entries,
    values_of,
)
from layerwise.engine.verdicts import FALLS
from layerwise.errors import LayerwiseError
from layerwise.shapes import Flag, Paper

# 1: changes the answer to a central claim; 2: changes a number or a statement; none: a slip
Weight = Literal[1, 2, "none"]
SLIP: Weight = "none"
ORDER: tuple[Weight, ...] = (1, 2, SLIP)


class Asked(Entry, total=False):
    """An entry of findings.yaml."""

    title: Required[str]
    weight: Required[Weight]
    headline: str
    caveat: bool
    gives: str
    among: str
    tried: int
    follows: str


def relative_difference(published: Any, recomputed: Any) -> float | None:
    """|recomputed - published| / |published|; of lists the largest entry's.

    Infinite where only the published number is 0 or the lists differ in length; None where there
    is nothing to subtract: a label, or a value that is missing.
    """
    if isinstance(published, list) and isinstance(recomputed, list):
        if len(published) != len(recomputed):
            return math.inf
        gaps = map(relative_difference, published, recomputed)
        return max((gap for gap in gaps if gap is not None), default=None)
    if not {type(published), type(recomputed)} <= {int, float}:
        return None
    if published == recomputed:
        return 0.0
    return abs(recomputed - published) / abs(published) if published else math.inf


@dataclass(frozen=True)
class Finding:
    """A fact that does not stand, or a caveat, with all claims that it touches.

    Attributes:
        id: p2.late_mean, ...; its title is a sentence.
        paper: 1, 2 or 3; `headline`: the id of the one it touches, if any.
        weight: 1, it changes the answer to a headline; 2, it changes a number or a statement;
            none, a slip that changes nothing.
        caveat: it is there whatever the verdicts are.
        claims: ids, those that the sentences quote first; `places`: where they stand in print.
        printed, recomputed: of the first claim that falls (of a caveat: of the first), as text.
        gives: what gives what is printed, and among which alternatives it was found; empty where
            nothing was searched for, or nothing does.
        follows: what follows for the argument; empty where the numbers are not those in print.
    """

    id: str
    paper: Paper
    title: str
    weight: Weight
    headline: str | None
    caveat: Flag
    claims: list[str]
    places: list[str]
    printed: str
    recomputed: str
    gives: str
    follows: str


def findings(
    records: Sequence[Record],
    entries: Sequence[Mapping[str, Any]],
    order: Sequence[str],
    *,
    argued: bool = True,
) -> list[Finding]:
    """Return a finding per fact, by weight, then by the headline touched, then as entries stand.

    An entry none of whose claims falls is no finding, unless it is a caveat. What falls and has no
    entry is a finding of weight 2, one for every quantity of a paper.

    Arguments:
        entries: `read_findings`.
        order: ids of the headlines.
        argued: the numbers are those in print, so that what follows from them can be said.
    """
    known = {record["id"]: record for record in records}
    facts, listed = [], set()
    for entry in entries:
        with name_entry_in_errors("finding", entry):
            touched = match_claims(entry, known)
            listed |= {record["id"] for record in touched}
            falling = [record for record in touched if record["verdict"] in FALLS]
            if falling or entry.get("caveat"):
                facts.append(_finding(entry, touched, (falling or touched)[0], known, argued))
    unlisted: dict[tuple[int, str], list[Record]] = {}
    for record in records:
        if record["verdict"] in FALLS and record["id"] not in listed:
            unlisted.setdefault((record["paper"], record["quantity"]), []).append(record)
    for group in unlisted.values():
        first = {"id": group[0]["id"], "claims": {"claim": group[0]["id"]}, "weight": 2}
        title = f"{group[0]['quantity']}: {{claim}}, not {{claim.printed}}."
        try:
            facts.append(_finding({**first, "title": title}, group, group[0], known, argued))
        except LayerwiseError as error:
            raise LayerwiseError(f"claim {first['id']}: {error}; analyse again") from None
    places = {headline: place for place, headline in enumerate(order)}
    return sorted(
        facts,
        key=lambda fact: (ORDER.index(fact.weight), places.get(fact.headline or "", len(places))),
    )


def read_findings(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of `findings.yaml` of the ledger's folder."""
    return read_entries(folder / "findings.yaml", Asked, optional=True)


def _gives(entry: Mapping[str, Any], values: Mapping[str, Value]) -> str:
    """Say what gives the printed value, and among which alternatives it was found."""
    given = [name for name in ("gives", "among", "tried") if entry.get(name)]
    if not given:
        return ""
    if len(given) < 3:
        raise LayerwiseError(
            "`gives`, `among` and `tried` go together: what gives a printed value says among which "
            "alternatives, and how many, it was found"
        )
    return (
        f"{fill(entry['gives'], values)} Alternatives tried: {entry['tried']} ({entry['among']})."
    )


def _finding(
    entry: Mapping[str, Any],
    touched: Sequence[Record],
    first: Record,
    known: Mapping[str, Record],
    argued: bool,
) -> Finding:
    values = values_of(entry, known)
    return Finding(
        id=entry["id"],
        paper=first["paper"],
        title=fill(entry["title"], values),
        weight=entry["weight"],
        headline=entry.get("headline"),
        caveat=bool(entry.get("caveat")),
        claims=[record["id"] for record in touched],
        places=list(dict.fromkeys(record["where"] for record in touched)),
        printed=Said(first).printed,
        recomputed=f"{Said(first)}",
        gives=_gives(entry, values) if argued else "",
        follows=fill(entry.get("follows", ""), values) if argued else "",
    )
