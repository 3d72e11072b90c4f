"""The page: judged claims, figures and hashes to one self-contained HTML text.

Everything is inlined: style, script, figures and the claims, as packed JSON. The page's security
policy admits exactly that style and that script, by hash, and no network.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

import layerwise
from layerwise.engine.findings import ORDER, SLIP
from layerwise.engine.measured import by_reason
from layerwise.engine.paper import Paper
from layerwise.engine.published import Published
from layerwise.engine.tally import count_by
from layerwise.engine.verdicts import AS_RANDOM, FALLS, TOLERANCES, VERDICTS, tolerance_used
from layerwise.engine.words import Names, in_words, named, studies
from layerwise.errors import LayerwiseError
from layerwise.models.registry import RANDOM
from layerwise.present.choices import LISTED, claimed_under, rows
from layerwise.present.html import fill, inlined, linked, packed, policy, reveal_all
from layerwise.present.pictures import Figures, Picture
from layerwise.present.records import analysis_of, context, entries, readable, view
from layerwise.present.search import FIRST, PLAIN, REST, place_rank
from layerwise.present.small_models import SmallModels
from layerwise.present.values import SIGNS, value_text

TEMPLATE = "index.html.j2"
OF_QUESTION = "question_"  # begins the name of a question's figure
# Figures with a place of their own: the first screen, beneath the answer, beneath their claims.
PLACED = ("overview", "agreement")  # and those of questions
BESIDE = 8  # claims shown beside a figure; the others are one step away
# Field of a claim, searched on the page alone: the central claims it is part of.
CENTRAL = "central"
# What made the page, and nothing that tells machines apart: its bytes are the same on all.
ENVIRONMENT = {
    "layerwise": layerwise.__version__,
    "Python and packages": "requirements/pipeline.lock, by hash",
}

MACHINE = ("device", "driver", "torch", "cuda", "transformers")  # of a run
ABSENT = {"failed": "What could not be measured", "left_out": "Models that were left out"}

Record = Mapping[str, Any]
View = dict[str, Any]


def page(
    paper: Paper,
    document: Mapping[str, Any],
    questions: Mapping[str, Any],
    figures: Figures,
    published: Published,
    pins: Mapping[str, str],
    hashes: Mapping[str, str],
    templates: Path,
    control: Sequence[Mapping[str, Any]] = (),
    *,
    small: SmallModels | None = None,
    methods: Mapping[str, Sequence[Mapping[str, str]]],
    names: Names,
    environment: Mapping[str, str] = ENVIRONMENT,
) -> str:
    """The whole page. The same input gives the same text.

    Args:
        paper: whose claims these are.
        document: the judged claims of one source, `checked`.
        questions: the answers to the papers' questions, {question: document}.
        published: the values behind a claim of source `published`.
        pins: SHA-256 of upstream's files.
        hashes: SHA-256 of the files that the page was made from.
        control: the same of every draw of random weights.
        small: the small trained models, of which it shows the answers.
        methods: the functions that make a statistic, as `layerwise trace` describes them.
        names: what models are called.
        environment: what made the page.
    """
    source, records = document["source"], document["claims"]
    told = context(document, names, random=figures.random_weights)
    told |= {"again": "random number"} if figures.random_weights else {}
    views = [reveal_all(shown(record, source)) for record in readable(records, names)]
    by_id = {record["id"]: one for record, one in zip(records, views, strict=True)}
    for one in told["headlines"]:
        for claim in claims_of(one):
            parts = by_id[claim].get(CENTRAL, "central claim")
            by_id[claim][CENTRAL] = f"{parts}; {reveal_all(one['short'])}"
    placed_names = {*PLACED, *(OF_QUESTION + name for name in paper.questions)}
    placed = {one.name: one for one in figures.pictures if one.name in placed_names}
    others: dict[str, list[Picture]] = {}
    for one in figures.pictures:
        if one.name not in placed:
            others.setdefault(one.analysis, []).append(one)
    choices = rows(paper, questions, told["headlines"], names, control)
    style, script = (inlined(templates / name) for name in ("page.css", "page.js"))
    data = {
        "source": source,
        "again": told["again"],
        "verdicts": list(VERDICTS),
        "files": files_of(document, pins),
        "statistics": document["statistics"],
        "runs": {run: ", ".join(_flat(how)) for run, how in document.get("runs", {}).items()},
        "search": {"plain": PLAIN, "first": FIRST, "all": [*FIRST, *REST, CENTRAL]},
        "signs": SIGNS,
        "methods": numbered_methods(records, views, methods),
        "claims": views,
        "cells": numbered_cells(records, views, published if source == "published" else None),
    }
    filled = {
        **reveal_all(told),
        "paper": {"title": paper.title, "about": linked(paper.about, paper.links)},
        "headlines": reveal_all(
            evidence_of_headlines(paper, told["headlines"], records, by_id, placed, names)
        ),
        "findings": reveal_all(by_weight(told["findings"], records, by_id)),
        "n_findings": len(told["findings"]),
        "n_claims": len(records),
        "questions": choices,
        "small": small,
        "most_listed": LISTED,
        "curves": OF_QUESTION,
        "tolerances": {name: str(band) for name, band in TOLERANCES.items()},
        "figures": others,
        "placed": placed,
        "beside": beside(document, by_id),
        "groups": count_by(records, analysis_of),
        "left_out": {name: in_words(why, names) for name, why in figures.left_out.items()},
        "environment": {**environment} | reveal_all(machine(document.get("runs", {}))),
        "measured": reveal_all(
            {title: by_model(document.get(kind, {}), names) for kind, title in ABSENT.items()}
            | {"What was measured": models(document.get("runs", {}), names)}
        ),
        "hashes": {**document["statistics"], **data["files"], **hashes},
        "style": Markup(style),
        "script": Markup(script),
        "policy": policy(style, script),
        "data": packed(reveal_all(data)),
    }
    return fill([templates], TEMPLATE, filled)


# --- claims, and what rests on them ---------------------------------------------------------------


def shown(record: Record, source: str) -> View:
    """A record as the page shows it."""
    compared = {"compared": tolerance_used(record, source)}
    return view(record) | compared | {"rank": place_rank(record)}


def claims_of(headline: Mapping[str, Any]) -> list[str]:
    """The ids of the claims that a central claim rests on."""
    return [part["claim"] for part in headline["parts"] if "claim" in part]


def evidence_of_headlines(
    paper: Paper,
    headlines: Sequence[Mapping[str, Any]],
    records: Sequence[Record],
    by_id: Mapping[str, View],
    placed: Mapping[str, Picture],
    names: Names,
) -> list[dict[str, Any]]:
    """The central claims, each with the claims, figures and questions that decide it.

    A question's figure stands with the first central claim that asks it; the others link to it.
    """
    of_random = {record["id"] for record in records if record["verdict"] == AS_RANDOM}
    drawn: set[str] = set()
    found = []
    for one in headlines:
        claims = claims_of(one)
        asked = list(dict.fromkeys(one["asked"]))
        figures = [OF_QUESTION + name for name in asked if OF_QUESTION + name in placed]
        found.append(
            {
                **one,
                "claims": claims,
                "rows": [by_id[claim] for claim in claims],
                "figures": [placed[name] for name in figures if name not in drawn],
                "drawn_before": [placed[name] for name in figures if name in drawn],
                "under": claimed_under(one["choices"], paper),
                "as_random": len(of_random.intersection(claims)),
            }
        )
        drawn.update(figures)
    return found


def by_weight(
    findings: Sequence[Mapping[str, Any]], records: Sequence[Record], by_id: Mapping[str, View]
) -> dict[Any, list[dict[str, Any]]]:
    """The findings of each weight, with the claims they touch; lists entry by entry."""
    known = {record["id"]: record for record in records}
    found: dict[Any, list[dict[str, Any]]] = {weight: [] for weight in ORDER}
    for one in findings:
        touched = [known[claim] for claim in one["claims"]]
        first = next((record for record in touched if record["verdict"] in FALLS), None)
        listed = [] if first is None else entries(first["published"], first["recomputed"])
        rows = [by_id[claim] for claim in one["claims"]]
        found[one["weight"]].append({**one, "rows": rows, "listed": listed})
    return {("slips" if weight == SLIP else weight): of for weight, of in found.items()}


def beside(document: Mapping[str, Any], by_id: Mapping[str, View]) -> dict[str, list[View]]:
    """By analysis, claims that a figure of it is about: those that central claims rest on.

    An analysis on which none rests has no entry.
    """
    parts = [part for one in document["headlines"] for part in one["parts"] if "claim" in part]
    found: dict[str, dict[str, View]] = {}
    for part in parts:
        one = by_id[part["claim"]]
        if "analysis" in one:
            found.setdefault(one["analysis"], {})[one["id"]] = one
    return {analysis: list(of.values())[:BESIDE] for analysis, of in found.items()}


def numbered_methods(
    records: Sequence[Record],
    views: Sequence[View],
    methods: Mapping[str, Sequence[Mapping[str, str]]],
) -> list[list[str]]:
    """Every function of a method once, as name, words and place; claims name them by position."""
    places: dict[tuple[str, ...], int] = {}
    for record, one in zip(records, views, strict=True):
        method = methods.get(record["provenance"]["statistic"] or "", ())
        functions = [(of["name"], of["says"], of["at"]) for of in method]
        if functions:
            one["method"] = [places.setdefault(of, len(places)) for of in functions]
    return [list(of) for of in places]


def files_of(document: Mapping[str, Any], pins: Mapping[str, str]) -> dict[str, str]:
    """SHA-256 of the published files that claims stand in or rest on; none for a paper's text."""
    printed = {record["provenance"]["file"] for record in document["claims"]} - {None}
    pinned = {file: pins[file] for file in printed if file in pins}
    return dict(sorted((pinned | document["inputs"]).items()))


