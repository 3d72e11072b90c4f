"""Findings: what does not stand beside the central claims, a fact each.

What touches a central claim is a sentence of it (`engine.central`). The others are functions too,
and a claim that falls and that none of them speaks of is a finding by itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from layerwise.engine.seen import Record, Seen, Sentences, seen_claim, told
from layerwise.engine.verdicts import FALLS
from layerwise.errors import LayerwiseError
from layerwise.shapes import Paper


@dataclass(frozen=True)
class Finding:
    """A fact that does not stand: what is said of it, and the claims that it speaks of."""

    id: str
    paper: Paper
    text: str
    claims: list[str]


def tell_findings(
    findings: Sentences, records: Sequence[Record], seen: Seen, told_of: Iterable[str]
) -> list[Finding]:
    """Return the findings that have something to say, then one for each quantity left over.

    Arguments:
        findings: the functions that tell of them, by id.
        seen: what they see.
        told_of: ids of the claims that the central claims speak of.
    """
    known = {record["id"]: record for record in records}
    facts, listed = [], {*told_of}
    for name, tell in findings.items():
        view = seen.afresh()
        try:
            text = " ".join(told(tell, view))
        except LayerwiseError as error:
            raise LayerwiseError(f"the finding {name}: {error}") from None
        listed |= view.asked
        claims = [record["id"] for record in records if record["id"] in view.asked]
        if text:
            facts.append(Finding(name, known[claims[0]]["paper"], text, claims))
    left = [record for record in records if record["verdict"] in FALLS]
    return [*facts, *_left_over(record for record in left if record["id"] not in listed)]


def _left_over(records: Iterable[Record]) -> list[Finding]:
    """Return a finding for every quantity of a paper."""
    groups: dict[tuple[int, str], list[Any]] = {}
    for record in records:
        groups.setdefault((record["paper"], record["quantity"]), []).append(record)
    return [
        Finding(
            group[0]["id"],
            group[0]["paper"],
            f"{group[0]['quantity']}: {_given(group[0])}, not {seen_claim(group[0]).printed}.",
            [record["id"] for record in group],
        )
        for group in groups.values()
    ]


def _given(record: Record) -> str:
    claim = seen_claim(record)
    return f"{claim}" if claim.known else "no value"
