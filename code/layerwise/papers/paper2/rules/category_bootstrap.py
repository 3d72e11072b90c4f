"""Bootstrap intervals of r over the six categories (bootstrap-interval notebook)."""

from functools import cache

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules
from layerwise.engine.evidence import Entry, by_layer
from layerwise.papers.paper2.rules.scaling import depth
from layerwise.papers.shared.names.models import SLUG
from layerwise.papers.shared.names.result_files import BOOTSTRAP, UA_FILES, own_file
from layerwise.papers.shared.rules.categories import (
    CATEGORY_TESTS,
    asymmetries,
    ends,
    includes_zero,
    last_layer_rule,
    preferences,
)
from layerwise.statistics import curves
from layerwise.statistics.bootstrap import CorrelationInterval, Draws, advance, correlation_interval


def mid_range(results: Entry) -> list[int]:
    """Return the first and the last mid layer: 20 and 50 percent of depth, rounded down."""
    return [int(part * depth(results)) for part in (0.2, 0.5)]


def tests_between(results: Entry, first: int, last: int) -> dict[int, Entry]:
    """Return the tests of the sampled layers from one to another."""
    return {n: test for n, test in by_layer(results.layer_results).items() if first <= n <= last}


def mid_tests(results: Entry) -> dict[int, Entry]:
    """Return the tests of the mid layers."""
    return tests_between(results, *mid_range(results))


def late_tests(results: Entry) -> dict[int, Entry]:
    """Return the tests of the layers from 75 percent of depth on."""
    return tests_between(results, int(0.75 * depth(results)), depth(results))


def has_stable_layer(tests: dict[int, Entry], *, positive: bool) -> bool:
    """Return whether some layer has r of that sign and an interval that excludes zero."""
    r = {layer: test.r for layer, test in tests.items()}
    intervals = {layer: ends(test) for layer, test in tests.items()}
    return curves.has_stable_layer(r, intervals, positive=positive)


def n_excluding_zero(results: Entry) -> int:
    """Return the number of layers whose interval excludes zero."""
    return sum(not includes_zero(test) for test in results.layer_results.values())


def last_interval(of_layer: Entry) -> CorrelationInterval:
    """Return the interval of the last layer, drawn after those of all layers before it."""
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
            lambda results: list(mid_tests(results)), "the middle layers that were sampled"
        ),
        "summary/any_mid_layer_stable": Rule(
            lambda results: has_stable_layer(mid_tests(results), positive=True),
            "whether some middle layer has an interval above zero",
        ),
        "summary/late_layers_tested": Rule(
            lambda results: list(late_tests(results)), "the late layers that were sampled"
        ),
        "summary/any_late_layer_stable": Rule(
            lambda results: has_stable_layer(late_tests(results), positive=False),
            "whether some late layer has an interval below zero",
        ),
    },
    "layer_results/*": CATEGORY_TESTS,
}
# the states of the last layer are those that the file on UA is about
LAST: Rules = {
    "r": last_layer_rule(SLUG),
    "ci_lower": Rule(
        lambda test: last_interval(test).low, "lower end of the bootstrap interval of r, last layer"
    ),
    "ci_upper": Rule(
        lambda test: last_interval(test).high,
        "upper end of the bootstrap interval of r, last layer",
    ),
}
DRAWN: Rules = {"drawn/n_excluding_zero": n_excluding_zero}
DOCUMENTS = {
    SLUG: Document(BOOTSTRAP, {**RULES, "": {**RULES[""], **DRAWN}, "layer_results/32": LAST})
}
READER = Document(own_file("category_bootstrap"), RULES)
