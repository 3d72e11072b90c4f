"""The judged claims as a reader asks for them: filtered, searched, in a table; the headlines."""

from __future__ import annotations

import csv
import io
import re
import shutil
import textwrap
import unicodedata
from itertools import groupby
from pathlib import Path
from typing import Any

from tabulate import tabulate

from layerwise.errors import LayerwiseError
from layerwise.files import read_json, revealed
from layerwise.ledger.verdicts import VERDICTS
from layerwise.pages.records import analysis_of
from layerwise.pages.values import brief

Record = dict[str, Any]
MINUS = str.maketrans(dict.fromkeys("−–‐‑", "-") | {"*": "", "×": "x", "’": "'"})
NUMBER = re.compile(r"(?:([a-z]+) ?= ?)?([-+]?\d*\.?\d+)")  # `r = -0.874`, `-0.17`
COLUMNS = ("quantity", "where", "printed", "recomputed", "verdict")
OF_CSV = ("id", "paper", "where", "quantity", "model", "unit", "published", "recomputed", "verdict")


def read_judged(source: str, results: Path) -> dict[str, Any]:
    """`results/<source>/claims.json`.

    Raises:
        LayerwiseError: if the ledger was not judged for this source yet.
    """
    path = results / source / "claims.json"
    if not path.is_file():
        raise LayerwiseError(
            f"{path}: the ledger was not judged for source {source!r} yet; run `make reproduce` "
            "(or `make reproduce-full` for source measured) first"
        )
    return read_json(path)


def read_headlines(source: str, results: Path) -> list[Record]:
    """The graded headlines of a source.

    Raises:
        LayerwiseError: if the ledger was not judged yet, or by a version that graded none.
    """
    document = read_judged(source, results)
    if "headlines" not in document:
        raise LayerwiseError(
            f"{results}: judged before headlines were graded; run `make reproduce`"
        )
    graded: list[Record] = document["headlines"]
    return graded


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
        LayerwiseError: for an unknown verdict, and for an analysis that no claim rests on.
    """
    if verdict is not None and verdict not in VERDICTS:
        raise LayerwiseError(f"verdict must be one of {', '.join(VERDICTS)}, found {verdict!r}")
    records = read_judged(source, results)["claims"]
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


def found(records: list[Record], query: str) -> list[Record]:
    """The records that a query finds, those first whose place or print it is.

    A number is found as it is printed or recomputed, rounded to the query's decimals; `r = ` before
    it asks for that quantity. Words are found wherever a record says them, all of them.
    """
    wanted = plain(query)
    if number := NUMBER.fullmatch(wanted):
        symbol, digits = number.groups()
        hits = [record for record in records if _has(record, float(digits), digits)]
        hits.sort(key=lambda record: digits.lstrip("+") != _printed(record))
        named = [
            record for record in hits if re.search(rf"\b{symbol}\b", plain(record["quantity"]))
        ]
        return named if symbol and named else hits
    whole = re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)")
    said = {record["id"]: _haystack(record) for record in records}
    hits = [
        record
        for record in records
        if all(
            re.search(rf"(?<![\w.]){re.escape(word)}", said[record["id"]])
            for word in wanted.split()
        )
    ]
    phrase = [record for record in hits if whole.search(said[record["id"]])]
    first = [
        record
        for record in phrase
        if whole.search(plain(record["where"])) or wanted == plain(str(record["published"]))
    ]
    ids = {record["id"] for record in first}
    return first + [record for record in (phrase or hits) if record["id"] not in ids]


def plain(text: str) -> str:
    """Small letters, one kind of minus and of space, no stars, figures spelled out."""
    text = unicodedata.normalize("NFKC", text).translate(MINUS).lower()
    text = re.sub(r"\bfigs?\.? ?", "figure ", text)
    text = re.sub(r" ?(<=|>=|[<>=]) ?", r" \1 ", text)
    return " ".join(text.split())


def _haystack(record: Record) -> str:
    parts = (record[name] for name in ("id", "where", "quantity", "model", "published"))
    return plain(" ; ".join(str(part) for part in parts if part is not None))


def _has(record: Record, number: float, digits: str) -> bool:
    decimals = len(digits.partition(".")[2])
    values = (record["published"], record["recomputed"])
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    return any(abs(value - number) <= 0.5 * 10.0**-decimals * (1 + 1e-9) for value in numbers)


def _printed(record: Record) -> str:
    decimals = record["decimals"]
    return brief(record["published"], max(decimals, 0) if isinstance(decimals, int) else decimals)


def as_table(records: list[Record]) -> str:
    """The records for a terminal, as wide as it is; the id below each quantity."""
    if not records:
        return "no claim fits"
    width = max(72, shutil.get_terminal_size((110, 24)).columns)
    numbers, verdict = 12, 14
    rest = width - 2 * numbers - verdict - 2 * len(COLUMNS)
    widths = [rest * 3 // 5, rest * 2 // 5, numbers, numbers, verdict]
    rows = [
        [
            _wrapped(cell, width)
            for cell, width in zip(
                (
                    f"{record['quantity']}\n{record['id']}",
                    f"Paper {record['paper']}, {record['where']}",
                    brief(record["published"], record["decimals"]),
                    brief(record["recomputed"], _closer(record)),
                    record["verdict"],
                ),
                widths,
                strict=True,
            )
        ]
        for record in records
    ]
    return tabulate(rows, headers=COLUMNS, tablefmt="simple", disable_numparse=True)


def _closer(record: Record) -> Any:
    """Two more digits tell a rounding from another value."""
    decimals = record["decimals"]
    return max(decimals, 0) + 2 if isinstance(decimals, int) else decimals


def _wrapped(cell: str, width: int) -> str:
    lines = (textwrap.wrap(revealed(line), width) or [""] for line in cell.splitlines())
    return "\n".join(line for part in lines for line in part)


def as_csv(records: list[Record]) -> str:
    """The records as a table for other programs, every digit."""
    out = io.StringIO()
    rows = csv.DictWriter(out, OF_CSV, extrasaction="ignore", lineterminator="\n")
    rows.writeheader()
    rows.writerows(records)
    return out.getvalue().rstrip("\n")


def headlines_as_text(graded: list[Record]) -> str:
    """The headlines by paper: grade and claim, the reason below it."""
    width = max(60, min(shutil.get_terminal_size((100, 24)).columns, 110))
    lines = []
    for paper, group in groupby(graded, key=lambda headline: headline["paper"]):
        lines += [f"Paper {paper}"]
        for headline in group:
            said = f"{headline['grade'].upper()}: {headline['says']}"
            lines += textwrap.wrap(said, width, initial_indent="  ", subsequent_indent="    ")
            lines += textwrap.wrap(
                headline["reason"], width, initial_indent=" " * 6, subsequent_indent=" " * 6
            )
    return "\n".join(map(revealed, lines))
