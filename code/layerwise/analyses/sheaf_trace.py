"""Traces of the sheaf Laplacian and the restriction maps (Paper 3, section 5.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from layerwise.analyses.documents import Draws, Replay
from layerwise.analyses.series import R, rows_by, series, whole
from layerwise.inputs.published import NotMeasured, Published, pointer
from layerwise.statistics import critical_layer

V2 = R + "H4_v2_validation_20260106_015547.json"
V1 = R + "H4_validation_20260106_014132.json"
EXTENDED = R + "H4_v2_extended_20260106_012606.json"
MAPS = R + "restriction_maps_results.json"
MAPPED = "pythia-1.4b"
FACTOR = 2  # the script's rule: expanders' mean trace over twice that of dampeners
DRAFT_LAYER = 10  # where the draft puts the smallest ratio


def derive(work: Replay, draws: Draws) -> None:
    """Means, L* and findings of the three trace runs and of the restriction maps."""
    published = work.published
    _traces(work, published.document(V2)["results"], published.document(V1)["results"])
    extended = published.document(EXTENDED)["extended_results"]
    for model, row in rows_by(extended, "model").items():
        place, n = pointer("extended_results", row), len(extended[row]["traces_mh"])
        work.start(model, {}, {"": (EXTENDED, place)})
        work.derive(model, "/L_star", extended_layer, published, row, n)
        key = "/mean_trace_mh"
        traces = extended[row]["traces_mh"]  # of None where nothing was measured
        known = None not in traces and not np.any(np.isnan(traces))
        work.derive(
            model, key if known else f"{key}_word", _mean_or_nan, published, place + "/traces_mh", n
        )
    work.start(MAPPED, {}, {"": (MAPS, "")})
    n = len(published.document(MAPS)["restriction_maps"]["contraction_ratios"])
    for key, compute in _maps(published, n).items():
        work.derive(MAPPED, key, compute)


def trace_layer(published: Published, row: int, n: int) -> int:
    """L* of the second trace run: the steepest layer of the single-slice trace."""
    key = pointer("results", row, "traces_full")
    return critical_layer.steepest(series(published, V2, key, n))


def extended_layer(published: Published, row: int, n: int) -> int:
    """L* of the extended run: the steepest layer of the multi-head trace."""
    key = pointer("extended_results", row, "traces_mh")
    return critical_layer.steepest(series(published, EXTENDED, key, n))


def _mean_or_nan(published: Published, key: str, n: int) -> float | str:
    """The mean over the layers; one NaN makes it NaN, which is given as that word."""
    mean = float(np.mean(series(published, EXTENDED, key, n)))
    return "NaN" if np.isnan(mean) else mean


def _traces(work: Replay, second: list[dict[str, Any]], first: list[dict[str, Any]]) -> None:
    published = work.published
    rows, first_rows = rows_by(second, "model"), rows_by(first, "model")
    n = {model: len(second[row]["traces_full"]) for model, row in rows.items()}

    def mean(model: str, name: str) -> float:
        return float(
            np.mean(series(published, V2, pointer("results", rows[model], name), n[model]))
        )

    def prior(model: str) -> float:
        known = published.number(V2, pointer("results", rows[model], "known_gain"))
        return critical_layer.layer_from_gain(n[model], known)

    def of(model: str, name: str, find: Callable[[np.ndarray], Any], file: str = V2) -> int:
        row = (rows if file == V2 else first_rows)[model]
        return int(find(series(published, file, pointer("results", row, name), n[model])))

    def behavior(model: str) -> str:
        word = second[rows[model]]["behavior"]
        if word is None:
            raise NotMeasured(f"{V2}: the traces of {model} were not measured")
        return str(word)

    def ratio(name: str) -> float:
        means = {
            kind: np.mean([mean(m, name) for m in rows if behavior(m) == kind])
            for kind in ("EXPAND", "DAMPEN")
        }
        return float(means["EXPAND"] / means["DAMPEN"])

    for model, row in rows.items():
        origins = {
            "": (V2, pointer("results", row)),
            "/first": (V1, pointer("results", first_rows[model])),
        }
        work.start(model, {}, origins)
        for kind in ("full", "multihead"):
            work.derive(model, f"/mean_trace_{kind}", mean, model, f"traces_{kind}")
        work.derive(model, "/whole_trace", lambda m=model: whole(mean(m, "traces_multihead")))
        work.derive(model, "/L_star_trace", trace_layer, published, row, n[model])
        work.derive(model, "/L_star_spectral", of, model, "spectral_gaps", np.argmax)
        work.derive(model, "/L_star_apriori", prior, model)
        finders = {
            "gap_max": ("spectral_gaps", np.argmax),
            "lambda2_max": ("lambda_2", np.argmax),
            "inflection": ("spectral_gaps", critical_layer.inflection),
        }
        for name, (key, find) in finders.items():
            work.derive(model, f"/first/L_star_{name}", of, model, key, find, V1)
    findings: dict[str, Callable[[], Any]] = {
        "/gpt2_over_opt": lambda: whole(
            mean("gpt2", "traces_multihead") / mean("opt-125m", "traces_multihead")
        ),
        "/expand_over_dampen/full": lambda: ratio("traces_full"),
        "/expand_over_dampen/multihead": lambda: ratio("traces_multihead"),
        "/discriminates/full": lambda: ratio("traces_full") > FACTOR,
        "/discriminates/multihead": lambda: ratio("traces_multihead") > FACTOR,
        "/mean_layer_error": lambda: float(
            np.mean([abs(prior(m) - trace_layer(published, rows[m], n[m])) for m in rows])
        ),
        "/ratio_sd": lambda: float(
            np.std([mean(m, "traces_multihead") / mean(m, "traces_full") for m in rows])
        ),
        "/first_mean_depth": lambda: float(
            np.mean([of(m, "spectral_gaps", np.argmax, V1) / n[m] for m in first_rows])
        ),
    }
    work.start("study", {}, {})
    for key, compute in findings.items():
        work.derive("study", key, compute)


def _maps(published: Published, n: int) -> dict[str, Callable[[], Any]]:
    """NaN of half-precision attention takes part where it did: it wins `argmin`, is no number."""
    key = "/restriction_maps/contraction_ratios"

    def ratios() -> np.ndarray:
        return series(published, MAPS, key, n)

    def at(layer: int) -> float:
        return published.number(MAPS, key + pointer(layer))

    def smallest() -> int:
        return int(np.argmin(ratios()))

    def before() -> float:
        """NaN where the smallest is the first: nothing stands before it."""
        return float(np.mean(ratios()[: smallest()])) if smallest() else np.nan

    return {
        "/restriction_maps/L_star_min_contraction": smallest,
        "/restriction_maps/L_star_inflection": lambda: critical_layer.inflection(ratios()),
        "/validation/contraction_before_Lstar": lambda: before() < 1,
        "/validation/expansion_after_Lstar": lambda: bool(
            np.mean(ratios()[smallest() :]) > before()
        ),
        "/nan_layers": lambda: int(np.sum(np.isnan(ratios()))),
        "/smallest_finite_layer": lambda: int(np.nanargmin(ratios())),
        "/all_below_1": lambda: bool(np.nanmax(ratios()) < 1),
        "/draft_ratio": lambda: at(DRAFT_LAYER),
        "/draft_ratio_to_first": lambda: at(DRAFT_LAYER) / at(0),
    }
