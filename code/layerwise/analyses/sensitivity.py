"""Which headline claims survive another choice, as far as published numbers can tell.

Only one choice can be made without the weights: to test all layers of a curve at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scipy import stats

from layerwise.analyses.category_bootstrap import BOOTSTRAP
from layerwise.analyses.documents import SLUG, Draws, Replay, interval, n_categories, total_pairs
from layerwise.analyses.of_values import sensitivity
from layerwise.analyses.pair_curves import CURVES, PairCurve
from layerwise.inputs.published import Published, pointer
from layerwise.statistics import phases
from layerwise.statistics.clusters import holm
from layerwise.statistics.correlation import pearson_p
from layerwise.statistics.rules import Ends
from layerwise.statistics.survival import Finding, compare

CHOICE = "multiplicity"
Rows = list[dict[str, Any]]


def derive(work: Replay, draws: Draws) -> None:
    """Rows of every curve of Paper 2, and the summary over the models."""
    published = work.published
    computed: dict[str, Callable[[], Rows]] = {
        slug: lambda slug=slug, curve=curve: _rows(published, slug, curve, draws.level)  # type: ignore[misc]
        for slug, curve in CURVES.items()
    }
    for slug, compute in computed.items():
        work.start(slug, {}, {})
        work.derive(slug, "/rows", compute)
    work.start("summary", {}, {})

    def summary(part: str) -> Rows:
        documents = {slug: {"rows": compute()} for slug, compute in computed.items()}
        return list(sensitivity.summarise(documents)[part])

    for part in ("rows", "models"):
        work.derive("summary", pointer(part), summary, part)


def _rows(published: Published, slug: str, curve: PairCurve, level: float) -> Rows:
    layers = curve.layers(published)
    late = phases.thirds_of_list(layers)["late"]
    n = total_pairs(published)
    r = curve.r(published, layers)
    ends = curve.intervals(published, late)
    lowest = min(late, key=lambda layer: ends[layer][1])
    smallest = min(late, key=lambda layer: r[layer])
    rows = [
        compare(
            "late_inversion",
            CHOICE,
            _as_published(r[lowest], ends[lowest], f"L{lowest}"),
            _at_once(r, smallest, n, level, f"L{smallest}"),
        )
    ]
    return rows + (_over_categories(published, level) if slug == SLUG else [])


def _over_categories(published: Published, level: float) -> Rows:
    layers = [int(layer) for layer in published.document(BOOTSTRAP)["layer_results"]]
    keys = {layer: pointer("layer_results", layer) for layer in layers}
    r = {layer: published.number(BOOTSTRAP, f"{key}/r") for layer, key in keys.items()}
    last = layers[-1]
    ends = interval(published, BOOTSTRAP, keys[last])
    return [
        compare(
            "category_inversion",
            CHOICE,
            _as_published(r[last], ends, f"{r[last]:+.2f}"),
            _at_once(r, last, n_categories(published), level, f"{r[last]:+.2f}"),
        )
    ]


def _as_published(r: float, ends: Ends, label: str) -> Finding:
    return Finding(r, r < 0 and ends[1] < 0, label, *ends)


def _at_once(r: Mapping[int, float], layer: int, n: int, level: float, label: str) -> Finding:
    """By Holm's p over all layers; Fisher's interval, wide enough to hold for all of them."""
    adjusted = dict(zip(r, holm([float(pearson_p(one, n)) for one in r.values()]), strict=True))
    alpha = 1 - level
    low, high = phases.fisher_interval(r[layer], n, float(stats.norm.isf(alpha / len(r) / 2)))
    return Finding(r[layer], r[layer] < 0 and adjusted[layer] < alpha, label, low, high)
