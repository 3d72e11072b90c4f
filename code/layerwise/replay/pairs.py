"""Pair metrics against preference (pair-level notebook)."""

from __future__ import annotations

from typing import Any

from layerwise.analyses import pairs
from layerwise.published import pointer
from layerwise.replay.documents import SLUG, Draws, Replay, includes_zero, p_value, total_pairs

PAIRS = "Results/pythia/option_b_pair_level_20260102_142148.json"


def derive(work: Replay, draws: Draws) -> None:
    """p values, flags, the best metric per layer and the counts of significant tests."""
    published = work.published
    given = published.document(PAIRS)
    metrics, layers = given["metrics_tested"], list(given["results"])
    work.start(SLUG, given)

    def results_of(layer: str) -> dict[str, dict[str, float]]:
        return {
            metric: {
                name: published.number(PAIRS, pointer("results", layer, metric, name))
                for name in ("r", "ci_lower", "ci_upper")
            }
            for metric in metrics
        }

    def best(layer: str) -> dict[str, Any]:
        return pairs.best_metric(int(layer), results_of(layer))

    def count(name: str) -> int:
        return pairs.summarise({layer: results_of(layer) for layer in layers})[name]

    for row, layer in enumerate(layers):
        for metric in metrics:
            key = pointer("results", layer, metric)
            work.derive(SLUG, f"{key}/p_value", p_value, published, PAIRS, f"{key}/r", total_pairs)
            work.derive(SLUG, f"{key}/includes_zero", includes_zero, published, PAIRS, key)
        work.derive(SLUG, pointer("best_per_layer", row), best, layer)
    for name in given["summary"]:
        work.derive(SLUG, pointer("summary", name), count, name)
