"""The paper: judged claims, figures and templates to a folder of LaTeX that builds anywhere."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NotRequired

from layerwise.engine.paper import Paper
from layerwise.engine.questions.question import PUBLISHED, WORDS
from layerwise.engine.questions.table import words, words_of_others
from layerwise.engine.words import Names, in_words
from layerwise.files import together, write_text
from layerwise.present.latex import render
from layerwise.present.pictures import Figures
from layerwise.present.records import context, readable, readings
from layerwise.present.small_models import SmallModels
from layerwise.present.typed_numbers import refuse_typed_numbers
from layerwise.present.typeset import DOCUMENTS
from layerwise.shapes import Loose, read_yaml, require_shape

CARE = ("differs", "contradicted", "not checkable")  # verdicts whose claims the supplement lists
WEIGHTY = 1
MOST_PLACES = 3  # of a finding, in the report
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
    "anisotropy",
    "question_late_inversion",
)


class Cited(Loose):
    """What the title page says of CITATION.cff."""

    authors: list[dict[str, Any]]
    version: str
    repository_code: NotRequired[str]


def cited(citation: Path) -> dict[str, Any]:
    """Authors, version, and the address of the repository where one is given."""
    found = read_yaml(citation)
    found = {key.replace("-", "_"): value for key, value in found.items()}
    require_shape(citation, Cited, found, "see citation-file-format.github.io")
    return {
        "authors": ", ".join(map(_author, found["authors"])),
        "version": found["version"],
        "address": found.get("repository_code", ""),
    }


def _author(person: Mapping[str, Any]) -> str:
    names = (person.get(key, "") for key in ("given-names", "family-names", "name"))
    return " ".join(filter(None, names))


def matrix(paper: Paper, questions: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row per question that has answers: as the papers asked, and under all other choices."""
    rows = []
    for name, question in paper.questions.items():
        found = questions.get(name, {})
        asked: Mapping[str, int] = words(found).get(PUBLISHED, {})
        others = words_of_others(found)
        if asked or others:
            row = {"question": question, "asked": _counted(asked), "others": _counted(others)}
            rows.append(row)
    return rows


def _counted(found: Mapping[str, int]) -> str:
    return ", ".join(f"{found[word]} {word}" for word in WORDS if word in found) or "not answered"


def _beyond(title: str, caption: str) -> str:
    """A caption without the sentence that it begins with, where the title begins with it too."""
    first, _, rest = caption.partition(". ")
    return rest if rest and title.startswith(f"{first}. ") else caption


def weighty(findings: Iterable[Mapping[str, Any]]) -> dict[Any, list[Mapping[str, Any]]]:
    """The findings that weigh, by headline, or by paper where they belong to none."""
    found: dict[Any, list[Mapping[str, Any]]] = {}
    for one in findings:
        if one["weight"] == WEIGHTY:
            found.setdefault(one["headline"] or one["paper"], []).append(one)
    return found


def smaller(findings: Sequence[Mapping[str, Any]]) -> dict[int, list[Mapping[str, Any]]]:
    """The others by paper, slips that change nothing last."""
    rest = sorted(
        (one for one in findings if one["weight"] != WEIGHTY),
        key=lambda one: (one["paper"], one["weight"] == "none"),
    )
    return {paper: list(some) for paper, some in groupby(rest, key=lambda one: one["paper"])}


def by_cause(records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Claims that share a cause together, in the order of the first of them; those whose cause is
    theirs alone at the end, by place.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        groups.setdefault(record["cause"] or "", []).append(record)
    shared = {cause: found for cause, found in groups.items() if cause and len(found) > 1}
    alone = [one for cause, found in groups.items() if cause not in shared for one in found]
    found = [{"cause": cause, "records": of} for cause, of in shared.items()]
    return [*found, *([{"cause": "", "records": alone}] if alone else [])]


def write_source(
    paper: Paper,
    document: Mapping[str, Any],
    questions: Mapping[str, Any],
    figures: Path,
    drawn: Figures,
    templates: Path,
    params: Mapping[str, Any],
    citation: Path,
    names: Names,
    out: Path,
    small: SmallModels | None = None,
) -> int:
    """Write report and supplement with copies of their figures; how many figures there are.

    Args:
        document: the judged claims of one source, `records.checked`.
        questions: the answers to the papers' questions, {question: document}.
        figures: the folder of `drawn`, which holds each as PDF too.
        citation: CITATION.cff, for the title page.
        names: what models are called.
        small: the small trained models, of which the report shows the answers.
    """
    refuse_typed_numbers(templates)
    places = {
        picture.name: {
            "file": f"figures/{picture.name}.pdf",
            "says": [picture.title, _beyond(picture.title, picture.caption), picture.note],
        }
        for picture in drawn.pictures
    }
    told = context(document, names, random=drawn.random_weights)
    claims = readable(document["claims"], names)
    care = [one for one in claims if one["verdict"] in CARE]
    told |= {
        **cited(citation),
        "claims": claims,
        "readings": readings,
        # of measured numbers what touches no central claim is in the supplement
        "findings": [
            one
            for one in told["findings"]
            if told["source"] == "published" or one["headline"] is not None
        ],
        "questions": matrix(paper, questions),
        "small": small,
        "care": {
            paper: by_cause([one for one in care if one["paper"] == paper])
            for paper in sorted({one["paper"] for one in care})
        },
        "cared_for": CARE,
        "most_places": MOST_PLACES,
        "figures": places,
        "main_figures": MAIN,
        "left_out": {name: in_words(why, names) for name, why in drawn.left_out.items()},
        "params": params,
    }
    told |= {"weighty": weighty(told["findings"]), "smaller": smaller(told["findings"])}
    with together(out.parent) as part:
        (part / out.name / "figures").mkdir(parents=True)
        for place in places.values():
            file = Path(str(place["file"]))
            shutil.copyfile(figures / file.name, part / out.name / file)
        for template, name in DOCUMENTS.items():
            write_text(part / out.name / f"{name}.tex", render(templates, template, told))
    return len(places)
