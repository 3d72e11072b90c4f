"""Bootstrap intervals of r over the six categories (bootstrap-interval notebook)."""

from functools import cache

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules
from layerwise.engine.evidence import Entry, by_layer
from layerwise.papers.paper2.rules.scaling import depth
from layerwise.papers.shared.names.models import SLUG
from layerwise.papers.shared.names.result_files import BOOTSTRAP, UA_FILES, own_file
from layerwise.papers.shared.rules.categories import (
    OVER_CATEGORIES,
    asymmetries,
    ends,
    includes_zero,
    preferences,
    r_over_categories,
)
from layerwise.statistics import curves
from layerwise.statistics.bootstrap import CorrelationInterval, Draws, advance, correlation_interval


def mid_range(f: Entry) -> list[int]:
    """First and last mid layer: 20 and 50 percent of depth, rounded down."""
    return [int(part * depth(f)) for part in (0.2, 0.5)]


def sampled(f: Entry, first: int, last: int) -> dict[int, Entry]:
    """The tests of the sampled layers from one to another."""
    return {n: test for n, test in by_layer(f.layer_results).items() if first <= n <= last}


def mid(f: Entry) -> dict[int, Entry]:
    """Those of the mid layers."""
    return sampled(f, *mid_range(f))


def late(f: Entry) -> dict[int, Entry]:
    """Those from 75 percent of depth on."""
    return sampled(f, int(0.75 * depth(f)), depth(f))


def some_stable(tests: dict[int, Entry], *, positive: bool) -> bool:
    """Whether some of the layers has r of that sign and an interval that excludes zero."""
    r, intervals = {n: t.r for n, t in tests.items()}, {n: ends(t) for n, t in tests.items()}
    return curves.has_stable_layer(r, intervals, positive=positive)


def n_excluding_zero(f: Entry) -> int:
    """At how many layers the interval excludes zero."""
    return sum(not includes_zero(test) for test in f.layer_results.values())


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
        "summary/mid_layers_tested": Rule(
            lambda f: list(mid(f)), "the middle layers that were sampled"
        ),
        "summary/any_mid_layer_stable": Rule(
            lambda f: some_stable(mid(f), positive=True),
            "whether some middle layer has an interval above zero",
        ),
        "summary/late_layers_tested": Rule(
            lambda f: list(late(f)), "the late layers that were sampled"
        ),
        "summary/any_late_layer_stable": Rule(
            lambda f: some_stable(late(f), positive=False),
            "whether some late layer has an interval below zero",
        ),
    },
    "layer_results/*": OVER_CATEGORIES,
}
# the states of the last layer are those that the file on UA is about
LAST: Rules = {
    "r": Rule(
        lambda m: r_over_categories(m.of(UA_FILES[SLUG])),
        "r of UA and preference over the categories, last layer",
    ),
    "ci_lower": Rule(
        lambda m: last_interval(m).low, "lower end of the bootstrap interval of that r"
    ),
    "ci_upper": Rule(
        lambda m: last_interval(m).high, "upper end of the bootstrap interval of that r"
    ),
}
DRAWN: Rules = {"drawn/n_excluding_zero": n_excluding_zero}
DOCUMENTS = {
    SLUG: Document(BOOTSTRAP, {**RULES, "": {**RULES[""], **DRAWN}, "layer_results/32": LAST})
}
READER = Document(own_file("category_bootstrap"), RULES)
