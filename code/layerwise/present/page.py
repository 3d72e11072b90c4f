"""The page: judged claims, figures and hashes to one self-contained HTML text.

Everything is inlined: style, script, figures and the claims, as packed JSON. The page's security
policy admits exactly that style and that script, by hash, and no network.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TypedDict

from markupsafe import Markup
from pydantic import JsonValue

import layerwise
from layerwise.engine.central import Central
from layerwise.engine.judged import AS_RANDOM, TOLERANCES, VERDICTS, JudgedClaim
from layerwise.engine.measured import group_by_reason
from layerwise.engine.origins import Absences
from layerwise.engine.paper import Paper
from layerwise.engine.published import Published
from layerwise.engine.records import JudgedSource
from layerwise.engine.verdicts import tolerance_used
from layerwise.engine.words import Names, label_model, studies
from layerwise.errors import LayerwiseError
from layerwise.files import JsonObject
from layerwise.models.registry import RANDOM
from layerwise.present.error_rates import error_rates
from layerwise.present.figures.picture import data_address
from layerwise.present.html import (
    HeldFiles,
    by_column,
    fill,
    inlined,
    linked,
    packed,
    policy,
    reveal_all,
)
from layerwise.present.page_tables import evidence_name, page_tables
from layerwise.present.pictures import Figures
from layerwise.present.records import (
    Context,
    View,
    claims_in_words,
    context,
    surprises_told,
    view,
)
from layerwise.present.search import FIRST, PLAIN, REST, place_rank
from layerwise.present.small_models import SmallModels
from layerwise.present.strip import (
    NOTEBOOKS,
    block,
    count_text,
    mark_of,
    methods_text,
    readings_text,
    row_text,
    rows_text,
    symbol,
)
from layerwise.present.strip_picture import READING, legend_signs, repeat_picture, row_picture
from layerwise.present.trace import Method
from layerwise.present.values import SIGNS, value_text

TEMPLATE, SCRIPTS = "index.html.j2", ("files.js", "page.js")
SHORT = 50  # words of reason and notes that a card shows; the rest is folded
# Field of a claim, searched on the page alone: the central claims it is part of.
CENTRAL = "central"
# What made the page, and nothing that tells machines apart: its bytes are the same on all.
ENVIRONMENT = {
    "layerwise": layerwise.__version__,
    "Python and packages": "requirements/pipeline.lock, by hash",
}

# The functions that templates ask about a central claim.
IN_TEMPLATES = (symbol, mark_of, methods_text, readings_text, count_text, rows_text, row_text)
MACHINE = ("device", "driver", "torch", "cuda", "transformers")  # of a run

Setting = Mapping[str, JsonValue]  # of a run


class Card(TypedDict):
    """A central claim with what the page shows beside it.

    deciding, shown, more: the sentence that decides, those beside it, and those that are folded.
    rows: the printed numbers that are counted with it; `as_random`: how many of them random
        weights give.
    file: the name of the table of these.
    """

    central: Central
    picture: Markup
    deciding: str
    shown: str
    more: str
    claims: list[str]
    file: str
    rows: list[dict[str, object]]
    as_random: int
    error_rates: str


@dataclass(frozen=True, kw_only=True)
class Page:
    """The page. The same input gives the same text.

    Attributes:
        paper: whose claims these are.
        judged: the judged claims of one source.
        published: the values behind a claim of source `published`.
        pins: SHA-256 of upstream's files.
        hashes: SHA-256 of the files that the page was made from.
        asymmetry: the SVG that shows what asymmetry is; with it the papers' terms are explained.
        small: the small trained models, of which it shows the answers.
        methods: the functions that make a statistic, as `layerwise trace` describes them.
        names: what models are called.
        environment: what made the page.
    """

    paper: Paper
    judged: JudgedSource
    figures: Figures
    published: Published
    pins: Mapping[str, str]
    hashes: Mapping[str, str]
    templates: Path
    asymmetry: str | None = None
    small: SmallModels | None = None
    methods: Mapping[str, Sequence[Method]]
    names: Names
    environment: Mapping[str, str]

    @property
    def text(self) -> str:
        """The whole page as HTML."""
        about = linked(self.paper.about, self.paper.links)
        style = inlined(self.templates / "page.css")
        script = "\n".join(inlined(self.templates / name) for name in SCRIPTS)
        filled = {
            **reveal_all(self._context),
            **self._provenance(),
            "surprises": reveal_all(surprises_told(self.judged, self.names)),
            "paper": {"title": self.paper.title, "about": about},
            "strip": [
                (heading, [(claim, Markup(row_picture(claim))) for claim in group])
                for heading, group in groupby(self._context["central"], key=block)
            ],
            "files": HeldFiles(self._files()),
            **{function.__name__: function for function in IN_TEMPLATES},
            "legend": [(Markup(sign), meaning) for sign, meaning in legend_signs()],
            "reading": READING,
            "cards": self._cards(),
            "apart": NOTEBOOKS,
            "asymmetry": None if self.asymmetry is None else data_address(self.asymmetry),
            "n_claims": len(self.judged.claims),
            "small": self.small,
            "style": Markup(style),
            "script": Markup(script),
            "policy": policy(style, script),
            "data": packed(reveal_all(self._data())),
        }
        return fill([self.templates], TEMPLATE, filled)

    @cached_property
    def _context(self) -> Context:
        """What page and paper say alike."""
        shared = context(self.judged, self.names, random=self.figures.random_weights)
        if self.figures.random_weights:
            shared["again"] = "random number"
        return shared

    @cached_property
    def _claims(self) -> list[JudgedClaim]:
        """The claims in the words of readers."""
        return claims_in_words(self.judged.claims, self.names)

    @cached_property
    def _views(self) -> dict[str, View]:
        """The claims as the page shows them, by id."""
        views = {}
        for claim in self._claims:
            views[claim.id] = shown = view(claim)
            shown.compared = tolerance_used(claim, self.judged.source)
            shown.rank = place_rank(claim)
        for central in self._context["central"]:
            for part in central.printed:
                shown = views[part["claim"]]
                shown.central = f"{shown.central or 'central claim'}; {central.claim}"
        return views

    def _files(self) -> dict[str, str]:
        """Return the figures and tables that a reader can save, by name."""
        files: dict[str, str] = {}
        for picture in self.figures.pictures:
            files |= picture.files
        shared = self._context
        central, counts, verdicts = shared["central"], shared["counts"], shared["verdicts"]
        for table in page_tables(central, self._claims, counts, verdicts, self.small):
            files[f"{table.name}.csv"] = table.csv
        return files

    def _cards(self) -> list[tuple[str, list[JsonObject]]]:
        """Return the cards of all central claims, by block and the figure that decides them."""
        pictures = {picture.name: picture for picture in self.figures.pictures}
        shown = cards(self._context["central"], self._views)
        return [
            (
                heading,
                [
                    reveal_all({"figure": pictures.get(figure), "cards": [*group]})
                    for figure, group in groupby(of_block, key=lambda card: card["central"].figure)
                ],
            )
            for heading, of_block in groupby(shown, key=lambda card: block(card["central"]))
        ]

    def _data(self) -> dict[str, object]:
        """Return what the page's script reads."""
        judged, claims, views = self.judged, self.judged.claims, self._views
        published = self.published if judged.source == "published" else None
        return {
            "source": judged.source,
            "again": self._context["again"],
            "verdicts": list(VERDICTS),
            "files": files_of(judged, self.pins),
            "statistics": judged.statistics,
            "runs": {run: ", ".join(_flat(setting)) for run, setting in judged.runs.items()},
            "search": {"plain": PLAIN, "first": FIRST, "all": [*FIRST, *REST, CENTRAL]},
            "signs": SIGNS,
            "methods": number_methods(claims, views, self.methods),
            "cells": by_column(number_cells(claims, views, published)),
            "claims": by_column([shown.as_json() for shown in views.values()]),
        }

    def _provenance(self) -> dict[str, object]:
        """Return what made the page, what was measured, and the hashes of all files behind it."""
        judged, names = self.judged, self.names
        files = files_of(judged, self.pins)
        return {
            "tolerances": {name: str(band) for name, band in TOLERANCES.items()},
            "environment": {**self.environment} | reveal_all(describe_machine(judged.runs)),
            "measured": reveal_all(
                {
                    "What could not be measured": describe_absences(judged.failed, names),
                    "What was left out": describe_absences(judged.left_out, names),
                    "What was measured": describe_runs(judged.runs, names),
                }
            ),
            "hashes": names_by_hash({**judged.statistics, **files, **self.hashes}),
        }


