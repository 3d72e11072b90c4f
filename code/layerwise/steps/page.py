"""the HTML page <- claims, statistics and figures of one source."""

from __future__ import annotations

from pathlib import Path

from layerwise.files import read_json, write_text
from layerwise.pages.evidence import gather
from layerwise.pages.page import page
from layerwise.pages.pictures import read_figures
from layerwise.pages.records import checked
from layerwise.steps import Place, Source, program


def run(
    source: Source,
    claims: Place,
    statistics: Place,
    figures: Place,
    out: Place,
    published: Place = Path("published"),
    templates: Place = Path("report/templates"),
) -> str:
    """Write OUT/index.html: one file that opens from disk and asks for nothing.

    Raises:
        LayerwiseError: if claims, statistics, figures and published numbers do not fit together.
    """
    document = read_json(claims)
    records = checked(document, str(claims), source)
    drawn = read_figures(figures)
    files = [figures / f"{picture.name}.png" for picture in drawn.pictures]
    evidence = gather(document, claims, statistics, published, files)
    write_text(out / "index.html", page(source, records, drawn, evidence, templates))
    return f"{len(records)} claims and {len(files)} figures in {out / 'index.html'}"


if __name__ == "__main__":
    program(run)
