"""r of five measures of single pairs and preference, over all pairs (pair-level notebook)."""

from collections.abc import Collection

from layerwise.analyses.categories import OVER_PAIRS, includes_zero
from layerwise.analyses.derivation import Document, Rule, Rules
from layerwise.analyses.evidence import Entry
from layerwise.errors import LayerwiseError
from layerwise.places.models import SLUG
from layerwise.places.result_files import PAIRS
from layerwise.statistics import curves


def best(row: Entry) -> Entry:
    """The measure of a row's layer with the largest |r|, the first of equals."""
    results = row.of(PAIRS).results
    if str(row.layer) not in results:
        raise LayerwiseError(
            f"a row must be of a sampled layer, {', '.join(results)}, found {row.layer}; restore it"
        )
    measures: list[Entry] = results[row.layer].values()
    return max(measures, key=lambda measure: abs(measure.r))


def n_significant(layers: Collection[int] | None = None) -> Rule:
    """Tests whose interval excludes zero: of all layers, or of those that a notebook fixed."""
    return lambda f: sum(
        not includes_zero(test)
        for layer, of_layer in f.results.items()
        if layers is None or int(layer) in layers
        for test in of_layer.values()
    )


OF_BEST: Rules = {
    "best_metric": lambda row: best(row).called,
    "r": lambda row: best(row).r,
    "excludes_zero": lambda row: not includes_zero(best(row)),
}
SUMMARY: Rules = {
    "summary/total_tests": lambda f: len([t.r for of in f.results.values() for t in of.values()]),
    "summary/significant_tests": n_significant(),
    "summary/mid_layer_significant": n_significant(curves.MID_LAYERS),
    "summary/late_layer_significant": n_significant(curves.LATE_LAYERS),
}
READER = Document(PAIRS, {"": SUMMARY, "results/*/*": OVER_PAIRS, "best_per_layer/*": OF_BEST})
DOCUMENTS = {SLUG: READER}
