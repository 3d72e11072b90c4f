"""Analyses of the published numbers in memory, as `analyse` writes them and `judge` reads them."""

from dataclasses import replace

from layerwise.analyses import TABLES, analyse
from layerwise.analyses.derivation import evidence_of
from layerwise.analyses.evidence import Draws
from layerwise.inputs.published import Published
from layerwise.ledger.verdicts import Statistics

DRAWS = Draws(n_resamples=10000, level=0.95, seed=42)


def analysed(name, numbers, **draws):
    """One analysis of these numbers."""
    return analyse(name, evidence_of(numbers, replace(DRAWS, **draws), TABLES))


def changed(published, cells):
    """The published numbers with other values in some places."""
    return Published({**published.cells, **cells})


def statistics_of(works):
    """What several analyses, by name, give the judge."""
    return Statistics(
        "published",
        {analysis: work.documents for analysis, work in works.items()},
        {f"{a}:{key}": cells for a, work in works.items() for key, cells in work.derived.items()},
        {f"{a}:{key}": cell for a, work in works.items() for key, cell in work.given.items()},
    )
