"""Intervals of r over the six categories (bootstrap-interval notebook)."""

from functools import cache

import numpy as np

from layerwise.analyses.categories import (
    OVER_CATEGORIES,
    SLUG,
    asymmetries,
    ends,
    preferences,
    r_over_categories,
)
from layerwise.analyses.derivation import Document, Rules
from layerwise.analyses.evidence import Draws, Entry
from layerwise.analyses.scaling import depth
from layerwise.inputs.result_files import BOOTSTRAP, UA_FILES
from layerwise.statistics import curves
from layerwise.statistics.bootstrap import CorrelationInterval, advance, correlation_interval


def mid_range(f: Entry) -> list[int]:
    """First and last mid layer: 20 and 50 percent of depth, rounded down."""
    return [int(part * depth(f)) for part in (0.2, 0.5)]


def mid_layers(f: Entry) -> list[int]:
    """Sampled layers between them."""
    first, last = mid_range(f)
    return [int(layer) for layer in f.layer_results if first <= int(layer) <= last]


def late_layers(f: Entry) -> list[int]:
    """Sampled layers from 75 percent of depth on."""
    return [int(layer) for layer in f.layer_results if int(layer) >= int(0.75 * depth(f))]


def some_stable(f: Entry, layers: list[int], *, positive: bool) -> bool:
    """Whether some of the layers has r of that sign and an interval that excludes zero."""
    tested = {layer: f.layer_results[layer] for layer in layers}
    return curves.some_stable(
        {layer: found.r for layer, found in tested.items()},
        {layer: ends(found) for layer, found in tested.items()},
        positive=positive,
    )


def last_interval(of_layer: Entry) -> CorrelationInterval:
    """Interval of the last layer, drawn after those of all layers before it."""
    ua = of_layer.of(UA_FILES[SLUG])
    n_before = len(of_layer.of(BOOTSTRAP).layer_results) - 1
    return _drawn(tuple(asymmetries(ua)), tuple(preferences(ua)), n_before, of_layer.draws)


@cache
def _drawn(
    x: tuple[float, ...], y: tuple[float, ...], n_before: int, draws: Draws
) -> CorrelationInterval:
    stream = np.random.RandomState(draws.seed)
    advance(stream, len(x), n_before * draws.n_resamples * len(x))
    return correlation_interval(np.array(x), np.array(y), stream, draws.n_resamples, draws.level)


RULES: dict[str, Rules] = {
    "": {
        "summary/mid_layer_range": mid_range,
        "summary/mid_layers_tested": mid_layers,
        "summary/any_mid_layer_stable": lambda f: some_stable(f, mid_layers(f), positive=True),
        "summary/late_layers_tested": late_layers,
        "summary/any_late_layer_stable": lambda f: some_stable(f, late_layers(f), positive=False),
    },
    "layer_results/*": OVER_CATEGORIES,
}
# the states of the last layer are those that the file on UA is about
LAST: Rules = {
    "r": lambda m: r_over_categories(m.of(UA_FILES[SLUG])),
    "ci_lower": lambda m: last_interval(m).low,
    "ci_upper": lambda m: last_interval(m).high,
}
DOCUMENTS = {SLUG: Document(BOOTSTRAP, {**RULES, "layer_results/32": LAST})}
READER = Document(BOOTSTRAP, RULES)
