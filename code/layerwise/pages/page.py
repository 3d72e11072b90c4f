"""The page: judged claims, figures and hashes to one self-contained HTML text.

Everything is inlined: style, script, figures and the claims as JSON. The page's security policy
admits exactly that style and that script, by hash, and no network.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

import layerwise
from layerwise.analyses.questions import QUESTIONS
from layerwise.analyses.questions.question import WORDS
from layerwise.analyses.questions.table import as_many_by_chance, by_choice
from layerwise.errors import LayerwiseError
from layerwise.inputs.measured import by_reason
from layerwise.inputs.published import Published
from layerwise.inputs.upstream import Registry
from layerwise.ledger.verdicts import AS_RANDOM, TOLERANCES, VERDICTS, tolerance_used
from layerwise.pages.html import embedded, fill, inlined, policy, reveal_all
from layerwise.pages.pictures import Figures, Picture
from layerwise.pages.records import context, positions_by_analysis, view
from layerwise.pages.search import FIRST, PLAIN, REST
from layerwise.pages.values import value_text
from layerwise.places.models import RANDOM

TEMPLATE = "index.html.j2"
CURVES = tuple(f"question_{name}" for name in QUESTIONS)  # a figure per question
# Figures with a place of their own: the first screen, beneath the answer, the other choices.
PLACED = ("overview", "agreement", *CURVES)
BESIDE = 8  # claims shown beside a figure; the others are one step away
# What made the page, and nothing that tells machines apart: its bytes are the same on all.
ENVIRONMENT = {
    "layerwise": layerwise.__version__,
    "Python and packages": "requirements/cpu.lock, cuda.lock or cuda12.lock, by hash",
}

MACHINE = ("device", "driver", "torch", "cuda", "transformers")  # of a run
ABSENT = {"failed": "What could not be measured", "left_out": "Models that were left out"}


def page(
    document: Mapping[str, Any],
    questions: Mapping[str, Any],
    figures: Figures,
    published: Published,
    registry: Registry,
    hashes: Mapping[str, str],
    templates: Path,
    control: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The whole page. The same input gives the same text.

    Args:
        document: the judged claims of one source, `checked`.
        questions: the answers to the papers' questions, {question: document}.
        published: the values behind a claim of source `published`.
        registry: SHA-256 of upstream's files.
        hashes: SHA-256 of the files that the page was made from.
        control: the same of every draw of random weights.
    """
    source, records = document["source"], document["claims"]
    told = context(document, random=figures.random_weights)
    told |= {"again": "random number"} if figures.random_weights else {}
    views = [
        reveal_all(view(record) | {"compared": tolerance_used(record, source)})
        for record in records
    ]
    placed = {one.name: one for one in figures.pictures if one.name in PLACED}
    others: dict[str, list[Picture]] = {}
    for one in figures.pictures:
        if one.name not in placed:
            others.setdefault(one.analysis, []).append(one)
    style, script = (inlined(templates / name) for name in ("page.css", "page.js"))
    data = {
        "source": source,
        "again": told["again"],
        "verdicts": list(VERDICTS),
        "tolerances": {name: str(band) for name, band in TOLERANCES.items()},
        "files": files_of(document, registry),
        "statistics": document["statistics"],
        "runs": {run: ", ".join(_flat(how)) for run, how in document.get("runs", {}).items()},
        "search": {"plain": PLAIN, "first": FIRST, "all": FIRST + REST},
        **evidence_columns(records, views, published if source == "published" else None),
    }
    of_random = {record["id"] for record in records if record["verdict"] == AS_RANDOM}
    headlines = [
        {
            **one,
            "claims": claims,
            "random_too": one["as_random"],
            "as_random": len(of_random.intersection(claims)),
        }
        for one in document["headlines"]
        for claims in [[part["claim"] for part in one["parts"] if "claim" in part]]
    ]
    filled = {
        **reveal_all(told | {"headlines": headlines}),
        "records": views,
        "questions": matrix(questions, headlines, control),
        "words": WORDS,
        "curves": CURVES,
        "tolerances": data["tolerances"],
        "figures": others,
        "placed": placed,
        "groups": positions_by_analysis(records),
        "left_out": figures.left_out,
        "beside": BESIDE,
        "environment": ENVIRONMENT | reveal_all(machine(document.get("runs", {}))),
        "measured": reveal_all(
            {title: by_model(document.get(kind, {})) for kind, title in ABSENT.items()}
            | {"What was measured": models(document.get("runs", {}))}
        ),
        "hashes": {**document["statistics"], **data["files"], **hashes},
        "style": Markup(style),
        "script": Markup(script),
        "policy": policy(style, script),
        "data": embedded(reveal_all(data)),
    }
    return fill([templates], TEMPLATE, filled)


