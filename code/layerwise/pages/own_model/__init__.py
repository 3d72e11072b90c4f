"""The page of readers' models.

sections   the result documents as tables, declared: name, title, question, what builds the tables
cautions   what to know of them: warnings that the data call for
figures    what the pipeline's figures read of a reader's models
page       everything a page says (`Own`), and its files: HTML, LaTeX, CSV
of_one     the page of one model; `across`: of several, the papers' families beside them
"""

from pathlib import Path

import layerwise
from layerwise.errors import LayerwiseError

ROOT = Path(layerwise.__file__).resolve().parents[2]  # of the repository: installed with -e
HTML, LATEX = "index.html.j2", "tables.tex.j2"
STYLES = ("report/templates/page.css", "report/own_model/own.css")


def require_templates(root: Path = ROOT) -> None:
    """Refuse to begin where the page could not be written in the end.

    Raises:
        LayerwiseError: if the package is installed without its repository.
    """
    wanted = [*STYLES, f"report/own_model/{HTML}", f"paper/own_model/{LATEX}"]
    missing = [name for name in wanted if not (root / name).is_file()]
    if missing:
        raise LayerwiseError(
            f"the templates of page and tables are part of the repository, {root} has no "
            f"{missing[0]}; install from a clone: pip install -e ."
        )
