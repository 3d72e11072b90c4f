"""Paper 1 from values: uniformity asymmetry per category, and its place beside the preference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from layerwise.analyses.calibration_text import MODELS, NUMERIC
from layerwise.analyses.output_correlation import CLASSES, CONTRIBUTIONS, DIVERGENCE, SCALE, Rows
from layerwise.analyses.validation import FACTS, OUTPUT_CORRELATION
from layerwise.experiments import Fragments
from layerwise.inputs.published import Published, pointer
from layerwise.measures.pairwise import METRICS
from layerwise.measures.values import Values
from layerwise.statistics.bootstrap import mean_interval
from layerwise.statistics.correlation import pearson_p, pearson_r
from layerwise.statistics.effect_size import cohens_d

TYPED = "notebook 003"  # lists Paper 1's models on scientific facts, with three decimals
LISTED = {
    "llama": "Llama-3.1-8B",
    "gemma": "Gemma-2-9B",
    "mistral": "Mistral-7B",
    "apertus": "Apertus-8B",
}
YMYL = ("scientific_facts", "lifestyle")  # the categories that the supplement sets apart
INDIFFERENT = 0.1  # nats: the supplement counts smaller preferences on neither side


def by_category(
    values: Values, model: str, *, n_resamples: int, level: float, seed: int
) -> Fragments:
    """A model's main result file (`Results/results_<model>_*.json`)."""
    uniformity = values.uniformity[values.readings.index("mean_pooled")]
    asymmetries = values.asymmetries("mean_pooled")
    last = values.layers.index(values.n_layers)
    similarity = values.pair_metrics[last, list(METRICS).index("within_pair_sim")]
    document: dict[str, Any] = {}
    for number, name in enumerate(values.categories):
        inside = values.category_of_pair == number
        document[name] = {
            "n_pairs": int(inside.sum()),
            "uniformity_a": float(uniformity[number, 0]),
            "uniformity_b": float(uniformity[number, 1]),
            "asymmetry": float(asymmetries[number]),
            "pair_similarity_mean": float(similarity[inside].mean()),
        }
    neutral = np.array([name != NUMERIC for name in values.categories])
    document["_global_stats"] = {
        "total_pairs": values.n_pairs,
        "n_bootstrap": n_resamples,
        "all_categories": _group(asymmetries, n_resamples, level, seed),
        "neutral_only": _group(asymmetries[neutral], n_resamples, level, seed),
    }
    document["_metadata"] = {"n_bootstrap": n_resamples, "random_seed": seed}
    return {MODELS[model]: {"": document}}


def _group(ua: np.ndarray, n_resamples: int, level: float, seed: int) -> dict[str, Any]:
    """Over a group of categories; every interval starts the stream anew."""
    interval = mean_interval(ua, n_resamples, level, seed)
    return {
        "mean_asymmetry": float(np.mean(ua)),
        "std_asymmetry": float(np.std(ua)),
        "bootstrap_95ci": [interval.low, interval.high],
        "cohens_d": cohens_d(ua),
    }


def outputs(values: Values, model: str, published: Published) -> Fragments:
    """A model's share of the supplement's files on the preference of the outputs.

    Its labels of regimes and its column `divergence` are left out: no rule for them is published.
    """
    ua = dict(zip(values.categories, values.asymmetries("mean_pooled").tolist(), strict=True))
    preference = dict(zip(values.categories, values.category_preferences().tolist(), strict=True))
    rows = Rows(published)
    divergence = {
        row["category"]: number for number, row in enumerate(published.document(DIVERGENCE))
    }
    found: Fragments = {CONTRIBUTIONS: {}, CLASSES: {}, DIVERGENCE: {}}
    for number, name in enumerate(values.categories):
        contribution = {
            "ua": ua[name],
            "preference": preference[name],
            "contribution": ua[name] * preference[name],
            "aligned": ua[name] * preference[name] > 0,
        }
        a, b = values.nll[:, values.category_of_pair == number].mean(axis=1).tolist()
        likelihoods = {
            "ua_score": ua[name],
            "mean_nll": (a + b) / 2,
            "nll_a": a,
            "nll_b": b,
            "preference": preference[name],
        }
        # cell by cell: what is left out keeps its place and stays unmeasured
        for file, cells in ((CONTRIBUTIONS, contribution), (CLASSES, likelihoods)):
            row = rows.number[file][model, name]
            found[file] |= {pointer(row, column): value for column, value in cells.items()}
        row = divergence[name]
        found[DIVERGENCE][pointer(row, f"{model}_ua")] = ua[name]
        found[DIVERGENCE][pointer(row, f"{model}_pref")] = preference[name]
    found[OUTPUT_CORRELATION] = {
        pointer(group, model): compute(values, ua, preference) for group, compute in _GROUPS.items()
    }
    typed = {"ua": round(ua[FACTS], 3), "pref": round(preference[FACTS], 3)}
    return {**found, TYPED: {pointer("reference_models", LISTED[model]): typed}}


def _split(values: Values, ua: dict[str, float], preference: dict[str, float]) -> dict[str, Any]:
    def r(names: list[str]) -> float:
        return pearson_r(np.array([ua[n] for n in names]), np.array([preference[n] for n in names]))

    rest = [name for name in values.categories if name != NUMERIC]
    full, without = r(list(values.categories)), r(rest)
    return {
        "full_r": full,
        "full_p": pearson_p(full, len(rest) + 1),
        "r_without_numeric": without,
        "p_without_numeric": pearson_p(without, len(rest)),
        "delta_r": without - full,
        "numeric_ua": ua[NUMERIC],
        "numeric_pref": preference[NUMERIC],
        "numeric_aligned": ua[NUMERIC] * preference[NUMERIC] > 0,
    }


def _ymyl(values: Values, ua: dict[str, float], preference: dict[str, float]) -> dict[str, Any]:
    contribution = {name: ua[name] * preference[name] for name in values.categories}
    inside = float(np.mean([contribution[name] for name in YMYL]))
    outside = float(np.mean([v for name, v in contribution.items() if name not in YMYL]))
    return {
        "ymyl_mean_contribution": inside,
        "non_ymyl_mean_contribution": outside,
        "ymyl_stronger": str(inside > outside),  # a word in the file
    }


def _numeric(values: Values, ua: dict[str, float], preference: dict[str, float]) -> dict[str, Any]:
    of_pairs = values.preferences[values.category_of_pair == values.categories.index(NUMERIC)]
    return {
        "ua": ua[NUMERIC],
        "pref": preference[NUMERIC],
        "aligned": ua[NUMERIC] * preference[NUMERIC] > 0,
        "pct_a": float(100 * np.mean(of_pairs > INDIFFERENT)),
        "pct_b": float(100 * np.mean(of_pairs < -INDIFFERENT)),
    }


def _facts(values: Values, ua: dict[str, float], preference: dict[str, float]) -> dict[str, Any]:
    gap = SCALE * abs(ua[FACTS]) - abs(preference[FACTS])
    return {"ua": ua[FACTS], "pref": preference[FACTS], "gap": gap}


_GROUPS: dict[str, Callable[..., dict[str, Any]]] = {
    "numeric_split": _split,
    "ymyl_effect": _ymyl,
    "apertus_paradox": _numeric,
    "rlhf_masking": _facts,
}
