"""The published curves of r over layers, pair level: one per model and condition of Paper 2."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from layerwise.analyses.categories import total_pairs
from layerwise.analyses.evidence import Entry, Evidence
from layerwise.inputs.result_files import (
    APERTUS,
    CONSOLIDATED,
    GEMMA,
    LLAMA,
    PAIRS,
    PHASE_SUMMARY,
    TEMPLATE,
)
from layerwise.statistics import phases, rules

METRIC = "centroid_asymmetry"  # the measure of every curve in the paper


@dataclass(frozen=True)
class PairCurve:
    """Where the r and interval of each sampled layer of a curve are published."""

    file: str
    group: str
    metric: str | None = None
    ends: tuple[str, str] = ("ci_lower", "ci_upper")
    summary_row: int = 0  # in PHASE_SUMMARY
    first_row: int = 0  # in CONSOLIDATED, whose rows go on by layer

    def tests(self, f: Entry | Evidence) -> dict[int, Entry]:
        """r and interval by sampled layer, ascending."""
        group = f.of(self.file)[self.group]
        found = {layer: group[layer] for layer in sorted(map(int, group))}
        if self.metric:
            found = {layer: test[self.metric] for layer, test in found.items()}
        return found

    def ends_of(self, test: Entry) -> rules.Ends:
        """Ends of the interval of one of the tests."""
        low, high = (test[end] for end in self.ends)
        return low, high

    def of(self, f: Entry | Evidence) -> Curve:
        """The curve in one source."""
        return Curve(self, f, self.tests(f))


@dataclass(frozen=True)
class Layer:
    """A sampled layer of a curve: its test, and its row of the consolidated table."""

    curve: Curve
    number: int

    @property
    def r(self) -> float:
        value: float = self.curve.tests[self.number].r
        return value

    @property
    def ends(self) -> rules.Ends:
        return self.curve.place.ends_of(self.curve.tests[self.number])

    @property
    def row(self) -> Entry:
        row = self.curve.place.first_row + self.curve.layers.index(self.number)
        found: Entry = self.curve.source.of(CONSOLIDATED)[row]
        return found


@dataclass(frozen=True)
class Curve:
    """A curve in one source; as a document it has its layers by name."""

    place: PairCurve
    source: Entry | Evidence
    tests: Mapping[int, Entry]
    is_object = True

    def __iter__(self) -> Iterator[str]:
        return map(str, self.tests)

    def __getitem__(self, name: str) -> Layer:
        return Layer(self, int(name))

    @property
    def layers(self) -> list[int]:
        """Sampled layers, ascending."""
        return list(self.tests)

    @property
    def n_pairs(self) -> int:
        """Points of every r."""
        return total_pairs(self.source)

    def r(self, layers: Iterable[int] | None = None) -> dict[int, float]:
        """r by layer: of all, or of some."""
        return {n: self.tests[n].r for n in (self.tests if layers is None else layers)}

    def ends(self, layers: Iterable[int] | None = None) -> dict[int, rules.Ends]:
        """Ends of the intervals by layer."""
        chosen = self.tests if layers is None else layers
        return {n: self.place.ends_of(self.tests[n]) for n in chosen}

    def inverted(self, layers: Collection[int]) -> bool:
        """Whether some of the layers has a negative r and an interval that excludes zero."""
        return rules.some_stable(self.r(layers), self.ends(layers), positive=False)

    def phase(self, name: str) -> list[int]:
        """Layers of a phase, with the notebooks' partition."""
        return phases.thirds_of_list(self.layers)[name]

    def phase_by_depth(self, name: str) -> list[int]:
        """The same as thirds of the depth."""
        return phases.thirds_of_depth(self.layers, self.layers[-1])[name]

    def mean(self, name: str) -> float:
        """Mean r of a phase."""
        layers = self.phase(name)
        return phases.phase_mean(self.r(layers), layers)

    def means(self) -> tuple[float, float, float]:
        """Early, mid and late mean."""
        return self.mean("early"), self.mean("mid"), self.mean("late")

    def printed_mean(self, name: str) -> float:
        """The phase mean that the summary table prints with two decimals."""
        value: float = self.source.of(PHASE_SUMMARY)[self.place.summary_row][f"{name}_mean"]
        return value


SHORT = ("ci_lo", "ci_hi")
PYTHIA_CURVE = PairCurve(PAIRS, "results", METRIC)
LLAMA_CURVE = PairCurve(LLAMA, "pair_level_results", METRIC, summary_row=1, first_row=9)
WITHOUT = PairCurve(TEMPLATE, "results_without_template", None, SHORT, 2, 18)
WITH = PairCurve(TEMPLATE, "results_with_template", None, SHORT, 3, 27)
APERTUS_CURVE = PairCurve(APERTUS, "results", None, SHORT, 4, 36)
GEMMA_CURVE = PairCurve(GEMMA, "results", None, SHORT, 5, 45)

CURVES = {
    "pythia-6p9b": PYTHIA_CURVE,
    "llama-3p1-8b": LLAMA_CURVE,
    "llama-3p1-8b-instruct": WITHOUT,
    "llama-3p1-8b-instruct-template": WITH,
    "apertus-8b": APERTUS_CURVE,
    "gemma-2b": GEMMA_CURVE,
}
