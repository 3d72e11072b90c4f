"""The page: judged claims, figures and hashes to one self-contained HTML text.

Everything is inlined: style, script, figures and the claims as JSON. The page's security policy
admits exactly that style and that script, by hash, and no network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from layerwise.errors import LayerwiseError
from layerwise.ledger.findings import ORIGINS, differing
from layerwise.ledger.verdicts import VERDICTS
from layerwise.pages.evidence import Evidence
from layerwise.pages.html import embedded, fill, inlined, policy, seen
from layerwise.pages.pictures import Figures
from layerwise.pages.records import bands, beside, counts, view
from layerwise.pages.values import shown

TEMPLATE = "index.html.j2"
BESIDE = 10  # claims shown beside a figure before the reader asks for all
AGAIN = {"published": "recomputed", "measured": "measured"}
MEANINGS = {
    "agrees": "derived from published values by the stated method, equal at the printed decimals",
    "reproduced": "measured from the weights, within the band of its tolerance class",
    "differs": "the stated method gives another value; both are shown",
    "same number": "two places print one stored number: equal, and nothing was derived",
    "contradicted": "a statement of fact that the published material denies",
    "follows": "the rounding of a published number that itself needs weights",
    "needs weights": "nothing is published to derive it from",
    "not measured": "no measurement stands behind it in this source",
    "not checkable": "no rule, or nothing was saved to compare with",
    "declared": "a setting, not a result",
}


def page(
    source: str,
    records: Sequence[Mapping[str, Any]],
    figures: Figures,
    evidence: Evidence,
    templates: Path,
) -> str:
    """The whole page. The same input gives the same text.

    Raises:
        LayerwiseError: for a missing or broken template, a figure that is not a whole PNG, or a
            recomputed claim whose analysis has no statistics file.
    """
    views = [seen(view(record)) for record in records]
    groups = beside(records)
    style, script = (inlined(templates / name) for name in ("page.css", "page.js"))
    again = "random number" if figures.random_weights else AGAIN[source]
    data = page_data(source, again, records, views, groups, evidence)
    context = {
        "source": source,
        "random": figures.random_weights,
        "again": again,
        "records": views,
        "counts": counts(records),
        "verdicts": [word for word in VERDICTS if any(r["verdict"] == word for r in records)],
        "meanings": MEANINGS,
        "tolerances": bands(),
        "origins": ORIGINS,
        "findings": [seen(view(record)) for record in differing(records)],
        "analyses": [
            {"name": analysis, "figures": drawn, "claims": groups.get(analysis, [])}
            for analysis, drawn in figures.by_analysis().items()
        ],
        "left_out": figures.left_out,
        "beside": BESIDE,
        "evidence": evidence,
        "style": Markup(style),
        "script": Markup(script),
        "policy": policy(style, script),
        "data": embedded(seen(data)),
    }
    return fill([templates], TEMPLATE, context)


def page_data(
    source: str,
    again: str,
    records: Sequence[Mapping[str, Any]],
    views: Sequence[Mapping[str, Any]],
    groups: Mapping[str, list[int]],
    evidence: Evidence,
) -> dict[str, Any]:
    """What the page's script reads; files and cells are listed once and named by position.

    Raises:
        LayerwiseError: naming a claim with a recomputed value whose statistics are missing.
    """
    cells = {cell: position for position, cell in enumerate(evidence.cells)}
    files = {file: position for position, file in enumerate(evidence.files)}
    listed = []
    for cell, value in evidence.cells.items():
        file, _, key = cell.partition("#")
        listed.append([files[file], key, shown(value)])
    claims = []
    for record, one in zip(records, views, strict=True):
        analysis = one.get("analysis")
        if analysis not in evidence.statistics and record["recomputed"] is not None:
            raise LayerwiseError(
                f"claim {record['id']} was recomputed, but there are no statistics {analysis!r}; "
                "run the stage and judge again"
            )
        inputs = [cells[cell] for cell in record["provenance"]["inputs"]]
        behind = {"inputs": inputs, "runs": record["provenance"].get("runs")}
        claims.append({**one, **{name: found for name, found in behind.items() if found}})
    return {
        "source": source,
        "again": again,
        "stage": f"analyse@{source}",
        "verdicts": VERDICTS,
        "tolerances": bands(),
        "files": [[file, *evidence.files[file]] for file in files],
        "cells": listed,
        "statistics": evidence.statistics,
        "runs": {
            run: ", ".join(f"{name} {shown(value)}" for name, value in _flat(how))
            for run, how in evidence.runs.items()
        },
        "beside": groups,
        "claims": claims,
    }


def _flat(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Names and values of what measured a run, those of its parts after one another."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value)
        elif value is not None:
            yield name, value
