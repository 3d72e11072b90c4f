"""Do the claims survive other choices? Kept apart from the published analyses.

The last layer before the final norm; all tokens instead of positions 1..; categories instead of
pairs as what is resampled; several layers tested at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from layerwise.analyses.validation import SERIES
from layerwise.measures.pairwise import METRICS
from layerwise.statistics import profile
from layerwise.statistics.clusters import cluster_interval, holm
from layerwise.statistics.correlation import pearson_p, pearson_r
from layerwise.values import ANISOTROPY, Values

PARAMETERS = ("n_resamples", "level", "seed")


def analyse(
    values: Values, *, n_resamples: int = 10000, level: float = 0.95, seed: int = 42
) -> dict[str, Any]:
    """r and p under each choice, beside the published one.

    Raises:
        LayerwiseError: if a correlation does not exist.
    """
    last = values.n_layers
    published = {layer: _r(values, f"layer_{layer}") for layer in values.layers}
    adjusted = holm([result["p_value"] for result in published.values()])
    return {
        "model": values.model,
        "model_display": values.display,
        "before_norm": {
            **_r(values, f"layer_{last}_before_norm"),
            "r_after_norm": _r(values, "mean_pooled")["r"],
        },
        "all_tokens": {
            str(layer): {**_r(values, f"layer_{layer}_all_tokens"), "r_without_first": found["r"]}
            for layer, found in published.items()
        },
        "holm": {
            str(layer): {**found, "p_holm": p}
            for (layer, found), p in zip(published.items(), adjusted, strict=True)
        },
        "pairs_by_category": _clustered(values, n_resamples, level, seed),
        "anisotropy_before_norm": _bell_before_norm(values),
    }


def _r(values: Values, reading: str) -> dict[str, float]:
    preferences = values.category_preferences()
    r = pearson_r(values.asymmetries(reading), preferences, (f"{SERIES[0]} ({reading})", SERIES[1]))
    return {"r": r, "p_value": float(pearson_p(r, len(preferences)))}


def _clustered(values: Values, n_resamples: int, level: float, seed: int) -> dict[str, Any]:
    """Pair-level intervals with categories drawn whole; p_value takes pairs as independent."""
    stream = np.random.RandomState(seed)
    return {
        str(layer): {
            metric: cluster_interval(
                values.pair_metrics[row, number],
                values.preferences,
                values.category_of_pair,
                stream,
                n_resamples,
                level,
                names=(f"{metric} at layer {layer}", "the preference of the pairs"),
            ).as_result()
            for number, metric in enumerate(METRICS)
        }
        for row, layer in enumerate(values.layers)
    }


def _bell_before_norm(values: Values) -> dict[str, Any] | None:
    """The bell test with the last layer taken before the final norm; None without prompts."""
    if not values.anisotropy.shape[1]:
        return None
    shares = values.anisotropy[ANISOTROPY.index("first_pc_share")]
    bell = profile.bell_test([*shares[: values.n_layers], shares[-1]])
    return {
        "L_star_anisotropy": bell.l_star,
        "is_bell_curve": bell.is_bell_curve,
        "phase2_slope": bell.phase2_slope,
        "phase2_r": bell.phase2_r,
        "last_share": float(shares[-1]),
    }
