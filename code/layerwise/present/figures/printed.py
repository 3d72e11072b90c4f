"""A figure as files: for those who write or show it, who need no matplotlib."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layerwise.files import atomic_path, write_text

NARROW = "-narrow"  # ends the name of the file of a phone
# of a file that stands alone: the colour of its text
ALONE = "<style>svg{color:#111}@media(prefers-color-scheme:dark){svg{color:#e4e4e4}}</style>"


@dataclass(frozen=True)
class Printed:
    """A figure as PDF and SVG, with its message; or the reason why there is none.

    The PDF is without message and note, for a document that says both in its caption.

    Attributes:
        analysis: beside whose claims it is shown.
        caption: what it shows and how to read it, for any numbers.
        note: what its footer says of these numbers, besides the source.
        narrow: the SVG for a phone; empty where none was asked for.
    """

    name: str
    analysis: str
    caption: str
    title: str = ""
    note: str = ""
    reason: str = ""
    pdf: bytes = b""
    svg: str = ""
    narrow: str = ""

    @property
    def entry(self) -> dict[str, Any]:
        """What the index says of it."""
        about = ("name", "analysis", "title", "caption", "note")
        return {key: getattr(self, key) for key in about} | {"left_out": self.reason or None}

    def save(self, folder: Path) -> None:
        """Write NAME.pdf, NAME.svg and NAME-narrow.svg, as far as they were drawn."""
        if self.svg:
            with atomic_path(folder / f"{self.name}.pdf") as part:
                part.write_bytes(self.pdf)
            write_text(folder / f"{self.name}.svg", self.svg)
        if self.narrow:
            write_text(folder / f"{self.name}{NARROW}.svg", self.narrow)


def inlined(svg: str) -> str:
    """An SVG to stand in a page, which says the colour of its text itself."""
    return svg.replace(ALONE, "", 1)
