"""Correlation of UA and preference over random bins and over categories (notebook 000)."""

from functools import partial

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, any_of
from layerwise.engine.evidence import Entry
from layerwise.files import JsonObject
from layerwise.papers.shared.names import SLUG
from layerwise.papers.shared.result_files import BINS, TYPED_INTERVALS, own_file
from layerwise.papers.shared.rules import (
    category_test,
    covers_zero,
    n_categories,
    read_ends,
    total_pairs,
)
from layerwise.statistics import curves
from layerwise.statistics.correlation import pearson_p
from layerwise.statistics.random_bins import stable_labels
from layerwise.statistics.sizes import MIN_POINTS

CHANGES = {(True, False): "NOW SIGNIFICANT!", (False, True): "Lost significance"}  # held 0, holds


def n_bins(results: Entry) -> int:
    """Return the number of bins that hold two pairs or more."""
    k = int(results.role("bins").k_bins)
    labels = stable_labels(total_pairs(results), k, results.draws.seed)
    return int(np.sum(np.bincount(labels, minlength=k) >= 2))


def p_over_bins(test: Entry) -> float:
    """Return p of r over the bins; 1 where they are too few for an r, as published."""
    n = n_bins(test)
    return float(pearson_p(test.r, n)) if n >= MIN_POINTS else 1.0


def bin_test(test: Entry) -> Rules:
    """The test of a layer over the bins."""
    return {
        "p_value": partial(p_over_bins, test),
        "includes_zero": partial(covers_zero, test),
        "n_bins": partial(n_bins, test),
    }


def intervals_over_categories(results: Entry) -> list[curves.Ends]:
    """Return the intervals over the categories of the layers that were tested over the bins."""
    original = results.role("intervals").original_results
    return [read_ends(original[layer]) for layer in results.bootstrap_results]


def intervals_over_bins(results: Entry) -> list[curves.Ends]:
    """Return the intervals over the bins, layer by layer."""
    return [read_ends(test) for test in results.bootstrap_results.values()]


def count_significant(intervals: list[curves.Ends]) -> int:
    """Return how many intervals exclude zero."""
    return sum(not curves.includes_zero(interval) for interval in intervals)


def mean_width(intervals: list[curves.Ends]) -> float:
    """Return the mean width of intervals."""
    return float(np.mean([high - low for low, high in intervals]))


def width_reduction(results: Entry) -> float | None:
    """Return how much narrower intervals over bins are on average, percent.

    None where those over the categories have no width, as over two of them.
    """
    before = mean_width(intervals_over_categories(results))
    after = mean_width(intervals_over_bins(results))
    return None if before == 0 else (before - after) / before * 100


def changes_of_significance(results: Entry) -> Rules:
    """The change from a layer's interval over categories to that over bins, in words."""
    original = results.role("intervals").original_results

    def change(before: Entry, after: Entry) -> str:
        return CHANGES.get((covers_zero(before), covers_zero(after)), "No change")

    return {
        layer: partial(change, original[layer], test)
        for layer, test in results.bootstrap_results.items()
    }


def comparison(results: Entry) -> Rules:
    """Intervals of r over the bins beside those over the categories, layer by layer."""
    over_categories = partial(intervals_over_categories, results)
    over_bins = partial(intervals_over_bins, results)

    def has_significant_mid_layer() -> bool:
        """Return whether some sampled mid layer has an interval over bins that excludes zero."""
        tests = results.bootstrap_results
        sampled = [layer for layer in curves.MID_LAYERS if str(layer) in tests]
        return any_of(not covers_zero(tests[layer]) for layer in sampled)

    return {
        "comparison/original_n": partial(n_categories, results),
        "comparison/new_n": Rule(lambda: int(results.k_bins), "the random bins"),
        "comparison/original_sig_layers": Rule(
            lambda: count_significant(over_categories()),
            "the layers whose interval over the categories excludes zero",
        ),
        "comparison/new_sig_layers": Rule(
            lambda: count_significant(over_bins()),
            "the layers whose interval over the bins excludes zero",
        ),
        "comparison/mid_layer_now_significant": has_significant_mid_layer,
        "comparison/ci_width_reduction_pct": partial(width_reduction, results),
        "change": Rule(
            lambda: changes_of_significance(results),
            "how significance changes from a layer's interval over categories to that over bins",
        ),
        "widths/mean_width_n6": Rule(
            lambda: mean_width(over_categories()), "mean width of the intervals over the categories"
        ),
        "widths/mean_width_n20": Rule(
            lambda: mean_width(over_bins()), "mean width of the intervals over the bins"
        ),
    }


def comparison_of_reader(results: Entry) -> Rules:
    """The comparison, with a reader's intervals over categories as print has them beside it."""

    def original_results() -> dict[str, JsonObject]:
        return {
            layer: {name: test[name] for name in ("r", "ci_lower", "ci_upper")}
            | {name: rule() for name, rule in category_test(test).items()}
            for layer, test in results.role("intervals").original_results.items()
        }

    says = "a reader's intervals over categories, with the keys of a published interval"
    return {**comparison(results), "original_results": Rule(original_results, says)}


DOCUMENTS = {
    SLUG: Document(
        BINS,
        {"": comparison, "bootstrap_results/*": bin_test},
        places={"": (BINS, ""), "/original_results": (TYPED_INTERVALS, "/original_results")},
    )
}
READER = Document(own_file("bins"), {"": comparison_of_reader, "bootstrap_results/*": bin_test})
