"""Layer curves of the Pythia family: does their peak move with size? (notebook 002)"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, derive, for_each_group
from layerwise.engine.evidence import Entry, Evidence, measured_among
from layerwise.engine.measured import tables_of_reader
from layerwise.errors import LayerwiseError
from layerwise.papers.shared.names.result_files import SCALING, UA_FILES
from layerwise.papers.shared.rules.categories import (
    n_categories,
    p_over_categories,
    r_over_categories,
)
from layerwise.papers.shared.terms import strategies_by_layer
from layerwise.statistics import curves
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, SEED, Draws
from layerwise.statistics.estimates import correlation_estimate

STABLE_STD_PCT = 10.0  # of the depths of the peaks, percent of depth


def depth(f: Entry) -> int:
    """Blocks of the model that a file on layers is about."""
    return int(f.role("depth").n_layers)


def model(row: Entry) -> Entry:
    """The model that a row of the summary is about."""
    return row.of(SCALING).models[row.model]


def sampled(row: Entry) -> list[int]:
    return sorted(map(int, model(row).layer_results))


def curve(row: Entry) -> dict[int, float]:
    return {layer: model(row).layer_results[layer].correlation for layer in sampled(row)}


def peak(row: Entry, of: Callable[..., int] = max) -> int:
    """The layer of the largest (or smallest) r, the first of equals; its sign does not matter."""
    r = curve(row)
    return of(r, key=lambda layer: r[layer])


def peak_pct(row: Entry, of: Callable[..., int] = max) -> float:
    """Depth of that layer, percent of the blocks."""
    return peak(row, of) / model(row).n_layers * 100


def peaks_pct(f: Entry) -> list[float]:
    return [peak_pct(row) for row in f.summary]


def sign_changes(row: Entry) -> list[dict[str, Any]]:
    """Return the layers at which r changes its sign."""
    return curves.sign_changes(curve(row), model(row).n_layers)


OF_MODEL: Rules = {
    "n_layers": Rule(lambda row: int(model(row).n_layers), "the blocks of the model"),
    "max_pos_r": Rule(lambda row: max(curve(row).values()), "the largest r of the curve"),
    "max_pos_layer": peak,
    "max_pos_pct": peak_pct,
    "max_neg_r": Rule(lambda row: min(curve(row).values()), "the smallest r of the curve"),
    "max_neg_layer": Rule(lambda row: peak(row, min), "the layer of the smallest r"),
    "max_neg_pct": Rule(lambda row: peak_pct(row, min), "its depth in percent"),
    "final_r": Rule(
        lambda row: model(row).layer_results[sampled(row)[-1]].correlation, "r at the last layer"
    ),
    "sign_changes": sign_changes,
    "n_sign_changes": Rule(lambda row: len(sign_changes(row)), "how often r changes its sign"),
}
OVER_MODELS: Rules = {
    "peak_analysis/mean_peak_pct": Rule(
        lambda f: np.mean(peaks_pct(f)), "mean depth of the peaks, percent"
    ),
    "peak_analysis/std_peak_pct": Rule(
        lambda f: np.std(peaks_pct(f)), "population SD of the depths of the peaks, percent"
    ),
    "peak_analysis/peaks_stable": Rule(
        lambda f: np.std(peaks_pct(f)) < STABLE_STD_PCT,
        "whether that SD is under ten percent of depth",
    ),
}


def strongest_mid(f: Entry, size: Callable[[float], float] = float) -> str:
    """The model with the largest r (or a function of it) at a mid layer, 20 to 50 % of depth."""

    def largest(row: Entry) -> float:
        n = int(model(row).n_layers)
        return max(size(r) for layer, r in curve(row).items() if int(0.2 * n) <= layer <= n // 2)

    return str(max(f.summary, key=largest).model)


def drawn_curves(f: Entry) -> list[list[float]]:
    """r by depth of every model that was measured."""
    rows = measured_among({row.model: row for row in f.summary}, curve)
    return [list(curve(row).values()) for row in rows.values()]


DRAWN: Rules = {
    "drawn/n_models": Rule(lambda f: len(drawn_curves(f)), "the measured models"),
    "drawn/n_negative_at_end": Rule(
        lambda f: sum(r[-1] < 0 for r in drawn_curves(f)),
        "the measured models with a negative r at the end",
    ),
    "drawn/n_with_positive": Rule(
        lambda f: sum(max(r) > 0 for r in drawn_curves(f)),
        "the measured models with a positive r somewhere",
    ),
}


def intervals(row: Entry) -> dict[str, list[float]]:
    """Fisher's 95% interval of r over the categories, by layer; of r of 1 there is none."""
    found = {
        n: correlation_estimate(r, n_categories(row), "categories") for n, r in curve(row).items()
    }
    return {str(n): [of.low, of.high] for n, of in found.items() if of.has_interval}


