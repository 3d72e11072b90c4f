"""The figures that a folder holds, as its index lists them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from layerwise.errors import LayerwiseError
from layerwise.files import read_json, read_text
from layerwise.present.figures import INDEX
from layerwise.present.figures.picture import NARROW, Picture

DESCRIBED = ("name", "analysis", "caption", "title", "note")


@dataclass(frozen=True)
class Figures:
    """The figures of one source; left_out: {figure: why it is not there}."""

    pictures: Sequence[Picture]
    left_out: dict[str, str]
    random_weights: bool


def read_figures(folder: Path) -> Figures:
    """Return the figures that the folder's index lists.

    Raises:
        LayerwiseError: if the index or a figure is missing.
    """
    if not (folder / INDEX).is_file():
        raise LayerwiseError(f"{folder}: there are no figures ({INDEX}) here; draw them first")
    index = read_json(folder / INDEX)
    pictures = [
        Picture(
            **{field: entry[field] for field in DESCRIBED},
            svg=_read_part(folder / f"{entry['name']}.svg"),
            narrow=_read_part(folder / f"{entry['name']}{NARROW}.svg"),
            csv=_read_part(folder / f"{entry['name']}.csv"),
        )
        for entry in index["figures"]
        if entry["left_out"] is None
    ]
    left_out = {
        entry["name"]: entry["left_out"]
        for entry in index["figures"]
        if entry["left_out"] is not None
    }
    return Figures(pictures, left_out, index["random_weights"])


def _read_part(path: Path) -> str:
    if not path.is_file():
        raise LayerwiseError(f"{path}: this file is missing; draw the figures again")
    return read_text(path)
