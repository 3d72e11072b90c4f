"""Do the claims survive other choices? Kept apart from the published analyses.

The last layer before the final norm; all tokens instead of positions 1..; categories instead of
pairs as what is resampled; several layers tested at once. `rows` asks the headline claims again
under each choice; `summarise` counts over the models.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from layerwise.analyses.categories import SERIES
from layerwise.analyses.of_values import survival
from layerwise.measures.pairwise import METRICS
from layerwise.measures.values import ANISOTROPY, Values
from layerwise.statistics import profile
from layerwise.statistics.clusters import cluster_interval, holm
from layerwise.statistics.correlation import pearson_p, pearson_r
from layerwise.statistics.survival import over_models

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
        "rows": survival.rows(values, n_resamples=n_resamples, level=level, seed=seed),
    }


def summarise(documents: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Over all models: `rows`, one per claim and choice, and `models`, every model's own rows.

    Both carry the words of the table.

    Arguments:
        documents: by model, as `analyse`, `weight_sensitivity.analyse` or `combine` gives them.
    """
    by_model = {model: document["rows"] for model, document in documents.items()}
    singles = [{"model": model, **row} for model, rows in by_model.items() for row in rows]
    claims, choices = list(survival.CLAIMS), list(survival.CHOICES)

    def place(row: Mapping[str, Any]) -> tuple[int, int]:
        return claims.index(row["claim"]), choices.index(row["choice"])

    return {
        "rows": [_worded(row) for row in sorted(over_models(by_model), key=place)],
        "models": [_worded(row) for row in singles],
    }


def combine(
    documents: Mapping[str, Mapping[str, Any]], more: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """The documents with the rows of others; a claim and choice that a model has stays as it is."""
    found = {
        model: {**document, "rows": [*document["rows"]]} for model, document in documents.items()
    }
    for model, document in more.items():
        rows = found.setdefault(model, {"rows": []})["rows"]
        taken = {(row["claim"], row["choice"]) for row in rows}
        rows += [row for row in document["rows"] if (row["claim"], row["choice"]) not in taken]
    return found


def _worded(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **row,
        "claim_text": survival.CLAIMS[row["claim"]],
        "statistic_text": survival.STATISTICS[row["claim"]],
        "choice_text": survival.CHOICES[row["choice"]],
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
