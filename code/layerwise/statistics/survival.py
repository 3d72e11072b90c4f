"""Does a claim survive another choice? One word per comparison, and what a reader concludes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

SURVIVES, LOST, APPEARS, ABSENT = "survives", "lost", "appears", "absent"


@dataclass(frozen=True)
class Finding:
    """A claim's statistic under one choice, and whether the claim holds there by its own rule."""

    value: float
    holds: bool
    label: str
    low: float | None = None
    high: float | None = None


def outcome(published: Finding, other: Finding) -> str:
    """`survives` and `lost` where the claim held as published; else `appears` or `absent`."""
    if published.holds:
        return SURVIVES if other.holds else LOST
    return APPEARS if other.holds else ABSENT


def compare(
    claim: str, choice: str, published: Finding, other: Finding, *, signed: bool = True
) -> dict[str, Any]:
    """One row: both findings, the outcome and its conclusion.

    Arguments:
        signed: the claim is about the sign of its statistic.
    """
    return {
        "claim": claim,
        "choice": choice,
        "published": asdict(published),
        "other": asdict(other),
        "outcome": outcome(published, other),
        "conclusion": conclusion(published, other, signed=signed),
    }


def conclusion(published: Finding, other: Finding, *, signed: bool = True) -> str:
    """What a reader of one model's row should conclude."""
    found = outcome(published, other)
    if found == SURVIVES:
        return "The claim does not rest on this choice."
    if found == APPEARS:
        return "The claim holds under this choice only, not as published."
    if found == ABSENT:
        return "The claim holds neither as published nor under this choice."
    if not signed:
        return "The claim rests on this choice: under the other it does not hold."
    if published.value * other.value < 0:
        return "The claim rests on this choice: the other one turns its sign."
    return "The claim rests on this choice: the direction stays, the evidence does not."


def over_models(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Rows of all models, one per claim and choice: where the claim held, and where it still does.

    Arguments:
        rows: by model, as `compare` gives them.
    """
    keys = dict.fromkeys((row["claim"], row["choice"]) for found in rows.values() for row in found)
    summary = []
    for claim, choice in keys:
        outcomes = {
            model: row["outcome"]
            for model, found in rows.items()
            for row in found
            if (row["claim"], row["choice"]) == (claim, choice)
        }
        named = {
            word: [model for model, found in outcomes.items() if found == word]
            for word in (SURVIVES, LOST, APPEARS, ABSENT)
        }
        summary.append(
            {
                "claim": claim,
                "choice": choice,
                "n_models": len(outcomes),
                **named,
                "conclusion": advice(named),
            }
        )
    return summary


def advice(named: Mapping[str, Sequence[str]]) -> str:
    """What a reader should conclude over all models."""
    kept, lost, new = named[SURVIVES], named[LOST], named[APPEARS]
    held = len(kept) + len(lost)
    more = f" It appears in {_names(new)}, where it did not hold as published." if new else ""
    if not held:
        return f"As published the claim holds in no model measured: nothing to survive.{more}"
    models = "one model that shows it" if held == 1 else f"{held} models that show it"
    if not lost:
        return f"Rely on it in this respect: it survives in the {models}.{more}"
    if not kept:
        return f"Do not generalise: it is lost in the {models}, the choice makes it.{more}"
    return (
        f"Name the models: it survives in {_names(kept)} and is lost in {_names(lost)}, "
        f"of the {models}.{more}"
    )


def _names(models: Sequence[str]) -> str:
    *rest, last = models
    return f"{', '.join(rest)} and {last}" if rest else last
