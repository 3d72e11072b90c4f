"""the report as LaTeX <- claims, statistics, figures of one source."""

from __future__ import annotations

from pathlib import Path

import yaml

from layerwise.pages.paper import NAME, write_source
from layerwise.steps import Place, Source, program


def run(
    source: Source,
    claims: Place,
    statistics: Place,
    figures: Place,
    out: Place,
    templates: Place = Path("paper"),
    params: Place = Path("params.yaml"),
) -> str:
    """Write OUT/report.tex, with its figures beside it.

    Raises:
        LayerwiseError: if the inputs do not fit together.
    """
    choices = yaml.safe_load(params.read_text(encoding="utf-8"))
    sensitivity = statistics / "sensitivity.json"
    n = write_source(source, claims, sensitivity, figures, templates, choices, out)
    return f"{NAME}.tex and {n} figures in {out}"


if __name__ == "__main__":
    program(run)
