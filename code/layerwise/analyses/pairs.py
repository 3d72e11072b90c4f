"""Pair metrics against preference (pair-level notebook)."""

from __future__ import annotations

from layerwise.analyses.documents import SLUG, Draws, Replay, includes_zero, p_value, total_pairs
from layerwise.analyses.of_values import pairs
from layerwise.inputs.published import pointer
from layerwise.statistics import rules

PAIRS = "Results/pythia/option_b_pair_level_20260102_142148.json"
COUNTED = {  # the layers a count looks at, where it is not all of them
    "mid_layer_significant": [str(layer) for layer in rules.MID_LAYERS],
    "late_layer_significant": [str(layer) for layer in rules.LATE_LAYERS],
}


def derive(work: Replay, draws: Draws) -> None:
    """p values, flags, the best metric per layer and the counts of significant tests."""
    published = work.published
    given = published.document(PAIRS)
    layers = list(given["results"])
    metrics = list(given["results"][layers[0]])  # names, also where nothing was measured
    work.start(SLUG, given, {"": (PAIRS, "")})

    def ends(layer: str) -> dict[str, dict[str, float]]:
        return {
            metric: {
                end: published.number(PAIRS, pointer("results", layer, metric, end))
                for end in ("ci_lower", "ci_upper")
            }
            for metric in metrics
        }

    def strongest(layer: str) -> str:
        keys = {metric: pointer("results", layer, metric, "r") for metric in metrics}
        return pairs.strongest({m: published.number(PAIRS, key) for m, key in keys.items()})

    def best_r(layer: str) -> float:
        return published.number(PAIRS, pointer("results", layer, strongest(layer), "r"))

    def best_excludes_zero(layer: str) -> bool:
        return not includes_zero(published, PAIRS, pointer("results", layer, strongest(layer)))

    def count(name: str) -> int:
        counted = COUNTED.get(name, layers)
        return pairs.summarise({layer: ends(layer) for layer in counted})[name]

    for row, layer in enumerate(layers):
        for metric in metrics:
            key = pointer("results", layer, metric)
            work.derive(SLUG, f"{key}/p_value", p_value, published, PAIRS, f"{key}/r", total_pairs)
            work.derive(SLUG, f"{key}/includes_zero", includes_zero, published, PAIRS, key)
        best = pointer("best_per_layer", row)
        work.derive(SLUG, f"{best}/layer", int, layer)
        work.derive(SLUG, f"{best}/best_metric", strongest, layer)
        work.derive(SLUG, f"{best}/r", best_r, layer)
        work.derive(SLUG, f"{best}/excludes_zero", best_excludes_zero, layer)
    for name in given["summary"]:
        work.derive(SLUG, pointer("summary", name), count, name)
