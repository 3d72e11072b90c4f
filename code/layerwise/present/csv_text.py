"""Rows of values as CSV that no spreadsheet computes and no terminal obeys."""

from collections.abc import Iterable

from layerwise.csv_rows import format_csv
from layerwise.files import revealed

Value = str | bool | int | float | None  # None: does not exist, which a note explains
# What begins a formula in a spreadsheet, in some of them the full-width signs too.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")

# Unseen, and harmless: ends of lines, tabs, and what joins or parts letters in some scripts.
KEPT = "\n\t\u200c\u200d"


def csv_text(headings: Iterable[str], rows: Iterable[Iterable[Value]]) -> str:
    """Return rows below their headings, with every digit; nothing stands for None."""
    return format_csv([*map(harmless, headings)], (map(harmless, row) for row in rows))


def harmless(cell: Value) -> Value:
    r"""Return a cell that is a text and nothing more.

    What begins a formula gets a mark before it; an escape sign or a mark of direction, which a
    terminal acts on, is written as \u001b.
    """
    if not isinstance(cell, str):
        return cell
    cell = revealed(cell, KEPT)
    if not cell.lstrip().startswith(FORMULA):
        return cell
    try:
        float(cell)  # a number as a paper prints it
    except ValueError:
        return f"'{cell}"
    return cell
