"""What is claimed of this work itself: how many claims were compared, and with what."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from layerwise.ledger.verdicts import AS_RANDOM, NO_CONTROL, NO_NOISE, TOO_NOISY, VERDICTS

# Every verdict is of one kind. Derived numbers alone are recomputed; a rounding or a copy of what
# is stored confirms no method.
KINDS: Mapping[str, tuple[str, ...]] = {
    "derived from lower-level values and compared": (
        "agrees",
        "reproduced",
        AS_RANDOM,
        "differs",
    ),
    "measured, and not told from noise or chance": (TOO_NOISY, NO_NOISE, NO_CONTROL),
    "the rounding or a copy of a stored number": ("follows", "same number"),
    "waiting for the models' weights": ("needs weights", "not measured"),
    "without a value to compare": ("contradicted", "not checkable", "declared"),
}


# How a sentence says that claims have a verdict, where the verdict's own word does not fit.
SAID = {
    "agrees": "agree",
    "reproduced": "are reproduced",
    AS_RANDOM: "are reproduced by random weights as well",
    "differs": "differ",
    "follows": "roundings",
    "same number": "copies",
    "contradicted": "contradicted by what is published",
    "declared": "settings",
}


@dataclass(frozen=True)
class Kind:
    """Claims of one kind: what they are, how many, and how many of each verdict."""

    says: str
    n: int
    verdicts: dict[str, int]


def tally(records: Iterable[Mapping[str, Any]]) -> list[Kind]:
    """The judged claims by kind, in the order of `KINDS`; what has no claims is left out."""
    counts = Counter(record["verdict"] for record in records)
    kinds = []
    for says, verdicts in KINDS.items():
        found = {verdict: counts[verdict] for verdict in VERDICTS if verdict in verdicts}
        found = {verdict: n for verdict, n in found.items() if n}
        if found:
            kinds.append(Kind(says, sum(found.values()), found))
    return kinds


def tally_sentence(kinds: Sequence[Kind]) -> str:
    """All kinds in one sentence, as README, report and page say it."""
    parts = []
    for kind in kinds:
        found = [f"{n:,} {SAID.get(verdict, verdict)}" for verdict, n in kind.verdicts.items()]
        beside = f" ({', '.join(found)})" if len(found) > 1 else ""
        parts.append(f"{kind.n:,} are {kind.says}{beside}")
    return f"Of {sum(kind.n for kind in kinds):,} claims {'; '.join(parts)}."
