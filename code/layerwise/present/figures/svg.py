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

from layerwise.present.figures.picture import ALONE

SVG = "http://www.w3.org/2000/svg"
LINK = "{http://www.w3.org/1999/xlink}href"
INKS = {"#000000": "1", "#666666": "0.7"}  # how strongly the colour of the text stands for them
_LONG = re.compile(r"-?\d+\.\d{3,}")
_REFERENCE = re.compile(r"#([\w-]+)")
_LETTER = re.compile(r" ?([A-Za-z]) ?")  # of a path


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
    used = set(_REFERENCE.findall(" ".join(v for e in root.iter() for v in e.attrib.values())))
    marked = [e.get("id") for e in root.iter() if e.get("id") in used]
    ids = {of: f"{name}-{number}" for number, of in enumerate(marked)}
    for element in root.iter():
        _simplify(element, ids)
    _leave_to_what_is_drawn(root)
    _flatten(root)
    size = {side: root.get(side, "").removesuffix("pt") for side in ("width", "height")}
    root.attrib = {"viewBox": root.attrib["viewBox"], **size}
    root.attrib |= {"stroke-linejoin": "round", "font-family": "DejaVu Sans, Verdana, sans-serif"}
    ElementTree.register_namespace("", SVG)
    start, _, rest = ElementTree.tostring(root, encoding="unicode").partition(">")
    return f"{start}>{ALONE}{rest}\n"


def _simplify(element: ElementTree.Element, ids: dict[str | None, str]) -> None:
    """Attributes for styles, short numbers, and short ids only where something refers to them."""
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
    if (old := found.pop("id", None)) in ids:
        found["id"] = ids[old]
    if LINK in found:
        found["href"] = found.pop(LINK)
    for key in {"href", "clip-path"} & found.keys():
        found[key] = _REFERENCE.sub(lambda old: f"#{ids[old[1]]}", found[key])
    found.pop("transform", None) if found.get("transform", "").startswith("rotate(-0 ") else None
    element.attrib = {key: _short(value) for key, value in found.items()}
    if "d" in element.attrib:
        element.attrib["d"] = _LETTER.sub(r"\1", element.attrib["d"])
    element.tail = None
    if not element.tag.endswith(("}text", "}tspan")):
        element.text = None


def _leave_to_what_is_drawn(root: ElementTree.Element) -> None:
    """Marks without the colours and lines that the path they repeat has, which come first."""
    drawn = {element.get("id"): element.attrib for element in root.iter() if element.get("id")}
    for element in root.iter():
        of = drawn[element.get("href", "")[1:]] if element.tag.endswith("}use") else {}
        for key in of.keys() & element.attrib.keys():
            if key.startswith(("fill", "stroke")):
                del element.attrib[key]


def _short(value: str) -> str:
    """Numbers to a hundredth of a point, which also hides the layout solver's last bits."""
    shortened = _LONG.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), value)
    return " ".join(shortened.split())


def _flatten(element: ElementTree.Element) -> None:
    """Groups that group nothing make room for what is in them; what is not painted goes."""
    flat: list[ElementTree.Element] = []
    for child in element:
        _flatten(child)
        flat += list(child) if child.tag.endswith("}g") and not child.attrib else [child]
    element[:] = [one for one in flat if not _is_unpainted(one)]


def _is_unpainted(element: ElementTree.Element) -> bool:
    is_alone = element.tag.endswith("}path") and "id" not in element.attrib
    return is_alone and element.get("fill") == "none" and "stroke" not in element.attrib
