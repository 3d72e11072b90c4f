"""One model's values as the documents that Papers 1 and 2's rules read: the lowest level alone.

r at a layer over all pairs, as the papers take it, is computed here from the asymmetries and
preferences of the pairs; r within the categories, which decides, in `choices`.
Every interval depends on the position of its draws in one stream: it is drawn here, once, in the
order of its notebook.
"""

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypedDict

import numpy as np

from layerwise.engine.experiment import Content, Documents
from layerwise.measures.pairwise import METRICS
from layerwise.measures.values import ANISOTROPY as MEASURES
from layerwise.measures.values import MEAN_POOLED, POOLED, Values, layer_reading
from layerwise.papers.shared.names import SERIES
from layerwise.progress import track
from layerwise.statistics import curves
from layerwise.statistics.bootstrap import CorrelationInterval, Draws, advance, correlation_interval
from layerwise.statistics.correlation import pearson_r
from layerwise.statistics.random_bins import sweep

Intervals = dict[int, CorrelationInterval]


class Strategy(TypedDict):
    """What the states of one pooling, or of one layer, give over the categories."""

    correlation: float | None
    category_uas: list[float]
    category_prefs: list[float]


OF_BINS = ("the asymmetry of the bins", "the preference of the bins")
COSINES: tuple[str, ...] = ("uniformity_a", "uniformity_b")
OF_LAST_LAYER = (*COSINES, "output_preference", "pct_prefer_a")


