"""The pipeline's figures of one own model, its names made harmless for matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from matplotlib import font_manager
from matplotlib.figure import Figure

from layerwise import figures as plots
from layerwise.analyses.categories import FACTS
from layerwise.figures import style

# figure: the analysis it shows; scaling compares several models
FIGURES = {name: analysis for name, analysis in plots.FIGURES.items() if name != "scaling"}
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


def draw(results: Mapping[str, Mapping[str, Any]], display: str) -> dict[str, Figure]:
    """Every figure that the result documents allow.

    Arguments:
        results: by analysis, as the JSON files hold them.
        display: the model's name.

    Raises:
        LayerwiseError: for a document that a figure cannot draw.
    """
    model = label(display)
    documents: dict[str, Any] = {**results, "validation": _validation(results["validation"])}
    documents["bins"] = {name: results[name] for name in ("bins", "category_bootstrap")}
    return {
        figure: import_module(f"layerwise.figures.{figure}").draw(
            {model: documents[analysis]}, source=style.OWN
        )
        for figure, analysis in FIGURES.items()
    }


def _validation(document: Mapping[str, Any]) -> dict[str, Any]:
    """With labels for names; Paper 1's models only where its category is measured."""
    names = labels([name for name in document if not name.startswith("_")])
    kept = {names.get(name, name): entry for name, entry in document.items()}
    if FACTS not in document:
        del kept["_reference"]
    return kept
