"""Tables as a reader gets them: records in Python, CSV with every digit, cells of a page."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from markupsafe import escape
from rich.console import Group, RenderableType

from layerwise.errors import LayerwiseError
from layerwise.present.csv_text import Value, csv_text
from layerwise.present.html import reveal_all
from layerwise.present.terminal import as_text, grid, said
from layerwise.present.values import rounded, value_text

LONG = 24  # characters: a column with a longer text is broken into lines
SHOWN = 20  # rows in a notebook, or printed
NUMBER = "number"  # a kind of column
P_VALUE = "p"  # the heading of a column of p-values
SMALLEST_P = 0.001  # that is written as a number
SIGNIFICANT = 4  # digits, where a column has no decimals of its own


@dataclass(frozen=True, repr=False)
class Table:
    """Rows of values; printed, or shown by a notebook, it is a table.

    Attributes:
        name: of the table, and of its CSV file.
        caption: what its numbers are.
        columns: {heading: decimals}; units stand in the heading, None prints significant digits.
        rows: a value per column; None is a value that does not exist.
        notes: why one does not, and how to read the others.
        shown: the cells as text, where it is not `columns` that say how they are written.
        labels: what is shown in the place of a text of the cells; CSV and records keep the text.
        listed: the first rows as they are printed, where a table would be too wide for that.
    """

    name: str
    caption: str
    columns: Mapping[str, int | None]
    rows: Sequence[Sequence[Value]]
    notes: Sequence[str] = ()
    shown: Sequence[Sequence[str]] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    listed: RenderableType | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def records(self) -> list[dict[str, Value]]:
        """A dictionary per row, by heading, with every digit."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_pandas(self) -> Any:
        """The same as a pandas DataFrame.

        Raises:
            LayerwiseError: where pandas is not installed: no dependency brings it.
        """
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise LayerwiseError(
                "a data frame needs pandas, which is not installed; `pip install pandas`, or use "
                "`.records` of the table (`result.tables[NAME].records`), a list of dictionaries"
            ) from None
        return pandas.DataFrame(self.records, columns=list(self.columns))

    def __rich__(self) -> RenderableType:
        rows = self.listed or self._grid
        return Group(said(self.caption), rows, *map(said, self._notes))

    @property
    def _grid(self) -> RenderableType:
        numbers = [
            name for name, kind in zip(self.columns, self.kinds, strict=True) if kind == NUMBER
        ]
        rows = grid([*self.columns], numbers)
        for row in self.texts[:SHOWN]:
            rows.add_row(*map(said, row))
        return rows

    def __repr__(self) -> str:
        return as_text(self)

    @property
    def _notes(self) -> list[str]:
        """The notes, after one that counts the rows that are not shown."""
        more = [f"... and {len(self) - SHOWN} rows more."] if len(self) > SHOWN else []
        return [*more, *self.notes]

    def _repr_html_(self) -> str:
        head, *body = (
            f"<tr>{''.join(f'<{tag}>{escape(reveal_all(cell))}</{tag}>' for cell in cells)}</tr>"
            for tag, cells in [("th", self.columns), *(("td", row) for row in self.texts[:SHOWN])]
        )
        notes = "".join(f"<p>{escape(reveal_all(note))}</p>" for note in self._notes)
        caption = f"<caption>{escape(reveal_all(self.caption))}</caption>"
        return f"<table>{caption}{head}{''.join(body)}</table>{notes}"

    @property
    def kinds(self) -> list[str]:
        """The kind of each column: `number`, `long` (a text of several lines) or `text`."""
        return [_kind([row[place] for row in self.rows]) for place in range(len(self.columns))]

    @property
    def texts(self) -> list[list[str]]:
        """The cells as the page shows them."""
        if self.shown is not None:
            return [list(row) for row in self.shown]
        return [
            [
                value_text(
                    value,
                    decimals,
                    number=p_text if heading == P_VALUE else _cell_number,
                    text=lambda text: self.labels.get(text, text),
                )
                for value, (heading, decimals) in zip(row, self.columns.items(), strict=True)
            ]
            for row in self.rows
        ]

    @property
    def csv(self) -> str:
        """Every row with every digit."""
        return csv_text(self.columns, self.rows)


def _kind(column: Sequence[Value]) -> str:
    if any(isinstance(value, int | float) and not isinstance(value, bool) for value in column):
        return NUMBER
    return "long" if any(len(text) > LONG for text in column if isinstance(text, str)) else "text"


def _cell_number(value: float | int, decimals: int | None) -> str:
    return significant(value) if decimals is None else rounded(value, decimals)


def p_text(value: float, _: int | None = None) -> str:
    """Return a p-value with three decimals; a smaller one as such, never as zero."""
    return f"< {SMALLEST_P}" if value < SMALLEST_P else rounded(value, 3)


def significant(value: float | int, digits: int = SIGNIFICANT) -> str:
    """Return a number with so many digits that count; a whole one as it is."""
    return (
        str(value)
        if isinstance(value, int)
        else rounded(value, significant_decimals(value, digits))
    )


def significant_decimals(value: float, digits: int) -> int:
    """Return how many decimals show so many digits that count."""
    whole = 1 + math.floor(math.log10(abs(value))) if value else 1
    return max(0, digits - whole)


def interval_decimals(low: float, high: float) -> int | None:
    """Return the decimals that show two digits of an interval's width; None where it has none."""
    width = high - low
    return significant_decimals(width, 2) if math.isfinite(width) and width > 0 else None


def facts(
    name: str, caption: str, statistics: Mapping[str, Value], notes: Sequence[str] = ()
) -> Table:
    """Return a table of single statistics, by their names."""
    columns = {"statistic": None, "value": None}
    return Table(name, caption, columns, list(statistics.items()), notes)
