"""One claim's record with its method and inputs, and its number computed now <- judged claims."""

from pathlib import Path
from typing import Any

from layerwise.engine.derivation import evidence_of
from layerwise.engine.records import judged
from layerwise.home import here
from layerwise.papers.across.analyses import TABLES
from layerwise.papers.shared.published import read_published
from layerwise.present.trace import as_text, recompute, record_of, with_origins
from layerwise.shapes import read_choices
from layerwise.statistics.bootstrap import Draws

__all__ = ["as_text", "trace"]


def trace(
    claim_id: str,
    source: str,
    results: Path,
) -> dict[str, Any]:
    """A claim's record with its method, its inputs by value and hash, the number computed now.

    Raises:
        LayerwiseError: if the ledger was not judged yet, the id is unknown, or the statistics
            were written again since they were judged.
    """
    document = judged(source, results)
    record = with_origins(record_of(document, claim_id), document, results / source / "statistics")
    statistic = record["provenance"]["statistic"]
    if source == "published" and statistic is not None:
        draws = Draws(**read_choices(here() / "params.yaml", "analyse"))
        evidence = evidence_of(read_published(here() / "published"), draws, TABLES)
        record["now"] = recompute(statistic, evidence, TABLES)
    return record
