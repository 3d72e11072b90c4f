"""The papers' models, beside which a reader's stands: read, derived and asked once in a process."""

from dataclasses import dataclass
from functools import lru_cache

from layerwise.engine.evidence import Evidence
from layerwise.engine.published import Published
from layerwise.engine.question import Printed
from layerwise.papers.across.answers import answers_in_print
from layerwise.papers.across.rules import depth_curves
from layerwise.papers.fetching.upstream import PUBLISHED
from layerwise.papers.shared.published import read_published
from layerwise.statistics.bootstrap import Draws


@dataclass(frozen=True)
class Papers:
    """What the published numbers say of them, by the rules that a reader's model is held to."""

    numbers: Published
    evidence: Evidence
    printed: Printed
    curves: depth_curves.Curves


@lru_cache
def papers(draws: Draws) -> Papers:
    """Return what print says, one object for all models with the same draws.

    Raises:
        LayerwiseError: for published tables that are missing or spoilt.
    """
    numbers = read_published(PUBLISHED)
    evidence = Evidence(numbers, draws)
    return Papers(
        numbers, evidence, answers_in_print(evidence), depth_curves.curves_of_papers(evidence)
    )
