"""Pythia's rows of Paper 2's consolidated table, compared with the files it was typed from."""

from functools import partial

from layerwise.engine.derivation import Document, Rule, Rules
from layerwise.engine.evidence import Evidence
from layerwise.engine.published import Cell, pointer
from layerwise.papers.paper2.rules.pairs import PYTHIA_CURVE, PairCurve, read_curve
from layerwise.papers.shared.result_files import CONSOLIDATED
from layerwise.statistics import curves, phases

ENDS = ("ci_lo", "ci_hi")
FLAGS = ("TRUE", "FALSE")  # TRUE where an interval excludes zero


def table_row(curve: PairCurve, layer: int) -> Rules:
    """The interval in a layer's row of the table."""

    def flag_of_printed() -> str:
        """Say whether the interval that the table itself has excludes zero."""
        row = curve.row(layer)
        return FLAGS[curves.includes_zero((row.ci_lo, row.ci_hi))]

    def fisher() -> dict[str, float]:
        interval = phases.fisher_interval(curve.tests[layer].r, curve.n_pairs)
        return dict(zip(ENDS, interval, strict=True))

    return {
        "significant": Rule(
            lambda: FLAGS[curves.includes_zero(curve.ends([layer])[layer])],
            "whether the interval of a layer excludes zero, in the table's words",
        ),
        "significant_of_printed": flag_of_printed,
        "fisher": Rule(fisher, "Fisher's interval of a layer's r over all pairs"),
    }


def table_rows(curve: PairCurve) -> Rules:
    """The rows of a curve; which layers there are is read from it."""
    return {
        f"{layer}/{name}": rule
        for layer in curve.layers
        for name, rule in table_row(curve, layer).items()
    }


def cells_of_rows(evidence: Evidence) -> dict[str, Cell]:
    """Return where the table has the rows of Pythia's curve."""
    curve = read_curve(PYTHIA_CURVE, evidence)
    return {
        pointer(layer, name): (CONSOLIDATED, pointer(curve.place.first_row + row, name))
        for row, layer in enumerate(curve.layers)
        for name in ("significant", *ENDS)
    }


DOCUMENTS = {
    PYTHIA_CURVE: Document(partial(read_curve, PYTHIA_CURVE), {"": table_rows}, cells_of_rows)
}
