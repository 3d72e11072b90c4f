"""Correlation of five measures of single pairs with preference (pair-level notebook).

First the curves of r over the pairs by layer, one per model and condition, as several analyses read
them. A published r is read; of weights `papers.experiments.documents` computes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from layerwise.engine.derivation import Document, Rule, Rules, Section, any_of, count
from layerwise.engine.evidence import Entry, Evidence, by_layer
from layerwise.errors import LayerwiseError
from layerwise.papers.shared import result_files as files
from layerwise.papers.shared.names import READER_ENTRY, SLUG
from layerwise.papers.shared.result_files import CURVES, PAIRS, CurvePlace, own_file
from layerwise.papers.shared.rules import covers_zero, join_sections, pair_test, total_pairs
from layerwise.statistics import curves, phases

# The names of the curves: a model's, or that of a condition of it.
PYTHIA_CURVE = SLUG
LLAMA_CURVE = "llama-3p1-8b"
WITHOUT = "llama-3p1-8b-instruct"
WITH = "llama-3p1-8b-instruct-template"
APERTUS_CURVE = "apertus-8b"
GEMMA_CURVE = "gemma-2b"
# A reader's has the shape of that of Paper 2's first model.
PLACES = {**CURVES, READER_ENTRY: replace(CURVES[PYTHIA_CURVE], file=files.own_file("pairs"))}


@dataclass(frozen=True)
class PairCurve:
    """The curve of r and its intervals by sampled layer of one model, in one source."""

    model: str
    place: CurvePlace
    source: Entry | Evidence

    @property
    def evidence(self) -> Evidence:
        return self.source if isinstance(self.source, Evidence) else self.source.evidence

    @cached_property
    def tests(self) -> dict[int, Entry]:
        """Return r and interval by sampled layer, ascending."""
        tests = by_layer(self.source.of(self.place.file)[self.place.group])
        metric = self.place.metric
        return {n: test[metric] for n, test in tests.items()} if metric else tests

    @property
    def layers(self) -> list[int]:
        """Return the sampled layers, ascending."""
        return list(self.tests)

    @property
    def n_pairs(self) -> int:
        """Return the number of points of every r."""
        return total_pairs(self.source)

    def r(self, layers: Iterable[int] | None = None) -> dict[int, float]:
        """Return r of these layers, or of all."""
        return {n: self.tests[n].r for n in (self.layers if layers is None else layers)}

    def ends(self, layers: Iterable[int] | None = None) -> dict[int, curves.Ends]:
        """Return the ends of the intervals of these layers, or of all."""
        low, high = self.place.names
        chosen = self.layers if layers is None else layers
        return {n: (self.tests[n][low], self.tests[n][high]) for n in chosen}

    def inverted(self, layers: Collection[int]) -> bool:
        """Return whether some of the layers has a negative r and an interval without zero."""
        return curves.has_stable_layer(self.r(layers), self.ends(layers), positive=False)

    def phase(self, name: str) -> list[int]:
        """Return the layers of a phase: a third of the sampled ones, as in the notebooks."""
        return phases.thirds_of_list(self.layers)[name]

    def phase_by_depth(self, name: str) -> list[int]:
        """Return the layers of a phase by thirds of the depth."""
        return phases.thirds_of_depth(self.layers, self.layers[-1])[name]

    def mean(self, phase: str, *, by_depth: bool = False) -> float:
        """Return the mean r of a phase."""
        layers = self.phase_by_depth(phase) if by_depth else self.phase(phase)
        return phases.phase_mean(self.r(layers), layers)

    def means(self) -> tuple[float, float, float]:
        """Return the mean r of the early, the mid and the late phase."""
        return self.mean("early"), self.mean("mid"), self.mean("late")

    def row(self, layer: int) -> Entry:
        """Return a layer's row of the consolidated table."""
        return self.source.of(files.CONSOLIDATED)[self.place.first_row + self.layers.index(layer)]

    def printed_mean(self, name: str) -> float:
        """Return the phase mean that the summary table prints with two decimals."""
        return self.source.of(files.PHASE_SUMMARY)[self.place.summary_row][f"{name}_mean"]


def read_curve(model: str, source: Entry | Evidence) -> PairCurve:
    """Return the curve of a model or condition."""
    return PairCurve(model, PLACES[model], source)


# --- the analysis ---


def significance_counts(results: Entry) -> Rules:
    """The number of tests, measures times layers, whose interval excludes zero."""

    def tests(layers: Collection[int] | None = None) -> list[Entry]:
        """Return the tests of all measures at these layers, or at all."""
        return [
            test
            for layer, measures in results.results.items()
            if layers is None or int(layer) in layers
            for test in measures.values()
        ]

    def n_significant(layers: Collection[int] | None = None) -> int:
        return sum(not covers_zero(test) for test in tests(layers))

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
            lambda: not covers_zero(best()),
            "whether the interval of the largest |r| at the layer excludes zero",
        ),
    }


def drawn_turns(results: Entry) -> Rules:
    """The measures whose r ends with another sign than it begins with, as the figure states."""

    def ends() -> tuple[Entry, Entry]:
        layers = list(by_layer(results.results).values())
        return layers[0], layers[-1]

    def turning() -> list[str]:
        """Return the measures whose r at the last layer has another sign than at the first."""
        first, last = ends()
        return [name for name in first if first[name].r * last[name].r < 0]

    def turning_clearly() -> list[str]:
        """Return the turning measures whose intervals at both layers exclude zero."""
        return [name for name in turning() if not any_of(covers_zero(end[name]) for end in ends())]

    return {
        "drawn/turning": turning,
        "drawn/turning_clearly": turning_clearly,
    }


BY_TEST: Mapping[str, Section] = {"results/*/*": pair_test, "best_per_layer/*": best_of_layer}
DOCUMENTS = {
    SLUG: Document(PAIRS, {"": join_sections(significance_counts, drawn_turns), **BY_TEST})
}
READER = Document(own_file("pairs"), {"": significance_counts, **BY_TEST})
