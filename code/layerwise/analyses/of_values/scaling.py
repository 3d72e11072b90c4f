"""Does the peak of the layer curve move with model size? (notebook 002)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from layerwise.errors import LayerwiseError
from layerwise.statistics import curves

PREFIX = "layer_"


def analyse(documents: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Document with the keys of the published scaling file, from the `layers` documents by name.

    Raises:
        LayerwiseError: if there is no document, or one has no layer.
    """
    models: dict[str, dict[str, Any]] = {}
    for display, document in documents.items():
        results = {
            name.removeprefix(PREFIX): {
                "correlation": entry["correlation"],
                "p_value": entry["p_value"],
            }
            for name, entry in document["strategies"].items()
            if name.startswith(PREFIX)
        }
        if not results:
            raise LayerwiseError(
                f"{display}: the layer document names no layer; run the analysis again"
            )
        models[display] = {
            "model_name": document["model"],
            "n_layers": document["n_layers"],
            "layer_results": dict(sorted(results.items(), key=lambda item: int(item[0]))),
        }
    return summarise(models)


def summarise(models: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The whole document from `{name: {model_name, n_layers, layer_results}}`.

    Raises:
        LayerwiseError: if there is no model.
    """
    if not models:
        raise LayerwiseError("scaling compares models, found none; name at least one")
    rows = []
    for display, model in models.items():
        layers = sorted(map(int, model["layer_results"]))
        r = [model["layer_results"][str(layer)]["correlation"] for layer in layers]
        rows.append(summarise_model(display, layers, r, model["n_layers"]))
    return {
        "research_question": "Does the layer correlation peak shift with model size?",
        "models": {display: dict(model) for display, model in models.items()},
        "summary": rows,
        "peak_analysis": peak_analysis([row["max_pos_pct"] for row in rows]),
    }


def summarise_model(
    display: str, layers: Sequence[int], correlations: Sequence[float], n_layers: int
) -> dict[str, Any]:
    """Peaks and sign changes of one curve; "positive" is the largest r, whatever its sign."""
    high, high_layer = curves.peak(layers, correlations, largest=True)
    low, low_layer = curves.peak(layers, correlations, largest=False)
    changes = curves.sign_changes(layers, correlations, n_layers)
    return {
        "model": display,
        "n_layers": int(n_layers),
        "max_pos_r": high,
        "max_pos_layer": high_layer,
        "max_pos_pct": curves.depth_pct(high_layer, n_layers),
        "max_neg_r": low,
        "max_neg_layer": low_layer,
        "max_neg_pct": curves.depth_pct(low_layer, n_layers),
        "final_r": float(correlations[list(layers).index(max(layers))]),
        "sign_changes": changes,
        "n_sign_changes": len(changes),
    }


def peak_analysis(peak_pcts: Sequence[float]) -> dict[str, Any]:
    """Mean and population SD of the peak depths in percent, and whether they stay in place."""
    return {
        "mean_peak_pct": float(np.mean(peak_pcts)),
        "std_peak_pct": float(np.std(peak_pcts)),
        "peaks_stable": curves.peaks_stable(peak_pcts),
    }
