"""`layerwise.claims` and `layerwise.headlines`: claims as they were judged, as tables."""

from dataclasses import replace
from pathlib import Path

from layerwise.engine.words import names_here
from layerwise.errors import system_in_words
from layerwise.present.claim_list import (
    OF_CSV,
    Listing,
    headlines_asked,
    list_claims,
    strip_as_text,
)
from layerwise.present.records import claims_in_words, shown_values
from layerwise.present.strip import count_text, deciding_text, mark_of
from layerwise.present.tables import SHOWN, Table
from layerwise.present.values import value_text


@system_in_words()
def claims(
    source: str = "published",
    results: str | Path | None = None,
    *,
    verdict: str | None = None,
    paper: int | None = None,
    analysis: str | None = None,
    search: str | None = None,
    limit: int | None = None,
) -> Table:
    """The papers' claims as they were judged: what is printed, what is recomputed, the verdict.

    Args:
        source: `published` (recomputed from published numbers) or `measured` (from the weights).
        results: the folder that `make reproduce` writes; that of the repository by default.
        verdict: only these, e.g. `differs`; docs/glossary.md says what each means.
        paper: 1, 2 or 3.
        analysis: which statistics answer them, e.g. `validation`; docs/claims.md lists them.
        search: a number as it is printed, `r = -0.874`, or words, `Table 3`; abstracts come first,
            then text and tables, figures, notebooks, files.
        limit: only so many of them, the first ones; at least 1.

    Raises:
        LayerwiseError: if the ledger was not judged yet, for an unknown source, verdict, paper or
            analysis, or a value of another type.
    """
    chosen = list_claims(source, results, verdict, paper, analysis, search, limit)
    rows = [[getattr(claim, name) for name in OF_CSV] for claim in chosen]
    shown = []
    for claim in claims_in_words(chosen, names_here()):
        published, recomputed = shown_values(claim)
        claim = replace(claim, published=published, recomputed=recomputed)
        shown.append([value_text(getattr(claim, name)) for name in OF_CSV])
    caption = f"{len(chosen)} of the papers' claims, compared with {source} numbers."
    listed = Listing(chosen[:SHOWN], len(chosen))
    return Table("claims", caption, dict.fromkeys(OF_CSV), rows, shown=shown, listed=listed)


@system_in_words()
def headlines(
    source: str = "published",
    results: str | Path | None = None,
    *,
    paper: int | None = None,
) -> Table:
    """The papers' central claims: a row each, with its mark and the number that decides it.

    Args:
        source, results: as for `claims`.
        paper: 1, 2 or 3.

    Raises:
        LayerwiseError: if the ledger was not judged yet, for an unknown source or paper, or a value
            of another type.
    """
    judged, central = headlines_asked(source, results, paper)
    rows = [
        [
            claim.id,
            claim.paper,
            claim.claim,
            mark_of(claim),
            deciding_text(claim),
            count_text(claim),
        ]
        for claim in central
    ]
    columns = ("id", "paper", "claim", "mark", "what decides", "as printed")
    listed = strip_as_text(judged, paper, reasons=False)
    caption = f"The papers' central claims, as {source} numbers answer them."
    return Table("headlines", caption, dict.fromkeys(columns), rows, listed=listed)
