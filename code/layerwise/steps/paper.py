"""the report as LaTeX and PDF <- claims, statistics and figures (needs latexmk)."""

from __future__ import annotations

from pathlib import Path

import yaml

from layerwise.steps import Place, Source, program, render, typeset


def run(
    source: Source,
    claims: Place,
    statistics: Place,
    figures: Place,
    tex: Place,
    out: Place,
    templates: Place = Path("paper"),
    params: Place = Path("params.yaml"),
) -> str:
    """Write the LaTeX source with its figures to TEX and the PDF to OUT."""
    choices = yaml.safe_load(params.read_text(encoding="utf-8"))
    sensitivity = statistics / "sensitivity.json"
    render.run(source, claims, sensitivity, figures, templates, tex, choices)
    return typeset.run(tex, out)


if __name__ == "__main__":
    program(run)
