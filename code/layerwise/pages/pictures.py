"""The figures of a folder, as an HTML page inlines them."""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.figures import INDEX
from layerwise.files import read_json


@dataclass(frozen=True)
class Picture:
    """A figure: the analysis it shows, what it shows in one line, and its PNG."""

    name: str
    analysis: str
    caption: str
    png: bytes

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels.

        Raises:
            LayerwiseError: if the bytes are not a whole PNG.
        """
        begins = self.png[:8] == b"\x89PNG\r\n\x1a\n" and self.png[12:16] == b"IHDR"
        if not begins or self.png[-8:-4] != b"IEND":
            raise LayerwiseError(
                f"figure {self.name}: expected a whole PNG file, found {len(self.png)} bytes of "
                "something else or a part of one; draw it again"
            )
        width, height = struct.unpack(">II", self.png[16:24])
        return width, height

    @property
    def inlined(self) -> dict[str, Any]:
        """What a template shows of it."""
        width, height = self.size
        coded = base64.b64encode(self.png).decode("ascii")
        about = {"name": self.name, "caption": self.caption, "data": coded}
        return about | {"width": width, "height": height}


@dataclass(frozen=True)
class Figures:
    """The figures of one source; left_out: {figure: why it is not there}."""

    pictures: Sequence[Picture]
    left_out: dict[str, str]
    random_weights: bool

    def by_analysis(self) -> dict[str, list[dict[str, Any]]]:
        """The figures as a template inlines them, in their order."""
        found: dict[str, list[dict[str, Any]]] = {}
        for picture in self.pictures:
            found.setdefault(picture.analysis, []).append(picture.inlined)
        return found


def read_figures(folder: Path) -> Figures:
    """The figures that the folder's index lists.

    Raises:
        LayerwiseError: if there is no index, or a figure is missing.
    """
    if not (folder / INDEX).is_file():
        raise LayerwiseError(f"{folder}: there are no figures ({INDEX}) here; draw them first")
    index = read_json(folder / INDEX)
    pictures = []
    for entry in index["figures"]:
        path = folder / f"{entry['name']}.png"
        if entry["left_out"] is None:
            if not path.is_file():
                raise LayerwiseError(f"{path}: this figure is missing; draw the figures again")
            about = (entry["name"], entry["analysis"], entry["caption"])
            pictures.append(Picture(*about, path.read_bytes()))
    left_out = {e["name"]: e["left_out"] for e in index["figures"] if e["left_out"] is not None}
    return Figures(pictures, left_out, index["random_weights"])
