"""What a terminal shows: tables and colours by rich; plain text where nobody looks at it.

Rich leaves colours out where the output is no terminal, or NO_COLOR is set. Piped tables are not
folded either: a row is a line, for `grep` and `sort`.
"""

import io
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.constrain import Constrain
from rich.table import Column
from rich.table import Table as Grid
from rich.text import Text

from layerwise.files import revealed

PROSE = 100  # columns: longer lines are hard to read
UNFOLDED = 10_000  # columns where nobody looks
MINUS = "-"  # the sign of files and of results, which every terminal has
GOOD, BAD, OPEN, FAINT = "green", "red", "yellow", "dim"
# Of the words that answer: a claim's verdict, a central claim's mark, an own model's answer.
STYLES = {
    **dict.fromkeys(("agrees", "holds", "yes", "ok"), GOOD),
    **dict.fromkeys(("differs", "contradicted", "fails", "no", "FAIL"), BAD),
    **dict.fromkeys(("in part", "undecided", "needs weights", "warn"), OPEN),
    **dict.fromkeys(("same number", "follows", "declared", "not checkable"), FAINT),
    **dict.fromkeys(("open", "no spread", "too few"), FAINT),
}


@dataclass(frozen=True)
class Paged:
    """Output that may be longer than the screen: a terminal shows it through the reader's pager."""

    shown: RenderableType


def show(what: RenderableType | Paged) -> None:
    """Print it to the standard output."""
    shown = what.shown if isinstance(what, Paged) else what
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        width = console.width if os.environ.get("COLUMNS") else UNFOLDED
        print(as_text(shown, width, sys.stdout.encoding or "utf-8"), flush=True)
        return
    if not isinstance(what, Paged):
        console.print(shown, crop=False)
        return
    os.environ.setdefault("LESS", "FRX")  # as git: colours, and no pager for one screen
    with console.pager(styles=not console.no_color):
        console.print(shown, crop=False)


def as_text(what: RenderableType, width: int | None = None, encoding: str = "utf-8") -> str:
    """Return output as plain text, in lines without a space at their ends.

    Arguments:
        width: in characters; by default no wider than the terminal, or than is easily read.
        encoding: of the characters; others are written out.
    """
    width = width or min(PROSE, shutil.get_terminal_size((PROSE, 0)).columns)
    out = io.TextIOWrapper(io.BytesIO(), encoding, errors="backslashreplace")
    options: Any = {"force_terminal": False, "color_system": None}
    console = Console(file=out, width=width, markup=False, emoji=False, **options)
    console.print(what, highlight=False, crop=False)
    out.seek(0)
    return "\n".join(line.rstrip() for line in out.read().rstrip("\n").split("\n"))


def said(text: object, style: str = "") -> Text:
    """Return a text as a terminal shows it: what the eye cannot see is written out, none commands.

    A minus is `MINUS` everywhere.
    """
    return Text(revealed(str(text)).replace("\N{MINUS SIGN}", MINUS), style)


def line(text: str) -> Text:
    """Return a line with paths, which are there to be copied too: only a terminal folds it."""
    return Text(revealed(text), no_wrap=True, overflow="ignore")


def word(text: str, shown: str = "") -> Text:
    """Return a verdict, a mark or an answer in its colour."""
    return said(shown or text, STYLES.get(text, ""))


def prose(what: RenderableType) -> RenderableType:
    """Return output no wider than is easily read."""
    return Constrain(what, PROSE)


def grid(columns: Sequence[str], numbers: Sequence[str] = ()) -> Grid:
    """Return an empty table with a line below its heads; columns of `numbers` stand to the right.

    An id is never broken: it is there to be copied; a head only between its words.
    """
    table = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for name in columns:
        side: Any = "right" if name in numbers else "left"
        longest = max(map(len, name.split()), default=0)
        is_id = name == "id"
        table.add_column(
            said(name), justify=side, overflow="fold", no_wrap=is_id, min_width=longest
        )
    return table


def counts(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return counts by name, as text, below the names of the columns."""
    name, *numbers = heads
    left = Column(name, max_width=PROSE, overflow="fold")
    right = [Column(head, justify="right", min_width=len(head) + 2) for head in numbers]
    table = Grid.grid(left, *right, padding=(0, 2, 0, 0))
    for row in (heads, *rows):
        table.add_row(*(said(cell) for cell in row))
    return as_text(table, UNFOLDED)
