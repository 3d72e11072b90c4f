"""Does a claim survive another choice? One word per comparison, and what a reader concludes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

WORDS = SURVIVES, LOST, APPEARS, ABSENT = "survives", "lost", "appears", "absent"
SURVIVING = {  # the sentence on one model's row; what is lost can have turned its sign
    SURVIVES: "The claim does not rest on this choice.",
    APPEARS: "The claim holds under this choice only, not as published.",
    ABSENT: "The claim holds neither as published nor under this choice.",
}


@dataclass(frozen=True)
class Finding:
    """A claim's statistic under one choice, and whether the claim holds there by its own rule."""

    value: float
    holds: bool
    label: str
    low: float | None = None
    high: float | None = None


def compare(
    claim: str, choice: str, published: Finding, other: Finding, *, signed: bool = True
) -> dict[str, Any]:
    """One row: both findings, the outcome (a word of `WORDS`) and its conclusion.

    Arguments:
        signed: the claim is about the sign of its statistic.
    """
    held, missing = (SURVIVES, LOST) if published.holds else (APPEARS, ABSENT)
    outcome = held if other.holds else missing
    if not signed:
        said = "under the other it does not hold."
    elif published.value * other.value < 0:
        said = "the other one turns its sign."
    else:
        said = "the direction stays, the evidence does not."
    return {
        "claim": claim,
        "choice": choice,
        "published": asdict(published),
        "other": asdict(other),
        "outcome": outcome,
        "conclusion": SURVIVING.get(outcome, f"The claim rests on this choice: {said}"),
    }


def over_models(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """The models' rows, one per claim and choice: where the claim held, and where it still does."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for model, of_model in rows.items():
        for row in of_model:
            named = found.setdefault((row["claim"], row["choice"]), {word: [] for word in WORDS})
            named[row["outcome"]].append(model)
    return [
        {
            "claim": claim,
            "choice": choice,
            "n_models": sum(map(len, named.values())),
            **named,
            "conclusion": advice(named),
        }
        for (claim, choice), named in found.items()
    ]


def advice(named: Mapping[str, Sequence[str]]) -> str:
    """What a reader should conclude over all models."""
    kept, lost, new = named[SURVIVES], named[LOST], named[APPEARS]
    held = len(kept) + len(lost)
    more = f" It appears in {_names(new)}, where it did not hold as published." if new else ""
    if not held:
        return f"As published the claim holds in no model measured: nothing to survive.{more}"
    models = "one model that shows it" if held == 1 else f"{held} models that show it"
    if not lost:
        return f"It survives where it shows: in {_names(kept)}.{more}"
    if not kept:
        return f"Do not generalise: it is lost in the {models}, the choice makes it.{more}"
    return (
        f"Name the models: it survives in {_names(kept)} and is lost in {_names(lost)}, "
        f"of the {models}.{more}"
    )


def _names(models: Sequence[str]) -> str:
    *rest, last = models
    return f"{', '.join(rest)} and {last}" if rest else last
