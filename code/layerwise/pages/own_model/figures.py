"""The pipeline's figures of one own model, its names made harmless for matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib import font_manager

from layerwise.figures import style
from layerwise.figures.drawing import Drawn, draw_all
from layerwise.figures.numbers import OWN, Numbers

MODEL = "model"  # the one document of each analysis
LONGEST = 26  # characters of a name: three fit beside each other below a panel
NO_GLYPH = "\u25a1"


def label(name: str) -> str:
    """A name as a label shows it: no mathematics, cut short, a box for what the font lacks."""
    with style.house_style():
        font = font_manager.get_font(font_manager.findfont(font_manager.FontProperties()))
    short = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    drawn = "".join(sign if font.get_char_index(ord(sign)) else NO_GLYPH for sign in short)
    return drawn.replace("$", r"\$")


def labels(names: Sequence[str]) -> dict[str, str]:
    """A label for every name, each another one; none begins with an underscore."""
    made: dict[str, str] = {}
    for number, name in enumerate(names, start=1):
        found = label(name).lstrip("_")  # matplotlib hides entries that begin with one
        made[name] = f"{found} ({number})" if found in made.values() else found
    return made


def draw(
    results: Mapping[str, Mapping[str, Any]], display: str, *, random_weights: bool = False
) -> list[Drawn]:
    """Every figure, or the reason why the result documents do not allow it.

    Arguments:
        results: by analysis, as the JSON files hold them.
        display: the model's name.
        random_weights: mark each: its numbers mean nothing.

    Raises:
        LayerwiseError: for a document that a figure cannot draw.
    """
    documents = {**results, "validation": _validation(results["validation"])}
    statistics = {analysis: {MODEL: document} for analysis, document in documents.items()}
    names = {MODEL: label(display)}
    numbers = Numbers(OWN, statistics, names, random_weights=random_weights)
    return list(draw_all(numbers))


def _validation(document: Mapping[str, Any]) -> dict[str, Any]:
    """With labels for names."""
    names = labels([name for name in document if not name.startswith("_")])
    return {names.get(name, name): entry for name, entry in document.items()}
