"""Correlation of five measures of single pairs with preference (pair-level notebook)."""

from collections.abc import Collection
from functools import partial

from layerwise.engine.derivation import Document, Rule, Rules, any_of, count
from layerwise.engine.evidence import Entry, by_layer
from layerwise.errors import LayerwiseError
from layerwise.papers.shared.names.models import SLUG
from layerwise.papers.shared.names.result_files import PAIRS, own_file
from layerwise.papers.shared.rules.categories import PAIR_TESTS, includes_zero
from layerwise.statistics import curves


def best_measure(row: Entry) -> Entry:
    """Return the test of the measure with the largest |r| at a row's layer, the first of equals."""
    results = row.role("pairs").results
    if str(row.layer) not in results:
        raise LayerwiseError(
            f"a row must be of a sampled layer, {', '.join(results)}, found {row.layer}; restore it"
        )
    candidates: list[Entry] = results[row.layer].values()
    return max(candidates, key=lambda measure: abs(measure.r))


def tests_at(results: Entry, layers: Collection[int] | None) -> list[Entry]:
    """Return the tests of all measures at some layers, or at all."""
    return [
        test
        for layer, measures in results.results.items()
        if layers is None or int(layer) in layers
        for test in measures.values()
    ]


def n_tests(results: Entry) -> int:
    """Return the number of tests, measures times layers."""
    return count(tests_at(results, None), lambda test: test.r)


def n_significant(results: Entry, layers: Collection[int] | None = None) -> int:
    """Return the number of tests whose interval excludes zero, at some layers or at all."""
    return sum(not includes_zero(test) for test in tests_at(results, layers))


def turning_measures(results: Entry) -> list[str]:
    """Return the measures whose r at the last layer has another sign than at the first."""
    layers = list(by_layer(results.results).values())
    first, last = layers[0], layers[-1]
    return [name for name in first if first[name].r * last[name].r < 0]


def clearly_turning_measures(results: Entry) -> list[str]:
    """Return the turning measures whose intervals at both layers exclude zero."""
    layers = list(by_layer(results.results).values())
    ends = layers[0], layers[-1]
    return [
        name
        for name in turning_measures(results)
        if not any_of(includes_zero(layer[name]) for layer in ends)
    ]


BEST_RULES: Rules = {
    "best_metric": Rule(
        lambda row: best_measure(row).called, "the measure with the largest |r| at the layer"
    ),
    "r": Rule(
        lambda row: best_measure(row).r, "r of the measure with the largest |r| at the layer"
    ),
    "excludes_zero": Rule(
        lambda row: not includes_zero(best_measure(row)),
        "whether the interval of the largest |r| at the layer excludes zero",
    ),
}
SUMMARY: Rules = {
    "summary/total_tests": n_tests,
    "summary/significant_tests": Rule(n_significant, "the tests whose interval excludes zero"),
    "summary/mid_layer_significant": Rule(
        partial(n_significant, layers=curves.MID_LAYERS),
        "the tests of the middle layers whose interval excludes zero",
    ),
    "summary/late_layer_significant": Rule(
        partial(n_significant, layers=curves.LATE_LAYERS),
        "the tests of the late layers whose interval excludes zero",
    ),
}
DRAWN: Rules = {
    "drawn/turning": turning_measures,
    "drawn/turning_clearly": clearly_turning_measures,
}
RULES: dict[str, Rules] = {
    "": SUMMARY,
    "results/*/*": PAIR_TESTS,
    "best_per_layer/*": BEST_RULES,
}
DOCUMENTS = {SLUG: Document(PAIRS, {**RULES, "": {**SUMMARY, **DRAWN}})}
READER = Document(own_file("pairs"), RULES)
