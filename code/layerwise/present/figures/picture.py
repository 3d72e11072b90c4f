"""A figure as files, and as a part of a page: for those who need no matplotlib."""

import base64
from dataclasses import dataclass
from pathlib import Path

from layerwise.errors import LayerwiseError
from layerwise.files import atomic_path, write_text

NARROW = "-narrow"  # ends the name of the file of a phone
# Of a file that stands alone: the colour of its text, and on a dark ground a lighter one for each
# colour that is dark itself. A page says both in its own style.
IN_DARK = {"#0072b2": "#4ba3d9", "#009e73": "#2fc79a", "#d55e00": "#f0803c"}
_LIGHTER = "".join(
    f'[{part}="{colour}"]{{{part}:{lighter}}}'
    for colour, lighter in IN_DARK.items()
    for part in ("fill", "stroke")
)
ALONE = (
    "<style>svg{background:#fff;color:#111}"
    "@media(prefers-color-scheme:dark){svg{background:#15191c;color:#e4e4e4}"
    f"{_LIGHTER}}}</style>"
)


@dataclass(frozen=True)
class Picture:
    """A figure as PDF and SVG, with its message; or the reason why there is none.

    The PDF is without message and note, for a document that says both in its caption.

    Attributes:
        analysis: beside whose claims it is shown.
        caption: what it shows and how to read it, for any numbers.
        note: what its footer says of these numbers, besides the source.
        pdf: empty where the figure was read from a folder.
        narrow: the SVG for a phone; empty where none was asked for.
        csv: the numbers of its points; empty where tables beside it hold them.
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
    csv: str = ""

    @property
    def entry(self) -> dict[str, str | None]:
        """The figure's entry in the index."""
        about = ("name", "analysis", "title", "caption", "note")
        return {field: getattr(self, field) for field in about} | {"left_out": self.reason or None}

    @property
    def files(self) -> dict[str, str]:
        """The files that a page draws it from and offers to save, by name.

        Raises:
            LayerwiseError: if the SVG is no whole file.
        """
        if not self.svg.startswith("<svg ") or not self.svg.endswith("</svg>\n"):
            raise LayerwiseError(
                f"figure {self.name}: expected a whole SVG file, found {len(self.svg)} characters "
                "of something else or a part of one; draw it again"
            )
        narrow = {f"{self.name}{NARROW}.svg": self.narrow} if self.narrow else {}
        numbers = {f"{self.name}.csv": self.csv} if self.csv else {}
        return {f"{self.name}.svg": self.svg, **narrow, **numbers}

    def save(self, folder: Path, pdf: Path | None = None) -> None:
        """Write NAME.pdf, NAME.svg, NAME-narrow.svg and NAME.csv, as far as they are there.

        Arguments:
            pdf: the folder of the PDF; None: the same.
        """
        if self.svg:
            with atomic_path((pdf or folder) / f"{self.name}.pdf") as part:
                part.write_bytes(self.pdf)
            write_text(folder / f"{self.name}.svg", self.svg)
        if self.narrow:
            write_text(folder / f"{self.name}{NARROW}.svg", self.narrow)
        if self.csv:
            write_text(folder / f"{self.name}.csv", self.csv)


def data_address(svg: str) -> str:
    """Return an address that holds an SVG file itself, for an image without a request."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode('ascii')}"
