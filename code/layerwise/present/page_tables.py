"""The tables of the page as files that a reader saves, with every digit."""

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

from layerwise.engine.central import Central, Point
from layerwise.engine.judged import JudgedClaim
from layerwise.present.claim_list import OF_CSV
from layerwise.present.csv_text import Value
from layerwise.present.small_models import SmallModels
from layerwise.present.tables import Table

OF_CENTRAL = ("id", "paper", "claim", "mark", "why", "number")
OF_POINT = ("model", "value", "low", "high", "level", "word", "printed", "n", "unit", "method")
OF_PUBLISHED = ("value", "low", "high", "word", "n", "unit", "method")  # as the paper takes it
OF_SMALL = ("question", "paper", "model", "value", "low", "high", "word", "random weights")


def page_tables(
    central: Sequence[Central],
    claims: Sequence[JudgedClaim],
    counts: Mapping[str, Mapping[str, int]],
    verdicts: Mapping[str, str],
    small: SmallModels | None,
) -> Iterator[Table]:
    """Yield every table of the page.

    Arguments:
        central, claims: with the names that readers know.
        counts: {paper: {verdict: how many claims}}.
        verdicts: those in use, and what they mean.
    """
    yield _tabulate_central(central)
    yield _tabulate_claims("claims", claims)
    by_id = {claim.id: claim for claim in claims}
    for claim in central:
        parts = [by_id[part["claim"]] for part in claim.printed]
        yield _tabulate_claims(evidence_name(claim), parts)
    rows: list[list[Value]] = [
        [word, *(count.get(word, 0) for count in counts.values()), meaning]
        for word, meaning in verdicts.items()
    ]
    columns = ("verdict", *counts, "meaning")
    yield Table("verdicts", "How many claims have each verdict.", dict.fromkeys(columns), rows)
    if small is not None:
        yield _tabulate_small(small)


def evidence_name(claim: Central) -> str:
    """Return the name of the table of what a central claim rests on; ids differ in it, too."""
    return f"claims-of-{quote(claim.id, safe='')}"


def _tabulate_central(central: Sequence[Central]) -> Table:
    """Return a row for every estimate; a claim without one has a row too."""
    rows: list[list[Value]] = [
        [
            *(_cell(claim, name) for name in OF_CENTRAL),
            *(_cell(point, name) for name in OF_POINT),
            *_published_cells(point),
        ]
        for claim in central
        for point in claim.points or (None,)
    ]
    of_published = (f"{name} as published" for name in OF_PUBLISHED)
    columns = dict.fromkeys((*OF_CENTRAL, *OF_POINT, *of_published))
    return Table("central-claims", "The central claims, a row an estimate.", columns, rows)


def _published_cells(point: Point | None) -> list[Value]:
    """Return the cells of `OF_PUBLISHED`."""
    if point is None:
        return [None] * len(OF_PUBLISHED)
    taken = point.published
    of_interval: list[Value] = [taken["value"], taken["low"], taken["high"], taken["word"]]
    return [*of_interval, taken["n"], taken["unit"], taken["method"]]


def _cell(record: Central | Point | None, name: str) -> Value:
    value: Value = getattr(record, name, None)
    return value


def _tabulate_claims(name: str, claims: Sequence[JudgedClaim]) -> Table:
    rows = [[getattr(claim, field) for field in OF_CSV] for claim in claims]
    return Table(name, "Claims, printed and recomputed.", dict.fromkeys(OF_CSV), rows)


def _tabulate_small(small: SmallModels) -> Table:
    rows: list[list[Value]] = [
        [row.question.says, row.question.paper, model.short, *answer.numbers]
        for row in small.rows
        for model, answer in zip(small.models, row.answers, strict=True)
        if answer is not None
    ]
    columns = dict.fromkeys(OF_SMALL)
    return Table("small-models", "Answers of small trained models.", columns, rows)
