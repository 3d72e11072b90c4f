"""The page and the LaTeX report of a judged paper, whoever wrote the paper."""

from pathlib import Path

import layerwise
from layerwise.engine.judging import JudgedPaper
from layerwise.files import write_text
from layerwise.present.html import TEMPLATES
from layerwise.present.latex import render
from layerwise.present.page import Page
from layerwise.present.pictures import Figures
from layerwise.present.records import context

LATEX = "report.tex.j2"


def write_page(judged: JudgedPaper, path: Path) -> None:
    """Write a paper's claims with their verdicts as one HTML file that opens from disk.

    The same paper gives the same bytes.

    Args:
        judged: what `judge_paper` gives.
        path: the file; its folder is made.
    """
    page = Page(
        paper=judged.paper,
        judged=judged.results,
        figures=Figures([], {}, random_weights=False),
        published=judged.published,
        pins=judged.results.inputs,
        hashes=judged.results.judged_from,
        templates=TEMPLATES / "page",
        methods={},
        names={},
        environment={"layerwise": layerwise.__version__},
    )
    write_text(path, page.text)


def write_latex(judged: JudgedPaper, path: Path) -> None:
    """Write the central claims and a table of all claims as a LaTeX document of its own.

    Args:
        judged: what `judge_paper` gives.
        path: the file; its folder is made.
    """
    filled = {**context(judged.results, {}, random=False), "paper": judged.paper}
    claims = judged.results.claims
    write_text(path, render(TEMPLATES / "another_paper", LATEX, claims, filled))
