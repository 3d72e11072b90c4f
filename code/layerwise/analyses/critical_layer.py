"""The formula for L*, its fit and its validations (Paper 3, section 5.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from layerwise.analyses.documents import Draws, Replay
from layerwise.analyses.once_measured import once_measured
from layerwise.analyses.series import R, rows_by, series, whole
from layerwise.analyses.sheaf_trace import EXTENDED, V2, extended_layer, trace_layer
from layerwise.inputs.published import NotMeasured, Published, pointer
from layerwise.statistics import critical_layer
from layerwise.statistics.critical_layer import Formula

CROSS = R + "l_star_cross_heritage_20260106_104357.json"
SIGNS = R + "l_star_sign_change_20260106_111315.json"
PAPER = "Paper 3"  # the coefficients stand in its text
LEFT_OUT = "Mistral-7B-v0.1"  # its L* is 0
N_PROMPTS = 5
ARGMAX_ERROR = 15.7  # percent of depth: a constant of the sign-change notebook
WITHIN = 2  # layers that a calibration layer may be missed by


def derive(work: Replay, draws: Draws) -> None:
    """The fit to the calibration models, and predictions and errors of both definitions."""
    _calibration(work)
    for document, file in (("argmax", CROSS), ("sign_change", SIGNS)):
        given = work.published.document(file)
        work.start(document, given, {"": (file, "")})
        _validation(work, document, file, given["results"])
    _sign_change(work, work.published.document(SIGNS)["results"])


def printed_formula(published: Published) -> Formula:
    """The formula with the coefficients in print; measured layers are held against the same."""
    if published.unmeasured:
        return critical_layer.PRINTED
    return Formula(
        *(published.number(PAPER, f"/l_star/{c}") for c in ("constant", "depth", "heads"))
    )


@dataclass(frozen=True)
class Point:
    """A calibration model: blocks, heads, and how to find its L*."""

    n_layers: int
    n_heads: int
    layer: Callable[[], int]


def _points(published: Published) -> list[Point]:
    """The calibration models.

    Raises:
        NotMeasured: if one of them was not.
    """
    runs = ((V2, "results", trace_layer), (EXTENDED, "extended_results", extended_layer))
    points = []
    for file, group, find in runs:
        entries = published.document(file)[group]
        for model, row in rows_by(entries, "model").items():
            if model != LEFT_OUT:
                if entries[row]["n_layers"] is None:
                    raise NotMeasured(f"{file}: {model} was not measured")
                n, heads = int(entries[row]["n_layers"]), int(entries[row]["n_heads"])
                points.append(Point(n, heads, partial(find, published, row, n)))
    return points


def _calibration(work: Replay) -> None:
    published = work.published

    def fit() -> Formula:
        points = _points(published)
        return critical_layer.fit_formula(
            [p.n_layers for p in points],
            [p.n_heads for p in points],
            [p.layer() for p in points],
        )

    def error(predict: Callable[[Point], float]) -> float:
        errors = [
            critical_layer.depth_error(predict(p), p.layer(), p.n_layers)
            for p in _points(published)
        ]
        return float(np.mean(errors))

    def relative(predict: Callable[[Point], float]) -> float:
        errors = [critical_layer.relative_error(predict(p), p.layer()) for p in _points(published)]
        return float(np.mean(errors))

    def by(formula: Formula) -> Callable[[Point], float]:
        return lambda point: formula.layer(point.n_layers, point.n_heads)

    def half(point: Point) -> float:
        return point.n_layers / 2

    work.start("calibration", {}, {})
    statistics: dict[str, Callable[[], Any]] = {
        "/constant": lambda: fit().constant,
        "/depth": lambda: fit().depth,
        "/heads": lambda: fit().heads,
        "/error/printed_coefficients": lambda: error(by(printed_formula(published))),
        "/error/fitted_coefficients": lambda: error(by(fit())),
        "/error/half_depth": lambda: whole(error(half)),
        "/relative_error/printed_coefficients": lambda: relative(by(printed_formula(published))),
        "/relative_error/fitted_coefficients": lambda: relative(by(fit())),
        "/relative_error/half_depth": lambda: whole(relative(half)),
    }
    for key, compute in statistics.items():
        work.derive("calibration", key, compute)


def _empirical(published: Published, file: str, row: int) -> float:
    """Mean L* over the prompts: of the sign-change run from its prompts, of the other as given."""
    key = pointer("results", row)
    if file == SIGNS:
        return float(np.mean(_prompts(published, row)))
    return published.number(file, f"{key}/L_star_empirical")


def _prompts(published: Published, row: int) -> np.ndarray:
    key = pointer("results", row, "individual_L_stars")
    return series(published, SIGNS, key, N_PROMPTS)


def _validation(work: Replay, document: str, file: str, results: list[dict[str, Any]]) -> None:
    published = work.published

    def predicted(row: int) -> float:
        n, heads = (int(published.number(file, pointer("results", row, q))) for q in "LH")
        return printed_formula(published).layer(n, heads)

    def error(row: int) -> float:
        n = int(published.number(file, pointer("results", row, "L")))
        return critical_layer.depth_error(predicted(row), _empirical(published, file, row), n)

    def relative(row: int) -> float:
        return critical_layer.relative_error(predicted(row), _empirical(published, file, row))

    def mean_error(rows: list[int]) -> float:
        return float(np.mean([error(row) for row in rows]))

    rows = list(range(len(results)))

    def counted(name: str) -> int:
        names = {published[file, pointer("results", row, name)] for row in rows}
        return once_measured(published, lambda: mean_error(rows), len(names))

    for row in rows:
        key = pointer("results", row)
        work.derive(document, f"{key}/L_star_predicted", predicted, row)
        work.derive(document, f"{key}/error_pct", error, row)
        work.derive(document, f"{key}/relative_error_pct", relative, row)
    labs = [result["lab"] for result in results]
    for lab in dict.fromkeys(labs):
        mine = [row for row in rows if labs[row] == lab]
        work.derive(document, pointer("by_lab", lab), mean_error, mine)
    statistics: dict[str, Callable[[], Any]] = {
        "/overall_mape": lambda: mean_error(rows),
        "/overall_relative_error": lambda: float(np.mean([relative(row) for row in rows])),
        "/verdict": lambda: critical_layer.verdict(mean_error(rows)),
        "/n_models": lambda: counted("model"),
        "/n_labs": lambda: counted("lab"),
    }
    if file == SIGNS:
        statistics["/improvement_pp"] = lambda: _typed_error(published) - mean_error(rows)
    for key, compute in statistics.items():
        work.derive(document, key, compute)


def _typed_error(published: Published) -> float:
    """Mean error of the other run, which the sign-change notebook typed to compare with."""
    if published.unmeasured:
        return ARGMAX_ERROR
    return published.number(SIGNS, "/comparison_v2_argmax")


def _sign_change(work: Replay, results: list[dict[str, Any]]) -> None:
    """What only the sign-change run stores: the prompts' L* and the layers to compare with."""
    published = work.published

    def sd(row: int) -> float:
        return float(np.std(_prompts(published, row)))

    def near(row: int) -> bool:
        layer = published.number(SIGNS, pointer("results", row, "L_star_calibration"))
        return bool(abs(_empirical(published, SIGNS, row) - layer) < WITHIN)

    def met() -> str:
        keys = [pointer("results", row, "L_star_calibration") for row in range(len(results))]
        if any((SIGNS, key) in published.unmeasured for key in keys):
            raise NotMeasured(f"{SIGNS}: not all models were measured")
        compared = [row for row, key in enumerate(keys) if published.cells[SIGNS, key] is not None]
        return f"{sum(near(row) for row in compared)}/{len(compared)}"

    for row in range(len(results)):
        key = pointer("results", row)
        work.derive("sign_change", f"{key}/L_star_empirical", _empirical, published, SIGNS, row)
        work.derive("sign_change", f"{key}/L_star_std", sd, row)
    work.derive("sign_change", "/calibration_consistency", met)
