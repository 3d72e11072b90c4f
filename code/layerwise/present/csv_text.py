"""Rows of values as CSV that no spreadsheet computes."""

from collections.abc import Iterable

from layerwise.csv_rows import format_csv

Value = str | bool | int | float | None  # None: does not exist, which a note explains
# What begins a formula in a spreadsheet, in some of them the full-width signs too.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def csv_text(headings: Iterable[str], rows: Iterable[Iterable[Value]]) -> str:
    """Return rows below their headings, with every digit; nothing stands for None."""
    return format_csv([*map(harmless, headings)], (map(harmless, row) for row in rows))


def harmless(cell: Value) -> Value:
    """Return a cell that no spreadsheet computes: a text that begins a formula gets a mark."""
    if not isinstance(cell, str) or not cell.lstrip().startswith(FORMULA):
        return cell
    try:
        float(cell)  # a number as a paper prints it
    except ValueError:
        return f"'{cell}"
    return cell
