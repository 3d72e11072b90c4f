"""The consolidated table of Paper 2 against the files it was typed from."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from layerwise.analyses.derivation import Document
from layerwise.analyses.evidence import Evidence
from layerwise.analyses.pair_curves import CURVES, PairCurve
from layerwise.inputs.published import pointer
from layerwise.places.result_files import CONSOLIDATED
from layerwise.statistics import curves, phases

ENDS = ("ci_lo", "ci_hi")
FLAGS = ("TRUE", "FALSE")  # TRUE where an interval excludes zero

OF_LAYER: Mapping[str, Callable[[int, PairCurve], Any]] = {
    "significant": lambda n, c: FLAGS[curves.includes_zero(c.ends([n])[n])],
    "significant_of_printed": lambda n, c: FLAGS[
        curves.includes_zero((c.row(n).ci_lo, c.row(n).ci_hi))
    ],
    "phase": lambda n, c: phases.phase_of(n, phases.thirds_of_list(c.layers)),
    "phase_by_depth": lambda n, c: phases.phase_of(
        n, phases.thirds_of_depth(c.layers, c.layers[-1])
    ),
    "fisher": lambda n, c: dict(
        zip(ENDS, phases.fisher_interval(c.tests[n].r, c.n_pairs), strict=True)
    ),
}


def of_curve(curve: PairCurve, layers: list[int]) -> Document:
    """The rows of a curve's layers."""
    rules = {f"{n}/{of}": partial(rule, n) for n in layers for of, rule in OF_LAYER.items()}
    places = {
        pointer(layer, name): (CONSOLIDATED, pointer(curve.first_row + row, name))
        for row, layer in enumerate(layers)
        for name in ("significant", "phase", *ENDS)
    }
    return Document(curve.of, {"": rules}, places)


def documents(e: Evidence) -> dict[str, Document]:
    return {slug: of_curve(curve, curve.of(e).layers) for slug, curve in CURVES.items()}


DOCUMENTS = documents
