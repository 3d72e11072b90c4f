"""Correlation of UA and preference over random bins and over categories (notebook 000)."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, any_of, for_each_group
from layerwise.engine.evidence import Entry
from layerwise.papers.shared.names.models import SLUG
from layerwise.papers.shared.names.result_files import BINS, TYPED_INTERVALS, own_file
from layerwise.papers.shared.rules.categories import (
    CATEGORY_TESTS,
    ends,
    includes_zero,
    n_categories,
    total_pairs,
)
from layerwise.statistics import curves
from layerwise.statistics.correlation import MIN_POINTS, pearson_p
from layerwise.statistics.random_bins import stable_labels

CHANGES = {(True, False): "NOW SIGNIFICANT!", (False, True): "Lost significance"}  # held 0, holds


def n_bins(results: Entry) -> int:
    """Return the number of bins that hold two pairs or more."""
    k = int(results.role("bins").k_bins)
    labels = stable_labels(total_pairs(results), k, results.draws.seed)
    return int(np.sum(np.bincount(labels, minlength=k) >= 2))


def original_results(results: Entry) -> Entry:
    """Return the results over categories that the notebook compares with."""
    return results.role("intervals").original_results


def intervals_by_layer(results: Entry, layers: Iterable[str | int]) -> dict[int, curves.Ends]:
    """Return the ends of the intervals of these layers."""
    return {int(layer): ends(results[layer]) for layer in layers}


def intervals_over_categories(results: Entry) -> dict[int, curves.Ends]:
    """Return the intervals of r over the categories, by layer."""
    return intervals_by_layer(original_results(results), results.bootstrap_results)


def intervals_over_bins(results: Entry) -> dict[int, curves.Ends]:
    """Return the intervals of r over the bins, by layer."""
    return intervals_by_layer(results.bootstrap_results, results.bootstrap_results)


def mean_width(intervals: dict[int, curves.Ends]) -> float:
    """Return the mean width of intervals."""
    return float(np.mean([high - low for low, high in intervals.values()]))


def width_reduction(original: dict[int, curves.Ends], new: dict[int, curves.Ends]) -> float | None:
    """Return how much narrower the new intervals are, percent of the original mean width.

    None where the original ones have no width, as over two categories.
    """
    if mean_width(original) == 0:
        return None
    return float((mean_width(original) - mean_width(new)) / mean_width(original) * 100)


def n_significant(intervals: dict[int, curves.Ends]) -> int:
    """Return the number of intervals that exclude zero."""
    return sum(not curves.includes_zero(interval) for interval in intervals.values())


def has_significant_mid_layer(results: Entry) -> bool:
    """Return whether some sampled mid layer has an interval over bins that excludes zero."""
    sampled = [layer for layer in curves.MID_LAYERS if str(layer) in results.bootstrap_results]
    return any_of(not includes_zero(results.bootstrap_results[layer]) for layer in sampled)


def change_of_significance(tests: tuple[Entry, Entry]) -> str:
    """Say how significance changes from a layer's interval over categories to that over bins."""
    over_categories, over_bins = map(includes_zero, tests)
    return CHANGES.get((over_categories, over_bins), "No change")


def p_over_bins(test: Entry) -> float:
    """Return p of r over the bins; 1 where they are too few for an r, as published."""
    n = n_bins(test)
    return float(pearson_p(test.r, n)) if n >= MIN_POINTS else 1.0


def own_original_results(results: Entry) -> dict[str, dict[str, Any]]:
    """Return a reader's intervals over categories, with the keys of a published interval."""
    given = ("r", "ci_lower", "ci_upper")
    return {
        layer: {name: test[name] for name in given}
        | {name: rule(test) for name, rule in CATEGORY_TESTS.items()}
        for layer, test in original_results(results).items()
    }


LAYER_RULES: Rules = {
    "p_value": p_over_bins,
    "includes_zero": includes_zero,
    "n_bins": n_bins,
}
MODEL_RULES: Rules = {
    "comparison/original_n": n_categories,
    "comparison/new_n": Rule(lambda results: int(results.k_bins), "the random bins"),
    "comparison/original_sig_layers": Rule(
        lambda results: n_significant(intervals_over_categories(results)),
        "the layers whose interval over the categories excludes zero",
    ),
    "comparison/new_sig_layers": Rule(
        lambda results: n_significant(intervals_over_bins(results)),
        "the layers whose interval over the bins excludes zero",
    ),
    "comparison/mid_layer_now_significant": has_significant_mid_layer,
    "comparison/ci_width_reduction_pct": Rule(
        lambda results: width_reduction(
            intervals_over_categories(results), intervals_over_bins(results)
        ),
        "how much narrower intervals over bins are on average, percent",
    ),
    "change": for_each_group(
        lambda results: {
            n: (original_results(results)[n], test) for n, test in results.bootstrap_results.items()
        },
        change_of_significance,
    ),
    "widths/mean_width_n6": Rule(
        lambda results: mean_width(intervals_over_categories(results)),
        "mean width of the intervals over the categories",
    ),
    "widths/mean_width_n20": Rule(
        lambda results: mean_width(intervals_over_bins(results)),
        "mean width of the intervals over the bins",
    ),
}
DOCUMENTS = {
    SLUG: Document(
        BINS,
        {"": MODEL_RULES, "bootstrap_results/*": LAYER_RULES},
        places={"": (BINS, ""), "/original_results": (TYPED_INTERVALS, "/original_results")},
    )
}
READER = Document(
    own_file("bins"),
    {
        "": {**MODEL_RULES, "original_results": own_original_results},
        "bootstrap_results/*": LAYER_RULES,
    },
)
