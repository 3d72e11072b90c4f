"""Bootstrap intervals of r over the six categories (bootstrap-interval notebook)."""

from functools import cache

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules
from layerwise.engine.evidence import Entry, by_layer
from layerwise.papers.paper2.rules.scaling import depth
from layerwise.papers.shared.names import SLUG
from layerwise.papers.shared.result_files import BOOTSTRAP, UA_FILES, own_file
from layerwise.papers.shared.rules import (
    asymmetries,
    category_test,
    covers_zero,
    join_sections,
    last_layer,
    preferences,
    read_ends,
)
from layerwise.statistics import curves
from layerwise.statistics.bootstrap import CorrelationInterval, Draws, advance, correlation_interval


def stable_layers(results: Entry) -> Rules:
    """The middle and the late layers that were sampled, and whether some interval excludes zero."""

    def mid_range() -> list[int]:
        """Return the first and the last mid layer: 20 and 50 percent of depth, rounded down."""
        return [int(part * depth(results)) for part in (0.2, 0.5)]

    def tests_between(first: int, last: int) -> dict[int, Entry]:
        tests = by_layer(results.layer_results)
        return {layer: test for layer, test in tests.items() if first <= layer <= last}

    def mid() -> dict[int, Entry]:
        return tests_between(*mid_range())

    def late() -> dict[int, Entry]:
        return tests_between(int(0.75 * depth(results)), depth(results))

    def has_stable_layer(tests: dict[int, Entry], *, positive: bool) -> bool:
        r = {layer: test.r for layer, test in tests.items()}
        intervals = {layer: read_ends(test) for layer, test in tests.items()}
        return curves.has_stable_layer(r, intervals, positive=positive)

    return {
        "summary/mid_layer_range": mid_range,
        "summary/mid_layers_tested": Rule(
            lambda: list(mid()), "the middle layers that were sampled"
        ),
        "summary/any_mid_layer_stable": Rule(
            lambda: has_stable_layer(mid(), positive=True),
            "whether some middle layer has an interval above zero",
        ),
        "summary/late_layers_tested": Rule(
            lambda: list(late()), "the late layers that were sampled"
        ),
        "summary/any_late_layer_stable": Rule(
            lambda: has_stable_layer(late(), positive=False),
            "whether some late layer has an interval below zero",
        ),
    }


def drawn_intervals(results: Entry) -> Rules:
    """The statement of the figure."""
    return {
        "drawn/n_excluding_zero": Rule(
            lambda: sum(not covers_zero(test) for test in results.layer_results.values()),
            "the number of layers whose interval excludes zero",
        )
    }


def test_of_last_layer(test: Entry) -> Rules:
    """The last layer's test: its states are those that the file on UA is about."""

    def interval() -> CorrelationInterval:
        """Return the interval, drawn after those of all layers before it."""
        ua = test.of(UA_FILES[SLUG])
        n_before = len(test.of(BOOTSTRAP).layer_results) - 1
        return _drawn_after(n_before, tuple(asymmetries(ua)), tuple(preferences(ua)), test.draws)

    return {
        **last_layer(SLUG, "r", test),
        "ci_lower": Rule(
            lambda: interval().low, "lower end of the bootstrap interval of r, last layer"
        ),
        "ci_upper": Rule(
            lambda: interval().high, "upper end of the bootstrap interval of r, last layer"
        ),
    }


@cache
def _drawn_after(
    n_before: int, x: tuple[float, ...], y: tuple[float, ...], draws: Draws
) -> CorrelationInterval:
    stream = np.random.RandomState(draws.seed)
    advance(stream, len(x), n_before * draws.n_resamples * len(x))
    return correlation_interval(np.array(x), np.array(y), stream, draws.n_resamples, draws.level)


DOCUMENTS = {
    SLUG: Document(
        BOOTSTRAP,
        {
            "": join_sections(stable_layers, drawn_intervals),
            "layer_results/*": category_test,
            "layer_results/32": test_of_last_layer,
        },
    )
}
READER = Document(
    own_file("category_bootstrap"), {"": stable_layers, "layer_results/*": category_test}
)
