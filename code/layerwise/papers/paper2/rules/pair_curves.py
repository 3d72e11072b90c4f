"""Paper 2's curves of r over the pairs by layer: one per model and condition."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from layerwise.engine.evidence import Entry, Evidence, by_layer
from layerwise.papers.shared.names import result_files as files
from layerwise.papers.shared.names.curves import CURVES, CurvePlace
from layerwise.papers.shared.names.models import READER, SLUG
from layerwise.papers.shared.rules.categories import total_pairs
from layerwise.statistics import curves, phases

# The names of the curves: a model's, or that of a condition of it.
PYTHIA_CURVE = SLUG
LLAMA_CURVE = "llama-3p1-8b"
WITHOUT = "llama-3p1-8b-instruct"
WITH = "llama-3p1-8b-instruct-template"
APERTUS_CURVE = "apertus-8b"
GEMMA_CURVE = "gemma-2b"
# A reader's has the shape of that of Paper 2's first model.
PLACES = {**CURVES, READER: replace(CURVES[PYTHIA_CURVE], file=files.own_file("pairs"))}


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
