"""What the redrawn figures of the papers share: one document, and a footer that names its files."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.errors import LayerwiseError
from layerwise.figures import style

LINE = 108  # characters of a footer line at the width of the figure
LABS = ("EleutherAI", "Meta", "BigScience", "OpenAI", "TII", "StabilityAI")


def document_of(documents: Mapping[str, dict[str, Any]], figure: str, *keys: str) -> dict[str, Any]:
    """The figure's one document, with its files and the keys that the figure draws.

    Raises:
        LayerwiseError: naming the figure and what is missing.
    """
    style.documents_of({"the figure": documents} if documents else {}, [figure], figure)
    document = documents[figure]
    style.documents_of({"the published numbers": document}, ["files", *keys], figure)
    return document


def panels(
    rows: int,
    columns: int,
    document: Mapping[str, Any],
    *,
    source: str,
    row_height: float = 2.5,
    remark: str = "",
    legend_rows: int = 0,
) -> tuple[Figure, Any]:
    """Axes as of `style.panels`; the footer names every file, a remark stands above them."""
    lines = textwrap.wrap(remark, LINE) if remark else []
    files = "from " + ", ".join(document["files"])
    lines += textwrap.wrap(files, LINE, break_long_words=False, break_on_hyphens=False)
    kept = len(lines) + legend_rows
    figure, grid = style.panels(
        rows, columns, source=source, row_height=row_height, legend_rows=kept
    )
    height = figure.get_figheight()
    for row, line in enumerate(reversed(lines)):
        y = (style.FOOTER - 0.04 + row * style.LEGEND_ROW) / height
        figure.text(0.005, y, line, ha="left", va="bottom", color=style.GREY)
    return figure, grid


def lab_look(lab: str) -> dict[str, Any]:
    """A lab's colour and marker, the same in every figure.

    Raises:
        LayerwiseError: if the lab has none.
    """
    if lab not in LABS:
        raise LayerwiseError(f"a lab must be one of {', '.join(LABS)}, found {lab!r}; add it")
    number = LABS.index(lab)
    return {"color": style.COLOURS[number], "marker": style.MARKERS[number]}


def name_points(
    axes: Axes,
    points: Mapping[str, tuple[float, float]],
    below: Collection[str] = (),
    left: Collection[str] = (),
) -> None:
    """The points' names to their upper right; lower or to the left where `below`, `left` say so."""
    for name, at in points.items():
        axes.annotate(
            name,
            at,
            xytext=(-6 if name in left else 6, -11 if name in below else 4),
            textcoords="offset points",
            ha="right" if name in left else "left",
            color=style.GREY,
        )


def unit_line(axes: Axes) -> None:
    """Gain one: neither damping nor expanding."""
    axes.axhline(1.0, color=style.GREY, linestyle="--", linewidth=0.8, zorder=1)
