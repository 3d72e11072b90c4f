"""What a rehearsal showed: which claims got a number, and why the others did not."""

from collections import Counter
from collections.abc import Iterable, Sequence

from layerwise.engine.judged import JudgedClaim

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


def outcome(claims: Sequence[JudgedClaim]) -> str:
    """Count the claims that got a number by the verdict, and those that got none by the reason.

    What random weights "reproduce" is how often chance does.
    """
    numbered = [claim for claim in claims if claim.recomputed is not None]
    verdicts = Counter(claim.verdict for claim in numbered)
    reasons = Counter(why_without(claim) for claim in claims if claim.recomputed is None)
    return "\n".join(
        [
            f"{len(numbered)} of {len(claims)} claims got a number",
            *(f"{n:6} {verdict}" for verdict, n in verdicts.most_common()),
            "of the others",
            *(f"{n:6} {reason}" for reason, n in reasons.most_common()),
        ]
    )


def why_without(claim: JudgedClaim) -> str:
    """Return why a claim got no number, by kind; its cause says more."""
    if kind := WITHOUT.get(claim.verdict):
        return kind
    if not claim.cause:
        return SILENT
    return EXPLAINED if claim.waits_for == "" else NOT_MEASURED


def claims_without_reason(claims: Iterable[JudgedClaim]) -> list[str]:
    """Return the claims that got no number and no reason: there should be none."""
    return [c.id for c in claims if c.recomputed is None and why_without(c) == SILENT]
