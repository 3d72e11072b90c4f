"""The consolidated table of Paper 2 against the files it was typed from."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from layerwise.analyses.categories import total_pairs
from layerwise.analyses.derivation import Document
from layerwise.analyses.evidence import Entry, Evidence
from layerwise.analyses.pair_curves import CONSOLIDATED, CURVES, PairCurve
from layerwise.inputs.published import Cell, pointer
from layerwise.statistics import phases, rules

ENDS = ("ci_lo", "ci_hi")


def flag(ends: rules.Ends) -> str:
    """TRUE where an interval excludes zero."""
    return "FALSE" if rules.includes_zero(ends) else "TRUE"


def test_of(layer: Entry, curve: PairCurve) -> Entry:
    """The test of a layer in the curve's own file."""
    return curve.tests(layer)[int(layer.called)]


def row_of(layer: Entry, curve: PairCurve) -> Entry:
    """The row of a layer in the table."""
    number = list(curve.tests(layer)).index(int(layer.called))
    found: Entry = layer.of(CONSOLIDATED)[curve.first_row + number]
    return found


def by_list(layer: Entry, curve: PairCurve) -> str:
    """The phase of a layer, with the notebooks' partition."""
    return phases.phase_of(int(layer.called), phases.thirds_of_list(list(curve.tests(layer))))


def by_depth(layer: Entry, curve: PairCurve) -> str:
    """The same with thirds of the depth."""
    layers = list(curve.tests(layer))
    return phases.phase_of(int(layer.called), phases.thirds_of_depth(layers, layers[-1]))


def fisher(layer: Entry, curve: PairCurve) -> dict[str, float]:
    """Fisher's interval of r, as another reading."""
    ends = phases.fisher_interval(test_of(layer, curve).r, total_pairs(layer))
    return dict(zip(ENDS, ends, strict=True))


def of_printed(layer: Entry, curve: PairCurve) -> str:
    """The flag that the table's own interval would have."""
    row = row_of(layer, curve)
    return flag((row[ENDS[0]], row[ENDS[1]]))


OF_LAYER: dict[str, Callable[..., Any]] = {
    "significant": lambda layer, curve: flag(curve.ends_of(test_of(layer, curve))),
    "significant_of_printed": of_printed,
    "phase": by_list,
    "phase_by_depth": by_depth,
    "fisher": fisher,
}


def group(evidence: Evidence, curve: PairCurve) -> Entry:
    """The layers of a curve in its own file."""
    found: Entry = evidence[curve.file][curve.group]
    return found


def places(evidence: Evidence, curve: PairCurve) -> dict[str, Cell]:
    """The table's cells, by layer."""
    return {
        pointer(layer, name): (CONSOLIDATED, pointer(curve.first_row + number, name))
        for number, layer in enumerate(curve.tests(evidence))
        for name in ("significant", "phase", *ENDS)
    }


DOCUMENTS = {
    slug: Document(
        partial(group, curve=curve),
        {"*": {name: partial(rule, curve=curve) for name, rule in OF_LAYER.items()}},
        partial(places, curve=curve),
    )
    for slug, curve in CURVES.items()
}
