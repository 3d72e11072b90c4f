"""A figure as SVG that stands alone in a file or inlined in a page, in light and dark mode.

Black becomes the colour of the text around it, and nothing is painted behind: the page's own shows
through. Styles become attributes, because a page's security policy can forbid styles.
"""

import io
import re
from xml.etree import ElementTree

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from layerwise.figures.printed import ALONE

SVG = "http://www.w3.org/2000/svg"
LINK = "{http://www.w3.org/1999/xlink}href"
INKS = {"#000000": "1", "#666666": "0.7"}  # how strongly the colour of the text stands for them
_LONG = re.compile(r"-?\d+\.\d{3,}")
_REFERENCE = re.compile(r"#([\w-]+)")


def as_svg(figure: Figure, name: str) -> str:
    """The text of `name.svg`: the same each time; ids begin with the name, so that figures can
    stand in one page.
    """
    written = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        FigureCanvasSVG(figure).print_svg(written, metadata={"Date": None, "Creator": None})
    root = ElementTree.fromstring(written.getvalue())
    about, style, *_ = root  # what the file is, and the joins of lines, which `root` has below
    root[:] = [entry for entry in root if entry not in (about, style)]
    wanted = set(_REFERENCE.findall(" ".join(v for e in root.iter() for v in e.attrib.values())))
    for element in root.iter():
        _simplify(element, wanted, name)
    _flatten(root)
    size = {side: root.get(side, "").removesuffix("pt") for side in ("width", "height")}
    root.attrib = {"viewBox": root.attrib["viewBox"], **size}
    root.attrib |= {"stroke-linejoin": "round", "font-family": "DejaVu Sans, Verdana, sans-serif"}
    ElementTree.register_namespace("", SVG)
    start, _, rest = ElementTree.tostring(root, encoding="unicode").partition(">")
    return f"{start}>{ALONE}{rest}\n"


def _simplify(element: ElementTree.Element, wanted: set[str], name: str) -> None:
    """Attributes for styles, short numbers, and ids only where something refers to them."""
    found = {key: value for key, value in element.attrib.items() if key != "style"}
    for entry in filter(None, element.get("style", "").split("; ")):
        key, _, value = entry.partition(": ")
        if value in INKS:
            found |= {key: "currentColor", f"{key}-opacity": INKS[value]}
        elif key != "font-family":
            found[key] = value
    if element.tag.endswith("}text"):
        found = {"fill": "currentColor", **found}
    found = {key: value for key, value in found.items() if (value, key[-7:]) != ("1", "opacity")}
    if found.get("id") not in wanted:
        found.pop("id", None)
    if LINK in found:
        found["href"] = found.pop(LINK)
    found.pop("transform", None) if found.get("transform", "").startswith("rotate(-0 ") else None
    element.attrib = {
        key: _short(value.replace("#", f"#{name}-") if key in ("href", "clip-path") else value)
        for key, value in found.items()
    }
    if "id" in element.attrib:
        element.attrib["id"] = f"{name}-{element.attrib['id']}"
    element.tail = None
    if not element.tag.endswith(("}text", "}tspan")):
        element.text = None


def _short(value: str) -> str:
    """Numbers to a hundredth of a point, which also hides the layout solver's last bits."""
    shortened = _LONG.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), value)
    return " ".join(shortened.split())


def _flatten(element: ElementTree.Element) -> None:
    """Groups that group nothing make room for what is in them."""
    flat: list[ElementTree.Element] = []
    for child in element:
        _flatten(child)
        flat += list(child) if child.tag.endswith("}g") and not child.attrib else [child]
    element[:] = flat
