"""A claim with its method and inputs, and its number computed now <- judged claims."""

from pathlib import Path
from typing import Any

from layerwise.engine.derivation import evidence_of
from layerwise.engine.evidence import Evidence
from layerwise.engine.records import judged
from layerwise.home import here
from layerwise.papers.across.analyses import TABLES
from layerwise.papers.shared.published import read_published
from layerwise.present.trace import (
    as_text,
    recompute,
    recompute_readings,
    record_of,
    with_origins,
)
from layerwise.shapes import read_choices
from layerwise.statistics.bootstrap import Draws

__all__ = ["as_text", "trace"]


def trace(
    claim_id: str,
    source: str,
    results: Path,
) -> dict[str, Any]:
    """A claim's record with its method, its inputs by value and hash, the number computed now.

    Of a central claim: its mark, and the same of each estimate that decides it.

    Raises:
        LayerwiseError: if the ledger was not judged yet, the id is unknown, or the statistics
            were written again since they were judged.
    """
    document = judged(source, results)
    central = {claim["id"]: claim for claim in document["central"]}
    if claim_id in central:
        return trace_central(central[claim_id], source)
    record = with_origins(record_of(document, claim_id), document, results / source / "statistics")
    statistic = record["provenance"]["statistic"]
    if source == "published" and statistic is not None:
        record["now"] = recompute(statistic, published_evidence(), TABLES)
    return record


def trace_central(claim: dict[str, Any], source: str) -> dict[str, Any]:
    """A central claim, each of its estimates with its rule, inputs and value computed now."""
    evidence = published_evidence() if source == "published" else None
    points = [
        point
        | {"now": recompute_readings(point["statistic"], evidence, TABLES) if evidence else {}}
        for point in claim["points"]
    ]
    return claim | {"points": points}


def published_evidence() -> Evidence:
    """The published numbers, as the rules of all analyses read them."""
    draws = Draws(**read_choices(here() / "params.yaml", "analyse"))
    return evidence_of(read_published(here() / "published"), draws, TABLES)
