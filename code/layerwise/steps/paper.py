"""the report as LaTeX, and as PDF with latexmk <- claims, statistics, figures of one source."""

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
    """Write the LaTeX source with its figures to TEX and, where there is latexmk, the PDF to OUT.

    Raises:
        LayerwiseError: if the inputs do not fit together.
    """
    choices = yaml.safe_load(params.read_text(encoding="utf-8"))
    sensitivity = statistics / "sensitivity.json"
    n = write_source(source, claims, sensitivity, figures, templates, choices, tex)
    said = f"{NAME}.tex and {n} figures in {tex}"
    return f"{said}, typeset in {out}" if typeset(tex, out) else f"{said}; no latexmk, so no PDF"


def typeset(tex: Path, out: Path) -> bool:
    """Bring the PDF up to date with its source; False without latexmk.

    Raises:
        LayerwiseError: if LaTeX stops, or a reference stays undefined.
    """
    if not shutil.which("latexmk"):
        return False
    source = tex / f"{NAME}.tex"
    if not out.is_file() or out.stat().st_mtime < source.stat().st_mtime:
        with meter(f"typesetting {source}"), atomic_path(out) as part:
            shutil.move(build_pdf(tex, NAME), part)
    return True


if __name__ == "__main__":
    program(run)
