"""Correlation of UA and preference over random bins and over categories (notebook 000)."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, any_of, for_each_group
from layerwise.engine.evidence import Entry
from layerwise.papers.shared.names.models import SLUG
from layerwise.papers.shared.names.result_files import BINS, TYPED_INTERVALS, own_file
from layerwise.papers.shared.rules.categories import (
    OVER_CATEGORIES,
    ends,
    includes_zero,
    n_categories,
    total_pairs,
)
from layerwise.statistics import curves
from layerwise.statistics.correlation import MIN_POINTS, pearson_p
from layerwise.statistics.random_bins import stable_labels

CHANGES = {(True, False): "NOW SIGNIFICANT!", (False, True): "Lost significance"}  # held 0, holds


def n_bins(f: Entry) -> int:
    """Bins that hold two pairs or more."""
    k = int(f.role("bins").k_bins)
    labels = stable_labels(total_pairs(f), k, f.draws.seed)
    return int(np.sum(np.bincount(labels, minlength=k) >= 2))


def original(f: Entry) -> Entry:
    """The results over categories that the notebook compares with."""
    return f.role("intervals").original_results


def intervals(results: Entry, layers: Iterable[str | int]) -> dict[int, curves.Ends]:
    return {int(layer): ends(results[layer]) for layer in layers}


def intervals_over_categories(f: Entry) -> dict[int, curves.Ends]:
    """Intervals over categories."""
    return intervals(original(f), f.bootstrap_results)


def intervals_over_bins(f: Entry) -> dict[int, curves.Ends]:
    """Intervals over bins."""
    return intervals(f.bootstrap_results, f.bootstrap_results)


def mean_width(found: dict[int, curves.Ends]) -> float:
    return float(np.mean([high - low for low, high in found.values()]))


def width_reduction(original: dict[int, curves.Ends], new: dict[int, curves.Ends]) -> float | None:
    """How much narrower the new intervals are on average, percent of the original mean width.

    None where the original ones have no width, as over categories that are two points only.
    """
    if mean_width(original) == 0:
        return None
    return float((mean_width(original) - mean_width(new)) / mean_width(original) * 100)


def n_significant(found: dict[int, curves.Ends]) -> int:
    return sum(not curves.includes_zero(one) for one in found.values())


def some_mid_significant(f: Entry) -> bool:
    """Whether some mid layer that was sampled has an interval over bins without zero."""
    sampled = [layer for layer in curves.MID_LAYERS if str(layer) in f.bootstrap_results]
    return any_of(not includes_zero(f.bootstrap_results[layer]) for layer in sampled)


def change(both: tuple[Entry, Entry]) -> str:
    """What the bins do to the significance of a layer: intervals over categories, over bins."""
    over_categories, over_bins = map(includes_zero, both)
    return CHANGES.get((over_categories, over_bins), "No change")


def p_over_bins(m: Entry) -> float:
    """p of r over the bins; 1 where there are too few of them for an r, as published."""
    n = n_bins(m)
    return float(pearson_p(m.r, n)) if n >= MIN_POINTS else 1.0


def over_categories(f: Entry) -> dict[str, dict[str, Any]]:
    """The model's own intervals over categories, with the keys of a published interval."""
    given = ("r", "ci_lower", "ci_upper")
    return {
        layer: {name: found[name] for name in given}
        | {name: rule(found) for name, rule in OVER_CATEGORIES.items()}
        for layer, found in original(f).items()
    }


OF_LAYER: Rules = {
    "p_value": p_over_bins,
    "includes_zero": includes_zero,
    "n_bins": n_bins,
}
OF_MODEL: Rules = {
    "comparison/original_n": n_categories,
    "comparison/new_n": Rule(lambda f: int(f.k_bins), "the random bins"),
    "comparison/original_sig_layers": Rule(
        lambda f: n_significant(intervals_over_categories(f)),
        "the layers whose interval over the categories excludes zero",
    ),
    "comparison/new_sig_layers": Rule(
        lambda f: n_significant(intervals_over_bins(f)),
        "the layers whose interval over the bins excludes zero",
    ),
    "comparison/mid_layer_now_significant": some_mid_significant,
    "comparison/ci_width_reduction_pct": Rule(
        lambda f: width_reduction(intervals_over_categories(f), intervals_over_bins(f)),
        "how much narrower intervals over bins are on average, percent",
    ),
    "change": for_each_group(
        lambda f: {n: (original(f)[n], of) for n, of in f.bootstrap_results.items()}, change
    ),
    "widths/mean_width_n6": Rule(
        lambda f: mean_width(intervals_over_categories(f)),
        "mean width of the intervals over the categories",
    ),
    "widths/mean_width_n20": Rule(
        lambda f: mean_width(intervals_over_bins(f)), "mean width of the intervals over the bins"
    ),
}
DOCUMENTS = {
    SLUG: Document(
        BINS,
        {"": OF_MODEL, "bootstrap_results/*": OF_LAYER},
        places={"": (BINS, ""), "/original_results": (TYPED_INTERVALS, "/original_results")},
    )
}
READER = Document(
    own_file("bins"),
    {"": {**OF_MODEL, "original_results": over_categories}, "bootstrap_results/*": OF_LAYER},
)