def drawn_ends(f: Entry) -> list[tuple[list[float], list[float]]]:
    """Lower and upper ends by depth of every model that was measured and has an interval."""
    rows = measured_among({row.model: row for row in f.summary}, intervals)
    found = [list(intervals(row).values()) for row in rows.values()]
    return [([low for low, _ in ends], [high for _, high in ends]) for ends in found if ends]


OVER_PAPERS: Rules = {
    **DRAWN,
    "drawn/intervals": for_each_group(lambda f: {row.model: row for row in f.summary}, intervals),
    "drawn/n_clear_at_end": Rule(
        lambda f: sum(high[-1] < 0 for _, high in drawn_ends(f)),
        "the measured models whose last interval lies below zero",
    ),
    "drawn/n_clear_positive": Rule(
        lambda f: sum(max(low) > 0 for low, _ in drawn_ends(f)),
        "the measured models with an interval above zero somewhere",
    ),
    "strongest_positive_mid": strongest_mid,
    "strongest_mid": Rule(lambda f: strongest_mid(f, abs), "the strongest r of the middle layers"),
}
OF_LAYER: Rules = {
    "p_value": Rule(
        lambda m: p_over_categories(m, m.correlation), "two-sided p of r over the categories"
    )
}


def last(slug: str) -> Rules:
    """r of the last layer, whose states the file on UA is about."""
    return {
        "correlation": Rule(
            lambda m: r_over_categories(m.of(UA_FILES[slug])),
            "r of UA and preference over the categories, last layer",
        )
    }


READER = Document(SCALING, {"": OVER_MODELS, "summary/*": OF_MODEL})
DOCUMENTS = {
    "family": Document(
        SCALING,
        {
            **READER.rules,
            "": {**OVER_MODELS, **OVER_PAPERS},
            "models/*/layer_results/*": OF_LAYER,
            "models/Pythia-6.9B/layer_results/32": last("pythia-6p9b"),
            "models/Pythia-12B/layer_results/36": last("pythia-12b"),
        },
    )
}


def compare(layers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The document of several readers' models, from their `layers` documents by name."""
    return derive({"": READER}, together(layers)).whole()[""]


def together(layers: Mapping[str, Mapping[str, Any]]) -> Evidence:
    """The curves of several readers' models as the published file has those of the papers'."""
    if not layers:
        raise LayerwiseError("scaling compares models, found none; name at least one")
    models = {display: _curve_of(display, document) for display, document in layers.items()}
    question = {"research_question": "Does the layer correlation peak shift with model size?"}
    rows = [{"model": display} for display in models]
    cells = tables_of_reader({SCALING: {**question, "models": models, "summary": rows}})
    nothing_is_drawn = Draws(N_RESAMPLES, LEVEL, SEED)
    return Evidence(cells, nothing_is_drawn)


def _curve_of(display: str, document: Mapping[str, Any]) -> dict[str, Any]:
    found = strategies_by_layer(document["strategies"])
    if not found:
        raise LayerwiseError(
            f"{display}: the layer document names no layer; run the analysis again"
        )
    return {
        "model_name": document["model"],
        "n_layers": document["n_layers"],
        "layer_results": {
            str(layer): {key: of[key] for key in ("correlation", "p_value")}
            for layer, of in found.items()
        },
    }
