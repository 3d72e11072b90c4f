"""Layer curves of the Pythia family: does their peak move with size? (notebook 002)"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, count, derive
from layerwise.engine.evidence import Entry, Evidence
from layerwise.errors import LayerwiseError
from layerwise.papers.shared.names.result_files import SCALING
from layerwise.papers.shared.published import tables_of_reader
from layerwise.papers.shared.rules.categories import last_layer_rule, p_over_categories
from layerwise.papers.shared.terms import strategies_by_layer
from layerwise.statistics import curves
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, SEED, Draws

STABLE_STD_PCT = 10.0  # of the depths of the peaks, percent of depth


def depth(results: Entry) -> int:
    """Return the number of blocks of the model that a file on layers is about."""
    return int(results.role("depth").n_layers)


def model_of_row(row: Entry) -> Entry:
    """The model that a row of the summary is about."""
    return row.of(SCALING).models[row.model]


def sampled_layers(row: Entry) -> list[int]:
    """Return the sampled layers of a row's model, ascending."""
    return sorted(map(int, model_of_row(row).layer_results))


def r_by_layer(row: Entry) -> dict[int, float]:
    """Return r over the categories by sampled layer."""
    return {
        layer: model_of_row(row).layer_results[layer].correlation for layer in sampled_layers(row)
    }


def last_r(row: Entry) -> float:
    """Return r at the last layer."""
    return model_of_row(row).layer_results[sampled_layers(row)[-1]].correlation


def peak(row: Entry, extreme: Callable[..., int] = max) -> int:
    """Return the layer of the largest (or smallest) r, the first of equals."""
    r = r_by_layer(row)
    return extreme(r, key=lambda layer: r[layer])


def peak_pct(row: Entry, extreme: Callable[..., int] = max) -> float:
    """Return the depth of the layer of the largest (or smallest) r, percent of the blocks."""
    return peak(row, extreme) / model_of_row(row).n_layers * 100


def peaks_pct(results: Entry) -> list[float]:
    """Return the depth of each model's largest r, percent of the blocks."""
    return [peak_pct(row) for row in results.summary]


def sign_changes(row: Entry) -> list[dict[str, Any]]:
    """Return the layers at which r changes its sign."""
    return curves.sign_changes(r_by_layer(row), model_of_row(row).n_layers)


MODEL_RULES: Rules = {
    "n_layers": Rule(lambda row: int(model_of_row(row).n_layers), "the blocks of the model"),
    "max_pos_r": Rule(lambda row: max(r_by_layer(row).values()), "the largest r of the curve"),
    "max_pos_layer": Rule(peak, "the layer of the largest r"),
    "max_pos_pct": Rule(peak_pct, "depth of the largest r, percent of the blocks"),
    "max_neg_r": Rule(lambda row: min(r_by_layer(row).values()), "the smallest r of the curve"),
    "max_neg_layer": Rule(lambda row: peak(row, min), "the layer of the smallest r"),
    "max_neg_pct": Rule(
        lambda row: peak_pct(row, min), "depth of the smallest r, percent of the blocks"
    ),
    "final_r": last_r,
    "sign_changes": sign_changes,
    "n_sign_changes": Rule(lambda row: len(sign_changes(row)), "how often r changes its sign"),
}
FAMILY_RULES: Rules = {
    "peak_analysis/mean_peak_pct": Rule(
        lambda results: np.mean(peaks_pct(results)), "mean depth of the peaks, percent"
    ),
    "peak_analysis/std_peak_pct": Rule(
        lambda results: np.std(peaks_pct(results)),
        "population SD of the depths of the peaks, percent",
    ),
    "peak_analysis/peaks_stable": Rule(
        lambda results: np.std(peaks_pct(results)) < STABLE_STD_PCT,
        "whether the SD of the depths of the peaks is under ten percent of depth",
    ),
}


def strongest_mid_model(results: Entry, size: Callable[[float], float] = float) -> str:
    """Return the model with the largest r (or a function of it) at 20 to 50 % of depth."""

    def largest(row: Entry) -> float:
        n = int(model_of_row(row).n_layers)
        return max(
            size(r) for layer, r in r_by_layer(row).items() if int(0.2 * n) <= layer <= n // 2
        )

    return str(max(results.summary, key=largest).model)


# What a figure of several models states.
DRAWN: Rules = {
    "drawn/n_models": Rule(lambda results: count(results.summary, last_r), "the models"),
    "drawn/n_negative_at_end": Rule(
        lambda results: sum(last_r(row) < 0 for row in results.summary),
        "the models with a negative r at the end",
    ),
}
PAPER_RULES: Rules = {
    "strongest_positive_mid": Rule(
        strongest_mid_model, "the model with the largest r at 20 to 50 % of depth"
    ),
    "strongest_mid": Rule(
        lambda results: strongest_mid_model(results, abs),
        "the model with the largest |r| at 20 to 50 % of depth",
    ),
}
LAYER_RULES: Rules = {
    "p_value": Rule(
        lambda test: p_over_categories(test, test.correlation),
        "two-sided p of r over the categories",
    )
}


READER = Document(SCALING, {"": FAMILY_RULES, "summary/*": MODEL_RULES})
DOCUMENTS = {
    "family": Document(
        SCALING,
        {
            **READER.rules,
            "": {**FAMILY_RULES, **PAPER_RULES},
            "models/*/layer_results/*": LAYER_RULES,
            "models/Pythia-6.9B/layer_results/32": {"correlation": last_layer_rule("pythia-6p9b")},
            "models/Pythia-12B/layer_results/36": {"correlation": last_layer_rule("pythia-12b")},
        },
    )
}


def compare(layers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the document of several readers' models, from their `layers` documents by name."""
    return derive({"": READER}, evidence_of_readers(layers)).whole()[""]


def evidence_of_readers(layers: Mapping[str, Mapping[str, Any]]) -> Evidence:
    """Return the curves of several readers' models in the form of the published file."""
    if not layers:
        raise LayerwiseError("scaling compares models, found none; name at least one")
    models = {display: _curve_of(display, document) for display, document in layers.items()}
    question = {"research_question": "Does the layer correlation peak shift with model size?"}
    rows = [{"model": display} for display in models]
    cells = tables_of_reader({SCALING: {**question, "models": models, "summary": rows}})
    nothing_is_drawn = Draws(N_RESAMPLES, LEVEL, SEED)
    return Evidence(cells, nothing_is_drawn)


def _curve_of(display: str, document: Mapping[str, Any]) -> dict[str, Any]:
    strategies = strategies_by_layer(document["strategies"])
    if not strategies:
        raise LayerwiseError(
            f"{display}: the layer document names no layer; run the analysis again"
        )
    return {
        "model_name": document["model"],
        "n_layers": document["n_layers"],
        "layer_results": {
            str(layer): {key: strategy[key] for key in ("correlation", "p_value")}
            for layer, strategy in strategies.items()
        },
    }
