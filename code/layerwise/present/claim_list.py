"""The judged claims as a reader asks for them: filtered, searched, listed; the central ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Annotated, Literal

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Column
from rich.table import Table as Grid
from rich.text import Text

from layerwise.engine.central import Central
from layerwise.engine.judged import FALLS, VERDICTS, JudgedClaim
from layerwise.engine.marks import MARKS
from layerwise.engine.records import JudgedSource, judged
from layerwise.engine.words import names_here
from layerwise.errors import LayerwiseError
from layerwise.home import Source, here
from layerwise.present.records import (
    answers_told,
    central_in_words,
    claims_in_words,
    full_place,
    shown_values,
    surprises_told,
    tally,
)
from layerwise.present.search import search_claims
from layerwise.present.strip import (
    block,
    count_text,
    deciding_text,
    mark_of,
    methods_text,
    readings_text,
    row_text,
)
from layerwise.present.terminal import FAINT, grid, said, word
from layerwise.shapes import PLAIN, Folder, PaperNumber, Strict, Whole, converted, require_shape

COLUMNS = ("id", "quantity", "where", "printed", "recomputed", "verdict")
WIDEST = max(map(len, MARKS))
BESIDE_ID = 80  # characters that the other columns of the table need
OF_CSV = ("id", "paper", "where", "quantity", "model", "unit", "published", "recomputed", "verdict")


class ClaimsAsked(Strict):
    """The claims that are wanted; None: whatever they are."""

    source: Source
    results: Folder
    verdict: Literal[tuple(VERDICTS)] | None  # type: ignore[valid-type]
    paper: Annotated[int, PLAIN] | None
    analysis: str | None
    search: str | None
    limit: Annotated[Whole, PLAIN] | None


class AskedOfCentral(Strict):
    """The central claims that are wanted."""

    source: Source
    results: Folder
    paper: PaperNumber | None


class OfPaper(Strict):
    """The paper whose claims are wanted; None: all."""

    paper: PaperNumber | None


def list_claims(
    source: str,
    results: str | Path | None,
    verdict: str | None = None,
    paper: int | None = None,
    analysis: str | None = None,
    search: str | None = None,
    limit: int | None = None,
) -> list[JudgedClaim]:
    """Return the claims with a verdict, of a paper, answered by an analysis, found by a search.

    As on the page those come first that differ, the central ones before the others; those that a
    search finds, by where they stand.

    Arguments:
        results: the folder of all results; None: that of the repository.
        limit: only so many of them, the first ones.

    Raises:
        LayerwiseError: for another verdict, paper or source, and an analysis no claim rests on.
    """
    asked: ClaimsAsked = converted(
        "claims",
        ClaimsAsked,
        {
            "source": source,
            "results": results,
            "verdict": verdict,
            "paper": paper,
            "analysis": analysis,
            "search": search,
            "limit": limit,
        },
    )
    require_shape("claims", OfPaper, {"paper": asked["paper"]})  # `True` is no paper 1
    source_judged = judged(asked["source"], asked["results"] or here() / "results")
    claims = of_paper_and_analysis(source_judged.claims, asked["paper"], analysis)
    chosen = [claim for claim in claims if verdict in (None, claim.verdict)]
    return in_order(chosen, source_judged.central, search)[: asked["limit"]]


def of_paper_and_analysis(
    claims: Sequence[JudgedClaim], paper: int | None, analysis: str | None
) -> list[JudgedClaim]:
    """Return the claims of a paper that an analysis answers; None: of all.

    Raises:
        LayerwiseError: for an analysis that no claim rests on.
    """
    known = {name for claim in claims if (name := claim.provenance.analysis)}
    if analysis is not None and analysis not in known:
        raise LayerwiseError(
            f"analysis must be one of {', '.join(sorted(known))}, found {analysis!r:.80}"
        )
    return [
        claim
        for claim in claims
        if paper in (None, claim.paper) and analysis in (None, claim.provenance.analysis)
    ]


def in_order(
    claims: Sequence[JudgedClaim], central: Sequence[Central], search: str | None
) -> list[JudgedClaim]:
    """Return the claims that a search finds, by where they stand; all without one, as on the page.

    Those that differ come first there; of them, and of the others, the central ones.
    """
    if search is not None:
        by_id = {claim.id: claim for claim in claims}
        hits = search_claims(claims_in_words(claims, names_here()), search)
        return [by_id[hit.id] for hit in hits]
    ids = {part["claim"] for claim in central for part in claim.printed}
    return sorted(claims, key=lambda claim: (claim.verdict not in FALLS, claim.id not in ids))


def headlines_asked(
    source: str, results: str | Path | None, paper: int | None
) -> tuple[JudgedSource, list[Central]]:
    """Return the judged claims of a source, and the central ones of a paper.

    Raises:
        LayerwiseError: for another paper or source.
    """
    asked: AskedOfCentral = converted(
        "headlines", AskedOfCentral, {"source": source, "results": results, "paper": paper}
    )
    source_judged = judged(asked["source"], asked["results"] or here() / "results")
    central = central_of_paper(source_judged.central, asked["paper"])
    return source_judged, central_in_words(central, names_here())


@dataclass(frozen=True)
class Listing:
    """Claims for a terminal: a table where it is wide enough, else a paragraph for each.

    An id is never broken: it is there to be copied. How many there are is said to who looks, and
    is no line of what another program reads.
    """

    claims: Sequence[JudgedClaim]
    n_all: int  # before --limit

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not self.claims:
            yield "no claim matches"
            return
        claims = claims_in_words(self.claims, names_here())
        widest = max(len(claim.id) for claim in claims)
        is_wide = options.max_width >= widest + BESIDE_ID
        yield _table(claims) if is_wide else _paragraphs(claims)
        if console.is_terminal:
            n = len(claims)
            if n < self.n_all:
                yield said(f"{n} of {self.n_all}; a larger --limit shows more", FAINT)
            else:
                yield said(f"{n} claim{'s' * (n != 1)}", FAINT)


def _table(claims: Sequence[JudgedClaim]) -> Grid:
    table = grid(COLUMNS, numbers=("printed", "recomputed"))
    for claim in claims:
        cells = [_subject(claim), full_place(claim), *shown_values(claim)]
        table.add_row(said(claim.id, "bold"), *map(said, cells), word(claim.verdict))
    return table


def _paragraphs(claims: Sequence[JudgedClaim]) -> Group:
    lines: list[RenderableType] = []
    for claim in claims:
        published, recomputed = shown_values(claim)
        title = said(claim.id, "bold"), "  ", word(claim.verdict)
        below = [
            f"{_subject(claim)} ({full_place(claim)})",
            f"printed {published}, recomputed {recomputed}",
        ]
        lines.append(Text.assemble(*title, overflow="fold"))
        lines += [Padding(said(text), (0, 0, 0, 2)) for text in below]
    return Group(*lines)


def _subject(claim: JudgedClaim) -> str:
    """Return the quantity, and the model that it is one of."""
    return ", ".join(filter(None, (claim.quantity, claim.model)))


def strip_as_text(judged: JudgedSource, paper: int | None, *, reasons: bool) -> RenderableType:
    """Return the strip: how the central claims fare, then a line for each, by paper.

    Arguments:
        judged: the judged claims of a source.
        paper: one paper alone; None: all.
        reasons: below each line the numbers that decide, what is claimed, the reason, and what the
            paper itself says.
    """
    central = central_in_words(central_of_paper(judged.central, paper), names_here())
    lines: list[RenderableType] = []
    if paper is None:
        told = answers_told(judged, names_here())
        lines += [Text.assemble(said(f"{title} ", "bold"), said(text)) for title, text in told]
    lines += [said(tally(central), "bold")] if central else []
    if paper is None:
        lines += [said(f"- {line}") for line in surprises_told(judged, names_here())]
    for heading, group in groupby(central, key=block):
        lines += ["", said(heading, "bold")]
        columns = (Column(min_width=WIDEST), Column(overflow="fold"))
        rows = Grid.grid(*columns, padding=(0, 2, 0, 0))
        for claim in group:
            named = [said(claim.claim), said(f" {claim.id}", FAINT)]
            below = [_deciding(claim), *_reasons(claim)] if reasons else []
            rows.add_row(
                word(claim.mark),
                Group(
                    Text.assemble(*named), *(Padding(said(text), (0, 0, 0, 2)) for text in below)
                ),
            )
        lines.append(rows)
    return Group(*lines)


def _deciding(claim: Central) -> str:
    """Return the numbers that decide a claim, and how many of its printed ones come out."""
    counted = f"{count_text(claim)} as printed" if claim.compared else ""
    return "; ".join(filter(None, (deciding_text(claim), row_text(claim), counted)))


def _reasons(claim: Central) -> list[str]:
    caveats = [f"The paper itself: {caveat}" for caveat in claim.caveats]
    mark = f"{mark_of(claim).capitalize()}: {' '.join(claim.reason)}"
    notes, details = " ".join(claim.notes), " ".join(claim.details)
    told = [
        f"Claimed: {claim.says}",
        mark,
        notes,
        methods_text(claim),
        f"What would decide it: {claim.decide}" if claim.decide else "",
        *caveats,
        readings_text(claim),
        f"What else differs from print: {details}" if details else "",
    ]
    return list(filter(None, told))


def central_of_paper(central: Sequence[Central], paper: int | None) -> list[Central]:
    """Return the central claims of one paper, or all.

    Raises:
        LayerwiseError: for a paper that there is not.
    """
    require_shape("headlines", OfPaper, {"paper": paper})
    return [claim for claim in central if paper in (None, claim.paper)]
