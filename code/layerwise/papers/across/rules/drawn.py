"""Statements of figures on readers' models, by the rules of the papers' figures.

A result file has the keys of the published one, so none of this is written into it. Where a file
lacks what a rule reads, nothing is stated, and the figure says what is missing.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from layerwise.engine.derivation import (
    NOWHERE,
    Document,
    Function,
    Rule,
    Rules,
    Section,
    bind_each,
    count,
    derive,
    words_of,
)
from layerwise.engine.evidence import Entry, Evidence, Missing
from layerwise.engine.published import DATASET
from layerwise.engine.question import Results
from layerwise.files import JsonObject
from layerwise.papers.paper2.rules import category_bootstrap, pairs, scaling, validation
from layerwise.papers.paper3.rules import anisotropy
from layerwise.papers.paper3.rules.depth_gain import gain_interval, models_above_depth_bound
from layerwise.papers.paper3.rules.gain_files import gain, models_by_name
from layerwise.papers.shared.published import tables_of_reader
from layerwise.papers.shared.result_files import SCALING, own_file
from layerwise.papers.shared.terms import depth_bound
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, SEED, Draws

# --- one model ------------------------------------------------------------------------------------

OF_MODEL: Mapping[str, Section] = {
    "validation": validation.drawn_without_each,
    "category_bootstrap": category_bootstrap.drawn_intervals,
    "pairs": pairs.drawn_turns,
    "anisotropy": anisotropy.drawn_layers,
}


def add_drawn(results: Results) -> dict[str, JsonObject]:
    """Return the result documents of a model with what figures state of each."""
    documents = dict(results)
    for analysis, section in OF_MODEL.items():
        if analysis in results:
            file = own_file(analysis)
            files = {file: results[analysis], DATASET: _categories(results)}
            documents[analysis] = {**results[analysis], **_statements(file, section, files)}
    return documents


def _categories(results: Results) -> JsonObject:
    """Return the categories of the model's pairs, as the table of the papers' texts has theirs."""
    validation = results.get("validation", {})
    return {name: category for name, category in validation.items() if not name.startswith("_")}


# --- several models -------------------------------------------------------------------------------


def range_of(values: list[float]) -> list[float]:
    """Return the smallest and the largest value."""
    return [min(values), max(values)]


def gains_of_models(several: Entry) -> Rules:
    """The mean gains of several models, beside the bound at the depth of each."""
    models = partial(models_by_name, several)
    return {
        "bound": Rule(
            lambda: bind_each(lambda model: depth_bound(count(model.all_layer_gains)), models()),
            "the bound of equation 3 at each depth",
        ),
        "above_bound": partial(models_above_depth_bound, several),
        "interval": Rule(lambda: bind_each(gain_interval, models()), words_of(gain_interval)),
        "range": Rule(
            lambda: range_of([gain(model) for model in models().values()]),
            "the smallest and the largest value over the models",
        ),
    }


def norms_of_models(several: Entry) -> Rules:
    """The ratios of the norms of several models."""
    return {
        "range": Rule(
            lambda: range_of([model.W_V_over_W_O for model in several.models.values()]),
            "the smallest and the largest value over the models",
        )
    }


OVER_MODELS: Mapping[str, Section] = {"gains": gains_of_models, "spectral": norms_of_models}


def drawn_over_models(several: Mapping[str, Results]) -> dict[str, JsonObject]:
    """Return what figures state of several models together, or of one, by analysis.

    A model whose file lacks a number is left out, as the figures leave it out.
    """
    drawn: dict[str, JsonObject] = {}
    for analysis, section in OVER_MODELS.items():
        file = own_file(analysis)
        documents = {
            name: results[analysis] for name, results in several.items() if analysis in results
        }
        whole = {
            name: document
            for name, document in documents.items()
            if _states_all(file, section, {file: {"models": {name: document}}})
        }
        if whole:
            drawn[analysis] = _statements(file, section, {file: {"models": whole}})
    curves = {
        name: results["layers"]
        for name, results in several.items()
        if "strategies" in results.get("layers", {})
    }
    if curves:
        table = {"": Document(SCALING, {"": scaling.drawn_ends}, NOWHERE)}
        drawn["scaling"] = derive(table, scaling.evidence_of_readers(curves)).documents[""]
    return drawn


def _states_all(file: str, section: Section, files: Mapping[str, JsonObject]) -> bool:
    """Return whether the file has every number that the rules of a section read."""
    try:
        derivation = derive({"": Document(file, {"": section}, NOWHERE)}, _evidence_of(files))
    except Missing:
        return False
    return not derivation.undefined


def _statements(file: str, section: Section, files: Mapping[str, JsonObject]) -> JsonObject:
    """Return what the rules of a section give, without those for which the file lacks a number."""
    evidence = _evidence_of(files)
    stated: dict[str, Any] = {}
    for key, rule in Document(file, {"": section}).thunks(evidence):
        single = Document(None, {"": partial(_single_rule, key.removeprefix("/"), rule)})
        try:
            document = derive({"": single}, evidence).documents[""]
        except Missing:
            continue
        for name, part in document.items():
            stated[name] = {**stated[name], **part} if name in stated else part
    return stated


def _single_rule(name: str, rule: Function, _: Evidence) -> Rules:
    """Return one bound rule, as a section."""
    return {name: rule}


def _evidence_of(files: Mapping[str, JsonObject]) -> Evidence:
    """Return the numbers of readers' files; nothing is drawn from them."""
    return Evidence(tables_of_reader(files), Draws(N_RESAMPLES, LEVEL, SEED))
