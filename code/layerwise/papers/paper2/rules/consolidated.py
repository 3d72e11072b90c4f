"""Paper 2's consolidated table, compared with the files that it was typed from."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from layerwise.engine.derivation import Document
from layerwise.engine.evidence import Evidence
from layerwise.engine.published import pointer
from layerwise.papers.paper2.rules.pair_curves import CURVES, PairCurve
from layerwise.papers.shared.names.result_files import CONSOLIDATED
from layerwise.statistics import curves, phases

ENDS = ("ci_lo", "ci_hi")
FLAGS = ("TRUE", "FALSE")  # TRUE where an interval excludes zero


def significant(curve: PairCurve, layer: int) -> str:
    """Whether the interval of a layer excludes zero, as the table says it."""
    return FLAGS[curves.includes_zero(curve.ends([layer])[layer])]


def significant_of_printed(curve: PairCurve, layer: int) -> str:
    """The same of the interval that the table itself has."""
    row = curve.row(layer)
    return FLAGS[curves.includes_zero((row.ci_lo, row.ci_hi))]


def phase(curve: PairCurve, layer: int) -> str:
    """The third of the list of layers that a layer belongs to."""
    return phases.phase_of(layer, phases.thirds_of_list(curve.layers))


def phase_by_depth(curve: PairCurve, layer: int) -> str:
    """The third of the depth."""
    return phases.phase_of(layer, phases.thirds_of_depth(curve.layers, curve.layers[-1]))


def fisher(curve: PairCurve, layer: int) -> dict[str, float]:
    """Fisher's interval of a layer's r over all pairs."""
    interval = phases.fisher_interval(curve.tests[layer].r, curve.n_pairs)
    return dict(zip(ENDS, interval, strict=True))


OF_LAYER: Mapping[str, Callable[..., Any]] = {
    "significant": significant,
    "significant_of_printed": significant_of_printed,
    "phase": phase,
    "phase_by_depth": phase_by_depth,
    "fisher": fisher,
}


def of_curve(curve: PairCurve, layers: list[int]) -> Document:
    """The rows of a curve's layers."""
    rules = {f"{n}/{of}": partial(rule, layer=n) for n in layers for of, rule in OF_LAYER.items()}
    places = {
        pointer(layer, name): (CONSOLIDATED, pointer(curve.first_row + row, name))
        for row, layer in enumerate(layers)
        for name in ("significant", "phase", *ENDS)
    }
    return Document(curve.of, {"": rules}, places)


def documents(e: Evidence) -> dict[str, Document]:
    return {slug: of_curve(curve, curve.of(e).layers) for slug, curve in CURVES.items()}


DOCUMENTS = documents
