"""Paper 1 from values, and notebook 003: the lowest-level numbers of every category, last layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from layerwise.analyses.categories import FACTS
from layerwise.analyses.validation import TYPED
from layerwise.experiments import Fragments
from layerwise.inputs.published import Published, pointer
from layerwise.inputs.result_files import (
    CLASSES,
    CONTRIBUTIONS,
    OUTPUT_CORRELATION,
    PAPER1,
    UA_FILES,
)
from layerwise.measures.pairwise import METRICS
from layerwise.measures.values import Values

LISTED = {
    "llama": "Llama-3.1-8B",
    "gemma": "Gemma-2-9B",
    "mistral": "Mistral-7B",
    "apertus": "Apertus-8B",
}
COLUMNS = {CONTRIBUTIONS: ("ua", "preference"), CLASSES: ("nll_a", "nll_b")}


def of_categories(values: Values) -> dict[str, dict[str, float]]:
    """Cosines, preferences (nats) and token NLL of each category."""
    uniformity = values.uniformity[values.readings.index("mean_pooled")]
    found = {}
    for number, name in enumerate(values.categories):
        inside = values.category_of_pair == number
        columns = {
            "n_pairs": np.sum(inside),
            "uniformity_a": uniformity[number, 0],
            "uniformity_b": uniformity[number, 1],
            "output_preference": (preference := values.preferences[inside].mean()),
            "preference": preference,
            "pct_prefer_a": np.mean(values.preferences[inside] > 0) * 100,
            "nll_a": values.nll[0, inside].mean(),
            "nll_b": values.nll[1, inside].mean(),
        }
        columns["ua"] = columns["uniformity_a"] - columns["uniformity_b"]
        found[name] = {column: float(value) for column, value in columns.items()}
    return found


def fill(values: Values, file: str, *columns: str) -> Fragments:
    """Columns of every category in a file of one model, cell by cell."""
    return {
        file: {
            pointer(name, column): of[column]
            for name, of in of_categories(values).items()
            for column in columns
        }
    }


def paper_1(values: Values, model: str) -> Fragments:
    """A model's main result file (`Results/results_<model>_*.json`)."""
    found = fill(values, PAPER1[model], "uniformity_a", "uniformity_b")
    last = values.layers.index(values.n_layers)
    similarity = values.pair_metrics[last, list(METRICS).index("within_pair_sim")]
    for number, name in enumerate(values.categories):
        mean = float(similarity[values.category_of_pair == number].mean())
        found[PAPER1[model]][pointer(name, "pair_similarity_mean")] = mean
    return found


def pythia(values: Values, slug: str) -> Fragments:
    """A Pythia model's file of notebook 003, where one was saved."""
    columns = ("uniformity_a", "uniformity_b", "output_preference", "pct_prefer_a")
    return fill(values, UA_FILES[slug], *columns) if slug in UA_FILES else {}


def outputs(values: Values, model: str, published: Published) -> Fragments:
    """A model's share of the supplement's files on the preference of the outputs.

    Its labels of regimes and its column `divergence` are left out: no rule for them is published.
    """
    found: dict[str, dict[str, Any]] = {}
    categories = of_categories(values)
    for file in (CONTRIBUTIONS, CLASSES):
        rows = {
            (row["model"], row["category"]): n for n, row in enumerate(published.document(file))
        }
        found[file] = {
            pointer(rows[model, name], column): of[column]
            for name, of in categories.items()
            for column in COLUMNS[file]
        }
    facts = categories[FACTS]
    typed = {"ua": round(facts["ua"], 3), "pref": round(facts["preference"], 3)}
    found[OUTPUT_CORRELATION] = {pointer("rlhf_masking", model, "pref"): facts["preference"]}
    found[TYPED] = {pointer("reference_models", LISTED[model]): typed}
    return found
