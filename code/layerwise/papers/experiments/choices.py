"""The headline claims' statistics on one model, under the choices that the papers did not make.

The last layer before the final norm; all tokens instead of positions 1..; another token instead of
the mean; categories instead of pairs as what is resampled. Under every choice the statistic and its
interval are computed anew. The intervals come from streams of their own, with the same resamples
under every choice; they differ from the published ones by Monte Carlo error.
"""

from typing import Any

import numpy as np
from jaxtyping import Float

from layerwise.measures.pairwise import METRICS
from layerwise.measures.values import (
    ANISOTROPY,
    FIRST_TOKEN,
    LAST_TOKEN,
    MEAN_POOLED,
    Values,
    all_tokens_reading,
    before_norm_reading,
    layer_reading,
)
from layerwise.papers.experiments.documents import r_and_ends
from layerwise.papers.shared.names import NUMERIC, SERIES, Choice
from layerwise.statistics import phases
from layerwise.statistics.bootstrap import Draws, correlation_interval, ends, resampled_correlations
from layerwise.statistics.correlation import pearson_r
from layerwise.statistics.samples import cohens_d

CENTROID = list(METRICS).index("centroid_asymmetry")  # the measure of Paper 2's curves


def document(values: Values, draws: Draws) -> dict[str, Any]:
    """Return what this model's values give; the questions and `sensitivity` read it.

    Curves need three sampled layers with the last among them, the profile needs prompts; without
    preferences there is the calibration alone.
    """
    if values.output is None:
        return {"by_layer": {}, "pairs_by_category": {}, **_over_categories(values, draws)}
    y = values.category_preferences()

    def r(reading: str) -> dict[str, float]:
        names = (f"{SERIES[0]} ({reading})", SERIES[1])
        return {"r": pearson_r(values.asymmetries(reading), y, names)}

    document: dict[str, Any] = {
        "by_layer": {str(n): r(layer_reading(n)) for n in values.layers},
        "pairs_by_category": _clustered(values, draws),
        **_over_categories(values, draws),
    }
    if values.pair_metrics_all_tokens is not None:
        document[Choice.ALL_TOKENS] = {str(n): r(all_tokens_reading(n)) for n in values.layers}
    if values.pair_metrics_before_norm is not None:
        document[Choice.BEFORE_NORM] = r(before_norm_reading(values.n_layers))
    if len(values.layers) >= len(phases.PHASES) and values.layers[-1] == values.n_layers:
        document["curves"] = _curves(values, draws)
    if values.n_prompts:
        shares = values.anisotropy[ANISOTROPY.index("first_pc_share")].tolist()
        document["profile"] = {"shares": shares[:-1], "last_before_norm": shares[-1]}
    return document


def _over_categories(values: Values, draws: Draws) -> dict[str, dict[Choice, Any]]:
    """Return r over the categories and mean neutral UA, by reading of the last layer.

    Left out are readings that are the same in every statement, or in every category.
    """
    last = values.n_layers
    neutral = np.array([name != NUMERIC for name in values.categories])
    readings = {
        Choice.PUBLISHED: MEAN_POOLED,
        Choice.BEFORE_NORM: before_norm_reading(last),
        Choice.ALL_TOKENS: all_tokens_reading(last),
        Choice.LAST_TOKEN: LAST_TOKEN,
        Choice.FIRST_TOKEN: FIRST_TOKEN,
    }

    def interval(ua: np.ndarray) -> dict[str, float]:
        y = values.category_preferences()
        stream = np.random.RandomState(draws.seed)
        return r_and_ends(correlation_interval(ua, y, stream, draws.n_resamples, draws.level))

    r, calibration = {}, {}
    for choice, reading in readings.items():
        if choice is not Choice.PUBLISHED and (
            reading not in values.readings or values.has_no_r(reading)
        ):
            continue
        ua = values.asymmetries(reading)
        if values.output is not None:
            r[choice] = interval(ua)
        calibration[choice] = {
            "mean": float(ua[neutral].mean()),
            "spread": float(ua[neutral].std()),
            "cohens_d": cohens_d(ua[neutral]),
        }
    return {"categories": r, "calibration": calibration}


def _curves(values: Values, draws: Draws) -> dict[Choice, Any]:
    """Return r over the pairs by layer, and intervals of the late layers and the fall to them.

    All curves are resampled at once, so that they compare.
    """
    readings = {Choice.PUBLISHED: values.pair_metrics[:, CENTROID]}
    if values.pair_metrics_before_norm is not None:
        readings[Choice.BEFORE_NORM] = readings[Choice.PUBLISHED].copy()
        readings[Choice.BEFORE_NORM][-1] = values.pair_metrics_before_norm[CENTROID]
    if values.pair_metrics_all_tokens is not None:
        readings[Choice.ALL_TOKENS] = values.pair_metrics_all_tokens[:, CENTROID]
    series = np.concatenate(list(readings.values()))
    y, n = values.preferences, len(values.layers)
    r = np.array([pearson_r(x, y, (f"curve {i}", "the preferences")) for i, x in enumerate(series)])

    def drawn(units: np.ndarray) -> Float[np.ndarray, "resample series"]:
        stream = np.random.RandomState(draws.seed)
        return resampled_correlations(series, y, units, stream, draws.n_resamples)

    by_pair, by_cluster = drawn(np.arange(values.n_pairs)), drawn(values.category_of_pair)
    curves = {
        reading: (r[at * n : (at + 1) * n], by_pair[:, at * n : (at + 1) * n])
        for at, reading in enumerate(readings)
    }
    curves[Choice.CLUSTERS] = r[:n], by_cluster[:, :n]
    thirds = phases.thirds_of_list(values.layers)
    early, late = ([values.layers.index(n) for n in thirds[name]] for name in ("early", "late"))

    def late_ends(drawn: np.ndarray) -> dict[str, dict[str, float]]:
        return {str(values.layers[row]): _interval_of(drawn[:, row], draws.level) for row in late}

    return {
        choice: {
            "r": {
                str(layer): float(value) for layer, value in zip(values.layers, series, strict=True)
            },
            "late": late_ends(drawn),
            "fall": _interval_of(
                drawn[:, late].mean(axis=1) - drawn[:, early].mean(axis=1), draws.level
            ),
        }
        for choice, (series, drawn) in curves.items()
    }


def _interval_of(values: Float[np.ndarray, " resample"], level: float) -> dict[str, float]:
    return dict(zip(("ci_lower", "ci_upper"), ends(values, level), strict=True))


def _clustered(values: Values, draws: Draws) -> dict[str, Any]:
    """Return intervals of the pair measures, with categories drawn whole."""
    stream = np.random.RandomState(draws.seed)
    y, units = values.preferences, values.category_of_pair

    def interval(x: np.ndarray, name: str) -> dict[str, float]:
        r = pearson_r(x, y, (name, "the preference of the pairs"))
        drawn = resampled_correlations(x[None], y, units, stream, draws.n_resamples)[:, 0]
        return {"r": r, **_interval_of(drawn, draws.level)}

    return {
        str(layer): {
            metric: interval(x, f"{metric} at layer {layer}")
            for metric, x in zip(METRICS, of_layer, strict=True)
        }
        for layer, of_layer in zip(values.layers, values.pair_metrics, strict=True)
    }
