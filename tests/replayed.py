"""Statistics of source `published`, as `judge` reads them, straight from replays in memory."""

from layerwise.ledger.verdicts import Statistics


def statistics_of(works):
    """What the replays of several analyses, by name, give the judge."""
    return Statistics(
        "published",
        {analysis: work.documents for analysis, work in works.items()},
        {f"{a}:{key}": cells for a, work in works.items() for key, cells in work.derived.items()},
        {f"{a}:{key}": cell for a, work in works.items() for key, cell in work.given.items()},
    )
