"""Layer curves of the Pythia family: does their peak move with size? (notebook 002)"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, derive
from layerwise.engine.evidence import Entry, Evidence, by_layer
from layerwise.errors import LayerwiseError
from layerwise.files import JsonObject
from layerwise.papers.shared.published import tables_of_reader
from layerwise.papers.shared.result_files import SCALING
from layerwise.papers.shared.rules import last_layer, p_over_categories
from layerwise.papers.shared.terms import strategies_by_layer
from layerwise.statistics import curves
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, SEED, Draws

STABLE_STD_PCT = 10.0  # of the depths of the peaks, percent of depth


def depth(results: Entry) -> int:
    """Return the number of blocks of the model that a file on layers is about."""
    return int(results.role("depth").n_layers)


@dataclass(frozen=True)
class SizeCurve:
    """The curve of r over the categories of the model that a row of the summary is about."""

    row: Entry

    @property
    def model(self) -> Entry:
        return self.row.of(SCALING).models[self.row.model]

    @property
    def n_layers(self) -> int:
        """Return the number of blocks."""
        return int(self.model.n_layers)

    def r(self) -> dict[int, float]:
        """Return r by sampled layer, ascending."""
        return {
            layer: test.correlation for layer, test in by_layer(self.model.layer_results).items()
        }

    def last_r(self) -> float:
        """Return r at the last layer."""
        *_, last = by_layer(self.model.layer_results).values()
        return last.correlation

    def peak(self, extreme: Callable[..., int] = max) -> int:
        """Return the layer of the largest (or smallest) r, the first of equals."""
        r = self.r()
        return extreme(r, key=lambda layer: r[layer])

    def peak_pct(self, extreme: Callable[..., int] = max) -> float:
        """Return the depth of the layer of the largest (or smallest) r, percent of the blocks."""
        return self.peak(extreme) / self.model.n_layers * 100

    def sign_changes(self) -> list[curves.SignChange]:
        """Return the layers at which r changes its sign."""
        return curves.sign_changes(self.r(), self.model.n_layers)


def curve_of_size(row: Entry) -> Rules:
    """The extremes of a model's curve, its end and its changes of sign."""
    curve = SizeCurve(row)
    return {
        "n_layers": Rule(lambda: curve.n_layers, "the blocks of the model"),
        "max_pos_r": Rule(lambda: max(curve.r().values()), "the largest r of the curve"),
        "max_pos_layer": Rule(curve.peak, "the layer of the largest r"),
        "max_pos_pct": Rule(curve.peak_pct, "depth of the largest r, percent of the blocks"),
        "max_neg_r": Rule(lambda: min(curve.r().values()), "the smallest r of the curve"),
        "max_neg_layer": Rule(lambda: curve.peak(min), "the layer of the smallest r"),
        "max_neg_pct": Rule(
            lambda: curve.peak_pct(min), "depth of the smallest r, percent of the blocks"
        ),
        "final_r": curve.last_r,
        "sign_changes": curve.sign_changes,
        "n_sign_changes": Rule(lambda: len(curve.sign_changes()), "how often r changes its sign"),
    }


def peak_stability(results: Entry) -> Rules:
    """The relative depths of the peaks of the models' curves."""

    def std() -> float:
        return float(np.std(depths()))

    def depths() -> list[float]:
        return [SizeCurve(row).peak_pct() for row in results.summary]

    return {
        "peak_analysis/mean_peak_pct": Rule(
            lambda: np.mean(depths()), "mean depth of the peaks, percent"
        ),
        "peak_analysis/std_peak_pct": Rule(
            std, "population SD of the depths of the peaks, percent"
        ),
        "peak_analysis/peaks_stable": Rule(
            lambda: std() < STABLE_STD_PCT,
            "whether the SD of the depths of the peaks is under ten percent of depth",
        ),
    }


def family_of_print(results: Entry) -> Rules:
    """The peaks as the notebook has them, and the model with the strongest r as Paper 2 has it."""

    def strongest_mid_model(size: Callable[[float], float] = float) -> str:
        """Return the model with the largest r (or a function of it) at 20 to 50% of depth."""

        def largest(row: Entry) -> float:
            curve = SizeCurve(row)
            first, last = int(0.2 * curve.n_layers), curve.n_layers // 2
            return max(size(r) for layer, r in curve.r().items() if first <= layer <= last)

        return str(max(results.summary, key=largest).model)

    return {
        **peak_stability(results),
        "strongest_positive_mid": Rule(
            strongest_mid_model, "the model with the largest r at 20 to 50% of depth"
        ),
        "strongest_mid": Rule(
            lambda: strongest_mid_model(abs),
            "the model with the largest |r| at 20 to 50% of depth",
        ),
    }


def drawn_ends(results: Entry) -> Rules:
    """The statement of a figure of several models."""

    def last_r() -> list[float]:
        return [SizeCurve(row).last_r() for row in results.summary]

    return {
        "drawn/n_models": Rule(lambda: len(last_r()), "the models"),
        "drawn/n_negative_at_end": Rule(
            lambda: sum(r < 0 for r in last_r()), "the models with a negative r at the end"
        ),
    }


def layer_test(test: Entry) -> Rules:
    """The test of r over the categories at one layer."""
    return {
        "p_value": Rule(
            lambda: p_over_categories(test, test.correlation),
            "two-sided p of r over the categories",
        )
    }


READER = Document(SCALING, {"": peak_stability, "summary/*": curve_of_size})
DOCUMENTS = {
    "family": Document(
        SCALING,
        {
            "": family_of_print,
            "summary/*": curve_of_size,
            "models/*/layer_results/*": layer_test,
            "models/Pythia-6.9B/layer_results/32": partial(
                last_layer, "pythia-6p9b", "correlation"
            ),
            "models/Pythia-12B/layer_results/36": partial(last_layer, "pythia-12b", "correlation"),
        },
    )
}


def compare_curves(layers: Mapping[str, JsonObject]) -> JsonObject:
    """Return the document of several readers' models, from their `layers` documents by name."""
    return derive({"": READER}, evidence_of_readers(layers)).whole()[""]


def evidence_of_readers(layers: Mapping[str, JsonObject]) -> Evidence:
    """Return the curves of several readers' models in the form of the published file."""
    if not layers:
        raise LayerwiseError("scaling compares models, found none; name at least one")
    models = {display: _curve_of(display, document) for display, document in layers.items()}
    question = {"research_question": "Does the layer correlation peak shift with model size?"}
    rows = [{"model": display} for display in models]
    cells = tables_of_reader({SCALING: {**question, "models": models, "summary": rows}})
    nothing_is_drawn = Draws(N_RESAMPLES, LEVEL, SEED)
    return Evidence(cells, nothing_is_drawn)


def _curve_of(display: str, document: JsonObject) -> JsonObject:
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
