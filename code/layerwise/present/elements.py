"""What a picture without axes of its own is made of, and how it becomes SVG or a part of a PDF.

Places are pixels, right and down from the corner at the top. A colour is a class: the page or the
file around the elements says what it looks like in CSS, which `draw_elements` reads too.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from markupsafe import Markup
from markupsafe import escape as escaped

from layerwise.files import revealed

RAISED, LOWERED = re.compile(r"\^\(([\w/]+)\)"), re.compile(r"\bW_([QKVO])\b")
INDEX = 11  # pixels: the text of an exponent or an index


@dataclass(frozen=True)
class Rect:
    """A filled rectangle; `title`: what a pointer over it shows."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    title: str = ""


@dataclass(frozen=True)
class Segment:
    """A straight line."""

    x: float
    y: float
    x_end: float
    y_end: float
    kind: str


@dataclass(frozen=True)
class Circle:
    """A disc, or a ring if its kind is hollow."""

    x: float
    y: float
    radius: float
    kind: str
    title: str = ""


@dataclass(frozen=True)
class Polygon:
    """A closed outline."""

    points: Sequence[tuple[float, float]]
    kind: str


@dataclass(frozen=True)
class Text:
    """A line of text on its base line; `kind`: empty for the colour around it."""

    x: float
    y: float
    text: str
    kind: str = ""
    anchor: Literal["start", "middle", "end"] = "start"
    size: float = 0


Element = Rect | Segment | Circle | Polygon | Text
Look = Mapping[str, str]  # CSS properties


def svg_text(text: str) -> Markup:
    """Return a text as SVG shows it: no element, and what the eye cannot see written out."""
    return escaped(revealed(text))


def svg(elements: Iterable[Element]) -> str:
    """Return elements as SVG."""
    return "".join(map(_element, elements))


def _element(element: Element) -> str:
    match element:
        case Rect(x, y, width, height, kind, title):
            sides = f'x="{x:g}" y="{y:g}" width="{width:.4g}" height="{height:g}"'
            return f'<rect class="{kind}" {sides}{_titled("rect", title)}'
        case Segment(x, y, x_end, y_end, kind):
            along = f"H{x_end:g}" if y == y_end else f"V{y_end:g}" if x == x_end else ""
            return f'<path class="{kind}" d="M{x:g} {y:g}{along or f"L{x_end:g} {y_end:g}"}"/>'
        case Circle(x, y, radius, kind, title):
            place = f'cx="{x:g}" cy="{y:g}" r="{radius:g}"'
            return f'<circle class="{kind}" {place}{_titled("circle", title)}'
        case Polygon(points, kind):
            corners = " ".join(f"{x:g},{y:g}" for x, y in points)
            return f'<polygon class="{kind}" points="{corners}"/>'
        case Text(x, y, text, kind, anchor, size):
            how = f' class="{kind}"' if kind else ""
            how += f' text-anchor="{anchor}"' if anchor != "start" else ""
            how += f' font-size="{size:g}"' if size else ""
            return f'<text x="{x:g}" y="{y:g}"{how}>{raised(text)}</text>'


def _titled(name: str, title: str) -> str:
    return f"><title>{svg_text(title)}</title></{name}>" if title else "/>"


def raised(text: str) -> str:
    """Return a text as SVG, its exponents raised and its indices lowered."""
    return LOWERED.sub(f"W{_shifted(4)}", RAISED.sub(_shifted(-5), str(svg_text(text))))


def _shifted(by: int) -> str:
    """Return the first group of a pattern, moved down by so many pixels; what follows is not."""
    return rf'<tspan dy="{by}" font-size="{INDEX}">\1</tspan><tspan dy="{-by}">&#8203;</tspan>'


# --- in print ---------------------------------------------------------------------------------


def draw_elements(axes: Any, elements: Iterable[Element], looks: Mapping[str, Look]) -> None:
    """Draw elements into matplotlib axes whose units are pixels, down from the top.

    Arguments:
        looks: the CSS of every class, by its name; of several classes the later ones win.
    """
    from matplotlib import patches
    from matplotlib.path import Path

    points = 72 * axes.bbox.width / axes.figure.dpi / (axes.get_xlim()[1] - axes.get_xlim()[0])
    for element in elements:
        look = dict(looks["text"]) if isinstance(element, Text) else {}
        for kind in element.kind.split():
            look |= looks.get(kind, {})
        fill, stroke = look.get("fill", "none"), look.get("stroke", "none")
        edge = {"ec": stroke, "fc": fill, "lw": float(look.get("stroke-width", 1)) * points}
        match element:
            case Rect(x, y, across, down):
                axes.add_patch(patches.Rectangle((x, y), across, down, fc=fill))
            case Segment(x, y, x_end, y_end):
                dashes = [float(length) for length in look.get("stroke-dasharray", "").split()]
                line = patches.PathPatch(Path([(x, y), (x_end, y_end)]), **edge, capstyle="butt")
                line.set(linestyle=(0, dashes) if dashes else "-")
                line.set(alpha=float(look.get("stroke-opacity", 1)))
                axes.add_patch(line)
            case Circle(x, y, radius):
                axes.add_patch(patches.Circle((x, y), radius, **edge))
            case Polygon(corners):
                axes.add_patch(patches.Polygon([*corners], **edge))
            case Text():
                _draw_text(axes, element, look, points)


def _draw_text(axes: Any, text: Text, look: Look, points: float) -> None:
    """Draw a line of text into matplotlib axes; `points`: of a pixel."""
    size = float(look.get("font-size", f"{text.size or 12}px").removesuffix("px"))
    axes.text(
        text.x,
        text.y,
        _as_mathtext(text.text),
        color=look.get("fill", "none"),
        fontsize=size * points,
        fontweight=look.get("font-weight", "normal"),
        ha={"start": "left", "middle": "center", "end": "right"}[text.anchor],
        va="baseline",
    )


def _as_mathtext(text: str) -> str:
    text = RAISED.sub(r"$^{\1}$", text.replace("$", r"\$"))
    return LOWERED.sub(r"$\\mathrm{W}_{\\mathrm{\1}}$", text)
