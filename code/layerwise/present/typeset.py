"""LaTeX source to PDF, by latexmk: confined to the document's folder, the same bytes each time."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from layerwise.errors import LayerwiseError
from layerwise.files import atomic_path

REPORT = "report"
DOCUMENTS = {"main.tex.j2": REPORT, "supplement.tex.j2": "supplement"}  # template: name of the PDF
EPOCH = "1767744000"  # 2026-01-07, as in the Makefile, unless SOURCE_DATE_EPOCH says otherwise
# LaTeX writes below the document's folder only, and reads there only where it can be told so: TeX
# Live 2026 reads everywhere. Whatever the machine's settings allow.
CONFINED = {"FORCE_SOURCE_DATE": "1", "openin_any": "p", "openout_any": "p", "shell_escape": "f"}
APT = "apt-get install texlive-latex-recommended texlive-latex-extra latexmk"
_ABSENT = re.compile(r"File `\S+\.(sty|cls|def|fd|cfg)' not found")  # of a package, not of ours


class NoLatexError(LayerwiseError):
    """LaTeX or a part of it is not installed, which is no fault of the document."""


def build_pdf(tex_folder: Path, name: str) -> Path:
    """Typeset `tex_folder/name.tex` to `tex_folder/name.pdf`; auxiliary files go elsewhere.

    Raises:
        NoLatexError: if latexmk, pdflatex or a package is missing.
        LayerwiseError: if LaTeX stops, or a reference stays undefined.
    """
    latexmk = shutil.which("latexmk")
    if absent := [name for name in ("latexmk", "pdflatex") if not shutil.which(name)]:
        raise NoLatexError(f"there is no {' and no '.join(absent)} on PATH; install it: {APT}")
    if not (tex_folder / f"{name}.tex").is_file():
        raise LayerwiseError(f"{tex_folder}: there is no {name}.tex here; render the report first")
    variables = {"SOURCE_DATE_EPOCH": EPOCH} | os.environ | CONFINED
    options = ["-pdf", "-norc", "-interaction=nonstopmode", "-halt-on-error", "-file-line-error"]
    options.append("-latexoption=-no-shell-escape")
    with tempfile.TemporaryDirectory(prefix="layerwise-tex-") as scratch:
        # Once more than latexmk finds needed: it takes a file for unchanged that has the size and
        # the second of the one before, so that numbers of a run may be those of the run before.
        for more in ([], ["-g"]):
            done = subprocess.run(
                [str(latexmk), *options, *more, f"-outdir={scratch}", f"{name}.tex"],
                cwd=tex_folder,
                env=variables,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
            if done.returncode:
                break
        log = Path(scratch, f"{name}.log")
        lines = log.read_text(errors="replace").splitlines() if log.is_file() else []
        if done.returncode:
            lines += done.stderr.splitlines()
            failed = [line for line in lines if re.match(r"! |\S+:\d+: ", line)]
            reason = failed[0] if failed else (done.stderr or done.stdout).strip()[-300:]
            if missing := _ABSENT.search(reason):
                raise NoLatexError(f"LaTeX says {missing[0]}; install it: {APT}")
            raise LayerwiseError(f"{tex_folder / name}.tex: LaTeX stopped: {reason}")
        undefined = [line for line in lines if re.search(r"(Reference|Citation) .*undefined", line)]
        if undefined:
            raise LayerwiseError(f"{tex_folder / name}.tex: {undefined[0]}; correct the label")
        pdf = tex_folder / f"{name}.pdf"
        with atomic_path(pdf) as part:
            shutil.copyfile(Path(scratch, pdf.name), part)
    return pdf
