"""figures of the papers <- published numbers."""

from importlib import import_module
from pathlib import Path

from layerwise.figures.papers import collect
from layerwise.figures.style import save
from layerwise.inputs.published import read_published


def run(figure: str, published: Path, out: Path) -> str:
    """Draw one of the papers' figures again, as PDF and PNG, from the published numbers."""
    documents = collect(figure, read_published(published))
    draw = import_module(f"layerwise.figures.{figure}").draw
    save(draw(documents, source="published"), out, figure)
    return f"{figure} in {out}"
