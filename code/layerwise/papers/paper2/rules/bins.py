"""Correlation of UA and preference over random bins and over categories (notebook 000)."""

from functools import partial
from typing import Any

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, any_of
from layerwise.engine.evidence import Entry
from layerwise.papers.shared.names import SLUG
from layerwise.papers.shared.result_files import BINS, TYPED_INTERVALS, own_file
from layerwise.papers.shared.rules import (
    category_test,
    ends,
    includes_zero,
    n_categories,
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
    """What a layer's test over the bins says."""
    return {
        "p_value": partial(p_over_bins, test),
        "includes_zero": partial(includes_zero, test),
        "n_bins": partial(n_bins, test),
    }


def comparison(results: Entry) -> Rules:
    """Intervals of r over the bins beside those over the categories, layer by layer."""

    def original_results() -> Entry:
        return results.role("intervals").original_results

    def over_categories() -> list[curves.Ends]:
        return [ends(original_results()[layer]) for layer in results.bootstrap_results]

    def over_bins() -> list[curves.Ends]:
        return [ends(test) for test in results.bootstrap_results.values()]

    def n_significant(intervals: list[curves.Ends]) -> int:
        return sum(not curves.includes_zero(interval) for interval in intervals)

    def mean_width(intervals: list[curves.Ends]) -> float:
        return float(np.mean([high - low for low, high in intervals]))

    def width_reduction() -> float | None:
        """Return a percent; None where the original have no width, as over two categories."""
        before, after = mean_width(over_categories()), mean_width(over_bins())
        return None if before == 0 else (before - after) / before * 100

    def has_significant_mid_layer() -> bool:
        tests = results.bootstrap_results
        sampled = [layer for layer in curves.MID_LAYERS if str(layer) in tests]
        return any_of(not includes_zero(tests[layer]) for layer in sampled)

    def change_of_significance(before: Entry, after: Entry) -> str:
        return CHANGES.get((includes_zero(before), includes_zero(after)), "No change")

    def changes() -> Rules:
        before = original_results()
        return {
            layer: partial(change_of_significance, before[layer], test)
            for layer, test in results.bootstrap_results.items()
        }

    return {
        "comparison/original_n": partial(n_categories, results),
        "comparison/new_n": Rule(lambda: int(results.k_bins), "the random bins"),
        "comparison/original_sig_layers": Rule(
            lambda: n_significant(over_categories()),
            "the layers whose interval over the categories excludes zero",
        ),
        "comparison/new_sig_layers": Rule(
            lambda: n_significant(over_bins()),
            "the layers whose interval over the bins excludes zero",
        ),
        "comparison/mid_layer_now_significant": Rule(
            has_significant_mid_layer,
            "whether some sampled mid layer has an interval over bins that excludes zero",
        ),
        "comparison/ci_width_reduction_pct": Rule(
            width_reduction, "how much narrower intervals over bins are on average, percent"
        ),
        "change": Rule(
            changes,
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

    def original_results() -> dict[str, dict[str, Any]]:
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
