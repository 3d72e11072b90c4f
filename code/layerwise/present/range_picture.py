"""Estimates on the range that a claim names, drawn the same for strip, page, PDF and own model.

A row is an estimate with its interval, thick, and where another number or interval decides, that
one, thin; the printed value stands above the line. All rows of a picture share one axis, whose zero
or border is drawn through them. Of models beside the one that is asked a short line stands on the
axis, of draws of random weights a circle lies on it.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from layerwise.engine.answer_words import NO, YES
from layerwise.engine.marks import OPEN
from layerwise.present.elements import (
    Circle,
    Element,
    Polygon,
    Rect,
    Segment,
    Text,
    svg,
    svg_text,
)
from layerwise.present.values import with_signs

ROW, AXIS, STANDING = 20, 18, 9  # pixels of a row, of the axis, of the lines that stand on it
NAME = 16  # pixels: a line of text above a row whose name and number stand there
GAP, TEXT, SMALL = 8, 12, 11  # pixels: between columns, of the text, of what stands back
DIAMOND, DOT, SMALL_DOT = 3.5, 3.6, 2.4  # from its middle to a corner; radii
LOWER, UPPER = 2.5, 5.5  # pixels: the line below the middle of its row, a diamond above it
CAP = 4.5  # from a thin line to the ends of its caps, which show beside a thick one
BESIDE = 0.06  # of the width of an axis, left and right of what it shows
LETTER = 6.2  # pixels: the mean width of a digit on an axis
MOST_TICKS = 3  # steps between round numbers on an axis


def kind_of(word: str) -> str:
    """Return the class of a word's colour: every open answer has the same."""
    return word if word in (YES, NO) else OPEN


@dataclass(frozen=True)
class Taken:
    """A number with its interval, as it is drawn.

    Attributes:
        word: whether it lies where the claim says, a word of `engine.answer_words`.
        low, high: the ends of its interval, infinite where it has no end; None without interval.
    """

    value: float
    word: str
    low: float | None = None
    high: float | None = None

    @property
    def kind(self) -> str:
        """The class of its colour."""
        return kind_of(self.word)

    @property
    def numbers(self) -> list[float]:
        """The numbers that have a place on the axis."""
        ends = (self.value, self.low, self.high)
        return [end for end in ends if end is not None and math.isfinite(end)]


@dataclass(frozen=True)
class RangeRow:
    """An estimate as it is drawn.

    Attributes:
        label, number: the texts left and right of it; may be empty.
        word: the answer, which colours the number.
        thick: the number with its interval.
        above, below: the range where it lies if the claim holds; infinite where it has no end.
        thin: what decides, where it is another number or interval.
        printed: the printed value.
        decides: whether it is what the claim rests on; else it is drawn small.
    """

    label: str
    number: str
    word: str
    thick: Taken
    above: float
    below: float
    thin: Taken | None = None
    printed: float | None = None
    decides: bool = True

    @property
    def numbers(self) -> list[float]:
        """The numbers that have a place on the axis."""
        thin = [] if self.thin is None else self.thin.numbers
        printed = [] if self.printed is None else [self.printed]
        return [*self.thick.numbers, *thin, *printed]


@dataclass(frozen=True)
class RangePicture:
    """Rows on one axis, and what stands beside them.

    Attributes:
        beside: value and name of the same number of other models.
        drawn: value and name of the same number in draws of random weights.
    """

    rows: Sequence[RangeRow]
    beside: Sequence[tuple[float, str]] = ()
    drawn: Sequence[tuple[float, str]] = ()

    @property
    def borders(self) -> list[float]:
        """The ends of the ranges."""
        ends = dict.fromkeys(end for row in self.rows for end in (row.above, row.below))
        return [end for end in ends if math.isfinite(end)]

    def height(self, *, stacked: bool = False) -> int:
        """Return it in pixels; `stacked`: with names above the rows."""
        row = ROW + (NAME if stacked else 0)
        return row * len(self.rows) + (STANDING if self.beside else 0) + AXIS

    def axis(self) -> "Scale":
        """Return an axis that holds every finite number of the picture."""
        rows = [number for row in self.rows for number in row.numbers]
        others = [value for value, _ in (*self.beside, *self.drawn)]
        shown = [x for x in (*rows, *others, *self.borders) if math.isfinite(x)]
        margin = BESIDE * (max(shown) - min(shown)) or 1.0
        return Scale(min(shown) - margin, max(shown) + margin)


