"""What a rehearsal showed: which claims got a number, and which of these random weights gave."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from layerwise.engine.verdicts import AS_RANDOM, NO_CONTROL, NO_NOISE, TOO_NOISY
from layerwise.present import terminal

Record = Mapping[str, Any]  # of a claim, as in claims.json
NO_STATISTIC = "a setting, or no statistic answers it"
WITHOUT = {  # by verdict
    "declared": NO_STATISTIC,
    "not checkable": NO_STATISTIC,
    "contradicted": "the published material denies it, whatever is measured",
    "differs": "these weights give no value: no sign change, no group",
}
NO_RUN = re.compile(r"\S+#\S+ was not measured|no experiment measures it")
NOT_MEASURED = "a number it rests on was not measured"
EXPLAINED = "the ledger says why no measurement gives it"
SILENT = "NO REASON GIVEN"
WEIGHT_FREE = "counts and settings, which no weight enters"
WIDTH = 60  # of the first column, in characters


def outcome(records: Iterable[Record]) -> str:
    """Count claims with a number by paper, why others have none, and what is reproduced."""
    records = list(records)
    papers = sorted({record["paper"] for record in records})
    numbered = [record for record in records if record["recomputed"] is not None]
    rest = [record for record in records if record["recomputed"] is None]
    alike = [record for record in numbered if record["verdict"] == AS_RANDOM]
    again = [record for record in numbered if record["verdict"] == "reproduced"]
    counted = [record for record in numbered if record["verdict"] == "agrees"]
    noisy = [record for record in numbered if record["verdict"] == TOO_NOISY]
    unjudged = [record for record in numbered if record["verdict"] in (NO_NOISE, NO_CONTROL)]

    def row(name: str, chosen: Iterable[Record]) -> list[Any]:
        counts = Counter(record["paper"] for record in chosen)
        return [name, *(counts[paper] or "" for paper in papers)]

    def rows(chosen: list[Record], kind: Callable[[Record], str]) -> list[list[Any]]:
        return [
            row(f"- {name}", (record for record in chosen if kind(record) == name))
            for name, _ in Counter(map(kind, chosen)).most_common()
        ]

    table = [
        row("claims", records),
        row("got a number", numbered),
        row("got none", rest),
        *rows(rest, why_without),
        row("counted, and compared", counted),
        *rows(counted, kind_of),
        row("of their noise or their control nothing is known", unjudged),
        *rows(unjudged, kind_of),
        row(TOO_NOISY, noisy),
        *rows(noisy, kind_of),
        row("reproduced by these weights and by a draw of the control", alike),
        *rows(alike, kind_of),
        row("reproduced by these alone, which no control can show", again),
        *rows(again, kind_of),
    ]
    heads = ["", *(f"paper {paper}" for paper in papers)]
    return terminal.counts(heads, table, WIDTH)


def why_without(record: Record) -> str:
    """Return why a claim got no number, by kind; the claim's record says more."""
    if kind := WITHOUT.get(record["verdict"]):
        return kind
    if not record["cause"]:
        return SILENT
    return NOT_MEASURED if NO_RUN.match(record["cause"]) else EXPLAINED


def silent(records: Iterable[Record]) -> list[str]:
    """Return the claims that got no number and no reason: there should be none."""
    return [r["id"] for r in records if r["recomputed"] is None and why_without(r) == SILENT]


def kind_of(record: Record) -> str:
    """Return the kind of a reproduced claim: one that no weight enters, or that chance may hit."""
    if not record["provenance"]["runs"]:
        return WEIGHT_FREE
    printed = record["published"]
    if isinstance(printed, bool):
        return "flags: one of two"
    if isinstance(printed, str):
        return "words: one of a few"
    if isinstance(printed, int | list) or record["unit"] == "%":
        return "ranks, layers and shares: one of a few"
    return "numbers within the band of their class"
