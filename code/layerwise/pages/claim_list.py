"""The judged claims as a reader asks for them: filtered, searched, in a table; the headlines."""

import shutil
import textwrap
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from tabulate import tabulate
from typing_extensions import TypedDict

from layerwise.errors import LayerwiseError
from layerwise.files import revealed
from layerwise.inputs.shapes import require_shape
from layerwise.ledger.records import judged
from layerwise.ledger.verdicts import VERDICTS
from layerwise.pages.records import analysis_of, grades, view
from layerwise.pages.search import found
from layerwise.pages.tables import Table

Record = dict[str, Any]
COLUMNS = ("quantity", "where", "printed", "recomputed", "verdict")
OF_CSV = ("id", "paper", "where", "quantity", "model", "unit", "published", "recomputed", "verdict")


class Asked(TypedDict):
    """Which claims are wanted."""

    source: Literal["published", "measured"]
    verdict: Literal[tuple(VERDICTS)] | None  # type: ignore[valid-type]
    paper: Literal[1, 2, 3] | None
    search: str | None


def list_claims(
    source: str,
    results: Path,
    verdict: str | None = None,
    paper: int | None = None,
    analysis: str | None = None,
    search: str | None = None,
) -> list[Record]:
    """The records with that verdict, of that paper, answered by that analysis, found by a search.

    Raises:
        LayerwiseError: for another verdict, paper or source, and an analysis no claim rests on.
    """
    asked = {"source": source, "verdict": verdict, "paper": paper, "search": search}
    require_shape("claims", Asked, asked)
    records = judged(source, results)["claims"]
    known = {name for record in records if (name := analysis_of(record))}
    if analysis is not None and analysis not in known:
        raise LayerwiseError(
            f"analysis must be one of {', '.join(sorted(known))}, found {analysis!r:.80}"
        )
    chosen = [
        record
        for record in records
        if verdict in (None, record["verdict"])
        and paper in (None, record["paper"])
        and analysis in (None, analysis_of(record))
    ]
    return chosen if search is None else found(chosen, search)


def claims(
    source: str = "published",
    results: str | Path | None = None,
    *,
    verdict: str | None = None,
    paper: int | None = None,
    analysis: str | None = None,
    search: str | None = None,
) -> Table:
    """The papers' claims as they were judged: what is printed, what is recomputed, the verdict.

    Args:
        source: `published` (recomputed from published numbers) or `measured` (from the weights).
        results: the folder that `make reproduce` writes; that of the repository by default.
        verdict: only these, e.g. `differs`; README.md says what each means.
        paper: 1, 2 or 3.
        analysis: which statistics answer them, e.g. `validation`; docs/claims.md lists them.
        search: a number as it is printed, `r = -0.874`, or words, `Table 3`.

    Raises:
        LayerwiseError: if the ledger was not judged yet, or for an unknown verdict or analysis.
    """
    folder = Path(__file__).parents[3] / "results" if results is None else Path(results)
    records = list_claims(source, folder, verdict, paper, analysis, search)
    rows = [[record[name] for name in OF_CSV] for record in records]
    caption = f"{len(records)} claims of the papers, against the source {source}."
    return Table("claims", caption, dict.fromkeys(OF_CSV), rows)


def as_table(records: list[Record]) -> str:
    """The records for a terminal, as wide as it is; the id below each quantity."""
    if not records:
        return "no claim fits"
    width = max(72, shutil.get_terminal_size((110, 24)).columns)
    numbers, verdict = 12, 14
    rest = width - 2 * numbers - verdict - 2 * len(COLUMNS)
    widths = [rest * 3 // 5, rest * 2 // 5, numbers, numbers, verdict]
    rows = []
    for one in map(view, records):
        cells = [one[name] for name in ("place", "published", "recomputed", "verdict")]
        first = "\n".join(map(revealed, (one["quantity"], one["id"])))
        rows.append([first, *map(revealed, cells)])
    return tabulate(
        rows, COLUMNS, "simple", maxcolwidths=widths, break_on_hyphens=False, disable_numparse=True
    )


def headlines_as_text(graded: list[Record]) -> str:
    """The headlines by paper: grade and claim, the reason below it."""
    width = max(60, min(shutil.get_terminal_size((100, 24)).columns, 110))
    lines = []
    for paper, group in groupby(graded, key=lambda headline: headline["paper"]):
        lines += [f"Paper {paper}"]
        for headline in group:
            said = f"{headline['grade'].upper()} ({headline['numbers']}): {headline['says']}"
            lines += textwrap.wrap(said, width, initial_indent="  ", subsequent_indent="    ")
            below = [headline["reason"], headline["power"]]
            below += [f"The paper itself: {one}" for one in headline["caveats"]]
            for text in filter(None, below):
                lines += textwrap.wrap(
                    text, width, initial_indent=" " * 6, subsequent_indent=" " * 6
                )
    lines.append("Grades")
    lines += [f"  {word.upper()}: {meaning}" for word, meaning in grades(graded).items()]
    return "\n".join(map(revealed, lines))
