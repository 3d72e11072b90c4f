"""What a rehearsal showed: which claims got a number, and why the others did not."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Record = Mapping[str, Any]  # of a claim, as in claims.json
NO_STATISTIC = "a setting, or no statistic answers it"
WITHOUT = {  # by verdict
    "declared": NO_STATISTIC,
    "not checkable": NO_STATISTIC,
    "contradicted": "the published material denies it, whatever is measured",
    "differs": "these weights give no value: no sign change, no group",
}
NOT_MEASURED = "a number it rests on was not measured"
EXPLAINED = "the ledger says why no measurement gives it"
SILENT = "NO REASON GIVEN"


def outcome(records: Sequence[Record]) -> str:
    """Count the claims that got a number by the verdict, and those that got none by the reason.

    What random weights "reproduce" is how often chance does.
    """
    numbered = [record for record in records if record["recomputed"] is not None]
    verdicts = Counter(str(record["verdict"]) for record in numbered)
    reasons = Counter(why_without(record) for record in records if record["recomputed"] is None)
    return "\n".join(
        [
            f"{len(numbered)} of {len(records)} claims got a number",
            *(f"{n:6} {verdict}" for verdict, n in verdicts.most_common()),
            "of the others",
            *(f"{n:6} {reason}" for reason, n in reasons.most_common()),
        ]
    )


def why_without(record: Record) -> str:
    """Return why a claim got no number, by kind; the claim's record says more."""
    if kind := WITHOUT.get(record["verdict"]):
        return kind
    if not record["cause"]:
        return SILENT
    return NOT_MEASURED if "waits_for" in record else EXPLAINED


def claims_without_reason(records: Iterable[Record]) -> list[str]:
    """Return the claims that got no number and no reason: there should be none."""
    return [r["id"] for r in records if r["recomputed"] is None and why_without(r) == SILENT]
