"""Names beside points and at the ends of curves, where they hide as little as they can.

They take no part in the layout, so a figure is laid out before they are placed. Of libraries that
do this, textalloc leads lines over other points, and adjustText leaves names on points.
"""

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.path import Path
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from layerwise.present.figures.numbers import Numbers
from layerwise.present.figures.signs import CONTEXT, PAPERS, SINGLED_OUT, Look, legend_below
from layerwise.present.figures.style import lay_out

# Where a name may stand: points right of its point, less a share of its own width, and points above
# it; from where on a line leads to it.
ACROSS = ((6, 0), (-6, 1), (14, 0), (-14, 1), (24, 0), (-24, 1), *((0, n / 8) for n in range(1, 8)))
UPWARDS = (-3, 4, -10, 10, -17, 17, -25, 25, -34, 34, -48, 48, -64, 64)
ADJACENT = 9
LED = 18  # points: from the end of a curve to its name
LETTER = 4.9  # points: the width of most letters at 8 pt


# --- of points --------------------------------------------------------------------------------


def name_points(
    axes: Axes, points: Mapping[str, tuple[float, float]], *, bold: Collection[str] = ()
) -> None:
    """Write the points' names near them, each led to its point by a line where it stands apart.

    A name hides no other name, no point and no line, as far as there is room. To be called last,
    because names take no part in the layout.

    Arguments:
        points: by name; those that are `bold` are placed first.
    """
    figure: Any = axes.get_figure(root=True)
    lay_out(figure)
    taken = _taken_by(axes, points)
    for name in sorted(points, key=lambda name: name not in bold):
        look: Look = {"fontweight": "bold", "color": SINGLED_OUT} if name in bold else {}
        label = axes.annotate(name, points[name], (0, 0), textcoords="offset points")
        label.set(**{"color": CONTEXT, **look})
        label.set_in_layout(False)
        place = min(
            _places(label, axes.transData.transform(points[name]), figure.dpi / 72),
            key=lambda place: 30 * taken.hidden_at(place, name) + place.distance,
        )
        label.set(position=place.offset)
        taken.names.append(place.box)
        if place.distance > ADJACENT:
            taken.leaders.append(place.leader)
            _draw_leader(axes, place.leader)


@dataclass(frozen=True)
class _Place:
    """Where a name may stand.

    Attributes:
        offset: from its point to the corner of the name, in points.
        box: what the name covers, in pixels.
        leader: the line between its point and the box, in pixels.
        distance: the length of that, in points.
    """

    offset: tuple[float, float]
    box: Bbox
    leader: Path
    distance: float


@dataclass(frozen=True)
class _Taken:
    """What names and their leaders should leave to be seen, in pixels.

    Attributes:
        room: where names may stand.
        dots: around the points, by name.
        curves, bars: the lines of the axes, and the intervals.
        names, leaders: of the points that are named already.
    """

    room: Bbox
    dots: Mapping[str, Bbox]
    curves: Sequence[Path]
    bars: Sequence[Path]
    names: list[Bbox] = field(default_factory=list)
    leaders: list[Path] = field(default_factory=list)

    def hidden_at(self, place: _Place, name: str) -> float:
        """Return what a name and its leader hide at a place, each thing with its weight."""
        box, leader = place.box, place.leader
        others = [*self.names, *(dot for other, dot in self.dots.items() if other != name)]
        lines = (*self.curves, *self.bars, *self.leaders)
        hidden: float = sum(box.padded(3).overlaps(other) for other in (*others, self.dots[name]))
        hidden += 2 * sum(line.intersects_bbox(box, filled=False) for line in lines)
        hidden += sum(leader.intersects_bbox(other) for other in others)
        hidden += sum(leader.intersects_path(other) for other in self.leaders)
        hidden += sum(leader.intersects_path(curve) for curve in self.curves) / 2
        hidden += 9 * sum(box.overlaps(other) for other in self.names)
        is_inside = all(self.room.fully_contains(*corner) for corner in (box.p0, box.p1))
        return hidden if is_inside else hidden + 50


def _taken_by(axes: Axes, points: Mapping[str, tuple[float, float]]) -> _Taken:
    """Return what the axes show before a point has its name."""
    at = {name: axes.transData.transform(point) for name, point in points.items()}
    bars = [bar for bar in axes.collections if isinstance(bar, LineCollection)]
    return _Taken(
        axes.bbox,
        {name: Bbox.from_bounds(x - 6, y - 6, 12, 12) for name, (x, y) in at.items()},
        [line.get_transform().transform_path(line.get_path()) for line in axes.lines],
        [bar.get_transform().transform_path(path) for bar in bars for path in bar.get_paths()],
    )


