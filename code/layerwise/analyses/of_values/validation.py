"""Uniformity asymmetry against output preference at the last layer (notebook 003)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from layerwise.errors import LayerwiseError
from layerwise.measures.values import Values
from layerwise.statistics import rules
from layerwise.statistics.bootstrap import mean_interval
from layerwise.statistics.correlation import pearson_r
from layerwise.statistics.effect_size import cohens_d

PARAMETERS = ("n_resamples", "level", "seed")
SERIES = ("the asymmetry of the categories", "the preference of the categories")
FACTS = "scientific_facts"

# Paper 1's four models on scientific facts, as notebook 003 lists them.
REFERENCE: dict[str, dict[str, float | str]] = {
    "Llama-3.1-8B": {"ua": -0.013, "pref": 1.165, "interpretation": "MASKED (RLHF)"},
    "Gemma-2-9B": {"ua": 0.021, "pref": 1.138, "interpretation": "Weak"},
    "Mistral-7B": {"ua": 0.010, "pref": 0.972, "interpretation": "MASKED (RLHF)"},
    "Apertus-8B": {"ua": 0.109, "pref": 1.278, "interpretation": "ALIGNED (no RLHF)"},
}


def analyse(
    values: Values, *, n_resamples: int = 10000, level: float = 0.95, seed: int = 42
) -> dict[str, Any]:
    """Document with the keys of the published validation files, `_verdicts` and `_reference`.

    Raises:
        LayerwiseError: if r does not exist, or a category's name begins with an underscore.
    """
    reserved = [name for name in values.categories if name.startswith("_")]
    if reserved:
        raise LayerwiseError(
            "a category's name must not begin with an underscore, which marks other entries, "
            f"found {', '.join(reserved)}; rename it"
        )
    uniformity = values.uniformity[values.readings.index("mean_pooled")]
    asymmetries, preferences = values.asymmetries("mean_pooled"), values.category_preferences()
    statistics = global_statistics(
        asymmetries, preferences, values.n_pairs, n_resamples=n_resamples, level=level, seed=seed
    )
    document: dict[str, Any] = {}
    for number, name in enumerate(values.categories):
        of_pairs = values.preferences[values.category_of_pair == number]
        document[name] = {
            "n_pairs": len(of_pairs),
            "uniformity_a": float(uniformity[number, 0]),
            "uniformity_b": float(uniformity[number, 1]),
            "asymmetry": float(asymmetries[number]),
            "output_preference": float(preferences[number]),
            "pct_prefer_a": float(np.mean(of_pairs > 0) * 100),
        }
    document["_global_stats"] = statistics
    document["_metadata"] = {
        "model": values.model,
        "model_display": values.display,
        "n_bootstrap": n_resamples,
        "random_seed": seed,
        "purpose": "uniformity asymmetry and output preference by category",
    }
    document["_verdicts"] = verdicts(
        values.categories, asymmetries, preferences, statistics["ua_output_correlation"]
    )
    document["_reference"] = {name: dict(entry) for name, entry in REFERENCE.items()}
    return document


def global_statistics(
    asymmetries: Float[np.ndarray, " category"],
    preferences: Float[np.ndarray, " category"],
    n_pairs: int,
    *,
    n_resamples: int = 10000,
    level: float = 0.95,
    seed: int = 42,
) -> dict[str, Any]:
    """The block `_global_stats`: over categories, each with the same weight.

    Raises:
        LayerwiseError: if r does not exist.
    """
    r = pearson_r(asymmetries, preferences, SERIES)
    interval = mean_interval(asymmetries, n_resamples, level, seed)
    return {
        "total_pairs": int(n_pairs),
        "mean_asymmetry": float(np.mean(asymmetries)),
        "std_asymmetry": float(np.std(asymmetries)),
        "bootstrap_95ci": [interval.low, interval.high],
        "cohens_d": cohens_d(asymmetries),
        "ua_output_correlation": r,
        "mean_output_preference": float(np.mean(preferences)),
    }


def verdicts(
    categories: Sequence[str],
    asymmetries: Float[np.ndarray, " category"],
    preferences: Float[np.ndarray, " category"],
    r: float,
) -> dict[str, Any]:
    """The words that the notebook prints; those on scientific facts are None without them."""
    by_category = {
        name: (float(asymmetry), float(preference))
        for name, asymmetry, preference in zip(categories, asymmetries, preferences, strict=True)
    }
    facts = by_category.get(FACTS)
    return {
        "aligned": {name: rules.aligned(*both) for name, both in by_category.items()},
        "interpretation": rules.coupling(r),
        "sf_label": rules.facts_label(facts[0]) if facts else None,
        "key_question": rules.key_question(*facts) if facts else None,
        "summary_text": rules.summary_branch(r),
    }
