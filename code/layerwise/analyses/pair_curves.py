"""The published curves of r over layers, pair level: one per model and condition of Paper 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layerwise.analyses.evidence import Entry, Evidence
from layerwise.analyses.pairs import PAIRS
from layerwise.inputs.published import Published, pointer, split_pointer
from layerwise.statistics import rules

LLAMA = "Results/llama/llama3_cross_validation_20260102_235626.json"
TEMPLATE = "Results/llama/llama3_instruct_template_20260103_000840.json"
APERTUS = "Results/apertus/apertus_cross_validation_20260103_010455.json"
GEMMA = "Results/gemma/gemma_cross_validation_20260103_011230.json"
CONSOLIDATED = "Results/CONSOLIDATED_RESULTS.csv"
SUMMARY = "Results/PHASE_SUMMARY.csv"
METRIC = "centroid_asymmetry"  # the measure of every curve in the paper


@dataclass(frozen=True)
class PairCurve:
    """Where the r and interval of each sampled layer of a curve are published."""

    file: str
    group: str
    metric: str | None = None
    ends: tuple[str, str] = ("ci_lower", "ci_upper")
    summary_row: int = 0  # in SUMMARY
    first_row: int = 0  # in CONSOLIDATED, whose rows go on by layer

    def tests(self, f: Entry | Evidence, metric: str | None = None) -> dict[int, Entry]:
        """r and interval by sampled layer, ascending."""
        group = f.of(self.file)[self.group]
        found = {layer: group[layer] for layer in sorted(map(int, group))}
        if self.metric:
            found = {layer: test[metric or self.metric] for layer, test in found.items()}
        return found

    def ends_of(self, test: Entry) -> rules.Ends:
        """Ends of the interval of one of the tests."""
        low, high = (test[end] for end in self.ends)
        return low, high

    def key(self, layer: int, metric: str | None = None) -> str:
        place = pointer(self.group, layer)
        return place + pointer(metric or self.metric) if self.metric else place

    def layers(self, published: Published) -> list[int]:
        """Sampled layers, ascending."""
        names = (split_pointer(key) for key in published.keys(self.file))
        return sorted({int(name[1]) for name in names if name[0] == self.group})

    def r(
        self, published: Published, layers: Sequence[int], metric: str | None = None
    ) -> dict[int, float]:
        """r by layer."""
        return {
            layer: published.number(self.file, self.key(layer, metric) + "/r") for layer in layers
        }

    def interval(self, published: Published, layer: int) -> rules.Ends:
        """Ends of the interval at a layer."""
        low, high = (published.number(self.file, f"{self.key(layer)}/{end}") for end in self.ends)
        return low, high

    def intervals(self, published: Published, layers: Sequence[int]) -> dict[int, rules.Ends]:
        """Ends by layer."""
        return {layer: self.interval(published, layer) for layer in layers}

    def inverted(self, published: Published, layers: Sequence[int]) -> bool:
        """Whether some of the layers has a negative r and an interval that excludes zero."""
        return rules.some_stable(
            self.r(published, layers), self.intervals(published, layers), positive=False
        )


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