def _places(label: Annotation, at: np.ndarray, pixels: float) -> Iterator[_Place]:
    """Yield where a name may stand.

    Arguments:
        label: the name, its corner on its point.
        at: of its point, in pixels.
        pixels: of a point of 1/72 inch.
    """
    box = label.get_window_extent()
    for (dx, share), dy in itertools.product(ACROSS, UPWARDS):
        left = dx - share * box.width / pixels
        moved = box.translated(left * pixels, dy * pixels)
        nearest = np.clip(at, moved.p0, moved.p1)
        distance = float(np.hypot(*(nearest - at))) / pixels
        yield _Place((left, dy), moved, Path(np.array([at, nearest])), distance)


def _draw_leader(axes: Axes, leader: Path) -> None:
    """Draw a thin line between a point and its name, both in pixels."""
    at, name = axes.transData.inverted().transform(leader.vertices)
    arrow = {"arrowstyle": "-", "color": CONTEXT, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 3}
    line = axes.annotate("", at, name, arrowprops=arrow, zorder=1.5)
    line.set_in_layout(False)


# --- of curves --------------------------------------------------------------------------------


def draw_papers_curves(numbers: Numbers, panels: Mapping[str, Axes]) -> None:
    """The papers' curves in grey behind a reader's own, each with its name at its end; the legend.

    A line leads from a curve to its name. To be called last: the axes, of relative depth, get room
    for the names, which take no part in the layout.

    Arguments:
        panels: by the quantity that each shows.
    """
    shown = [
        (axes, numbers.beside[quantity])
        for quantity, axes in panels.items()
        if numbers.beside.get(quantity)
    ]
    look: Look = {"color": CONTEXT, "alpha": 0.5, "linewidth": 0.8, "zorder": 0.5}
    for axes, curves in shown:
        for curve in curves.values():
            x, y = zip(*curve, strict=True)
            axes.plot(x, y, label=PAPERS, **look)
    figure: Any = next(iter(panels.values())).get_figure(root=True)
    legend_below(figure)
    lay_out(figure)
    point = figure.dpi / 72
    for axes, curves in shown:
        _make_room_for(curves, axes, point)
        ends = {name: axes.transData.transform(curve[-1]) for name, curve in curves.items()}
        named = sorted(ends, key=lambda name: (float(ends[name][1]), name))
        heights = [float(ends[name][1]) for name in named]
        places = _space_out(heights, 10 * point, axes.bbox.y0 + 6 * point)
        for name, height in zip(named, places, strict=True):
            at = np.array([ends[name][0] + LED * point, height])
            x, y = axes.transData.inverted().transform((at[0] + 2 * point, at[1]))
            axes.text(x, y, name, color=CONTEXT, va="center").set_in_layout(False)
            _draw_leader(axes, Path(np.array([ends[name], at])))


def _make_room_for(names: Collection[str], axes: Axes, point: float) -> None:
    """Widen axes of relative depth to the right; reference lines end where the names begin.

    Arguments:
        point: in pixels.
    """
    room = (LETTER * max(map(len, names)) + LED + 4) * point / axes.bbox.width
    ticks = [float(tick) for tick in axes.get_xticks() if 0 <= tick <= 1.001]
    axes.set_xlim(-0.04, 1 / (1 - min(room, 0.6)))
    axes.set_xticks(_thin_ticks(ticks, axes, point))
    low, high = axes.get_xlim()
    for line in axes.lines:
        if line.get_linestyle() == "--" and line.get_color() == CONTEXT:
            line.set_xdata([0, (1.01 - low) / (high - low)])


def _thin_ticks(ticks: Sequence[float], axes: Axes, point: float) -> list[float]:
    """Return the ticks whose labels run into no other, from the first on."""
    low, high = axes.get_xlim()
    digits = max(len(f"{tick:g}") for tick in ticks)
    least = (LETTER * digits + 5) * point / axes.bbox.width * (high - low)
    kept: list[float] = []
    for tick in ticks:
        if not kept or tick - kept[-1] >= least:
            kept.append(tick)
    return kept


def _space_out(places: Sequence[float], gap: float, lowest: float) -> list[float]:
    """Return ascending places, each a gap above the one before, moved as little as that takes."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + gap) if moved else place)
    shift = min(float(np.mean(moved) - np.mean(places)), moved[0] - lowest)
    return [place - shift for place in moved]
