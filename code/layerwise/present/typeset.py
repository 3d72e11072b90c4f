"""LaTeX source to PDF, by latexmk: confined to the document's folder, the same bytes each time."""

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from layerwise.errors import LayerwiseError
from layerwise.files import atomic_path

REPORT = "report"
DOCUMENTS = {"main.tex.j2": REPORT, "supplement.tex.j2": "supplement"}  # template: name of the PDF
EPOCH = "1767744000"  # 2026-01-07, as in the Makefile, unless SOURCE_DATE_EPOCH says otherwise
# LaTeX writes below the document's folder only, and reads there only where it can be told so: TeX
# Live 2026 reads everywhere. Whatever the machine's settings allow.
CONFINED = {"FORCE_SOURCE_DATE": "1", "openin_any": "p", "openout_any": "p", "shell_escape": "f"}
# Tags double the time of a pass and settle last: they come once the text stands. These passes also
# mend what latexmk leaves where it takes a file for unchanged that has the size and the second of
# the one before.
UNTAGGED = r"\def\untagged{}"
MOST_PASSES = 6
APT = "apt-get install texlive-latex-recommended texlive-latex-extra latexmk"
_ABSENT = re.compile(r"File `\S+\.(sty|cls|def|fd|cfg)' not found")  # of a package, not of ours


class NoLatexError(LayerwiseError):
    """LaTeX or a part of it is not installed, which is no fault of the document."""


class Commit(NamedTuple):
    """A commit of the repository: its short hash, and its time in seconds since 1970."""

    name: str
    time: int


def find_commit(root: Path) -> Commit | None:
    """Return the commit that is checked out in a folder; None where there is no git or none."""
    command = ["git", "-C", str(root.absolute()), "log", "-1", "--format=%h %ct", "--abbrev=10"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    name, _, time = done.stdout.strip().partition(" ")
    return Commit(name, int(time)) if done.returncode == 0 and time else None


def build_pdf(tex_folder: Path, name: str, commit: Commit | None = None) -> Path:
    r"""Typeset `tex_folder/name.tex` to `tex_folder/name.pdf`; auxiliary files go elsewhere.

    The document sees the COMMIT as \commit, and its day as \today; without one there is no
    \commit, and the day is that of SOURCE_DATE_EPOCH.

    Raises:
        NoLatexError: if latexmk, pdflatex or a package is missing.
        LayerwiseError: if LaTeX stops, or a reference stays undefined or does not settle.
    """
    if absent := [name for name in ("latexmk", "pdflatex") if not shutil.which(name)]:
        raise NoLatexError(f"there is no {' and no '.join(absent)} on PATH; install it: {APT}")
    if not (tex_folder / f"{name}.tex").is_file():
        raise LayerwiseError(f"{tex_folder}: there is no {name}.tex here; render the report first")
    pdf = tex_folder / f"{name}.pdf"
    with tempfile.TemporaryDirectory(prefix="layerwise-tex-") as scratch:
        typesetting = _Typesetting(tex_folder, name, commit, Path(scratch))
        typesetting.require_sound(typesetting.run())
        with atomic_path(pdf) as part:
            shutil.copyfile(Path(scratch, pdf.name), part)
    return pdf


@dataclass(frozen=True)
class _Typesetting:
    """A document on its way to a PDF, which comes to lie in `scratch`."""

    folder: Path
    name: str
    commit: Commit | None
    scratch: Path

    def run(self) -> subprocess.CompletedProcess[str]:
        """Let latexmk settle the text, then tag it; return the last pass, or the one that stopped.

        Raises:
            LayerwiseError: if its references do not settle.
        """
        macro = "" if self.commit is None else rf"\def\commit{{{self.commit.name}}}"
        done = self._call(
            *("latexmk", "-pdf", "-norc", "-latexoption=-no-shell-escape"),
            *(f"-usepretex={UNTAGGED}{macro}", f"-outdir={self.scratch}"),
            tex=f"{self.name}.tex",
        )
        auxiliary = self.scratch / f"{self.name}.aux"
        for _ in range(MOST_PASSES):
            if done.returncode:
                return done
            before = auxiliary.read_bytes()
            done = self._call(
                *("pdflatex", "-no-shell-escape", f"-jobname={self.name}"),
                f"-output-directory={self.scratch}",
                tex=rf"{macro}\input{{{self.name}.tex}}",
            )
            if auxiliary.read_bytes() == before:
                return done
        raise LayerwiseError(
            f"{self.folder / self.name}.tex: its references must settle, they still changed in the "
            f"last of {MOST_PASSES} passes; look for a text whose length depends on its page"
        )

    def _call(self, *command: str, tex: str) -> subprocess.CompletedProcess[str]:
        variables = {"SOURCE_DATE_EPOCH": EPOCH} | os.environ | CONFINED
        if self.commit is not None:
            variables["SOURCE_DATE_EPOCH"] = str(self.commit.time)
        return subprocess.run(
            [*command, "-interaction=nonstopmode", "-halt-on-error", "-file-line-error", tex],
            cwd=self.folder,
            env=variables,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )

    def require_sound(self, done: subprocess.CompletedProcess[str]) -> None:
        """Refuse a document that LaTeX stopped at, or whose log names an undefined reference."""
        place, log = f"{self.folder / self.name}.tex", self.scratch / f"{self.name}.log"
        lines = log.read_text(errors="replace").splitlines() if log.is_file() else []
        if done.returncode:
            lines += done.stderr.splitlines()
            failed = [line for line in lines if re.match(r"! |\S+:\d+: ", line)]
            reason = failed[0] if failed else (done.stderr or done.stdout).strip()[-300:]
            if missing := _ABSENT.search(reason):
                raise NoLatexError(f"LaTeX says {missing[0]}; install it: {APT}")
            raise LayerwiseError(f"{place}: LaTeX stopped: {reason}")
        undefined = [line for line in lines if re.search(r"(Reference|Citation) .*undefined", line)]
        if undefined:
            raise LayerwiseError(f"{place}: {undefined[0]}; correct the label")
