"""Draw every figure that the numbers of a source allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from matplotlib.figure import Figure

from layerwise.figures import FIGURES
from layerwise.figures.numbers import NothingToDraw, Numbers
from layerwise.figures.style import house_style


@dataclass(frozen=True)
class Drawn:
    """A figure, or the reason why there is none."""

    name: str
    analysis: str
    caption: str
    figure: Figure | None
    reason: str = ""

    @property
    def entry(self) -> dict[str, Any]:
        """What the index says of it."""
        about = {"name": self.name, "analysis": self.analysis, "caption": self.caption}
        return about | {"left_out": self.reason or None}


def draw(name: str, numbers: Numbers) -> Drawn:
    """Draw one figure.

    Raises:
        LayerwiseError: for numbers that are there and cannot be drawn.
    """
    analysis = FIGURES[name]
    function = getattr(import_module(f"layerwise.figures.{analysis}"), name)
    caption = (function.__doc__ or name).splitlines()[0]
    try:
        with house_style():
            drawn = function(replace(numbers, files=[], missing=[]))
    except NothingToDraw as reason:
        return Drawn(name, analysis, caption, None, str(reason))
    return Drawn(name, analysis, caption, drawn)


def draw_all(numbers: Numbers, names: Iterable[str] = FIGURES) -> Iterator[Drawn]:
    """Every figure, in the order of `FIGURES`, one at a time: a figure holds much memory."""
    for name in names:
        yield draw(name, numbers)
