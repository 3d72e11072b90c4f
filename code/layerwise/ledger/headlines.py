"""The papers' central claims, each graded by a rule from the verdicts that it rests on.

`claims/headlines.yaml` has what is said, where, the claims it rests on and the rule's name; grades
and numbers follow. A part of a headline is a claim, a `fact` (a statistic that is true or false)
or a `choice`: another choice under which the first claim is asked again, as a statistic that is
true or gives what is printed, or as a row {claim, choice, model} of the sensitivity analysis.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Required

from layerwise.inputs.shapes import Loose, Strict, require_shape
from layerwise.ledger.sentences import (
    Entry,
    Record,
    Said,
    Value,
    fill,
    named_and_matching,
    of_entry,
    read_entries,
)
from layerwise.ledger.verdicts import AS_RANDOM, STANDING, at, gives

HOLDS, IN_PART = "holds", "holds in part"
NOT, ONE_CHOICE = "does not follow", "only under one choice"
UNTESTED = "untested without weights"
GRADES = {
    HOLDS: "every number and word that it rests on is confirmed",
    IN_PART: "some of what it rests on is confirmed, some is not",
    NOT: "the published numbers give something else",
    ONE_CHOICE: "it is lost under another choice that is as good as the papers'",
    UNTESTED: "what is published neither confirms nor denies it",
}
FALLS = ("differs", "contradicted")
OUTCOMES: Mapping[bool | None, str] = {True: "survives", False: "lost", None: "not tested"}


class Asked(Entry, total=False):
    """An entry of headlines.yaml."""

    paper: Required[Literal[1, 2, 3]]
    where: Required[str]
    says: Required[str]
    rule: Required[Literal["every claim", "the first claim", "every choice"]]
    facts: dict[str, str]
    choices: dict[str, str | dict[str, str]]
    values: dict[str, str]
    reason: dict[str, str]
    asked: list[str]


class Part(Strict, total=False):
    """What a headline rests on: a claim with its verdict, or a fact."""

    claim: str
    verdict: str
    fact: str
    stands: bool | None


class Row(Loose):
    """What became of a claim under a choice, in one model (`survival.compare`)."""

    claim: str
    choice: str
    model: str
    outcome: Literal["survives", "lost", "appears", "absent"]


@dataclass(frozen=True)
class Headline:
    """A central claim of a paper, and how it fares.

    Attributes:
        id: p1.neutral, ...; in the papers' order.
        says: the claim in our words; `where`: the places that make it.
        grade: one of GRADES; `reason`: the sentence that explains it, numbers filled in.
        rule: the name of the rule that graded it, as `grade` has them.
        parts: what it rests on.
        choices: {text: "survives", "lost" or "not tested"}.
        asked: the rows of the sensitivity analysis that ask it again.
    """

    id: str
    paper: int
    where: str
    says: str
    grade: str
    reason: str
    rule: str
    parts: list[Part]
    choices: dict[str, str]
    asked: list[str] = field(default_factory=list)


def headlines(
    records: Sequence[Record],
    documents: Mapping[str, Any],
    entries: Sequence[Mapping[str, Any]],
    control: Sequence[Mapping[str, Any]] = (),
) -> list[Headline]:
    """The graded headlines, in order; the same for every source.

    Arguments:
        records: judged claims.
        documents: the statistics of the same source, {analysis: {document: result}}.
        entries: `read_headlines`.
        control: the documents of each draw of random weights: a fact that is true of some of
            these says nothing.
    """
    known = {record["id"]: record for record in records}
    found = []
    for entry in entries:
        with of_entry("headline", entry):
            found.append(_headline(entry, known, documents, control))
    return found


def read_headlines(folder: Path) -> list[dict[str, Any]]:
    """The entries of `headlines.yaml` of the ledger's folder."""
    return read_entries(folder / "headlines.yaml", Asked)


def _headline(
    entry: Mapping[str, Any],
    known: Mapping[str, Record],
    documents: Mapping[str, Any],
    control: Sequence[Mapping[str, Any]],
) -> Headline:
    named, wanted = entry["claims"], named_and_matching(entry, known)
    facts = {
        text: _fact(statistic, documents, control)
        for text, statistic in entry.get("facts", {}).items()
    }
    choices = {
        text: _outcome(wanted[0], choice, documents)
        for text, choice in entry.get("choices", {}).items()
    }
    parts = [*map(stands, wanted), *facts.values()]
    given = grade(entry["rule"], parts, list(choices.values()))
    values: dict[str, Value] = {alias: Said(known[claim]) for alias, claim in named.items()}
    values |= {name: Value(at(documents, s)) for name, s in entry.get("values", {}).items()}
    templates = entry.get("reason", {})
    return Headline(
        **{name: entry[name] for name in ("id", "paper", "where", "rule")},
        says=fill(entry["says"], values),
        grade=given,
        reason=fill(templates[given], values) if given in templates else _counted(wanted),
        parts=[Part(claim=record["id"], verdict=record["verdict"]) for record in wanted]
        + [Part(fact=text, stands=value) for text, value in facts.items()],
        choices={text: OUTCOMES[survives] for text, survives in choices.items()},
        asked=entry.get("asked", []),
    )


def _fact(
    statistic: str, documents: Mapping[str, Any], control: Sequence[Mapping[str, Any]]
) -> bool | None:
    """Whether a fact is true; None where some draw of random weights has it too."""
    true: bool | None = at(documents, statistic)
    return None if true and any(at(draw, statistic) for draw in control) else true


def grade(rule: str, parts: Sequence[bool | None], choices: Sequence[bool | None]) -> str:
    """The grade of a headline whose parts and choices stand, fall, or are not known (None).

    "every claim": it holds where every part stands, in part where some do, and only under one
    choice where another loses it. "the first claim": without it nothing follows, whatever else
    stands. "every choice": as that, but under one choice where the parts fall and a choice has it.
    """
    known = [part for part in parts if part is not None]
    if rule == "every choice" and False in parts and True in choices:
        return ONE_CHOICE
    if not known or (rule != "every claim" and parts[0] is None):
        return UNTESTED
    if not any(known) or (rule != "every claim" and not parts[0]):
        return NOT
    if not all(known):
        return IN_PART
    return ONE_CHOICE if False in choices else HOLDS


def stands(record: Record) -> bool | None:
    """Whether a verdict confirms its claim; None where it says nothing."""
    return True if record["verdict"] in STANDING else False if record["verdict"] in FALLS else None


def _outcome(
    first: Record, choice: str | Mapping[str, str], documents: Mapping[str, Any]
) -> bool | None:
    if isinstance(choice, str):
        value = at(documents, choice)
        return (
            value
            if isinstance(value, bool | None)
            else gives(first["published"], value, first["decimals"])
        )
    rows = at(documents, "sensitivity:summary:/models") or []
    require_shape("sensitivity.json: models", list[Row], rows, "analyse again")
    outcomes = [row["outcome"] for row in rows if choice.items() <= row.items()]
    return {"survives": True, "lost": False}.get(outcomes[0] if outcomes else "")


def _counted(records: Sequence[Record]) -> str:
    """The sentence where no template fits the grade: how many stand, and which do not."""
    n = sum(stands(record) is True for record in records)
    falls = [
        f"{record['quantity']}: printed {said.printed}, found {said}"
        for record in records
        if stands(record) is False and (said := Said(record))
    ]
    random = sum(record["verdict"] == AS_RANDOM for record in records)
    too = [f"{random} more as well for random weights"] if random else []
    return "; ".join([f"{n} of {len(records)} claims stand", *too, *falls[:2]])