def numbered_cells(
    records: Sequence[Mapping[str, Any]],
    views: Sequence[dict[str, Any]],
    published: Published | None,
) -> list[dict[str, str]]:
    """The cells under all claims, each once; claims name them by position."""
    places: dict[str, int] = {}
    cells: list[dict[str, str]] = []
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
                cells.append({"file": file, "key": key, "value": value_text(value)})
        if provenance["inputs"]:
            one["inputs"] = [places[cell] for cell in provenance["inputs"]]
        if provenance.get("runs"):
            one["runs"] = provenance["runs"]
    return cells


def machine(runs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """What measured: every device, driver and version that a run names."""
    found = {name: {str(run[name]) for run in runs.values() if run.get(name)} for name in MACHINE}
    return {name: " and ".join(sorted(of)) for name, of in found.items() if of}


def models(runs: Mapping[str, Mapping[str, Any]], names: Names) -> dict[str, list[str]]:
    """By model: commit and dtype, and what was measured so."""
    found: dict[str, dict[str, list[str]]] = {}
    for name, run in runs.items():
        slug, _, of = name.partition("/")
        how = " ".join(str(run[key]) for key in ("model", "revision", "dtype") if key in run)
        how += " (random weights)" if run.get(RANDOM) else ""
        found.setdefault(slug, {}).setdefault(how, []).append(of)
    return {
        named(slug, names): [f"{how}: {studies(measured)}" for how, measured in of.items()]
        for slug, of in found.items()
    }


def by_model(absent: Mapping[str, Mapping[str, Any]], names: Names) -> dict[str, list[str]]:
    """By model, how many claims wait, and every reason."""
    return {
        f"{named(slug, names)}, {one['claims']} claims": [
            f"{studies(failed)}: {why}" for why, failed in by_reason(one["reasons"]).items()
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
