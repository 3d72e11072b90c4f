"""Analyses of the published numbers in memory, as `analyse` writes them and `judge` reads them."""

from dataclasses import replace
from functools import cache

from layerwise.engine import verdicts
from layerwise.engine.claims import read_ledger
from layerwise.engine.derivation import evidence_of
from layerwise.engine.judging import derive_all
from layerwise.engine.verdicts import Statistics, judge
from layerwise.papers.across.analyses import TABLES, analyse
from layerwise.papers.shared.published import read_published
from layerwise.statistics.bootstrap import Draws

DRAWS = Draws(n_resamples=10000, level=0.95, seed=42)


@cache
def ledger(root):
    """Return the committed claims: print does not move with the numbers."""
    return read_ledger(root / "claims", read_published(root / "published"))


def analysed(name, numbers, **draws):
    """One analysis of these numbers."""
    return analyse(name, evidence_of(numbers, replace(DRAWS, **draws), TABLES))


def everything(numbers):
    """All analyses of these numbers."""
    return derive_all(TABLES, evidence_of(numbers, DRAWS, TABLES))


def statistics_of(numbers, works):
    """These analyses as the judge reads them."""
    return Statistics(
        "published",
        {analysis: work.documents for analysis, work in works.items()},
        {f"{a}:{key}": cells for a, work in works.items() for key, cells in work.derived.items()},
        {f"{a}:{key}": cell for a, work in works.items() for key, cell in work.given.items()},
        {f"{a}:{key}": why for a, work in works.items() for key, why in work.undefined.items()},
        published=numbers,
    )


def judged(root, numbers, works):
    """The ledger's claims, judged by these analyses, by id."""
    statistics = statistics_of(numbers, works)
    return {claim.id: judge(claim, statistics) for claim in ledger(root)}


def at(work, statistic):
    """The value of a statistic, "document:/pointer", of one analysis."""
    return verdicts.statistic_value({"": work.documents}, f":{statistic}")


def inputs_of(work, statistic):
    """The cells of a statistic, or of what it is a part of; None if it was not derived."""
    return Statistics("published", {}, work.derived).derived_from(statistic)


def changed(published, cells):
    """The published numbers with other values in some places."""
    return replace(published, cells={**published.cells, **cells})
