"""PDF <- LaTeX source (needs latexmk)."""

import shutil
from pathlib import Path

from layerwise.files import atomic_path
from layerwise.pages.latex import build_pdf
from layerwise.progress import meter
from layerwise.steps.render import NAME


def run(tex: Path, out: Path) -> str:
    """Typeset `tex/report.tex` to `out`."""
    with meter(f"typesetting {tex / NAME}.tex"):
        built = build_pdf(tex, NAME)
    with atomic_path(out) as part:
        shutil.copyfile(built, part)
    built.unlink()  # tex/ is another stage's output: leave it as it was
    return f"{out}"
