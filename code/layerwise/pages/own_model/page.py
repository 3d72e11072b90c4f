"""The tables of an own model as one HTML page and as LaTeX, by the pipeline's renderers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

import layerwise
from layerwise.errors import LayerwiseError
from layerwise.pages import latex
from layerwise.pages.html import fill, inlined, policy
from layerwise.pages.own_model import sections, sections_paper3
from layerwise.pages.own_model.tables import Section
from layerwise.pages.pictures import Figures, Picture
from layerwise.pages.values import rounded, shown

ROOT = Path(layerwise.__file__).resolve().parents[2]  # of the repository: installed with -e
HTML, LATEX = "index.html.j2", "tables.tex.j2"
STYLES = ("report/templates/page.css", "report/own_model/own.css")
LONGEST_FLOAT = 40  # rows: more do not fit on one page
BUILDERS = {
    "validation": sections.validation,
    "layers": sections.layers,
    "category_bootstrap": sections.category_bootstrap,
    "bins": sections.bins,
    "pairs": sections.pairs,
    "anisotropy": sections_paper3.anisotropy,
    "gains": sections_paper3.gains,
    "spectral": sections_paper3.spectral,
    "sensitivity": sections.sensitivity,
}


@dataclass(frozen=True)
class Own:
    """All that the page and the LaTeX file say.

    settings: what was measured and how, as (name, value); absent: {analysis: why it is not there}.
    """

    display: str
    settings: Sequence[tuple[str, str]]
    cautions: Sequence[str]
    absent: Mapping[str, str]
    sections: Sequence[Section]


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


def sections_of(results: Mapping[str, Mapping[str, Any]]) -> list[Section]:
    """A section per result document, in the papers' order."""
    return [build(results[name]) for name, build in BUILDERS.items() if name in results]


def html(own: Own, pictures: Sequence[Picture], root: Path = ROOT) -> str:
    """The page: one text that opens from disk and asks for nothing.

    Raises:
        LayerwiseError: for a broken template, or a figure that is not a whole SVG.
    """
    css = "\n".join(inlined(root / name) for name in STYLES)
    context = {
        "own": own,
        "figures": Figures(pictures, {}, random_weights=False).by_analysis(),
        "shown": lambda cell: shown(cell.value, cell.decimals, number=rounded),
        "style": Markup(css),
        "policy": policy(css),
    }
    return fill([root / "report/own_model", root / "report/templates"], HTML, context)


def tex(own: Own, root: Path = ROOT) -> str:
    """Tables to be read into a document with `\\input`.

    Raises:
        LayerwiseError: for a broken template.
    """
    context = {
        "own": own,
        "label": re.sub(r"[^a-z0-9]+", "-", own.display.lower()).strip("-") or "model",
        "longest": LONGEST_FLOAT,
        "claims": [],  # of the papers: none is quoted
    }
    return latex.render(root / "paper/own_model", LATEX, context)