def matrix(
    questions: Mapping[str, Any],
    headlines: Sequence[Mapping[str, Any]],
    control: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """A row per question: its answers by choice, what random weights answer, and the central claims
    that ask it with what these rest on.
    """
    rows = []
    for name, question in QUESTIONS.items():
        asking = [one for one in headlines if name in one["asked"]]
        rows.append(
            {
                "name": name,
                "question": question,
                "choices": by_choice(questions.get(name, {})),
                "control": as_many_by_chance(
                    questions.get(name, {}), [draw.get(name, {}) for draw in control]
                ),
                "headlines": [one["id"] for one in asking],
                "claims": list(dict.fromkeys(claim for one in asking for claim in one["claims"])),
            }
        )
    return rows


def files_of(document: Mapping[str, Any], registry: Registry) -> dict[str, str]:
    """SHA-256 of the published files that claims stand in or rest on; none for a paper's text."""
    printed = {record["provenance"]["file"] for record in document["claims"]} - {None}
    pinned = {file: registry.pins[file].sha256 for file in printed if file in registry.pins}
    return dict(sorted((pinned | document["inputs"]).items()))


def evidence_columns(
    records: Sequence[Mapping[str, Any]],
    views: Sequence[dict[str, Any]],
    published: Published | None,
) -> dict[str, Any]:
    """The claims as columns, and the cells under them, listed once and named by position."""
    places: dict[str, int] = {}
    cells: list[list[str]] = []
    for record, one in zip(records, views, strict=True):
        provenance = record["provenance"]
        for cell in provenance["inputs"]:
            if cell not in places:
                places[cell] = len(cells)
                file, _, key = cell.partition("#")
                try:
                    value = None if published is None else published.value(file, key)
                except LayerwiseError as error:
                    raise LayerwiseError(f"claim {record['id']}: {error}") from None
                cells.append([file, key, value_text(value)])
        one["inputs"] = [places[cell] for cell in provenance["inputs"]] or None
        one["runs"] = provenance.get("runs")
    return {"cells": cells, "claims": {"n": len(views), "columns": columns(views)}}


def columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Rows as columns; one that repeats itself lists its values once, and their places in them."""
    found: dict[str, Any] = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name) for row in rows]
        found[name] = values
        if not any(isinstance(value, list) for value in values):
            of = {value: place for place, value in enumerate(dict.fromkeys(values))}
            if len(of) < len(values) / 2:
                found[name] = {"of": list(of), "at": [of[value] for value in values]}
    return found


def machine(runs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """What measured: every device, driver and version that a run names."""
    found = {name: {str(run[name]) for run in runs.values() if run.get(name)} for name in MACHINE}
    return {name: " and ".join(sorted(of)) for name, of in found.items() if of}


def models(runs: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """By slug: commit and dtype, and what was measured so."""
    found: dict[str, dict[str, list[str]]] = {}
    for name, run in runs.items():
        slug, _, of = name.partition("/")
        how = " ".join(str(run[key]) for key in ("model", "revision", "dtype") if key in run)
        how += " (random weights)" if run.get(RANDOM) else ""
        found.setdefault(slug, {}).setdefault(how, []).append(of)
    return {
        slug: [f"{how}: {', '.join(names)}" for how, names in of.items()]
        for slug, of in found.items()
    }


def by_model(absent: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """By slug, how many claims wait, and every reason."""
    return {
        f"{slug}, {one['claims']} claims": [
            f"{', '.join(names)}: {why}" for why, names in by_reason(one["reasons"]).items()
        ]
        for slug, one in absent.items()
    }


def _flat(settings: Mapping[str, Any]) -> Iterator[str]:
    """Names and values of what measured a run, those of its parts after one another."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value)
        elif value is not None:
            yield f"{name} {value_text(value)}"
