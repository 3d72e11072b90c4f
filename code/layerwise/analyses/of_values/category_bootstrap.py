"""Bootstrap intervals of r over the categories, by layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from layerwise.analyses.categories import SERIES
from layerwise.measures.values import Values
from layerwise.statistics import rules
from layerwise.statistics.bootstrap import CorrelationInterval, correlation_intervals

PARAMETERS = ("n_resamples", "level", "seed")


def intervals(
    values: Values, *, n_resamples: int, level: float, seed: int
) -> dict[int, CorrelationInterval]:
    """Interval of each sampled layer, ascending, drawn from one stream.

    Raises:
        LayerwiseError: if the r of a layer does not exist.
    """
    preferences = values.category_preferences()
    series = [(values.asymmetries(f"layer_{layer}"), preferences) for layer in values.layers]
    found = correlation_intervals(
        series, np.random.RandomState(seed), n_resamples, level, names=SERIES
    )
    return dict(zip(values.layers, found, strict=True))


def analyse(
    values: Values, *, n_resamples: int = 10000, level: float = 0.95, seed: int = 42
) -> dict[str, Any]:
    """Document with the keys of the published bootstrap file.

    Raises:
        LayerwiseError: if the r of a layer does not exist.
    """
    found = intervals(values, n_resamples=n_resamples, level=level, seed=seed)
    results = {str(layer): interval.as_result() for layer, interval in found.items()}
    return {
        "model": values.model,
        "model_display": values.display,
        "n_categories": len(values.categories),
        "n_bootstrap": n_resamples,
        "ci_level": level,
        "layer_results": results,
        "summary": summarise(results, values.n_layers),
    }


def summarise(results: Mapping[str, Mapping[str, Any]], n_layers: int) -> dict[str, Any]:
    """Are mid layers stably positive, late layers stably negative?

    Mid layers lie between 20 and 50 percent of depth, late layers from 75 percent on; a layer is
    stable where its interval excludes zero.
    """
    r = {int(layer): result["r"] for layer, result in results.items()}
    ends = {
        int(layer): (result["ci_lower"], result["ci_upper"]) for layer, result in results.items()
    }
    first, last = rules.mid_range(n_layers)
    mid = [layer for layer in r if first <= layer <= last]
    late = [layer for layer in r if layer >= rules.late_from(n_layers)]
    return {
        "mid_layer_range": [first, last],
        "mid_layers_tested": mid,
        "any_mid_layer_stable": rules.some_stable(
            {layer: r[layer] for layer in mid}, ends, positive=True
        ),
        "late_layers_tested": late,
        "any_late_layer_stable": rules.some_stable(
            {layer: r[layer] for layer in late}, ends, positive=False
        ),
    }
