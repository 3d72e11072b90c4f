"""Result documents of one model as tables: what the page and the LaTeX file print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Value = str | bool | int | float | None
Document = Mapping[str, Any]
LONG = 24  # characters: a column with a longer text is broken into lines


@dataclass(frozen=True)
class Cell:
    """A value and its decimals; None is a value that does not exist, which a note explains."""

    value: Value
    decimals: int | None = None

    @property
    def is_number(self) -> bool:
        return isinstance(self.value, int | float) and not isinstance(self.value, bool)


@dataclass(frozen=True)
class Table:
    """Rows of cells, one per heading."""

    name: str
    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """Of each column: `number`, `long` (a text that needs several lines) or `text`."""
        columns = [[row[place] for row in self.rows] for place in range(len(self.headings))]
        return tuple(map(_kind, columns))


@dataclass(frozen=True)
class Section:
    """One analysis: its JSON file is `name`.json."""

    name: str
    title: str
    about: str
    tables: tuple[Table, ...]


def _kind(column: Sequence[Cell]) -> str:
    if any(cell.is_number for cell in column):
        return "number"
    texts = [cell.value for cell in column if isinstance(cell.value, str)]
    return "long" if any(len(text) > LONG for text in texts) else "text"


def table(
    name: str,
    caption: str,
    columns: Sequence[tuple[str, int | None]],
    rows: Sequence[Sequence[Value]],
    notes: Sequence[str] = (),
) -> Table:
    """A table whose columns are (heading, decimals)."""
    return Table(
        name,
        caption,
        tuple(heading for heading, _ in columns),
        tuple(
            tuple(Cell(value, places) for value, (_, places) in zip(row, columns, strict=True))
            for row in rows
        ),
        tuple(notes),
    )


def facts(
    name: str,
    caption: str,
    entries: Sequence[tuple[str, Value, int | None]],
    notes: Sequence[str] = (),
) -> Table:
    """A table of single statistics: (what, value, decimals)."""
    rows = tuple((Cell(what), Cell(value, places)) for what, value, places in entries)
    return Table(name, caption, ("statistic", "value"), rows, tuple(notes))


INTERVAL: list[tuple[str, int | None]] = [
    ("r", 3), ("low", 3), ("high", 3), ("p", 4), ("excludes zero", None)
]  # fmt: skip


def interval(result: Document) -> list[Value]:
    """The cells of `INTERVAL`."""
    ends = [result["r"], result["ci_lower"], result["ci_upper"]]
    return [*ends, result["p_value"], not result["includes_zero"]]
