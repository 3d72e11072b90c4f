"""The consolidated table of Paper 2 against the files it was typed from."""

from __future__ import annotations

from functools import partial

from layerwise.analyses.derivation import Document, Rules
from layerwise.analyses.evidence import Evidence
from layerwise.analyses.pair_curves import CURVES, Layer, PairCurve
from layerwise.inputs.published import Cell, pointer
from layerwise.inputs.result_files import CONSOLIDATED
from layerwise.statistics import curves, phases

ENDS = ("ci_lo", "ci_hi")


def flag(ends: curves.Ends) -> str:
    """TRUE where an interval excludes zero."""
    return "FALSE" if curves.includes_zero(ends) else "TRUE"


def by_depth(layer: Layer) -> str:
    """The phase of a layer as thirds of the depth."""
    layers = layer.curve.layers
    return phases.phase_of(layer.number, phases.thirds_of_depth(layers, layers[-1]))


def fisher(layer: Layer) -> dict[str, float]:
    """Fisher's interval of r, as another reading."""
    ends = phases.fisher_interval(layer.r, layer.curve.n_pairs)
    return dict(zip(ENDS, ends, strict=True))


OF_LAYER: Rules = {
    "significant": lambda layer: flag(layer.ends),
    "significant_of_printed": lambda layer: flag((layer.row.ci_lo, layer.row.ci_hi)),
    "phase": lambda m: phases.phase_of(m.number, phases.thirds_of_list(m.curve.layers)),
    "phase_by_depth": by_depth,
    "fisher": fisher,
}


def places(evidence: Evidence, curve: PairCurve) -> dict[str, Cell]:
    """The table's cells, by layer."""
    return {
        pointer(layer, name): (CONSOLIDATED, pointer(curve.first_row + number, name))
        for number, layer in enumerate(curve.of(evidence))
        for name in ("significant", "phase", *ENDS)
    }


DOCUMENTS = {
    slug: Document(curve.of, {"*": OF_LAYER}, partial(places, curve=curve))
    for slug, curve in CURVES.items()
}
