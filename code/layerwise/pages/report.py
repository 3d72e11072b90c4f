"""The report page: judged claims, figures and hashes to one self-contained HTML text.

Everything is inlined: style, script, figures and the claims as JSON. The page's security policy
admits exactly that style and that script, by hash, and no network.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from layerwise.errors import LayerwiseError
from layerwise.files import revealed
from layerwise.ledger.findings import ORIGINS, findings
from layerwise.ledger.verdicts import VERDICTS
from layerwise.pages.records import Evidence, bands, beside, page_data, view

TEMPLATE = "index.html.j2"
BESIDE = 10  # claims shown beside a figure before the reader asks for all
MEANINGS = {
    "agrees": "derived from published values by the stated method, equal at the printed decimals",
    "reproduced": "measured from the weights, within the band of its tolerance class",
    "differs": "the stated method gives another value; both are shown",
    "follows": "the rounding of a published number that itself needs weights",
    "needs weights": "nothing is published to derive it from",
    "not measured": "no measurement stands behind it in this source",
    "not checkable": "no rule, or nothing was saved to compare with",
    "declared": "a setting, not a result",
}


@dataclass(frozen=True)
class Drawn:
    """A figure: the analysis it shows, what it shows in one line, and its PNG."""

    name: str
    analysis: str
    caption: str
    png: bytes


def embedded(document: Any) -> Markup:
    """JSON that is safe inside a script element, whatever the texts hold."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text = revealed(text)  # as escapes, which change nothing
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def page(
    source: str,
    records: Sequence[Mapping[str, Any]],
    figures: Sequence[Drawn],
    evidence: Evidence,
    templates: Path,
) -> str:
    """The whole page. The same input gives the same text.

    Raises:
        LayerwiseError: for a missing or broken template, a figure that is not a whole PNG, or a
            recomputed claim whose analysis has no statistics file.
    """
    views = [_seen(view(record)) for record in records]
    groups = beside(records)
    style, script = (inlined(templates / name) for name in ("page.css", "page.js"))
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src '{policy_hash(style)}'; script-src '{policy_hash(script)}'"
    )
    context = {
        "source": source,
        "records": views,
        "counts": _counts(records),
        "verdicts": [word for word in VERDICTS if any(r["verdict"] == word for r in records)],
        "meanings": MEANINGS,
        "tolerances": bands(),
        "origins": ORIGINS,
        "findings": [_seen(view(record)) for record in findings(records)],
        "analyses": _analyses(figures, groups),
        "beside": BESIDE,
        "evidence": evidence,
        "style": Markup(style),
        "script": Markup(script),
        "policy": policy,
        "data": embedded(_seen(page_data(source, records, views, groups, evidence))),
    }
    return fill([templates], TEMPLATE, context)


def fill(folders: Sequence[Path], template: str, context: Mapping[str, Any]) -> str:
    """A template of the first folder that has it, every value escaped.

    Raises:
        LayerwiseError: for a missing or broken template, or a name that is not in the context.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        finalize=_seen,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    try:
        return environment.get_template(template).render(context)
    except jinja2.TemplateNotFound as error:
        raise LayerwiseError(f"{folders[0]}: there is no template {error.name}") from None
    except jinja2.TemplateSyntaxError as error:
        raise LayerwiseError(f"{error.name}, line {error.lineno}: {error.message}") from None
    except jinja2.UndefinedError as error:
        raise LayerwiseError(f"{folders[0] / template}: unknown name: {error.message}") from None


def _seen(value: Any) -> Any:
    """A value with every text `revealed`: none may turn around what stands beside it."""
    if isinstance(value, Markup):  # style, script and data, which the page itself made safe
        return value
    if isinstance(value, str):
        return revealed(value, keep="\n")
    if isinstance(value, Mapping):
        return {_seen(key): _seen(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_seen(entry) for entry in value]
    return value


def _counts(records: Sequence[Mapping[str, Any]]) -> dict[int, dict[str, int]]:
    counts: dict[int, Counter[str]] = {}
    for record in records:
        counts.setdefault(record["paper"], Counter())[record["verdict"]] += 1
    return {paper: dict(counts[paper]) for paper in sorted(counts)}


def _analyses(figures: Sequence[Drawn], groups: Mapping[str, list[int]]) -> list[dict[str, Any]]:
    """The analyses that have figures, in the figures' order."""
    drawn: dict[str, list[dict[str, Any]]] = {}
    for figure in figures:
        drawn.setdefault(figure.analysis, []).append(picture(figure))
    return [
        {"name": analysis, "figures": drawn[analysis], "claims": groups.get(analysis, [])}
        for analysis in drawn
    ]


def picture(figure: Drawn) -> dict[str, Any]:
    """A figure as a template inlines it.

    Raises:
        LayerwiseError: see `png_size`.
    """
    width, height = png_size(figure)
    coded = base64.b64encode(figure.png).decode("ascii")
    shown_as = {"name": figure.name, "caption": figure.caption, "data": coded}
    return shown_as | {"width": width, "height": height}


def png_size(figure: Drawn) -> tuple[int, int]:
    """Width and height in pixels.

    Raises:
        LayerwiseError: if the bytes are not a whole PNG.
    """
    begins = figure.png[:8] == b"\x89PNG\r\n\x1a\n" and figure.png[12:16] == b"IHDR"
    if not begins or figure.png[-8:-4] != b"IEND":
        raise LayerwiseError(
            f"figure {figure.name}: expected a whole PNG file, found {len(figure.png)} bytes of "
            "something else or a part of one; draw it again"
        )
    width, height = struct.unpack(">II", figure.png[16:24])
    return width, height


def inlined(path: Path) -> str:
    """Text of a style or a script.

    Raises:
        LayerwiseError: if it is missing, or could end the element that it is inlined into.
    """
    if not path.is_file():
        raise LayerwiseError(f"{path.parent}: there is no {path.name}; restore the templates")
    text = path.read_text(encoding="utf-8")
    if "</" in text:
        raise LayerwiseError(
            f"{path}: an inlined file must not hold '</', it could end its element; split the text"
        )
    return text


def policy_hash(text: str) -> str:
    """What a page's security policy calls an inlined text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
