"""The places of r over the pairs by layer, for each model and condition of Paper 2."""

from dataclasses import dataclass

from layerwise.papers.shared.names import result_files as files
from layerwise.papers.shared.names.models import SLUG

# What a curve of r over the categories is drawn over.
CATEGORIES = "categories"
METRIC = "centroid_asymmetry"  # the measure of every curve in the paper
SHORT, LONG = ("ci_lo", "ci_hi"), ("ci_lower", "ci_upper")  # names of an interval's ends


@dataclass(frozen=True)
class CurvePlace:
    """The file and the group in it that hold a curve, and its rows in Paper 2's tables.

    Attributes:
        metric: the name of the measure in a file of several; None where the file has one.
        names: of the ends of an interval.
        summary_row: in PHASE_SUMMARY.
        first_row: in CONSOLIDATED, whose rows go on by layer.
    """

    file: str
    group: str
    metric: str | None = None
    names: tuple[str, str] = SHORT
    summary_row: int = 0
    first_row: int = 0


CURVES = {
    SLUG: CurvePlace(files.PAIRS, "results", METRIC, LONG),
    "llama-3p1-8b": CurvePlace(files.LLAMA, "pair_level_results", METRIC, LONG, 1, 9),
    "llama-3p1-8b-instruct": CurvePlace(
        files.TEMPLATE, "results_without_template", None, SHORT, 2, 18
    ),
    "llama-3p1-8b-instruct-template": CurvePlace(
        files.TEMPLATE, "results_with_template", None, SHORT, 3, 27
    ),
    "apertus-8b": CurvePlace(files.APERTUS, "results", None, SHORT, 4, 36),
    "gemma-2b": CurvePlace(files.GEMMA, "results", None, SHORT, 5, 45),
}
