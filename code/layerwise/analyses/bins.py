"""Random bins against categories (notebook 000)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from layerwise.analyses.category_bootstrap import BOOTSTRAP
from layerwise.analyses.documents import (
    SLUG,
    Draws,
    Replay,
    includes_zero,
    interval,
    n_categories,
    p_value,
    total_pairs,
)
from layerwise.inputs.published import Published, pointer
from layerwise.statistics import rules
from layerwise.statistics.random_bins import stable_labels

BINS = "Results/pythia/option_a_bins_20260102_140002.json"
TYPED = "notebook 000"  # its n = 6 table was typed by hand, with two decimals


def derive(work: Replay, draws: Draws) -> None:
    """p values, flags and the comparison with n = 6, which the notebook makes with its table."""
    published = work.published
    given = published.document(BINS)
    sampled = [int(layer) for layer in given["bootstrap_results"]]
    typed = published.document(TYPED)["original_results"]
    origins = {"": (BINS, ""), "/original_results": (TYPED, "/original_results")}
    work.start(SLUG, {**given, "original_results": typed}, origins)

    def n_bins(published: Published) -> int:
        k = int(published.number(BINS, "/k_bins"))
        labels = stable_labels(total_pairs(published), k, draws.seed)
        return int(np.sum(np.bincount(labels, minlength=k) >= 2))

    for layer in sampled:
        key = pointer("bootstrap_results", layer)
        work.derive(SLUG, f"{key}/p_value", p_value, published, BINS, f"{key}/r", n_bins)
        work.derive(SLUG, f"{key}/includes_zero", includes_zero, published, BINS, key)
        work.derive(SLUG, f"{key}/n_bins", n_bins, published)
    for key, compute in _comparison(published, sampled).items():
        work.derive(SLUG, key, compute)


def _comparison(published: Published, sampled: list[int]) -> dict[str, Callable[[], Any]]:
    def intervals(file: str, group: str) -> dict[int, rules.Ends]:
        return {layer: interval(published, file, pointer(group, layer)) for layer in sampled}

    def original() -> dict[int, rules.Ends]:
        return intervals(TYPED, "original_results")

    def new() -> dict[int, rules.Ends]:
        return intervals(BINS, "bootstrap_results")

    def change(layer: int) -> Callable[[], str]:
        before, after = pointer("original_results", layer), pointer("bootstrap_results", layer)
        return lambda: rules.change(
            interval(published, TYPED, before), interval(published, BINS, after)
        )

    statistics: dict[str, Callable[[], Any]] = {
        "/comparison/original_n": lambda: n_categories(published),
        "/comparison/new_n": lambda: int(published.number(BINS, "/k_bins")),
        "/comparison/original_sig_layers": lambda: rules.count_significant(original()),
        "/comparison/new_sig_layers": lambda: rules.count_significant(new()),
        "/comparison/mid_layer_now_significant": lambda: rules.mid_layer_significant(
            {
                layer: interval(published, BINS, pointer("bootstrap_results", layer))
                for layer in rules.MID_LAYERS
            }
        ),
        "/comparison/ci_width_reduction_pct": lambda: rules.width_reduction(original(), new()),
        "/widths/mean_width_n6": lambda: rules.mean_width(original()),
        "/widths/mean_width_n20": lambda: rules.mean_width(new()),
        "/widths/reduction_from_full_precision_pct": lambda: rules.width_reduction(
            intervals(BOOTSTRAP, "layer_results"), new()
        ),
    }
    return statistics | {pointer("change", layer): change(layer) for layer in sampled}
