"""The PDFs of a source, typeset after the stages."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from layerwise.files import atomic_path
from layerwise.present.typeset import DOCUMENTS, REPORT, NoLatexError, build_pdf, find_commit
from layerwise.progress import meter


def typeset(source: str, root: Path = Path()) -> None:
    """Bring `paper/SOURCE.pdf` and its supplement up to date with their LaTeX.

    No stage has them: their bytes are those of a TeX, and they bear the commit. Where there is no
    TeX, one sentence says so.

    Raises:
        LayerwiseError: if LaTeX stops, or a reference stays undefined.
    """
    tex = root / "paper" / "generated" / source
    pdfs = {
        name: root / "paper" / f"{source}{'' if name == REPORT else f'-{name}'}.pdf"
        for name in DOCUMENTS.values()
    }
    commit = find_commit(root)

    def changed(name: str) -> float:
        """Return when the text or the commit that it bears last changed."""
        return max((tex / f"{name}.tex").stat().st_mtime, commit.time if commit else 0)

    stale = {
        name: pdf
        for name, pdf in pdfs.items()
        if not pdf.is_file() or pdf.stat().st_mtime < changed(name)
    }

    def made(name: str) -> None:
        with atomic_path(stale[name]) as part:
            shutil.move(build_pdf(tex, name, commit), part)

    if not stale:
        return
    with meter(f"typesetting in {tex}"), ThreadPoolExecutor() as pool:
        for name, job in {name: pool.submit(made, name) for name in stale}.items():
            try:
                job.result()
            except NoLatexError as error:
                print(f"layerwise: no {stale[name]}: {error}", flush=True)
                return
