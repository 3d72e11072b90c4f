"""The published curves of r over layers, pair level: one per model and condition of Paper 2."""

from __future__ import annotations

from dataclasses import dataclass

from layerwise.analyses.evidence import Entry, Evidence
from layerwise.analyses.pairs import PAIRS
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
