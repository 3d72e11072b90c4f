"""Spectral norms of the attention projections (Paper 3, section 4.3) and the OPT investigation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from layerwise.analyses.documents import Draws, Replay
from layerwise.analyses.series import R, one_digit, rows_by, series, single, whole
from layerwise.inputs.published import Published, pointer
from layerwise.statistics.correlation import pearson_p, pearson_r
from layerwise.statistics.ranks import mann_whitney

SPECTRAL = R + "restriction_map_spectral_20260105_202448.json"
OPT = R + "OPT_anomaly_20260106_013155.json"
SWEEP = R + "pythia_family_NO_FINAL_LN_20260105_174820.json"
HUNT = R + "high_rho_hunt_NO_FINAL_LN_20260105_184728.json"
MATRICES = ("W_V", "W_O", "W_Q", "W_K")
LEVEL = 0.05  # of significance: the paper's prediction is read as a correlation


def derive(work: Replay, draws: Draws) -> None:
    """Layer means per model; ratios, tests and correlations over the models."""
    published = work.published
    results = published.document(SPECTRAL)["results"]
    rows = rows_by(results, "model")
    opt = published.document(OPT)["attention_analysis"]
    for model, row in rows.items():
        full_name = results[row]["model"]
        attention = pointer("attention_analysis", full_name)
        origins = {"": (SPECTRAL, pointer("results", row)), "/attention": (OPT, attention)}
        work.start(model, results[row], origins)
        n = len(results[row]["W_V_spectral_norm"])
        for matrix in MATRICES:
            for name in ("mean", "std"):
                key = pointer(f"{matrix}_{name}_spectral")
                work.derive(model, key, layer_moment, published, row, n, matrix, name)
        work.derive(model, "/W_V_over_W_O", ratio, published, row, n)
        work.derive(model, "/ratio_of_rounded", ratio_of_rounded, published, row, n)
        work.derive(model, "/mean_of_ratios", mean_of_ratios, published, row, n)
        work.derive(model, "/W_V_mean_frobenius", frobenius, published, row, n)
        if full_name in opt:
            layers = len(opt[full_name]["entropy_by_layer"])
            work.derive(model, "/attention/mean_entropy", entropy, published, attention, layers)
    work.start("study", {}, {})
    for key, compute in _over_models(published, results, rows).items():
        work.derive("study", key, compute)


def layer_moment(published: Published, row: int, n: int, matrix: str, name: str) -> float:
    """Mean or population SD over the layers, in single precision like the norms."""
    key = pointer("results", row, f"{matrix}_spectral_norm")
    return float(getattr(np, name)(single(series(published, SPECTRAL, key, n))))


def ratio(published: Published, row: int, n: int) -> float:
    """Layer mean of W_V over layer mean of W_O."""
    value, output = (layer_moment(published, row, n, m, "mean") for m in ("W_V", "W_O"))
    return value / output


def ratio_of_rounded(published: Published, row: int, n: int) -> float:
    """The ratio of the two layer means as figure 3 prints them, with two decimals."""
    value, output = (round(layer_moment(published, row, n, m, "mean"), 2) for m in ("W_V", "W_O"))
    return value / output


def mean_of_ratios(published: Published, row: int, n: int) -> float:
    """Layer mean of W_V over W_O, layer by layer."""
    place = pointer("results", row)
    value, output = (
        series(published, SPECTRAL, f"{place}/{m}_spectral_norm", n) for m in ("W_V", "W_O")
    )
    return float(np.mean(value / output))


def frobenius(published: Published, row: int, n: int) -> float:
    """Layer mean of the Frobenius norm of W_V."""
    key = pointer("results", row, "W_V_frobenius_norm")
    return float(np.mean(series(published, SPECTRAL, key, n)))


def entropy(published: Published, attention: str, n: int) -> float:
    """Mean attention entropy over the layers that have one: half precision left some NaN."""
    return float(np.nanmean(series(published, OPT, f"{attention}/entropy_by_layer", n)))


def late_square(published: Published, row: int, n: int) -> float:
    """Mean squared spectral norm of W_V over the last third of the layers."""
    layers = range(n - n // 3, n)
    key = pointer("results", row, "W_V_spectral_norm")
    return float(np.mean(series(published, SPECTRAL, key, layers) ** 2))


def gain_places(published: Published) -> dict[str, tuple[str, str]]:
    """Where each model's residual gain of the last but one block stands: sweep, or else hunt."""
    files = ((HUNT, "tested_results", "gain_no_ln_mean"), (SWEEP, "models", "residual_gain_mean"))
    return {
        model: (file, pointer(group, row, name))
        for file, group, name in files
        for model, row in rows_by(published.document(file)[group], "model").items()
    }


def _over_models(
    published: Published, results: list[dict[str, Any]], rows: dict[str, int]
) -> dict[str, Callable[[], Any]]:
    n = {model: len(results[row]["W_V_spectral_norm"]) for model, row in rows.items()}
    lab = {model: results[row]["lab"] for model, row in rows.items()}
    pythia = [model for model in rows if model.startswith("pythia")]
    eleuther = [model for model in rows if lab[model] == "EleutherAI"]
    others = [model for model in rows if lab[model] != "EleutherAI"]
    meta = [model for model in rows if lab[model] == "Meta"]
    places = gain_places(published)
    gained = [model for model in rows if model in places]

    def each(function: Callable[..., float], models: list[str], *more: str) -> np.ndarray:
        return np.array([function(published, rows[m], n[m], *more) for m in models])

    def over(function: Callable[..., float], above: list[str], below: list[str], *more: str) -> Any:
        return lambda: float(
            np.mean(each(function, above, *more)) / np.mean(each(function, below, *more))
        )

    def test() -> tuple[float, float]:
        return mann_whitney(
            *(each(layer_moment, models, "W_V", "mean") for models in (eleuther, others))
        )

    def r() -> float:
        gains = np.array([published.number(*places[model]) for model in gained])
        return pearson_r(each(ratio, gained), gains)

    def norms_ratio() -> float:
        keys = (
            f"{pointer('W_V_analysis', m)}/mean_frobenius" for m in ("gpt2", "facebook/opt-125m")
        )
        above, below = (published.number(OPT, key) for key in keys)
        return above / below

    value = over(layer_moment, eleuther, meta, "W_V", "mean")
    value_to_output = over(ratio, pythia, meta)
    late_others, late_meta = (over(late_square, pythia, below) for below in (others, meta))
    statistics: dict[str, Callable[[], Any]] = {
        "/value_ratio": lambda: whole(value()),
        "/value_to_output_ratio": lambda: whole(value_to_output()),
        "/mann_whitney/u": lambda: test()[0],
        "/mann_whitney/p": lambda: test()[1],
        "/prediction/r": r,
        "/prediction/p": lambda: pearson_p(r(), len(gained)),
        "/prediction/predicts": lambda: bool(pearson_p(r(), len(gained)) < LEVEL),
        "/late_square_ratio/others": lambda: one_digit(late_others()),
        "/late_square_ratio/meta": lambda: one_digit(late_meta()),
        "/frobenius_ratio": norms_ratio,
    }
    return statistics
