"""The figures of a folder, as an HTML page inlines them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired

from markupsafe import Markup, escape

from layerwise.errors import LayerwiseError
from layerwise.files import is_file, read_json, read_text
from layerwise.present.figures import INDEX
from layerwise.present.figures.printed import NARROW, inlined
from layerwise.present.html import data_address
from layerwise.shapes import FileName, Loose, require_shape


class Entry(Loose):
    """A figure of the index."""

    name: FileName
    analysis: str
    caption: str
    left_out: str | None
    title: NotRequired[str]
    note: NotRequired[str]


class Index(Loose):
    """What was drawn."""

    random_weights: bool
    figures: list[Entry]


@dataclass(frozen=True)
class Picture:
    """A figure: the analysis it shows, what it shows in one line, and its SVG, as drawn here.

    title, note: what it says above and below, which its PDF leaves to a caption.
    narrow: the SVG for a phone, one panel below the other.
    """

    name: str
    analysis: str
    caption: str
    svg: str
    title: str = ""
    note: str = ""
    narrow: str = ""

    @property
    def narrow_address(self) -> str:
        """The narrow SVG as the address of an image."""
        return data_address(self.narrow)

    @property
    def inline(self) -> Markup:
        """The SVG as a part of a page, which reads its caption aloud."""
        if not self.svg.startswith("<svg ") or not self.svg.endswith("</svg>\n"):
            raise LayerwiseError(
                f"figure {self.name}: expected a whole SVG file, found {len(self.svg)} characters "
                "of something else or a part of one; draw it again"
            )
        about = f'<svg role="img" aria-label="{escape(self.caption)}" '
        return Markup(inlined(self.svg).replace("<svg ", about, 1))


@dataclass(frozen=True)
class Figures:
    """The figures of one source; left_out: {figure: why it is not there}."""

    pictures: Sequence[Picture]
    left_out: dict[str, str]
    random_weights: bool


def read_figures(folder: Path) -> Figures:
    """The figures that the folder's index lists."""
    if not is_file(folder / INDEX):
        raise LayerwiseError(f"{folder}: there are no figures ({INDEX}) here; draw them first")
    index = read_json(folder / INDEX)
    require_shape(folder / INDEX, Index, index, "draw the figures again")
    pictures = []
    for entry in index["figures"]:
        if entry["left_out"] is None:
            about = (entry["name"], entry["analysis"], entry["caption"])
            words = entry.get("title", ""), entry.get("note", "")
            svg, narrow = (_read_svg(folder / f"{entry['name']}{end}.svg") for end in ("", NARROW))
            pictures.append(Picture(*about, svg, *words, narrow))
    left_out = {
        entry["name"]: entry["left_out"]
        for entry in index["figures"]
        if entry["left_out"] is not None
    }
    return Figures(pictures, left_out, index["random_weights"])


def _read_svg(path: Path) -> str:
    if not is_file(path):
        raise LayerwiseError(f"{path}: this figure is missing; draw the figures again")
    return read_text(path)
