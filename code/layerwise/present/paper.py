"""The paper: judged claims, figures and templates to a folder of LaTeX that builds anywhere."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NotRequired

from layerwise.engine.central import Central
from layerwise.engine.judged import JudgedClaim
from layerwise.engine.records import JudgedSource
from layerwise.engine.seen import Finding
from layerwise.engine.words import Names, in_words
from layerwise.files import together, write_text
from layerwise.present.csv_text import Value, csv_text
from layerwise.present.latex import render
from layerwise.present.pictures import Figures
from layerwise.present.records import (
    claims_in_words,
    context,
    full_place,
    shown_values,
    surprises_told,
)
from layerwise.present.small_models import SmallModels
from layerwise.present.strip import (
    block,
    count_text,
    deciding_text,
    methods_text,
    row_text,
)
from layerwise.present.strip_picture import strip_pdf
from layerwise.present.typed_numbers import refuse_typed_numbers
from layerwise.present.typeset import DOCUMENTS
from layerwise.shapes import Loose, read_yaml, require_shape

CARE = ("differs", "contradicted", "not checkable")  # verdicts whose claims the supplement lists
STRIP = "strip.pdf"  # the first figure
REASON = 60  # words of a claim's reason and notes in the report; a longer reason stands alone


class Cited(Loose):
    """The fields of CITATION.cff that the title page and the PDF's metadata show."""

    authors: list[dict[str, Any]]
    version: str
    abstract: NotRequired[str]
    keywords: NotRequired[list[str]]
    repository_code: NotRequired[str]


def read_citation(citation: Path) -> dict[str, Any]:
    """Return authors and version, and subject, keywords and address as far as they are given."""
    fields = {key.replace("-", "_"): value for key, value in read_yaml(citation).items()}
    require_shape(citation, Cited, fields, "see citation-file-format.github.io")
    return {
        "authors": ", ".join(map(_author, fields["authors"])),
        "version": fields["version"],
        "subject": fields.get("abstract", "").strip(),
        "keywords": ", ".join(fields.get("keywords", [])),
        "address": fields.get("repository_code", ""),
    }


def _author(person: Mapping[str, Any]) -> str:
    names = (person.get(key, "") for key in ("given-names", "family-names", "name"))
    return " ".join(filter(None, names))


def _caption_beyond_title(title: str, caption: str) -> str:
    """Return a caption without its first sentence, where the title begins with that too."""
    first, _, further = caption.partition(". ")
    return further if further and title.startswith(f"{first}. ") else caption


def tell_further(
    central: Sequence[Central], findings: Sequence[Finding]
) -> dict[int, list[dict[str, str]]]:
    """Return what else does not stand, by paper: of each central claim, then beside them."""
    told: dict[int, list[dict[str, str]]] = {}
    for claim in central:
        if claim.details:
            about = {"title": claim.claim, "text": " ".join(claim.details)}
            told.setdefault(claim.paper, []).append(about)
    for finding in findings:
        told.setdefault(finding.paper, []).append({"title": "", "text": finding.text})
    return dict(sorted(told.items()))


def tell_claims(central: Sequence[Central]) -> dict[str, list[dict[str, Any]]]:
    """Return the central claims for the report, by block, each with its first reasons."""
    return {
        heading: [
            {
                "central": claim,
                "decides": deciding_text(claim),
                "counted": count_text(claim),
                "row": row_text(claim),
                "methods": methods_text(claim),
                "reason": " ".join(reason_sentences(claim)),
            }
            for claim in group
        ]
        for heading, group in groupby(central, key=block)
    }


def reason_sentences(claim: Central) -> list[str]:
    """Return every sentence that explains the mark, and as many notes as fit in `REASON` words."""
    shown = [*claim.reason]
    for note in claim.notes:
        if len(" ".join([*shown, note]).split()) > REASON:
            break
        shown.append(note)
    return shown


def care_csv(claims: Iterable[JudgedClaim]) -> str:
    """Return the claims that differ or need care as CSV, in the ledger's order."""
    headings = ["id", "paper", "where", "quantity", "model"]
    headings += ["printed", "recomputed", "verdict", "cause"]
    rows: list[list[Value]] = []
    for claim in claims:
        if claim.verdict in CARE:
            rows.append([claim.id, claim.paper, full_place(claim), claim.quantity, claim.model])
            rows[-1] += [*shown_values(claim), claim.verdict, claim.cause]
    return csv_text(headings, rows)


def write_source(
    judged: JudgedSource,
    figures: Path,
    drawn: Figures,
    templates: Path,
    params: Mapping[str, Any],
    citation: Path,
    names: Names,
    upstream: Mapping[str, str],
    out: Path,
    small: SmallModels | None = None,
) -> int:
    """Write report, supplement and a CSV of what differs, with copies of the figures; count these.

    Args:
        judged: the judged claims of one source.
        figures: the folder that holds `drawn` as PDF.
        citation: CITATION.cff, for the title page.
        names: what models are called.
        upstream: `address` and `commit` of the papers' repository.
        small: the small trained models, of which the report shows the answers.
    """
    refuse_typed_numbers(templates)
    places = {
        picture.name: {
            "file": f"figures/{picture.name}.pdf",
            "says": [
                picture.title,
                _caption_beyond_title(picture.title, picture.caption),
                picture.note,
            ],
        }
        for picture in drawn.pictures
    }
    filled = context(judged, names, random=drawn.random_weights)
    claims = claims_in_words(judged.claims, names)
    filled |= {
        **read_citation(citation),
        "surprises": surprises_told(judged, names),
        "claims": claims,
        "small": small,
        "figures": places,
        "blocks": tell_claims(filled["central"]),
        "upstream": upstream,
        "left_out": {name: in_words(why, names) for name, why in drawn.left_out.items()},
        "params": params,
    }
    filled["further"] = tell_further(filled["central"], filled["findings"])
    with together(out.parent) as part:
        (part / out.name / "figures").mkdir(parents=True)
        for place in places.values():
            file = Path(str(place["file"]))
            shutil.copyfile(figures / file.name, part / out.name / file)
        front = [claim for claim in filled["central"] if claim.front]
        (part / out.name / "figures" / STRIP).write_bytes(strip_pdf(front))
        for template, name in DOCUMENTS.items():
            write_text(part / out.name / f"{name}.tex", render(templates, template, filled))
        write_text(part / out.name / "claims.csv", care_csv(claims))
    return len(places)
