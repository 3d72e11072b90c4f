"""Statements of figures on readers' models, by the rules of the papers' figures.

A result file has the keys of the published one, so none of this is written into it. Where a file
lacks what a rule reads, nothing is stated, and the figure says what is missing.
"""

from collections.abc import Mapping
from typing import Any

from layerwise.engine.derivation import (
    NOWHERE,
    Document,
    Rule,
    Rules,
    count,
    derive,
    for_each_group,
)
from layerwise.engine.evidence import Evidence, Missing
from layerwise.engine.published import DATASET
from layerwise.papers.paper2.rules import category_bootstrap, pairs, scaling, validation
from layerwise.papers.paper3.rules import anisotropy
from layerwise.papers.paper3.rules.depth_gain import gain_interval, models_above_bound
from layerwise.papers.paper3.rules.gain_files import gain, models_by_name
from layerwise.papers.shared.names.result_files import SCALING, own_file
from layerwise.papers.shared.published import tables_of_reader
from layerwise.papers.shared.terms import depth_bound
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, SEED, Draws

Results = Mapping[str, Mapping[str, Any]]  # the result documents of one model, by analysis

# --- one model ------------------------------------------------------------------------------------

MODEL_RULES: Mapping[str, Rules] = {
    "validation": validation.DRAWN,
    "category_bootstrap": category_bootstrap.DRAWN,
    "pairs": pairs.DRAWN,
    "anisotropy": anisotropy.DRAWN,
}


def add_drawn(results: Results) -> dict[str, Mapping[str, Any]]:
    """Return the result documents of a model with what figures state of each."""
    documents = dict(results)
    for analysis, rules in MODEL_RULES.items():
        if analysis in results:
            file = own_file(analysis)
            files = {file: results[analysis], DATASET: _categories(results)}
            documents[analysis] = {**results[analysis], **_stated(file, rules, files)}
    return documents


def _categories(results: Results) -> dict[str, Any]:
    """Return the categories of the model's pairs, as the table of the papers' texts has theirs."""
    validation = results.get("validation", {})
    return {name: category for name, category in validation.items() if not name.startswith("_")}


# --- several models -------------------------------------------------------------------------------


def range_of(values: list[float]) -> list[float]:
    """Return the smallest and the largest value."""
    return [min(values), max(values)]


# By analysis, the rules over its documents of several models.
RULES_OVER_MODELS: Mapping[str, Rules] = {
    "gains": {
        "bound": for_each_group(
            models_by_name,
            Rule(
                lambda model: depth_bound(count(model.all_layer_gains)),
                "the bound of equation 3 at each depth",
            ),
        ),
        "above_bound": models_above_bound,
        "interval": for_each_group(models_by_name, gain_interval),
        "range": Rule(
            lambda several: range_of([gain(model) for model in models_by_name(several).values()]),
            "the smallest and the largest value over the models",
        ),
    },
    "spectral": {
        "range": Rule(
            lambda several: range_of([model.W_V_over_W_O for model in several.models.values()]),
            "the smallest and the largest value over the models",
        )
    },
}


def drawn_over_models(several: Mapping[str, Results]) -> dict[str, Any]:
    """Return what figures state of several models together, or of one, by analysis.

    A model whose file lacks a number is left out, as the figures leave it out.
    """
    drawn = {}
    for analysis, rules in RULES_OVER_MODELS.items():
        file = own_file(analysis)
        documents = {
            name: results[analysis] for name, results in several.items() if analysis in results
        }
        whole = {
            name: document
            for name, document in documents.items()
            if _stated(file, rules, {file: {"models": {name: document}}}).keys() == rules.keys()
        }
        if whole:
            drawn[analysis] = _stated(file, rules, {file: {"models": whole}})
    curves = {
        name: results["layers"]
        for name, results in several.items()
        if "strategies" in results.get("layers", {})
    }
    if curves:
        table = {"": Document(SCALING, {"": scaling.DRAWN}, NOWHERE)}
        drawn["scaling"] = derive(table, scaling.evidence_of_readers(curves)).documents[""]
    return drawn


def _stated(file: str, rules: Rules, files: Mapping[str, Any]) -> dict[str, Any]:
    """Return what these rules give, without those for which the file lacks a number."""
    nothing_is_drawn = Draws(N_RESAMPLES, LEVEL, SEED)
    evidence = Evidence(tables_of_reader(files), nothing_is_drawn)
    stated: dict[str, Any] = {}
    for name, rule in rules.items():
        table = {"": Document(file, {"": {name: rule}}, NOWHERE)}
        try:
            document = derive(table, evidence).documents[""]
        except Missing:
            continue
        for key, part in document.items():
            stated[key] = {**stated[key], **part} if key in stated else part
    return stated
