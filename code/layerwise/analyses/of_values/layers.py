"""r of UA and preference over the categories, by layer and by pooling (notebook 001)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from layerwise.analyses.categories import SERIES
from layerwise.measures.values import POOLED, Values
from layerwise.statistics import curves
from layerwise.statistics.correlation import pearson_p, pearson_r

PARAMETERS = ()
PREFIX = "layer_"


def analyse(values: Values) -> dict[str, Any]:
    """Document with the keys of the published layer file, values per category and a summary.

    A token reading in which all statements share one vector (the first token, where the
    tokenizer adds a BOS) has no r: its correlation and p_value are None.

    Raises:
        LayerwiseError: if the r of a mean-pooled reading does not exist.
    """
    preferences = values.category_preferences()
    strategies: dict[str, dict[str, Any]] = {}
    for name in (*POOLED, *(f"{PREFIX}{layer}" for layer in values.layers)):
        asymmetries = values.asymmetries(name)
        r = None
        if name not in POOLED[1:] or not values.all_identical(name):
            r = pearson_r(asymmetries, preferences, (f"{SERIES[0]} ({name})", SERIES[1]))
        strategies[name] = {
            "correlation": r,
            "p_value": None if r is None else float(pearson_p(r, len(preferences))),
            "category_uas": asymmetries.tolist(),
            "category_prefs": preferences.tolist(),
        }
    return {
        "model": values.model,
        "model_display": values.display,
        "n_layers": values.n_layers,
        "strategies": strategies,
        "summary": summary(
            {name: entry["correlation"] for name, entry in strategies.items()}, values.n_layers
        ),
    }


def summary(correlations: Mapping[str, float | None], n_layers: int) -> dict[str, Any]:
    """Words for every r, sign changes along the layers, and what pooling does."""
    curve = {
        int(name.removeprefix(PREFIX)): r
        for name, r in correlations.items()
        if name.startswith(PREFIX) and r is not None
    }
    mean, last = correlations["mean_pooled"], correlations["last_token"]
    return {
        "bands": {name: None if r is None else curves.band(r) for name, r in correlations.items()},
        "sign_changes": curves.sign_changes(list(curve), list(curve.values()), n_layers),
        "no_sign_change": curves.no_sign_change(list(curve.values())),
        "pooling_verdict": (
            None if mean is None or last is None else curves.pooling_verdict(mean, last)
        ),
    }
