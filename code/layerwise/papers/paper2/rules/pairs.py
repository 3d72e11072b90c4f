"""Correlation of five measures of single pairs with preference (pair-level notebook)."""

from collections.abc import Collection
from functools import partial

from layerwise.engine.derivation import Document, Rule, Rules, any_of, count
from layerwise.engine.evidence import Entry, by_layer
from layerwise.errors import LayerwiseError
from layerwise.papers.shared.names.models import SLUG
from layerwise.papers.shared.names.result_files import PAIRS, own_file
from layerwise.papers.shared.rules.categories import OVER_PAIRS, includes_zero
from layerwise.statistics import curves


def best(row: Entry) -> Entry:
    """The measure of a row's layer with the largest |r|, the first of equals."""
    results = row.role("pairs").results
    if str(row.layer) not in results:
        raise LayerwiseError(
            f"a row must be of a sampled layer, {', '.join(results)}, found {row.layer}; restore it"
        )
    measures: list[Entry] = results[row.layer].values()
    return max(measures, key=lambda measure: abs(measure.r))


def tests(f: Entry, layers: Collection[int] | None) -> list[Entry]:
    """Those of all layers, or of some."""
    return [
        test
        for layer, of_layer in f.results.items()
        if layers is None or int(layer) in layers
        for test in of_layer.values()
    ]


def n_tests(f: Entry) -> int:
    """Measures times layers."""
    return count(tests(f, None), lambda test: test.r)


def n_significant(f: Entry, layers: Collection[int] | None = None) -> int:
    """Tests whose interval excludes zero: of all layers, or of those that a notebook fixed."""
    return sum(not includes_zero(test) for test in tests(f, layers))


def turning(f: Entry) -> list[str]:
    """The measures whose r at the last layer has another sign than at the first."""
    layers = list(by_layer(f.results).values())
    first, last = layers[0], layers[-1]
    return [name for name in first if first[name].r * last[name].r < 0]


def turning_clearly(f: Entry) -> list[str]:
    """Those of them of which neither interval includes zero."""
    layers = list(by_layer(f.results).values())
    ends = layers[0], layers[-1]
    return [name for name in turning(f) if not any_of(includes_zero(one[name]) for one in ends)]


OF_BEST: Rules = {
    "best_metric": Rule(
        lambda row: best(row).called, "the measure with the largest |r| at the layer"
    ),
    "r": Rule(lambda row: best(row).r, "r of that measure"),
    "excludes_zero": Rule(
        lambda row: not includes_zero(best(row)), "whether the interval of that r excludes zero"
    ),
}
SUMMARY: Rules = {
    "summary/total_tests": n_tests,
    "summary/significant_tests": n_significant,
    "summary/mid_layer_significant": partial(n_significant, layers=curves.MID_LAYERS),
    "summary/late_layer_significant": partial(n_significant, layers=curves.LATE_LAYERS),
}
DRAWN: Rules = {"drawn/turning": turning, "drawn/turning_clearly": turning_clearly}
RULES: dict[str, Rules] = {
    "": SUMMARY,
    "results/*/*": OVER_PAIRS,
    "best_per_layer/*": OF_BEST,
}
DOCUMENTS = {SLUG: Document(PAIRS, {**RULES, "": {**SUMMARY, **DRAWN}})}
READER = Document(own_file("pairs"), RULES)
