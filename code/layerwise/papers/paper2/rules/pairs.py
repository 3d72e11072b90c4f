"""Correlation of five measures of single pairs with preference (pair-level notebook)."""

from collections.abc import Collection, Mapping

from layerwise.engine.derivation import Document, Rule, Rules, Section, any_of, count
from layerwise.engine.evidence import Entry, by_layer
from layerwise.errors import LayerwiseError
from layerwise.papers.shared.names.models import SLUG
from layerwise.papers.shared.names.result_files import PAIRS, own_file
from layerwise.papers.shared.rules.categories import includes_zero, pair_test
from layerwise.statistics import curves


def summary(results: Entry) -> Rules:
    """How many of the tests, measures times layers, have an interval that excludes zero."""

    def tests(layers: Collection[int] | None = None) -> list[Entry]:
        """Return the tests of all measures at these layers, or at all."""
        return [
            test
            for layer, measures in results.results.items()
            if layers is None or int(layer) in layers
            for test in measures.values()
        ]

    def n_significant(layers: Collection[int] | None = None) -> int:
        return sum(not includes_zero(test) for test in tests(layers))

    return {
        "summary/total_tests": Rule(
            lambda: count(tests(), lambda test: test.r),
            "the number of tests, measures times layers",
        ),
        "summary/significant_tests": Rule(n_significant, "the tests whose interval excludes zero"),
        "summary/mid_layer_significant": Rule(
            lambda: n_significant(curves.MID_LAYERS),
            "the tests of the middle layers whose interval excludes zero",
        ),
        "summary/late_layer_significant": Rule(
            lambda: n_significant(curves.LATE_LAYERS),
            "the tests of the late layers whose interval excludes zero",
        ),
    }


def best_of_layer(row: Entry) -> Rules:
    """The measure with the largest |r| at a row's layer."""

    def best() -> Entry:
        """Return its test, the first of equals."""
        results = row.role("pairs").results
        if str(row.layer) not in results:
            raise LayerwiseError(
                f"a row must be of a sampled layer, {', '.join(results)}, found {row.layer}; "
                "restore it"
            )
        candidates: list[Entry] = results[row.layer].values()
        return max(candidates, key=lambda measure: abs(measure.r))

    return {
        "best_metric": Rule(lambda: best().called, "the measure with the largest |r| at the layer"),
        "r": Rule(lambda: best().r, "r of the measure with the largest |r| at the layer"),
        "excludes_zero": Rule(
            lambda: not includes_zero(best()),
            "whether the interval of the largest |r| at the layer excludes zero",
        ),
    }


def drawn_turns(results: Entry) -> Rules:
    """What the figure states: the measures that end with another sign than they begin with."""

    def ends() -> tuple[Entry, Entry]:
        layers = list(by_layer(results.results).values())
        return layers[0], layers[-1]

    def turning() -> list[str]:
        first, last = ends()
        return [name for name in first if first[name].r * last[name].r < 0]

    def turning_clearly() -> list[str]:
        return [
            name for name in turning() if not any_of(includes_zero(end[name]) for end in ends())
        ]

    return {
        "drawn/turning": Rule(
            turning, "the measures whose r at the last layer has another sign than at the first"
        ),
        "drawn/turning_clearly": Rule(
            turning_clearly, "the turning measures whose intervals at both layers exclude zero"
        ),
    }


def pairs_of_print(results: Entry) -> Rules:
    """What the notebook counts, and what the figure states."""
    return {**summary(results), **drawn_turns(results)}


BY_TEST: Mapping[str, Section] = {"results/*/*": pair_test, "best_per_layer/*": best_of_layer}
DOCUMENTS = {SLUG: Document(PAIRS, {"": pairs_of_print, **BY_TEST})}
READER = Document(own_file("pairs"), {"": summary, **BY_TEST})
