"""The paper: judged claims, figures and templates to a folder of LaTeX that builds anywhere."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from layerwise.files import publish_folder, read_json, write_text
from layerwise.pages.latex import render
from layerwise.pages.pictures import read_figures
from layerwise.pages.records import checked, counts
from layerwise.pages.typed_numbers import refuse_typed_numbers

TEMPLATE = "main.tex.j2"
NAME = "report"


def write_source(
    source: str,
    claims: Path,
    sensitivity: Path,
    figures: Path,
    templates: Path,
    params: Mapping[str, Any],
    out: Path,
) -> int:
    """Write `report.tex` with copies of its figures beside it; how many figures there are.

    Raises:
        LayerwiseError: for a number typed in a template, or inputs that do not fit together.
    """
    refuse_typed_numbers(templates)
    records = checked(read_json(claims), str(claims), source)
    drawn = read_figures(figures)
    part = out.with_name(f"{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    (part / "figures").mkdir(parents=True)
    places = {}
    for picture in drawn.pictures:
        places[picture.name] = f"figures/{picture.name}.pdf"
        shutil.copyfile(figures / f"{picture.name}.pdf", part / places[picture.name])
    context = {
        "source": source,
        "random": drawn.random_weights,
        "claims": records,
        "counts": counts(records),
        "figures": places,
        "left_out": drawn.left_out,
        "sensitivity": read_json(sensitivity)["documents"]["summary"],
        "params": params,
    }
    write_text(part / f"{NAME}.tex", render(templates, TEMPLATE, context))
    publish_folder(part, out)
    return len(places)
