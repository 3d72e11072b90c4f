"""r of pair-level measures and preference over all pairs, by layer (option B of Paper 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from layerwise.measures.pairwise import METRICS
from layerwise.measures.values import Values
from layerwise.statistics import rules
from layerwise.statistics.bootstrap import CorrelationInterval, correlation_interval

PARAMETERS = ("n_resamples", "level", "seed")

Result = Mapping[str, Any]


def analyse(
    values: Values, *, n_resamples: int = 10000, level: float = 0.95, seed: int = 42
) -> dict[str, Any]:
    """Document with the keys of the published pair-level file.

    Intervals are drawn from one stream: layers ascending, within a layer the measures in order.

    Raises:
        LayerwiseError: if the r of a measure does not exist.
    """
    stream = np.random.RandomState(seed)
    found = intervals(values, tuple(METRICS), stream, n_resamples=n_resamples, level=level)
    results = {
        str(layer): {metric: interval.as_result() for metric, interval in of_layer.items()}
        for layer, of_layer in found.items()
    }
    return {
        "model": values.model,
        "model_display": values.display,
        "method": "Option B: Pair-Level Analysis (EXPERIMENTAL)",
        "n_pairs": values.n_pairs,
        "n_bootstrap": n_resamples,
        "metrics_tested": list(METRICS),
        "results": results,
        "best_per_layer": [best_metric(int(layer), found) for layer, found in results.items()],
        "summary": summarise(results),
        "caveat": "Pair-level metrics are not category-level UA: read them differently.",
    }


def intervals(
    values: Values,
    metrics: Sequence[str],
    stream: np.random.RandomState,
    *,
    n_resamples: int,
    level: float,
) -> dict[int, dict[str, CorrelationInterval]]:
    """{layer: {measure: r and interval}}; the stream runs on, layers ascending, measures as given.

    Raises:
        LayerwiseError: if the r of a measure does not exist.
    """
    return {
        layer: {
            metric: correlation_interval(
                values.pair_metrics[row, list(METRICS).index(metric)],
                values.preferences,
                stream,
                n_resamples,
                level,
                names=(f"{metric} at layer {layer}", "the preference of the pairs"),
            )
            for metric in metrics
        }
        for row, layer in enumerate(values.layers)
    }


def best_metric(layer: int, results: Mapping[str, Result]) -> dict[str, Any]:
    """The measure with the largest |r|, the first of equals, significant or not."""
    best = strongest({metric: result["r"] for metric, result in results.items()})
    found = results[best]
    return {
        "layer": int(layer),
        "best_metric": best,
        "r": found["r"],
        "excludes_zero": _excludes_zero(found),
    }


def strongest(correlations: Mapping[str, float]) -> str:
    """The measure with the largest |r|, the first of equals."""
    return max(correlations, key=lambda metric: abs(correlations[metric]))


def summarise(results: Mapping[str, Mapping[str, Result]]) -> dict[str, int]:
    """Counts of tests whose interval excludes zero; mid is layers 8 and 12, late 28 and 32."""

    def significant(layers: tuple[int, ...] | None) -> int:
        return sum(
            _excludes_zero(result)
            for layer, found in results.items()
            if layers is None or int(layer) in layers
            for result in found.values()
        )

    return {
        "total_tests": sum(len(found) for found in results.values()),
        "significant_tests": significant(None),
        "mid_layer_significant": significant(rules.MID_LAYERS),
        "late_layer_significant": significant(rules.LATE_LAYERS),
    }


def _excludes_zero(result: Result) -> bool:
    return not rules.includes_zero((result["ci_lower"], result["ci_upper"]))