@dataclass(frozen=True)
class Scale:
    """An axis from its first number to its last."""

    first: float
    last: float

    def place(self, value: float) -> float:
        """Return where a number stands, from 0 to 1; one beyond an end stands there."""
        share = (value - self.first) / (self.last - self.first)
        return min(max(share, 0.0), 1.0)

    def ticks(self, borders: Sequence[float], width: float) -> list[tuple[float, str]]:
        """Return the numbers on the axis and their texts: zero, borders, then round numbers.

        One that would run into another is left out.

        Arguments:
            width: of the axis, in pixels.
        """
        # the terminal reads the rows too, and must not wait for matplotlib
        from matplotlib.ticker import MaxNLocator

        from layerwise.present.figures.settings import own_settings

        with own_settings():
            steps = MaxNLocator(MOST_TICKS, steps=[1, 2, 5, 10]).tick_values(self.first, self.last)
        ticks: list[tuple[float, str]] = []
        for value in (0.0, *borders, *map(float, steps)):
            text = with_signs(f"{round(value, 10) + 0.0:g}")
            if self.first <= value <= self.last and all(
                abs(self.place(value) - self.place(other)) * width
                > LETTER * (len(text) + len(beside)) / 2 + GAP
                for other, beside in ticks
            ):
                ticks.append((value, text))
        return sorted(ticks)


def range_svg(picture: RangePicture, about: str = "", plot: int = 200) -> str:
    """Return a picture without names as SVG, for a page that has its colours.

    Arguments:
        about: what it shows, read aloud; empty where the text beside it says so.
    """
    drawn = svg(draw_range(picture, plot=plot))
    return inline_svg(drawn, plot, picture.height(), about)


def inline_svg(drawn: str, width: float, height: float, about: str = "", kind: str = "") -> str:
    """Return elements, as SVG, as a part of a page that has their colours.

    Arguments:
        about: what it shows, read aloud; empty where something around it says so.
        kind: a further class.
    """
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    said = f'role="img" aria-label="{svg_text(about)}"' if about else 'aria-hidden="true"'
    kind = f"bars {kind}".strip()
    return f'<svg class="{kind}" {size} {said} font-size="{TEXT}">{drawn}</svg>'


def draw_diamond(x: float, y: float) -> Polygon:
    """Return the mark of a printed value around a place."""
    corners = [(0, -DIAMOND), (DIAMOND, 0), (0, DIAMOND), (-DIAMOND, 0)]
    return Polygon([(round(x + across, 1), y + down) for across, down in corners], "printed")


@dataclass(frozen=True)
class _Axis:
    """An axis in its place, in pixels."""

    scale: Scale
    start: float
    width: float

    @property
    def end(self) -> float:
        return self.start + self.width

    def x(self, value: float) -> float:
        """Return where a number stands."""
        return round(self.start + self.width * self.scale.place(value), 1)


def draw_range(
    picture: RangePicture,
    *,
    labels: float = 0,
    plot: float = 200,
    top: float = 0,
    left: float = 0,
    stacked: bool = False,
) -> Iterator[Element]:
    """Yield the elements of a picture: rows from top to bottom, then the axis.

    Arguments:
        labels, plot: widths of the names and of the axis; the numbers stand to the right of both.
        top, left: where it begins.
        stacked: names and numbers stand above the rows, at the ends of the axis.
    """
    above = NAME if stacked else 0
    axis = _Axis(picture.axis(), left + labels + (GAP if labels else 0), plot)
    yield from _draw_ranges(picture, axis, top, above)
    for number, row in enumerate(picture.rows):
        upper = top + number * (ROW + above)
        base = upper + (TEXT if stacked else ROW / 2 + (TEXT if row.decides else SMALL) / 3)
        smaller = 0 if row.decides else SMALL
        quiet = "" if row.decides else "quiet"
        if stacked:
            yield Text(axis.start, base, row.label, quiet, size=smaller)
        elif labels:
            yield Text(axis.start - GAP, base, row.label, quiet, anchor="end", size=smaller)
        yield from _draw_estimate(row, axis.x, upper + above + ROW / 2)
        kind = kind_of(row.word)
        if row.number and stacked:
            yield Text(axis.end, base, row.number, kind, anchor="end", size=smaller)
        elif row.number:
            yield Text(axis.end + 2 * GAP, base, row.number, kind, size=smaller)
    yield from _draw_axis(picture, axis, top + picture.height(stacked=stacked) - AXIS)


