"""The headline claims of Papers 1 and 2 on one model, under the choices the papers did not make.

A claim is a rule on a statistic. Under every choice the statistic and its interval are computed
anew and the same rule is asked again. Intervals are drawn from a stream of their own, with the
same resamples under every choice; they differ from the published ones by Monte Carlo error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from layerwise.measures.pairwise import METRICS
from layerwise.measures.values import ANISOTROPY, Values
from layerwise.statistics import calibration, phases, profile
from layerwise.statistics.bootstrap import correlation_interval, mean_interval
from layerwise.statistics.clusters import holm
from layerwise.statistics.correlation import pearson_p, pearson_r
from layerwise.statistics.effect_size import cohens_d
from layerwise.statistics.joint_bootstrap import ends, resampled_correlations
from layerwise.statistics.survival import Finding, compare

CENTROID = list(METRICS).index("centroid_asymmetry")  # the measure of Paper 2's curves
NUMERIC = "ground_truth_numeric"  # every other category counts as neutral in Paper 1
CLAIMS = {
    "sign_change": "r over the pairs falls from positive in early layers to negative in late ones",
    "late_inversion": "some late layer has a negative r over the pairs",
    "category_inversion": "UA and preference are opposed over the categories at the last layer",
    "calibration": "UA is near zero over the neutral categories",
    "bell": "anisotropy rises to one layer and falls from there on",
    "spectral_norms": "the mean spectral norm of W_V lies above that of W_O",
    "critical_layer": "every definition of the critical layer gives the published reading's layer",
}
STATISTICS = {
    "sign_change": "late minus early mean r",
    "late_inversion": "r of the lowest late layer",
    "category_inversion": "r over the categories",
    "calibration": "mean UA",
    "bell": "slope after the peak",
    "spectral_norms": "W_V over W_O",
    "critical_layer": "definitions that agree",
}
CHOICES = {
    "before_norm": "last layer before the final norm",
    "all_tokens": "all tokens pooled",
    "last_token": "last token instead of the mean",
    "first_token": "first token instead of the mean",
    "clusters": "categories as resampling units",
    "multiplicity": "all layers tested at once",
    "correct_slices": "correct slices of the weights",
    "without_nan": "layers without a number left out",
}


def rows(values: Values, *, n_resamples: int, level: float, seed: int) -> list[dict[str, Any]]:
    """Every claim under every choice that this model's values allow.

    Claims on curves need three sampled layers with the last among them; the bell needs prompts.
    """
    draws: dict[str, Any] = {"n_resamples": n_resamples, "level": level, "seed": seed}
    found = []
    if len(values.layers) >= len(phases.PHASES) and values.layers[-1] == values.n_layers:
        found += _curves(values, **draws)
    found += _categories(values, **draws)
    found += _calibration(values, **draws)
    return found + _bell(values)


def _curves(values: Values, *, n_resamples: int, level: float, seed: int) -> list[dict[str, Any]]:
    published = values.pair_metrics[:, CENTROID]
    before = published.copy()
    before[-1] = values.pair_metrics_before_norm[CENTROID]
    all_tokens = values.pair_metrics_all_tokens[:, CENTROID]
    stacked = np.concatenate([published, before, all_tokens])
    y, n = values.preferences, len(values.layers)
    r = np.array(
        [pearson_r(x, y, (f"curve {i}", "the preferences")) for i, x in enumerate(stacked)]
    )

    def drawn(units: np.ndarray) -> np.ndarray:
        stream = np.random.RandomState(seed)
        return resampled_correlations(stacked, y, units, stream, n_resamples)

    by_pair, by_cluster = drawn(np.arange(values.n_pairs)), drawn(values.category_of_pair)
    curves = {
        "published": (r[:n], by_pair[:, :n]),
        "before_norm": (r[n : 2 * n], by_pair[:, n : 2 * n]),
        "all_tokens": (r[2 * n :], by_pair[:, 2 * n :]),
        "clusters": (r[:n], by_cluster[:, :n]),
    }
    changes = {choice: _sign_change(values, *curve, level) for choice, curve in curves.items()}
    late = {choice: _late(values, *curve, level) for choice, curve in curves.items()}
    late["multiplicity"] = _late_of_all(values, *curves["published"], level)
    return [
        compare(claim, choice, findings["published"], finding)
        for claim, findings in (("sign_change", changes), ("late_inversion", late))
        for choice, finding in findings.items()
        if choice != "published"
    ]


def _parts(values: Values) -> dict[str, np.ndarray]:
    partition = phases.thirds_of_list(values.layers)
    return {
        phase: np.array([values.layers.index(layer) for layer in layers])
        for phase, layers in partition.items()
    }


def _sign_change(
    values: Values,
    r: Float[np.ndarray, " layer"],
    drawn: Float[np.ndarray, "resample layer"],
    level: float,
) -> Finding:
    """Early mean positive, late mean negative, and their difference beyond doubt."""
    parts = _parts(values)
    early, late = (float(r[parts[phase]].mean()) for phase in ("early", "late"))
    fall = drawn[:, parts["late"]].mean(axis=1) - drawn[:, parts["early"]].mean(axis=1)
    low, high = ends(fall, level)
    label = " to ".join("+" if mean > 0 else "-" for mean in (early, late))
    return Finding(late - early, early > 0 > late and high < 0, label, low, high)


def _late(
    values: Values,
    r: Float[np.ndarray, " layer"],
    drawn: Float[np.ndarray, "resample layer"],
    level: float,
) -> Finding:
    """The late layer whose interval lies lowest: negative r, zero excluded."""
    intervals = {int(row): ends(drawn[:, row], level) for row in _parts(values)["late"]}
    row = min(intervals, key=lambda row: intervals[row][1])
    low, high = intervals[row]
    return Finding(float(r[row]), bool(r[row] < 0 and high < 0), _layer(values, row), low, high)


def _late_of_all(
    values: Values,
    r: Float[np.ndarray, " layer"],
    drawn: Float[np.ndarray, "resample layer"],
    level: float,
) -> Finding:
    """As `_late`, by Holm's p over all sampled layers; the interval holds for all of them."""
    adjusted = holm([float(pearson_p(float(one), values.n_pairs)) for one in r])
    row = min((int(row) for row in _parts(values)["late"]), key=lambda row: r[row])
    low, high = ends(drawn[:, row], 1 - (1 - level) / len(r))
    holds = bool(r[row] < 0 and adjusted[row] < 1 - level)
    return Finding(float(r[row]), holds, _layer(values, row), low, high)


