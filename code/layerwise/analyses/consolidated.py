"""The consolidated table of Paper 2 against the files it was typed from."""

from functools import partial

from layerwise.analyses.derivation import Document, Rules
from layerwise.analyses.evidence import Evidence
from layerwise.analyses.pair_curves import CURVES, PairCurve
from layerwise.inputs.published import Cell, pointer
from layerwise.inputs.result_files import CONSOLIDATED
from layerwise.statistics import curves, phases

ENDS = ("ci_lo", "ci_hi")
FLAGS = ("TRUE", "FALSE")  # TRUE where an interval excludes zero


OF_LAYER: Rules = {
    "significant": lambda m: FLAGS[curves.includes_zero(m.ends)],
    "significant_of_printed": lambda m: FLAGS[curves.includes_zero((m.row.ci_lo, m.row.ci_hi))],
    "phase": lambda m: phases.phase_of(m.number, phases.thirds_of_list(m.curve.layers)),
    "phase_by_depth": lambda m: phases.phase_of(
        m.number, phases.thirds_of_depth(m.curve.layers, m.curve.layers[-1])
    ),
    "fisher": lambda m: dict(zip(ENDS, phases.fisher_interval(m.r, m.curve.n_pairs), strict=True)),
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
