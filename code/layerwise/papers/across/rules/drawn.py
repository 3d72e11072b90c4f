"""What figures state of readers' models beyond the result files, by rules of the papers' figures.

A result file has the keys of the published one, so nothing of this is written into it. Where a file
lacks what a rule reads nothing is stated, and the figure says what is missing.
"""

from collections.abc import Mapping
from typing import Any

from layerwise.engine.derivation import Document, Rule, Rules, count, derive, for_each_group
from layerwise.engine.evidence import Entry, Evidence, Missing, by_layer
from layerwise.engine.published import DATASET
from layerwise.papers.paper2.rules import category_bootstrap, pairs, scaling, validation
from layerwise.papers.paper3.rules import anisotropy
from layerwise.papers.paper3.rules.depth_gain import above_bound, interval
from layerwise.papers.paper3.rules.gain_files import gain, models
from layerwise.papers.shared.names.result_files import SCALING, own_file
from layerwise.papers.shared.published import tables_of_reader
from layerwise.papers.shared.rules.categories import includes_zero
from layerwise.papers.shared.terms import depth_bound
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, SEED, Draws

Results = Mapping[str, Mapping[str, Any]]  # the result documents of one model, by analysis

# --- one model ------------------------------------------------------------------------------------

OF_MODEL: Mapping[str, Rules] = {
    "validation": validation.DRAWN,
    "category_bootstrap": category_bootstrap.DRAWN,
    "pairs": pairs.DRAWN,
    "anisotropy": anisotropy.DRAWN,
}


def of_model(results: Results) -> dict[str, Mapping[str, Any]]:
    """The result documents of a model, with what figures state of each."""
    found = dict(results)
    for analysis, rules in OF_MODEL.items():
        if analysis in results:
            file = own_file(analysis)
            files = {file: results[analysis], DATASET: _categories(results)}
            found[analysis] = {**results[analysis], **_stated(file, rules, files)}
    return found


def _categories(results: Results) -> dict[str, Any]:
    """The categories of the model's pairs, as the table of the papers' texts has theirs."""
    validation = results.get("validation", {})
    return {name: of for name, of in validation.items() if not name.startswith("_")}


# --- several models -------------------------------------------------------------------------------


def of_last_layers(f: Entry) -> list[Entry]:
    """The test of r over the categories at the last layer of every model."""
    return [list(by_layer(of.layer_results).values())[-1] for of in f.models.values()]


def ends(values: list[float]) -> list[float]:
    """The smallest and the largest."""
    return [min(values), max(values)]


# By analysis, the rules over its documents of several models.
ACROSS: Mapping[str, Rules] = {
    "gains": {
        "bound": for_each_group(
            models,
            Rule(
                lambda m: depth_bound(count(m.all_layer_gains)),
                "the bound of equation 3 at each depth",
            ),
        ),
        "above_bound": above_bound,
        "interval": for_each_group(models, interval),
        "range": Rule(
            lambda f: ends([gain(m) for m in models(f).values()]),
            "the smallest and the largest value over the models",
        ),
    },
    "spectral": {
        "range": Rule(
            lambda f: ends([m.W_V_over_W_O for m in f.models.values()]),
            "the smallest and the largest value over the models",
        )
    },
    "category_bootstrap": {
        "n_excluding_zero": Rule(
            lambda f: sum(not includes_zero(one) for one in of_last_layers(f)),
            "the models whose last interval excludes zero",
        )
    },
}


def over_models(several: Mapping[str, Results]) -> dict[str, Any]:
    """What figures state of several models together, by analysis; of one model alone too.

    A model whose file lacks a number is left out, as the figures leave it out.
    """
    found = {}
    for analysis, rules in ACROSS.items():
        file = own_file(analysis)
        there = {name: of[analysis] for name, of in several.items() if analysis in of}
        whole = {
            name: document
            for name, document in there.items()
            if _stated(file, rules, {file: {"models": {name: document}}}).keys() == rules.keys()
        }
        if whole:
            found[analysis] = _stated(file, rules, {file: {"models": whole}})
    curves = {name: of["layers"] for name, of in several.items() if "layers" in of}
    if curves:
        table = {"": Document(SCALING, {"": scaling.DRAWN}, places={}, shows=False)}
        found["scaling"] = derive(table, scaling.evidence_of_readers(curves)).documents[""]
    return found


def _stated(file: str, rules: Rules, files: Mapping[str, Any]) -> dict[str, Any]:
    """What these rules give; without those that a file lacks a number for."""
    evidence = Evidence(
        tables_of_reader(files), Draws(N_RESAMPLES, LEVEL, SEED)
    )  # nothing is drawn
    found: dict[str, Any] = {}
    for name, rule in rules.items():
        table = {"": Document(file, {"": {name: rule}}, places={}, shows=False)}
        try:
            document = derive(table, evidence).documents[""]
        except Missing:
            continue
        for key, part in document.items():
            found[key] = {**found[key], **part} if key in found else part
    return found
