"""r of UA and preference over random bins instead of categories (notebook 000)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from layerwise.analyses.of_values import category_bootstrap
from layerwise.measures.values import Values
from layerwise.statistics import rules
from layerwise.statistics.bootstrap import CorrelationInterval, advance, correlation_interval
from layerwise.statistics.random_bins import sweep

PARAMETERS = ("n_resamples", "level", "seed")
SERIES = ("the asymmetry of the bins", "the preference of the bins")


def analyse(
    values: Values, *, n_resamples: int = 10000, level: float = 0.95, seed: int = 42
) -> dict[str, Any]:
    """Document with the keys of the published bins file, the sweep over k and the changes.

    The comparison is with this model's own intervals over categories.

    Raises:
        LayerwiseError: if the r of a layer does not exist.
    """
    settings: dict[str, Any] = {"n_resamples": n_resamples, "level": level, "seed": seed}
    by_category = category_bootstrap.intervals(values, **settings)
    by_bins = intervals(values, **settings)
    n_bins = int(np.sum(np.isfinite(values.stable_preference)))
    original, new = (
        {layer: (interval.low, interval.high) for layer, interval in found.items()}
        for found in (by_category, by_bins)
    )
    return {
        "model": values.model,
        "model_display": values.display,
        "method": "Option A: Random Bins (same metric)",
        "k_bins": values.k_stable,
        "n_bootstrap": n_resamples,
        "n_permutations": values.n_permutations,
        "bootstrap_results": {
            str(layer): {**interval.as_result(), "n_bins": n_bins}
            for layer, interval in by_bins.items()
        },
        "original_results": {
            str(layer): interval.as_result() for layer, interval in by_category.items()
        },
        "comparison": compare(original, new, len(values.categories), values.k_stable),
        "results_by_k": sweeps(values),
        "change": {str(layer): rules.change(original[layer], new[layer]) for layer in original},
        "widths": {
            "mean_width_n6": rules.mean_width(original),
            "mean_width_n20": rules.mean_width(new),
        },
    }


def intervals(
    values: Values, *, n_resamples: int, level: float, seed: int
) -> dict[int, CorrelationInterval]:
    """Interval of each layer over the stable bins; the stream first drew those bins.

    With under three bins or 100 usable resamples: the notebook's whole range.

    Raises:
        LayerwiseError: if the r of a layer does not exist.
    """
    stream = np.random.RandomState(seed)
    advance(stream, values.k_stable, values.n_pairs)
    kept = np.isfinite(values.stable_preference)
    return {
        layer: correlation_interval(
            values.stable_asymmetry[row, kept],
            values.stable_preference[kept],
            stream,
            n_resamples,
            level,
            names=SERIES,
            whole_range_if_scarce=True,
        )
        for row, layer in enumerate(values.layers)
    }


def sweeps(values: Values) -> dict[str, dict[str, dict[str, float | int]]]:
    """{k: {layer: r and p averaged over the binnings}}."""
    return {
        str(k): {
            str(layer): dataclasses.asdict(
                sweep(values.bin_asymmetry[k][row], values.bin_preference[k][row])
            )
            for row, layer in enumerate(values.layers)
        }
        for k in values.k_values
    }


def compare(
    original: Mapping[int, rules.Ends], new: Mapping[int, rules.Ends], original_n: int, new_n: int
) -> dict[str, Any]:
    """Intervals over categories against intervals over bins, by layer."""
    return {
        "original_n": original_n,
        "new_n": new_n,
        "original_sig_layers": rules.count_significant(original),
        "new_sig_layers": rules.count_significant(new),
        "mid_layer_now_significant": rules.mid_layer_significant(new),
        "ci_width_reduction_pct": rules.width_reduction(original, new),
    }
