"""Intervals of r over the six categories (bootstrap-interval notebook)."""

from __future__ import annotations

from typing import Any

import numpy as np

from layerwise.analyses.documents import (
    N_LAYERS,
    SLUG,
    UA_FILES,
    Draws,
    Replay,
    asymmetries,
    includes_zero,
    n_categories,
    p_value,
    preferences,
    r_over_categories,
)
from layerwise.analyses.of_values import category_bootstrap
from layerwise.inputs.published import Published, pointer
from layerwise.statistics import rules
from layerwise.statistics.bootstrap import Interval, advance, correlation_interval

BOOTSTRAP = "Results/pythia/bootstrap_ci_20260102_132830.json"


def derive(work: Replay, draws: Draws) -> None:
    """p values, flags and regimes; r and interval of the last layer, replayed from its stream."""
    published = work.published
    given = published.document(BOOTSTRAP)
    work.start(SLUG, given, {"": (BOOTSTRAP, "")})
    sampled = [int(layer) for layer in given["layer_results"]]
    for layer in sampled:
        key = pointer("layer_results", layer)
        work.derive(SLUG, f"{key}/p_value", p_value, published, BOOTSTRAP, f"{key}/r", n_categories)
        work.derive(SLUG, f"{key}/includes_zero", includes_zero, published, BOOTSTRAP, key)

    def last_layer() -> Interval:
        return _last_layer_interval(published, len(sampled) - 1, draws)

    last = pointer("layer_results", N_LAYERS)
    work.derive(SLUG, f"{last}/r", r_over_categories, published, UA_FILES[SLUG])
    work.derive(SLUG, f"{last}/ci_lower", lambda: last_layer().low)
    work.derive(SLUG, f"{last}/ci_upper", lambda: last_layer().high)

    first, end_of_mid = rules.mid_range(N_LAYERS)
    mid = [layer for layer in sampled if first <= layer <= end_of_mid]
    late = [layer for layer in sampled if layer >= rules.late_from(N_LAYERS)]

    def regimes(name: str, layers: list[int]) -> Any:
        results = {
            str(layer): {
                end: published.number(BOOTSTRAP, pointer("layer_results", layer, end))
                for end in ("r", "ci_lower", "ci_upper")
            }
            for layer in layers
        }
        return category_bootstrap.summarise(results, N_LAYERS)[name]

    for name in given["summary"]:
        layers = mid if "mid" in name else late if "late" in name else []
        work.derive(SLUG, pointer("summary", name), regimes, name, layers)


def _last_layer_interval(published: Published, n_before: int, draws: Draws) -> Interval:
    """The stream is first advanced over the layers drawn before the last one."""
    x = np.array(asymmetries(published, UA_FILES[SLUG]))
    y = np.array(preferences(published, UA_FILES[SLUG]))
    stream = np.random.RandomState(draws.seed)
    advance(stream, len(x), n_before * draws.n_resamples * len(x))
    return correlation_interval(x, y, stream, draws.n_resamples, draws.level)
