"""What a rehearsal showed: which claims got a number, and why the others did not."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

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
WIDTH = 60  # of the first column, in characters


def outcome(records: Iterable[Record]) -> str:
    """Count claims by paper: with a number, by verdict, and without one, by reason."""
    records = list(records)
    papers = sorted({record["paper"] for record in records})
    numbered = [record for record in records if record["recomputed"] is not None]
    rest = [record for record in records if record["recomputed"] is None]

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
        *rows(numbered, lambda record: str(record["verdict"])),
        row("got none", rest),
        *rows(rest, why_without),
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


def claims_without_reason(records: Iterable[Record]) -> list[str]:
    """Return the claims that got no number and no reason: there should be none."""
    return [r["id"] for r in records if r["recomputed"] is None and why_without(r) == SILENT]
