"""LaTeX source <- ledger, figures and templates."""

import shutil
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.files import publish_folder, read_json, write_text
from layerwise.pages.latex import render, unbacked_digits

TEMPLATE = "main.tex.j2"
NAME = "report"


def run(
    source: str,
    claims: Path,
    sensitivity: Path,
    figures: Path,
    templates: Path,
    out: Path,
    params: dict[str, Any],
) -> str:
    """Write `report.tex` with copies of its figures beside it: a folder that builds anywhere."""
    refuse_typed_numbers(templates)
    judged = read_json(claims)
    part = out.with_name(out.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    (part / "figures").mkdir(parents=True)
    drawn = {}
    for path in sorted(figures.glob("*.pdf")):
        shutil.copyfile(path, part / "figures" / path.name)
        drawn[path.stem] = f"figures/{path.name}"
    context = {
        "source": source,
        "claims": judged["claims"],
        "counts": judged["counts"],
        "figures": drawn,
        "sensitivity": read_json(sensitivity)["documents"]["summary"],
        "params": params,
    }
    write_text(part / f"{NAME}.tex", render(templates, TEMPLATE, context))
    publish_folder(part, out)
    return f"{NAME}.tex and {len(drawn)} figures in {out}"


def refuse_typed_numbers(templates: Path) -> None:
    """Every digit of a result must come from the ledger: the gate before the report.

    Raises:
        LayerwiseError: naming template and line of the first digit that stands in the prose.
    """
    for path in [templates / "main.tex.j2", *sorted(templates.glob("templates/*.tex.j2"))]:
        typed = unbacked_digits(path.read_text(encoding="utf-8"))
        if typed:
            raise LayerwiseError(
                f"{path}, {typed[0]}: a number in the prose must come from a claim or a parameter; "
                r"use printed('id'), or \fixed{...} for a digit that belongs to a name"
            )