def _layer(values: Values, row: int) -> str:
    return f"L{values.layers[row]}"


def _readings(values: Values) -> dict[str, str]:
    """The readings of the last layer that differ from statement to statement, by choice."""
    last = f"layer_{values.n_layers}"
    wanted = {
        "before_norm": f"{last}_before_norm",
        "all_tokens": f"{last}_all_tokens",
        "last_token": "last_token",
        "first_token": "first_token",
    }
    return {
        choice: reading
        for choice, reading in wanted.items()
        if reading in values.readings and not values.all_identical(reading)
    }


def _categories(
    values: Values, *, n_resamples: int, level: float, seed: int
) -> list[dict[str, Any]]:
    y = values.category_preferences()

    def finding(reading: str, level: float = level) -> Finding:
        interval = correlation_interval(
            values.asymmetries(reading), y, np.random.RandomState(seed), n_resamples, level
        )
        low, high = interval.low, interval.high
        return Finding(interval.r, interval.r < 0 and high < 0, f"{interval.r:+.2f}", low, high)

    published = finding("mean_pooled")
    found = {choice: finding(reading) for choice, reading in _readings(values).items()}
    if values.layers[-1] == values.n_layers:
        r = [pearson_r(values.asymmetries(f"layer_{layer}"), y) for layer in values.layers]
        adjusted = holm([float(pearson_p(one, len(y))) for one in r])
        wide = finding("mean_pooled", 1 - (1 - level) / len(r))
        holds = wide.value < 0 and adjusted[-1] < 1 - level
        found["multiplicity"] = Finding(wide.value, holds, wide.label, wide.low, wide.high)
    return [
        compare("category_inversion", choice, published, other) for choice, other in found.items()
    ]


def _calibration(
    values: Values, *, n_resamples: int, level: float, seed: int
) -> list[dict[str, Any]]:
    neutral = np.array([name != NUMERIC for name in values.categories])

    def finding(reading: str) -> Finding:
        ua = values.asymmetries(reading)[neutral]
        interval = mean_interval(ua, n_resamples, level, seed)
        label = calibration.paper_status((interval.low, interval.high), cohens_d(ua))
        return Finding(float(ua.mean()), label == "Pass", label, interval.low, interval.high)

    published = finding("mean_pooled")
    return [
        compare("calibration", choice, published, finding(reading), signed=False)
        for choice, reading in _readings(values).items()
    ]


def _bell(values: Values) -> list[dict[str, Any]]:
    if not values.anisotropy.shape[1]:
        return []
    shares = values.anisotropy[ANISOTROPY.index("first_pc_share")].tolist()

    def finding(last: float) -> Finding:
        bell = profile.bell_test([*shares[: values.n_layers], last])
        return Finding(bell.phase2_slope, bell.is_bell_curve, f"L{bell.l_star}")

    return [compare("bell", "before_norm", finding(shares[-2]), finding(shares[-1]))]
