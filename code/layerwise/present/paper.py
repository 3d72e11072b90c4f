"""The paper: judged claims, figures and templates to a folder of LaTeX that builds anywhere."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NotRequired

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
    Context,
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
from layerwise.shapes import Analysing, Loose, Measuring, read_yaml, require_shape

CARE = ("differs", "contradicted", "not checkable")  # verdicts whose claims the supplement lists
STRIP = "strip.pdf"  # the first figure
REASON = 60  # words of a claim's reason and notes in the report; a longer reason stands alone


class Cited(Loose):
    """The fields of CITATION.cff that the title page and the PDF's metadata show."""

    authors: list[dict[str, object]]
    version: str
    abstract: NotRequired[str]
    keywords: NotRequired[list[str]]
    repository_code: NotRequired[str]


def read_citation(citation: Path) -> dict[str, str]:
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


def _author(person: Mapping[str, object]) -> str:
    names = (str(person.get(key, "")) for key in ("given-names", "family-names", "name"))
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


def reason_text(claim: Central) -> str:
    """Return every sentence that explains the mark, and as many notes as fit in `REASON` words."""
    shown = [*claim.reason]
    for note in claim.notes:
        if len(" ".join([*shown, note]).split()) > REASON:
            break
        shown.append(note)
    return " ".join(shown)


# The functions that templates ask about a central claim.
IN_TEMPLATES = (count_text, deciding_text, row_text, methods_text, reason_text)


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


@dataclass(frozen=True, kw_only=True)
class Report:
    """Report and supplement as LaTeX, a CSV of what differs, and copies of the figures.

    Attributes:
        judged: the judged claims of one source.
        figures: the folder that holds `drawn` as PDF.
        params: the sections of params.yaml.
        citation: CITATION.cff, for the title page.
        names: what models are called.
        upstream: `address` and `commit` of the papers' repository.
        small: the small trained models, of which the report shows the answers.
    """

    judged: JudgedSource
    figures: Path
    drawn: Figures
    templates: Path
    params: Mapping[str, Measuring | Analysing]
    citation: Path
    names: Names
    upstream: Mapping[str, str]
    small: SmallModels | None = None

    def write(self, out: Path) -> None:
        """Write the folder OUT; nothing of it if a template types a number."""
        refuse_typed_numbers(self.templates)
        claims = claims_in_words(self.judged.claims, self.names)
        shared = context(self.judged, self.names, random=self.drawn.random_weights)
        filled = self._context(shared)
        front = [claim for claim in shared["central"] if claim.front]
        with together(out.parent) as part:
            folder = part / out.name
            (folder / "figures").mkdir(parents=True)
            for picture in self.drawn.pictures:
                name = f"{picture.name}.pdf"
                shutil.copyfile(self.figures / name, folder / "figures" / name)
            (folder / "figures" / STRIP).write_bytes(strip_pdf(front))
            for template, name in DOCUMENTS.items():
                text = render(self.templates, template, claims, filled)
                write_text(folder / f"{name}.tex", text)
            write_text(folder / "claims.csv", care_csv(claims))

    def _context(self, shared: Context) -> dict[str, object]:
        """Return what the templates read."""
        left_out = self.drawn.left_out.items()
        return {
            **shared,
            **read_citation(self.citation),
            "surprises": surprises_told(self.judged, self.names),
            "small": self.small,
            "figures": {
                picture.name: {
                    "file": f"figures/{picture.name}.pdf",
                    "says": [
                        picture.title,
                        _caption_beyond_title(picture.title, picture.caption),
                        picture.note,
                    ],
                }
                for picture in self.drawn.pictures
            },
            **{function.__name__: function for function in IN_TEMPLATES},
            "blocks": {
                heading: [*group] for heading, group in groupby(shared["central"], key=block)
            },
            "further": tell_further(shared["central"], shared["findings"]),
            "upstream": self.upstream,
            "left_out": {name: in_words(why, self.names) for name, why in left_out},
            "params": self.params,
        }
