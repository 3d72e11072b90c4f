"""What decides the central claims on one model, which print lacks, and other readings of them.

What decides: r within each category and without it, by layer, and what is known of every pair. The
other readings: the last layer before the final norm; all tokens instead of positions 1..; another
token instead of the mean.
"""

import numpy as np
from jaxtyping import Float

from layerwise.files import JsonObject
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
from layerwise.statistics.bootstrap import Draws, correlation_interval
from layerwise.statistics.correlation import leave_one_out, pearson_r
from layerwise.statistics.samples import cohens_d
from layerwise.statistics.sizes import FEWEST_PAIRS

CENTROID = list(METRICS).index("centroid_asymmetry")  # the measure of Paper 2's curves


def choices_document(values: Values, draws: Draws) -> JsonObject:
    """Return what this model's values give; the questions and `sensitivity` read it.

    Curves need three sampled layers with the last among them, the profile needs prompts, and r over
    the categories needs three of them; without preferences there is the calibration alone.
    """
    document: dict[str, object] = {
        **(_r_by_layer(values) if values.has_r_over_categories else {"by_layer": {}}),
        **_last_layer_by_choice(values, draws),
        "by_pair": _pair_values(values),
        **_marked_categories(values),
    }
    to_the_end = len(values.layers) >= len(phases.PHASES) and values.layers[-1] == values.n_layers
    if values.output is not None and to_the_end:
        document["curves"] = curves_of_pairs(values)
    if values.n_prompts:
        shares = values.anisotropy[ANISOTROPY.index("first_pc_share")].tolist()
        document["profile"] = {
            "shares": shares[:-1],
            "last_before_norm": shares[-1],
            "shares_by_prompt": values.shares_by_prompt.tolist(),
        }
    return document


def _r_by_layer(values: Values) -> JsonObject:
    """Return r over the categories by layer, as published and in other readings of the states."""
    y = values.category_preferences()

    def r(reading: str) -> JsonObject:
        names = (f"{SERIES[0]} ({reading})", SERIES[1])
        ua = values.asymmetries(reading)
        return {"r": pearson_r(ua, y, names), "without": _without_each(values, ua)}

    document: dict[str, object] = {"by_layer": {str(n): r(layer_reading(n)) for n in values.layers}}
    if values.pair_metrics_all_tokens is not None:
        document[Choice.ALL_TOKENS] = {str(n): r(all_tokens_reading(n)) for n in values.layers}
    if values.pair_metrics_before_norm is not None:
        document[Choice.BEFORE_NORM] = r(before_norm_reading(values.n_layers))
    return document


def _last_layer_by_choice(values: Values, draws: Draws) -> dict[str, dict[Choice, JsonObject]]:
    """Return r over the categories and mean neutral UA, by reading of the last layer.

    Left out are readings that are the same in every statement, or in every category.
    """
    last = values.n_layers
    others = [name for name in values.categories if name != NUMERIC]
    marked = values.neutral or others or values.categories
    neutral = np.array([name in marked for name in values.categories])
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

    r: dict[Choice, JsonObject] = {}
    calibration: dict[Choice, JsonObject] = {}
    for choice, reading in readings.items():
        if choice is not Choice.PUBLISHED and (
            reading not in values.readings or values.has_no_r(reading)
        ):
            continue
        ua = values.asymmetries(reading)
        if values.has_r_over_categories:
            r[choice] = {**interval(ua), "without": _without_each(values, ua)}
        calibration[choice] = {
            "mean": float(ua[neutral].mean()),
            "spread": float(ua[neutral].std()),
            "cohens_d": cohens_d(ua[neutral]),
        }
    return {"categories": r, "calibration": calibration}


def _marked_categories(values: Values) -> dict[str, list[str]]:
    """Return the categories that are marked as neutral, where some are."""
    return {"neutral": [*values.neutral]} if values.neutral else {}


def _without_each(values: Values, ua: Float[np.ndarray, " category"]) -> dict[str, float]:
    """Return r over the other categories by the one left out; none of fewer than four."""
    y = values.category_preferences()
    left_out = leave_one_out(dict(zip(values.categories, zip(ua, y, strict=True), strict=True)))
    return {name: correlation.r for name, correlation in left_out.items()}


def curves_of_pairs(values: Values) -> dict[Choice, JsonObject]:
    """Return r over the pairs by layer, in each category, over all of them and without each.

    A category of under four pairs has no r of its own, nor has one without variation.
    """
    readings = {Choice.PUBLISHED: values.pair_metrics[:, CENTROID]}
    if values.pair_metrics_before_norm is not None:
        readings[Choice.BEFORE_NORM] = readings[Choice.PUBLISHED].copy()
        readings[Choice.BEFORE_NORM][-1] = values.pair_metrics_before_norm[CENTROID]
    if values.pair_metrics_all_tokens is not None:
        readings[Choice.ALL_TOKENS] = values.pair_metrics_all_tokens[:, CENTROID]
    return {
        reading: {
            str(layer): _correlations(values, series, f"layer {layer}")
            for layer, series in zip(values.layers, by_layer, strict=True)
        }
        for reading, by_layer in readings.items()
    }


def _correlations(values: Values, series: Float[np.ndarray, " pair"], at: str) -> JsonObject:
    """Return r of one layer: over all pairs, in each category, and without each."""
    y, names = values.preferences, (f"the asymmetry at {at}", "the preference of the pairs")
    inside = {
        name: values.category_of_pair == number for number, name in enumerate(values.categories)
    }
    return {
        "r": pearson_r(series, y, names),
        "by_category": {
            name: pearson_r(series[pairs], y[pairs], names)
            for name, pairs in inside.items()
            if pairs.sum() >= FEWEST_PAIRS and np.ptp(series[pairs]) and np.ptp(y[pairs])
        },
        "without": {
            name: pearson_r(series[~pairs], y[~pairs], names)
            for name, pairs in inside.items()
            if np.count_nonzero(~pairs) >= FEWEST_PAIRS
        },
    }


def _pair_values(values: Values) -> JsonObject:
    """Return what is known of every pair, for questions that nobody asked yet.

    Asymmetry by layer, the category's UA at the last layer without the pair, and the pair's term in
    it, which changes its sign with the pair's sides.
    """
    by_category: dict[str, dict[str, object]] = {}
    curves = zip(values.layers, values.pair_metrics[:, CENTROID], strict=True)
    by_layer = {str(layer): series for layer, series in curves}
    for number, name in enumerate(values.categories):
        inside = values.category_of_pair == number
        by_category[name] = {
            "asymmetry": {layer: series[inside].tolist() for layer, series in by_layer.items()},
            "ua_without_pair": values.asymmetry_without[inside].tolist(),
            "exchange_terms": values.exchange_terms[inside].tolist(),
        }
        if values.output is not None:
            by_category[name]["preference"] = values.preferences[inside].tolist()
    return by_category
