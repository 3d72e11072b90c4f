"""Tables as a reader gets them: records in Python, CSV with every digit, cells of a page."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from markupsafe import escape

from layerwise.errors import LayerwiseError
from layerwise.pages.html import reveal_all
from layerwise.pages.values import rounded, value_text

Value = str | bool | int | float | None  # None: does not exist, which a note explains
LONG = 24  # characters: a column with a longer text is broken into lines
SHOWN = 20  # rows in a notebook
SIGNIFICANT = 4  # digits, where a column has no decimals of its own


@dataclass(frozen=True)
class Table:
    """Rows of values.

    Attributes:
        name: of the table, and of its CSV file.
        caption: what its numbers are.
        columns: {heading: decimals}; units stand in the heading, None prints digits that count.
        rows: a value per column; None is a value that does not exist.
        notes: why one does not, and how to read the others.
    """

    name: str
    caption: str
    columns: Mapping[str, int | None]
    rows: Sequence[Sequence[Value]]
    notes: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def records(self) -> list[dict[str, Value]]:
        """A dictionary per row, by heading, with every digit."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_pandas(self) -> Any:
        """The same as a pandas DataFrame.

        Raises:
            LayerwiseError: where pandas is not installed: it is none of our dependencies.
        """
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise LayerwiseError(
                "to_pandas() needs pandas, which is not installed; `pip install pandas`, or use "
                "`.records`, a list of dictionaries"
            ) from None
        return pandas.DataFrame(self.records, columns=list(self.columns))

    def _repr_html_(self) -> str:
        head, *body = (
            f"<tr>{''.join(f'<{tag}>{escape(reveal_all(cell))}</{tag}>' for cell in cells)}</tr>"
            for tag, cells in [("th", self.columns), *(("td", row) for row in self.texts[:SHOWN])]
        )
        more = [f"... and {len(self) - SHOWN} rows more."] if len(self) > SHOWN else []
        notes = "".join(f"<p>{escape(reveal_all(note))}</p>" for note in (*more, *self.notes))
        caption = f"<caption>{escape(reveal_all(self.caption))}</caption>"
        return f"<table>{caption}{head}{''.join(body)}</table>{notes}"

    @property
    def kinds(self) -> list[str]:
        """Of each column: `number`, `long` (a text that needs several lines) or `text`."""
        return [_kind([row[place] for row in self.rows]) for place in range(len(self.columns))]

    @property
    def texts(self) -> list[list[str]]:
        """The cells as the page shows them."""
        decimals = list(self.columns.values())
        return [
            [value_text(value, of, number=_number) for value, of in zip(row, decimals, strict=True)]
            for row in self.rows
        ]

    @property
    def csv(self) -> str:
        """Every row with every digit."""
        out = io.StringIO()
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(self.columns)
        rows.writerows(self.rows)  # nothing for None
        return out.getvalue()


def _kind(column: Sequence[Value]) -> str:
    if any(isinstance(value, int | float) and not isinstance(value, bool) for value in column):
        return "number"
    return "long" if any(len(text) > LONG for text in column if isinstance(text, str)) else "text"


def _number(value: float | int, decimals: int | None) -> str:
    return significant(value) if decimals is None else rounded(value, decimals)


def significant(value: float | int, digits: int = SIGNIFICANT) -> str:
    """A number with so many digits that count, never as a power of ten; a whole one as it is."""
    if isinstance(value, int):
        return str(value)
    whole = 1 + math.floor(math.log10(abs(value))) if value else 1
    return rounded(value, max(0, digits - whole))


def facts(name: str, caption: str, of: Mapping[str, Value], notes: Sequence[str] = ()) -> Table:
    """A table of single statistics."""
    return Table(name, caption, {"statistic": None, "value": None}, list(of.items()), notes)