def category_numbers(values: Values, columns: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return columns of each category: last-layer cosines, preferences (nats) and token NLL."""
    uniformity = values.uniformity[values.readings.index(MEAN_POOLED)]
    by_category = {}
    for number, name in enumerate(values.categories):
        entry = {
            "uniformity_a": uniformity[number, 0],
            "uniformity_b": uniformity[number, 1],
            "ua": uniformity[number, 0] - uniformity[number, 1],
        }
        if values.output is not None:
            inside = values.category_of_pair == number
            preferences, nll = values.output.preferences[inside], values.output.nll[:, inside]
            entry |= {
                "output_preference": preferences.mean(),
                "preference": preferences.mean(),
                "pct_prefer_a": np.mean(preferences > 0) * 100,
                "nll_a": nll[0].mean(),
                "nll_b": nll[1].mean(),
            }
        by_category[name] = {column: float(entry[column]) for column in columns}
    return by_category


def category_intervals(values: Values, draws: Draws) -> Intervals:
    """Return the interval of r over the categories by sampled layer, drawn from one stream."""
    preferences = values.category_preferences()
    test = _tester(draws, np.random.RandomState(draws.seed))
    return {
        layer: test(values.asymmetries(layer_reading(layer)), preferences, names=SERIES)
        for layer in values.layers
    }


def bin_intervals(values: Values, draws: Draws) -> Intervals:
    """Return the same over the stable bins, which were the first thing that their stream drew.

    With under three bins or 100 usable resamples: the notebook's whole range.
    """
    stream = np.random.RandomState(draws.seed)
    advance(stream, values.k_stable, values.n_pairs)
    kept = np.isfinite(values.known_output.stable_preference)
    test = partial(_tester(draws, stream), names=OF_BINS, whole_range_if_scarce=True)
    return {
        layer: test(asymmetry[kept], values.known_output.stable_preference[kept])
        for layer, asymmetry in zip(values.layers, values.stable_asymmetry, strict=True)
    }


def pair_intervals(
    values: Values, draws: Draws, metrics: Sequence[str] = tuple(METRICS), *, tests_before: int = 0
) -> dict[int, dict[str, CorrelationInterval]]:
    """Return intervals over the pairs: layers ascending, within a layer the measures as given.

    Arguments:
        tests_before: tests of as many pairs that the stream served before.
    """
    stream = np.random.RandomState(draws.seed)
    advance(stream, values.n_pairs, tests_before * draws.n_resamples * values.n_pairs)
    test = _tester(draws, stream)

    def interval(metric: str, row: int) -> CorrelationInterval:
        names = f"{metric} at layer {values.layers[row]}", "the preference of the pairs"
        x = values.pair_metrics[row, list(METRICS).index(metric)]
        return test(x, values.preferences, names=names)

    layers = track(values.layers, "intervals over pairs", "layers", len(values.layers))
    return {
        layer: {metric: interval(metric, row) for metric in metrics}
        for row, layer in enumerate(layers)
    }


def _tester(draws: Draws, stream: np.random.RandomState) -> Callable[..., CorrelationInterval]:
    """Return the test of two series, each with the next draws of the stream."""
    n, level = draws.n_resamples, draws.level
    return partial(correlation_interval, stream=stream, n_resamples=n, level=level)


def r_and_ends(
    interval: CorrelationInterval, ends: tuple[str, str] = ("ci_lower", "ci_upper")
) -> dict[str, float]:
    """Return r and the ends of its interval, with the keys of the published files."""
    return {"r": interval.r, ends[0]: interval.low, ends[1]: interval.high}


def ends_by_layer(intervals: Intervals) -> dict[str, dict[str, float]]:
    """Return r and the ends of its interval by layer, with the keys of the published files."""
    return {str(layer): r_and_ends(interval) for layer, interval in intervals.items()}


def strategies(values: Values) -> dict[str, Strategy]:
    """Return r over the categories by pooling and by layer (notebook 001).

    A token reading in which all statements share one vector (the first token, where the tokenizer
    adds a BOS), or all categories one asymmetry (where both sides of every pair begin with the same
    word), has no r: it is None. One whose states were not given is not there.
    """
    preferences = values.category_preferences()
    by_strategy: dict[str, Strategy] = {}
    for name in (*POOLED, *map(layer_reading, values.layers)):
        if name not in values.readings:
            continue
        asymmetries = values.asymmetries(name)
        alike = name in POOLED[1:] and values.has_no_r(name)
        names = (f"{SERIES[0]} ({name})", SERIES[1])
        by_strategy[name] = {
            "correlation": None if alike else pearson_r(asymmetries, preferences, names),
            "category_uas": asymmetries.tolist(),
            "category_prefs": preferences.tolist(),
        }
    return by_strategy


def asymmetries_by_reading(values: Values) -> dict[str, dict[str, float]]:
    """Return UA of every category by pooling and by layer, in place of `strategies`."""
    return {
        name: dict(zip(values.categories, values.asymmetries(name).tolist(), strict=True))
        for name in (*POOLED, *map(layer_reading, values.layers))
        if name in values.readings
    }


def r_over_binnings(values: Values) -> dict[str, dict[str, dict[str, float]]]:
    """Return r over random bins, averaged over many binnings, by k and layer (notebook 000)."""
    return {
        str(k): {
            str(layer): dataclasses.asdict(
                sweep(values.bin_asymmetry[k][row], values.known_output.bin_preference[k][row])
            )
            for row, layer in enumerate(values.layers)
        }
        for k in values.k_values
    }


def profile_of_states(values: Values) -> dict[str, Content]:
    """Return the published series, what the notebook computed and did not save, and spectra."""
    series = values.anisotropy[:, : values.n_layers + 1].tolist()
    by_measure = dict(zip(MEASURES, series, strict=True))
    peak = int(np.argmax(by_measure["first_pc_share"]))
    drawn = sorted(set(curves.spectrum_layers(peak, values.n_layers)))
    return {
        "hidden_dim": values.hidden_size,
        "intrinsic_dim_ratio": by_measure["first_pc_share"],
        "effective_rank": by_measure["effective_rank"],
        "avg_cos_sim": by_measure["mean_cosine_to_mean"],
        "eigenvalue_variance": by_measure["eigenvalue_variance"],
        "var_top10": by_measure["var_top10"],
        "var_top50": by_measure["var_top50"],
        "spectra": {str(layer): values.eigenvalues[layer].tolist() for layer in drawn},
    }


def layer_documents(values: Values, draws: Draws) -> Documents:
    """Return the documents on one model's layers, by the result that they are for.

    `intervals` are those over the categories that bins are compared with. Every interval is drawn
    once. Without preferences there are asymmetries by layer alone, without three categories the
    pairs beside them.
    """
    by_result: Documents = {"layers": {"asymmetries": asymmetries_by_reading(values)}}
    if values.has_r_over_categories:
        by_result = _category_documents(values, draws)
    if values.output is not None:
        by_result["pairs"] = _pair_document(values, draws)
    return by_result


def _category_documents(values: Values, draws: Draws) -> Documents:
    """Return the documents that correlate over the categories, and over bins beside them."""
    by_category, by_bins = category_intervals(values, draws), bin_intervals(values, draws)
    n_resamples = {"n_bootstrap": draws.n_resamples}
    return {
        "layers": {"strategies": strategies(values)},
        "category_bootstrap": {
            "n_categories": len(values.categories),
            **n_resamples,
            "ci_level": draws.level,
            "layer_results": ends_by_layer(by_category),
        },
        "bins": {
            "k_bins": values.k_stable,
            **n_resamples,
            "n_permutations": values.n_permutations,
            "bootstrap_results": ends_by_layer(by_bins),
            "results_by_k": r_over_binnings(values),
        },
        "intervals": {"original_results": ends_by_layer(by_category)},
    }


def _pair_document(values: Values, draws: Draws) -> dict[str, Content]:
    """Return the document that correlates over the pairs."""
    return {
        "n_pairs": values.n_pairs,
        "n_bootstrap": draws.n_resamples,
        "metrics_tested": list(METRICS),
        "results": {
            str(layer): {metric: r_and_ends(interval) for metric, interval in tests.items()}
            for layer, tests in pair_intervals(values, draws).items()
        },
    }
