"""The points of a figure by name: what its SVG says under a pointer, and the rows of its table."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.present.csv_text import Value, csv_text
from layerwise.present.values import with_signs

Side = Literal["x", "y"]
Ends = Sequence[Sequence[float] | None]  # of intervals
DIGITS = 6  # of a number in the table: machines differ in the last of sixteen
DIGITS_SHOWN = 4  # under a pointer
SIDES: tuple[Side, Side] = ("x", "y")


@dataclass(frozen=True)
class Points:
    """Points that one artist draws.

    Attributes:
        artist: a line with markers, or a bar with one name.
        names: of the points.
        series: what all of them are; may be empty.
        values: the numbers by axis; an axis that only parts rows has none.
        ends: their intervals by axis.
    """

    artist: Artist
    names: Sequence[str]
    series: str
    values: Mapping[Side, Sequence[float]]
    ends: Mapping[Side, Ends]

    @property
    def axes(self) -> Axes:
        """The panel."""
        assert isinstance(self.artist.axes, Axes)
        return self.artist.axes

    def numbers(self, at: int) -> dict[str, tuple[float, Sequence[float] | None]]:
        """Return the numbers of one point and their intervals, by the labels of the axes."""
        return {
            _label(self.axes, side): (values[at], self.ends.get(side, {at: None})[at])
            for side, values in self.values.items()
        }


class Drawing(Figure):
    """A figure that knows its points by name."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.points: list[Points] = []


def note_points(
    artist: Artist,
    names: Sequence[str],
    *,
    series: str = "",
    x: Sequence[float] | None = None,
    y: Sequence[float] | None = None,
    x_ends: Ends | None = None,
    y_ends: Ends | None = None,
) -> None:
    """Let a figure know the points that an artist draws.

    Arguments:
        x, y: their numbers; None where an axis shows none.
        x_ends, y_ends: the ends of their intervals.
    """
    figure = artist.get_figure(root=True)
    assert isinstance(figure, Drawing)
    values: dict[Side, Sequence[float]] = {
        side: numbers for side, numbers in zip(SIDES, (x, y), strict=True) if numbers is not None
    }
    ends: dict[Side, Ends] = {
        side: pairs for side, pairs in zip(SIDES, (x_ends, y_ends), strict=True) if pairs
    }
    artist.set_gid(f"points-{len(figure.points)}")
    figure.points.append(Points(artist, list(names), series, values, ends))


def titles_of(figure: Figure) -> dict[str, list[str]]:
    """Return what a pointer over each point says, by the id of the artist: its name, its numbers.

    A point that is not finite is not drawn, and has no text.
    """
    if not isinstance(figure, Drawing):
        return {}
    return {
        str(points.artist.get_gid()): [
            "\n".join([_full_name(points, at), *_lines(points.numbers(at))])
            for at in range(len(points.names))
            if np.isfinite([values[at] for values in points.values.values()]).all()
        ]
        for points in figure.points
    }


def csv_of_points(figure: Figure) -> str:
    """Return a row for every named point of a figure: its panel, its series and its numbers."""
    assert isinstance(figure, Drawing)
    rows: list[dict[str, Value]] = [
        {
            "panel": _label_text(points.axes.get_title()),
            "series": points.series,
            "point": points.names[at],
            **dict(_number_cells(points.numbers(at))),
        }
        for points, at in _in_order(figure.points)
    ]
    headings = dict.fromkeys(heading for row in rows for heading in row)
    known = {heading: {row.get(heading) for row in rows} for heading in headings}
    told = [
        heading
        for heading in headings
        if known[heading] not in ({""}, {None}) and (heading != "panel" or len(known["panel"]) > 1)
    ]
    return csv_text(told, ([row.get(heading) for heading in told] for row in rows))


def _in_order(drawn: Sequence[Points]) -> list[tuple[Points, int]]:
    """Return each point with its position: by panel, by series, and from left to right.

    Rows stay as they are drawn, from top to bottom.
    """
    series = list(dict.fromkeys((points.axes, points.series) for points in drawn))

    def place(entry: tuple[Points, int]) -> tuple[int, float]:
        points, at = entry
        across = points.values.get("x") if "y" in points.values else (0.0,) * len(points.names)
        return series.index((points.axes, points.series)), across[at] if across else math.inf

    return sorted(((points, at) for points in drawn for at in range(len(points.names))), key=place)


def _full_name(points: Points, at: int) -> str:
    return ", ".join(filter(None, (points.series, points.names[at])))


def _lines(
    numbers: Mapping[str, tuple[float, Sequence[float] | None]],
) -> Iterator[str]:
    for label, (value, ends) in numbers.items():
        interval = f" ({' to '.join(_number_text(end) for end in ends)})" if ends else ""
        yield f"{label}: {_number_text(value)}{interval}"


def _number_text(value: float) -> str:
    return with_signs(f"{value:.{DIGITS_SHOWN}g}")


def _number_cells(
    numbers: Mapping[str, tuple[float, Sequence[float] | None]],
) -> Iterator[tuple[str, float | None]]:
    for label, (value, ends) in numbers.items():
        yield label, _rounded(value)
        for word, end in zip(("low", "high"), ends or (None, None), strict=True):
            yield f"{label} ({word})", None if end is None else _rounded(end)


def _rounded(value: float) -> float:
    return value if isinstance(value, int) else float(f"{value:.{DIGITS}g}")


def _label(axes: Axes, side: Side) -> str:
    """Return the label of an axis; of panels that share it the first has one."""
    shared = axes.get_shared_x_axes() if side == "x" else axes.get_shared_y_axes()
    figure = axes.get_figure(root=True)
    assert figure is not None
    siblings = [axes, *(other for other in figure.axes if other in shared.get_siblings(axes))]
    labels = (getattr(other, f"get_{side}label")() for other in siblings)
    return _label_text(next(filter(None, labels), side))


def _label_text(text: str) -> str:
    """Return a label as plain text, on one line and without the signs around formulas."""
    return " ".join(text.replace("$", "").split())
