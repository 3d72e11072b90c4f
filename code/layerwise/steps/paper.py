"""the report as LaTeX and PDF <- claims, statistics and figures of one source (needs latexmk)."""

from __future__ import annotations

import shutil
from pathlib import Path

import yaml

from layerwise.files import atomic_path
from layerwise.pages.paper import NAME, write_source
from layerwise.pages.typeset import build_pdf
from layerwise.progress import meter
from layerwise.steps import Place, Source, program


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
    """Write the LaTeX source with its figures to TEX, the PDF to OUT.

    Raises:
        LayerwiseError: if the inputs do not fit together, or without latexmk: TEX is there then.
    """
    choices = yaml.safe_load(params.read_text(encoding="utf-8"))
    sensitivity = statistics / "sensitivity.json"
    n = write_source(source, claims, sensitivity, figures, templates, choices, tex)
    with meter(f"typesetting {tex / NAME}.tex"), atomic_path(out) as part:
        shutil.move(build_pdf(tex, NAME), part)
    return f"{NAME}.tex and {n} figures in {tex}, typeset in {out}"


if __name__ == "__main__":
    program(run)
