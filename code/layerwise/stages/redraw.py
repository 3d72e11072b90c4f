"""figures of the papers <- published numbers."""

from importlib import import_module
from pathlib import Path

from layerwise.paper_figures import collect
from layerwise.plots.style import save
from layerwise.published import read_published


def run(figure: str, published: Path, out: Path) -> str:
    """Draw one of the papers' figures again, as PDF and PNG, from the published numbers."""
    documents = collect(figure, read_published(published))
    draw = import_module(f"layerwise.plots.{figure}").draw
    save(draw(documents, source="published"), out, figure)
    return f"{figure} in {out}"
