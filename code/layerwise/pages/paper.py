"""The paper: judged claims, figures and templates to a folder of LaTeX that builds anywhere."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from layerwise.analyses.questions import QUESTIONS
from layerwise.analyses.questions.choices import text
from layerwise.analyses.questions.question import WORDS
from layerwise.analyses.questions.table import words
from layerwise.files import together, write_text
from layerwise.pages.latex import render
from layerwise.pages.pictures import Figures
from layerwise.pages.records import context, readings
from layerwise.pages.typed_numbers import refuse_typed_numbers

REPORT = "report"
DOCUMENTS = {"main.tex.j2": REPORT, "supplement.tex.j2": "supplement"}
CARE = ("differs", "contradicted", "not checkable")  # verdicts whose claims the supplement lists
# Figures of the report; the supplement has the others.
MAIN = (
    "overview",
    "asymmetry_by_category",
    "layer_curves",
    "validation",
    "template_comparison",
    "depth_gain",
    "lab_heritage",
    "spectral_norms",
    "critical_layer",
    "question_late_inversion",
)


def matrix(questions: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row per question that has answers: as the papers asked, and under every other choice."""
    rows = []
    for name, question in QUESTIONS.items():
        counts = words(questions.get(name, {}))
        asked = [f"{text(choice)}: {_counted(found)}" for choice, found in counts.items()]
        if asked:
            rows.append({"question": question, "asked": asked})
    return rows


def _counted(found: Mapping[str, int]) -> str:
    return ", ".join(f"{found[word]} {word}" for word in WORDS if word in found)


def write_source(
    document: Mapping[str, Any],
    questions: Mapping[str, Any],
    figures: Path,
    drawn: Figures,
    templates: Path,
    params: Mapping[str, Any],
    out: Path,
) -> int:
    """Write report and supplement with copies of their figures; how many figures there are.

    Args:
        document: the judged claims of one source, `records.checked`.
        questions: the answers to the papers' questions, {question: document}.
        figures: the folder of `drawn`, which holds each as PDF too.
    """
    refuse_typed_numbers(templates)
    places = {
        picture.name: {"file": f"figures/{picture.name}.pdf", "caption": picture.caption}
        for picture in drawn.pictures
    }
    told = context(document, random=drawn.random_weights)
    told |= {
        "claims": document["claims"],
        "readings": readings,
        # of measured numbers what touches no central claim is in the supplement
        "findings": [
            one
            for one in told["findings"]
            if told["source"] == "published" or one["headline"] is not None
        ],
        "questions": matrix(questions),
        "care": CARE,
        "figures": places,
        "main_figures": MAIN,
        "left_out": drawn.left_out,
        "params": params,
    }
    with together(out.parent) as part:
        (part / out.name / "figures").mkdir(parents=True)
        for place in places.values():
            file = Path(place["file"])
            shutil.copyfile(figures / file.name, part / out.name / file)
        for template, name in DOCUMENTS.items():
            write_text(part / out.name / f"{name}.tex", render(templates, template, told))
    return len(places)
