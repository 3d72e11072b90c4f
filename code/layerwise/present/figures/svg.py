"""A figure as SVG that stands alone in a file or inlined in a page, in light and dark mode.

Black becomes the colour of the text around it, and nothing is painted behind: the page's own shows
through. Styles become attributes, because a page's security policy can forbid styles.
"""

import io
import re
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from layerwise.present.figures.picture import ALONE
from layerwise.present.figures.points import titles_of

SVG = "http://www.w3.org/2000/svg"
LINK = "{http://www.w3.org/1999/xlink}href"
INKS = {"#000000": "1", "#666666": "0.7"}  # how strongly the colour of the text stands for them
_LONG = re.compile(r"-?\d+\.\d{3,}")
_REFERENCE = re.compile(r"#([\w-]+)")
_LETTER = re.compile(r" ?([A-Za-z]) ?")  # of a path


def as_svg(figure: Figure, name: str) -> str:
    """Return the text of `name.svg`, the same each time.

    Ids begin with the name, so that figures can stand in one page.
    """
    written = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        FigureCanvasSVG(figure).print_svg(written, metadata={"Date": None, "Creator": None})
    root = ElementTree.fromstring(written.getvalue())
    about, style, *_ = root  # what the file is, and the joins of lines, which `root` has below
    root[:] = [entry for entry in root if entry not in (about, style)]
    _name_points(root, titles_of(figure))
    values = [value for element in root.iter() for value in element.attrib.values()]
    used = set(_REFERENCE.findall(" ".join(values)))
    marked = [element.get("id") for element in root.iter() if element.get("id") in used]
    ids = {old: f"{name}-{number}" for number, old in enumerate(marked)}
    for element in root.iter():
        _simplify(element, ids)
    _leave_to_what_is_drawn(root)
    _flatten(root)
    size = {side: root.get(side, "").removesuffix("pt") for side in ("width", "height")}
    root.attrib = {"viewBox": root.attrib["viewBox"], **size}
    root.attrib |= {"stroke-linejoin": "round", "font-family": "DejaVu Sans, Verdana, sans-serif"}
    root.set("fill", "currentColor")  # matplotlib leaves the fill of what is black unsaid
    ElementTree.register_namespace("", SVG)
    start, _, content = ElementTree.tostring(root, encoding="unicode").partition(">")
    return f"{start}>{ALONE}{content}\n"


def _name_points(root: ElementTree.Element, titles: Mapping[str, Sequence[str]]) -> None:
    """Give every point the text that a pointer over it shows.

    Arguments:
        titles: of the points, by the id of what draws them.
    """
    groups = {group.get("id"): group for group in root.iter(f"{{{SVG}}}g")}
    for name, texts in filter(all, titles.items()):
        group = groups[name]
        points = [*group.iter(f"{{{SVG}}}use")] or [*group.iter(f"{{{SVG}}}path")]  # of a bar
        for point, text in zip(points, texts, strict=True):
            ElementTree.SubElement(point, f"{{{SVG}}}title").text = text


def _simplify(element: ElementTree.Element, ids: dict[str | None, str]) -> None:
    """Turn styles into attributes, shorten numbers, and keep ids that something refers to."""
    attributes = {key: value for key, value in element.attrib.items() if key != "style"}
    for entry in filter(None, element.get("style", "").split("; ")):
        key, _, value = entry.partition(": ")
        if value in INKS:
            attributes |= {key: "currentColor", f"{key}-opacity": INKS[value]}
        elif key != "font-family":
            attributes[key] = value
    attributes = {
        key: value for key, value in attributes.items() if (value, key[-7:]) != ("1", "opacity")
    }
    if (old := attributes.pop("id", None)) in ids:
        attributes["id"] = ids[old]
    if LINK in attributes:
        attributes["href"] = attributes.pop(LINK)
    for key in {"href", "clip-path"} & attributes.keys():
        attributes[key] = _REFERENCE.sub(lambda old: f"#{ids[old[1]]}", attributes[key])
    if attributes.get("transform", "").startswith("rotate(-0 "):
        del attributes["transform"]
    element.attrib = {key: _rounded_text(value) for key, value in attributes.items()}
    if "d" in element.attrib:
        element.attrib["d"] = _LETTER.sub(r"\1", element.attrib["d"])
    element.tail = None
    if not element.tag.endswith(("}text", "}tspan", "}title")):
        element.text = None


def _leave_to_what_is_drawn(root: ElementTree.Element) -> None:
    """Take from marks the colours and lines that the path which they repeat has already."""
    drawn = {element.get("id"): element.attrib for element in root.iter() if element.get("id")}
    for element in root.iter():
        path = drawn[element.get("href", "")[1:]] if element.tag.endswith("}use") else {}
        for key in path.keys() & element.attrib.keys():
            if key.startswith(("fill", "stroke")):
                del element.attrib[key]


def _rounded_text(value: str) -> str:
    """Round numbers to a hundredth of a point, which hides the layout solver's last bits too."""
    shortened = _LONG.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), value)
    return " ".join(shortened.split())


def _flatten(element: ElementTree.Element) -> None:
    """Replace groups that group nothing by what is in them, and drop what is not painted."""
    flat: list[ElementTree.Element] = []
    for child in element:
        _flatten(child)
        flat += list(child) if child.tag.endswith("}g") and not child.attrib else [child]
    element[:] = [child for child in flat if not _is_unpainted(child)]


def _is_unpainted(element: ElementTree.Element) -> bool:
    is_alone = element.tag.endswith("}path") and "id" not in element.attrib
    return is_alone and element.get("fill") == "none" and "stroke" not in element.attrib
