"""Tables as CSV: one way to write them, and one to read them."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from layerwise.errors import LayerwiseError
from layerwise.files import read_text

Line = tuple[int, list[str]]  # its number in the file, and its cells
QUOTE = "quote cells that hold a comma or a quotation mark"


def format_csv(header: Sequence[object], rows: Iterable[Iterable[object]]) -> str:
    """Return rows below their header, each line ended by a newline; nothing stands for None.

    Raises:
        ValueError: for a row of another length than the header.
    """
    lines = [_format_line(header)]
    lines += [_format_line([cell for _, cell in zip(header, row, strict=True)]) for row in rows]
    return "".join(lines)


def _format_line(cells: Iterable[object]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)  # which ends it by "\r\n", and so quotes cells with either
    return line.getvalue().removesuffix("\r\n") + "\n"


def parse_csv(
    place: object, text: str, fix: str, separator: str = ",", *, skips_blanks: bool = False
) -> Iterator[Line]:
    """Yield the header of a CSV text that stands at a place, then its rows; no empty line.

    Arguments:
        skips_blanks: whether blanks between a separator and the cell behind it do not count.

    Raises:
        LayerwiseError: naming place, line and the fix for a text that is not CSV, or for a row of
            another length than the header.
    """
    csv.field_size_limit(2**31 - 1)  # a statement may be long
    rows = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        skipinitialspace=skips_blanks,
        strict=True,
    )
    width = None
    try:
        for cells in filter(None, rows):
            width = width or len(cells)
            if len(cells) != width:
                raise LayerwiseError(
                    f"{place}, line {rows.line_num}: a row must have a cell for each of the "
                    f"{width} columns, found {len(cells)}; {fix}"
                )
            yield rows.line_num, cells
    except csv.Error as error:
        raise LayerwiseError(
            f"{place}, line {rows.line_num}: not valid CSV ({error}); {fix}"
        ) from None


def parse_table(place: object, text: str, header: Sequence[str], fix: str) -> Iterator[Line]:
    """Yield the rows of a CSV text that stands at a place, once its header is this one.

    Raises:
        LayerwiseError: for another header, or as `parse_csv`.
    """
    lines = parse_csv(place, text, fix)
    if next(lines, (1, []))[1] != list(header):
        raise LayerwiseError(f"{place}: the first line must be {','.join(header)}; {fix}")
    yield from lines


def read_rows(
    path: Path, required: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line number and cells by column of every row of a CSV file.

    Its columns may stand in any order. One that is left out has empty cells, and blanks around a
    cell do not count.

    Raises:
        LayerwiseError: naming file and line for a column that is unknown, missing or there twice,
            or as `parse_csv`.
    """
    lines = parse_csv(path, read_text(path), QUOTE)
    line, header = next(lines, (1, []))
    columns = [name.strip() for name in header]
    _require_columns(f"{path}, line {line}", columns, required, optional)
    for line, cells in lines:
        row = zip(columns, (cell.strip() for cell in cells), strict=True)
        yield line, dict.fromkeys(optional, "") | dict(row)


def _require_columns(
    place: str, columns: Sequence[str], required: Sequence[str], optional: Sequence[str]
) -> None:
    """Refuse a header with a column that is unknown, missing or there twice."""
    known = (*required, *optional)
    for name, n in Counter(columns).items():
        if name not in known:
            raise LayerwiseError(
                f"{place}: a column must be one of {', '.join(known)}, found {name!r:.80}; "
                "remove it, or correct its name"
            )
        if n > 1:
            raise LayerwiseError(
                f"{place}: a column must stand there once, {name!r} does {n} times; remove one"
            )
    if missing := [name for name in required if name not in columns]:
        raise LayerwiseError(
            f"{place}: the header must name the columns {', '.join(required)}, "
            f"{missing[0]!r} is missing; add it"
        )