def _draw_ranges(picture: RangePicture, axis: _Axis, top: float, above: float) -> Iterator[Element]:
    """Yield the ranges behind the rows, one for all rows that share it and touch.

    Arguments:
        above: the height of the name above a row, which parts rows; 0 where there is none.
    """

    def ranged(numbered: tuple[int, RangeRow]) -> tuple[float, ...]:
        number, row = numbered
        return (row.above, row.below, *([number] if above else []))

    x, scale = axis.x, axis.scale
    n_above = 0
    for (low, high, *_), rows in groupby(enumerate(picture.rows), key=ranged):
        upper = top + n_above * (ROW + above) + above
        n_above += len([*rows])
        lower = top + n_above * (ROW + above)
        yield Rect(x(low), upper, x(high) - x(low), lower - upper, "range")
        for end in (low, high):
            if math.isfinite(end):
                yield Segment(x(end), upper, x(end), lower, "limit")
        if scale.first < 0 < scale.last and 0 not in picture.borders:
            yield Segment(x(0), upper, x(0), lower, "zero")


def _draw_axis(picture: RangePicture, axis: _Axis, bottom: float) -> Iterator[Element]:
    """Yield the axis below the rows, and what stands on it."""
    x = axis.x
    yield Segment(axis.start, bottom, axis.end, bottom, "axis")
    for value, name in picture.beside:
        yield Segment(x(value), bottom - STANDING, x(value), bottom, "beside")
        yield Rect(x(value) - STANDING / 2, bottom - STANDING, STANDING, STANDING, "hit", name)
    for value, name in picture.drawn:
        yield Circle(x(value), bottom, DOT, "random-draw", title=name)
    for value, text in axis.scale.ticks(picture.borders, axis.width):
        yield Segment(x(value), bottom, x(value), bottom + 4, "axis")
        yield Text(x(value), bottom + 4 + SMALL, text, "tick", anchor="middle", size=SMALL)


def _draw_estimate(row: RangeRow, x: Callable[[float], float], middle: float) -> Iterator[Element]:
    """Yield the lines and signs of a row: a dot is its number, hollow without an interval.

    Arguments:
        x: gives the place of a number on the axis.
        middle: of the row.
    """
    thick, thin = row.thick, row.thin
    middle += LOWER if row.printed is not None else 0
    back = "" if row.decides else " back"
    radius = DOT if row.decides else SMALL_DOT
    if thick.low is not None and thick.high is not None:
        yield Segment(x(thick.low), middle, x(thick.high), middle, f"{thick.kind} thick{back}")
    if row.printed is not None:
        yield draw_diamond(x(row.printed), middle - LOWER - UPPER)
    if thin is not None and thick.low is None:
        yield Circle(x(thick.value), middle, radius, f"{thick.kind} hollow")
    if thin is not None and thin.low is not None and thin.high is not None:
        yield Segment(x(thin.low), middle, x(thin.high), middle, f"{thin.kind} thin")
        for end in (thin.low, thin.high):
            yield Segment(x(end), middle - CAP, x(end), middle + CAP, f"{thin.kind} thin")
    shown = thick if thin is None else thin
    hollow = " hollow" if shown.low is None else ""
    yield Circle(x(shown.value), middle, radius, f"{shown.kind}{hollow}")