# --- claims, and what rests on them ---------------------------------------------------------------


def names_by_hash(hashes: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the names of every file by its SHA-256.

    Values that were typed from several sources stand in one file, under the name of each.
    """
    names: dict[str, list[str]] = {}
    for name, digest in hashes.items():
        names.setdefault(digest, []).append(name)
    return names


def cards(central: Sequence[Central], views: Mapping[str, View]) -> Iterator[Card]:
    """Yield the central claims with what the page shows beside each, one after the other.

    Arguments:
        central: in the words of readers.
    """
    for claim in central:
        claims = [part["claim"] for part in claim.printed]
        shown, more = first_sentences([*claim.reason, *claim.notes], SHORT)
        yield {
            "central": claim,
            "picture": Markup(repeat_picture(claim)),
            "deciding": shown[0],
            "shown": " ".join(shown[1:]),
            "more": " ".join(more),
            "claims": claims,
            "file": f"{evidence_name(claim)}.csv",
            "rows": [views[claim_id].as_json() for claim_id in claims],
            "as_random": sum(views[claim_id].verdict == AS_RANDOM for claim_id in claims),
            "error_rates": error_rates(dict.fromkeys(part.question for part in claim.parts)),
        }


def first_sentences(sentences: Sequence[str], most: int) -> tuple[Sequence[str], Sequence[str]]:
    """Return the first sentences that have at most so many words, and the rest.

    The first is there, however long: it decides.
    """
    n_kept = 1
    while n_kept < len(sentences) and len(" ".join(sentences[: n_kept + 1]).split()) <= most:
        n_kept += 1
    return sentences[:n_kept], sentences[n_kept:]


def number_methods(
    claims: Sequence[JudgedClaim],
    views: Mapping[str, View],
    methods: Mapping[str, Sequence[Method]],
) -> list[list[str]]:
    """Return every rule once, as name, words and place; claims name them by position."""
    places: dict[tuple[str, ...], int] = {}
    for claim in claims:
        method = methods.get(claim.provenance.statistic or "", ())
        rules = [(rule["name"], rule["says"], rule["at"]) for rule in method]
        if rules:
            views[claim.id].method = [places.setdefault(rule, len(places)) for rule in rules]
    return [list(rule) for rule in places]


def files_of(judged: JudgedSource, pins: Mapping[str, str]) -> dict[str, str]:
    """Return the SHA-256 of the published files that claims stand in or rest on.

    A paper's text has none.
    """
    printed = {claim.provenance.file for claim in judged.claims}
    pinned = {file: pins[file] for file in printed if file is not None and file in pins}
    return dict(sorted((pinned | judged.inputs).items()))


def number_cells(
    claims: Sequence[JudgedClaim],
    views: Mapping[str, View],
    published: Published | None,
) -> list[dict[str, str]]:
    """Return the cells under all claims, each once; claims name them by position, in runs."""
    places: dict[str, int] = {}
    cells: list[dict[str, str]] = []
    for claim in claims:
        shown, provenance = views[claim.id], claim.provenance
        for cell in provenance.inputs:
            if cell not in places:
                places[cell] = len(cells)
                file, _, key = cell.partition("#")
                try:
                    value = None if published is None else published.value(file, key)
                except LayerwiseError as error:
                    raise LayerwiseError(f"claim {claim.id}: {error}") from None
                cells.append({"file": file, "key": key, "value": value_text(value)})
        if provenance.inputs:
            shown.inputs = _join_runs([places[cell] for cell in provenance.inputs])
        if provenance.runs:
            shown.runs = provenance.runs
    return cells


def _join_runs(places: Iterable[int]) -> list[list[int]]:
    """Return positions as runs of neighbours: [first, how many]."""
    runs: list[list[int]] = []
    for place in places:
        if runs and place == sum(runs[-1]):
            runs[-1][1] += 1
        else:
            runs.append([place, 1])
    return runs


def describe_machine(runs: Mapping[str, Setting]) -> dict[str, str]:
    """Return every device, driver and version that a run names, by kind."""
    named = {name: {str(run[name]) for run in runs.values() if run.get(name)} for name in MACHINE}
    return {name: " and ".join(sorted(values)) for name, values in named.items() if values}


def describe_runs(runs: Mapping[str, Setting], names: Names) -> dict[str, list[str]]:
    """Return commit and dtype of every model, and what was measured so."""
    experiments: dict[str, dict[str, list[str]]] = {}
    for name, run in runs.items():
        slug, _, experiment = name.partition("/")
        setting = " ".join(str(run[key]) for key in ("model", "revision", "dtype") if key in run)
        setting += " (random weights)" if run.get(RANDOM) else ""
        experiments.setdefault(slug, {}).setdefault(setting, []).append(experiment)
    return {
        label_model(slug, names): [
            f"{setting}: {studies(measured)}" for setting, measured in by_setting.items()
        ]
        for slug, by_setting in experiments.items()
    }


def describe_absences(absent: Mapping[str, Absences], names: Names) -> dict[str, list[str]]:
    """Return every reason by model, and how many claims wait for the model."""
    return {
        f"{label_model(slug, names)}, {model.claims} claims": [
            f"{studies(failed)}: {why}" for why, failed in group_by_reason(model.reasons).items()
        ]
        for slug, model in absent.items()
    }


def _flat(setting: Setting) -> Iterator[str]:
    """Yield names and values of a run's settings, those of its parts after one another."""
    for name, value in setting.items():
        if isinstance(value, Mapping):
            yield from _flat(value)
        elif value is not None:
            yield f"{name} {value_text(value)}"
