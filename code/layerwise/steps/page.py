"""the HTML page <- claims, statistics and figures."""

from __future__ import annotations

from pathlib import Path

from layerwise.steps import Place, Source, program, report


def run(
    source: Source,
    claims: Place,
    statistics: Place,
    figures: Place,
    out: Place,
    published: Place = Path("published"),
    templates: Place = Path("report/templates"),
) -> str:
    """Write OUT/index.html: one file that opens from disk and asks for nothing."""
    return report.run(source, claims, statistics, figures, published, templates, out)


if __name__ == "__main__":
    program(run)
