"""Pythia's rows of Paper 2's consolidated table, compared with the files it was typed from."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from layerwise.engine.derivation import Document
from layerwise.engine.evidence import Evidence
from layerwise.engine.published import pointer
from layerwise.papers.paper2.rules.pair_curves import PYTHIA_CURVE, PairCurve
from layerwise.papers.shared.names.models import SLUG
from layerwise.papers.shared.names.result_files import CONSOLIDATED
from layerwise.statistics import curves, phases

ENDS = ("ci_lo", "ci_hi")
FLAGS = ("TRUE", "FALSE")  # TRUE where an interval excludes zero


def significant(curve: PairCurve, layer: int) -> str:
    """Say whether the interval of a layer excludes zero, in the table's words."""
    return FLAGS[curves.includes_zero(curve.ends([layer])[layer])]


def significant_of_printed(curve: PairCurve, layer: int) -> str:
    """Say whether the interval that the table itself has excludes zero."""
    row = curve.row(layer)
    return FLAGS[curves.includes_zero((row.ci_lo, row.ci_hi))]


def fisher(curve: PairCurve, layer: int) -> dict[str, float]:
    """Return Fisher's interval of a layer's r over all pairs."""
    interval = phases.fisher_interval(curve.tests[layer].r, curve.n_pairs)
    return dict(zip(ENDS, interval, strict=True))


LAYER_RULES: Mapping[str, Callable[..., Any]] = {
    "significant": significant,
    "significant_of_printed": significant_of_printed,
    "fisher": fisher,
}


def documents(evidence: Evidence) -> dict[str, Document]:
    """Return the document of Pythia's rows: which layers there are is read from the curve."""
    layers = PYTHIA_CURVE.of(evidence).layers
    rules = {
        f"{layer}/{name}": partial(rule, layer=layer)
        for layer in layers
        for name, rule in LAYER_RULES.items()
    }
    places = {
        pointer(layer, name): (CONSOLIDATED, pointer(PYTHIA_CURVE.first_row + row, name))
        for row, layer in enumerate(layers)
        for name in ("significant", *ENDS)
    }
    return {SLUG: Document(PYTHIA_CURVE.of, {"": rules}, places)}


DOCUMENTS = documents
