"""Rows of named texts: of a CSV file, a JSON Lines file or a data frame, each with its place."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.files import LARGEST, parse_json, read_text

Row = tuple[str, Mapping[str, Any]]  # where it stands, and its cells by column


def has_rows(given: object) -> bool:
    """Whether it is a file of rows, by its name, or a data frame (pandas or one like it)."""
    return hasattr(given, "columns") or (
        isinstance(given, Path) and given.suffix.lower() in (".csv", ".jsonl")
    )


def read_rows(given: Any, columns: Sequence[str]) -> Iterator[Row]:
    """The rows of a file or a data frame, in their order; other columns are allowed."""
    if not isinstance(given, Path):
        _require(f"data frame of {type(given).__module__}", list(given.columns), columns)
        for number, row in enumerate(given.to_dict("records")):
            yield f"row {number}", row
    elif given.suffix.lower() == ".csv":
        yield from _of_csv(given, columns)
    else:
        for number, line in enumerate(read_text(given).split("\n"), start=1):
            if line.strip():
                place = f"{given}, line {number}"
                row = parse_json(place, line)
                _require(place, row if isinstance(row, dict) else (), columns)
                yield place, row


def _of_csv(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    csv.field_size_limit(LARGEST)  # a statement may be long
    rows = csv.reader(io.StringIO(read_text(path)), strict=True)
    try:
        header = next(rows, [])
        _require(f"{path}, line 1", header, columns)
        for cells in rows:
            place = f"{path}, line {rows.line_num}"
            if cells and len(cells) != len(header):
                raise LayerwiseError(
                    f"{place}: the header has {len(header)} columns, this row {len(cells)}; put "
                    "a text with commas into double quotes"
                )
            if cells:
                yield place, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise LayerwiseError(
            f"{path}, line {rows.line_num}: not valid CSV ({error}); write it again with double "
            "quotes around texts"
        ) from None


def _require(place: str, found: Sequence[Any] | Mapping[str, Any], columns: Sequence[str]) -> None:
    if missing := [column for column in columns if column not in found]:
        raise LayerwiseError(
            f"{place}: must name {', '.join(columns)}, {missing[0]!r} is missing, found "
            f"{', '.join(map(repr, found)) or 'nothing'!s:.200}; name it so"
        )
