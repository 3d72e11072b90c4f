"""A claim with its method and inputs, and its number computed now <- judged claims."""

from dataclasses import replace
from pathlib import Path

from layerwise.engine.central import Central
from layerwise.engine.derivation import evidence_of
from layerwise.engine.evidence import Evidence
from layerwise.engine.records import judged
from layerwise.home import here
from layerwise.papers.across.analyses import TABLES
from layerwise.papers.shared.published import read_published
from layerwise.present.trace import (
    TracedCentral,
    TracedClaim,
    as_text,
    find_claim,
    recompute,
    recompute_readings,
    trace_claim,
)
from layerwise.shapes import read_choices
from layerwise.statistics.bootstrap import Draws

__all__ = ["as_text", "trace"]


def trace(claim_id: str, source: str, results: Path) -> TracedClaim | TracedCentral:
    """A claim with its method, its inputs by value and hash, the number computed now.

    Of a central claim: the same of each estimate that decides it.

    Raises:
        LayerwiseError: if the ledger was not judged yet, the id is unknown, or the statistics
            were written again since they were judged.
    """
    in_source = judged(source, results)
    central = {claim.id: claim for claim in in_source.central}
    if claim_id in central:
        return trace_central(central[claim_id], source)
    claim = find_claim(in_source, claim_id)
    traced = trace_claim(claim, in_source, results / source / "statistics")
    statistic = claim.provenance.statistic
    if source == "published" and statistic is not None:
        return replace(traced, now=recompute(statistic, published_evidence(), TABLES))
    return traced


def trace_central(claim: Central, source: str) -> TracedCentral:
    """A central claim, each of its estimates with its rule, inputs and value computed now."""
    evidence = published_evidence() if source == "published" else None
    now = [
        recompute_readings(point.statistic, evidence, TABLES) if evidence else {}
        for point in claim.points
    ]
    return TracedCentral(claim, now)


def published_evidence() -> Evidence:
    """The published numbers, as the rules of all analyses read them."""
    draws = Draws(**read_choices(here() / "params.yaml", "analyse"))
    return evidence_of(read_published(here() / "published"), draws, TABLES)
