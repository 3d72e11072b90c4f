"""A reader's own model: its lowest-level numbers, in the files of Paper 2's first model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from layerwise.analyses.bins import TYPED as TYPED_INTERVALS
from layerwise.analyses.categories import SLUG
from layerwise.analyses.evidence import Draws
from layerwise.analyses.scaling import OWN
from layerwise.analyses.survival import CHOICES_FILE, READER
from layerwise.analyses.validation import LISTED
from layerwise.errors import LayerwiseError
from layerwise.experiments.of_pairs import choices, documents
from layerwise.experiments.of_pairs.category_values import of_categories
from layerwise.experiments.of_pairs.documents import Intervals
from layerwise.inputs.result_files import (
    ANISOTROPY,
    BINS,
    BOOTSTRAP,
    DATASET,
    LAYERS,
    PAIRS,
    PROMPTS,
    SCALING,
    UA_FILES,
)
from layerwise.measures.values import Values
from layerwise.statistics.profile import PAPER2_LAYER

OF_LAST_LAYER = ("uniformity_a", "uniformity_b", "output_preference", "pct_prefer_a")


@dataclass(frozen=True)
class Drawn:
    """The numbers of one model, by file, and those intervals that say more than a file does."""

    files: dict[str, dict[str, Any]]
    by_category: Intervals
    by_bins: Intervals


def numbers(values: Values, draws: Draws) -> Drawn:
    """What the analyses of a reader's model read; every interval is drawn once.

    Raises:
        LayerwiseError: if a category's name begins with an underscore, a correlation does not
            exist, or no prompts were extracted.
    """
    _require_names(values)
    by_category = documents.over_categories(values, draws)
    by_bins = documents.over_bins(values, draws)
    by_pair = documents.over_pairs(values, draws)
    name = {"model": values.model, "model_display": values.display}
    files = {
        **_dataset(values),
        PROMPTS: {"anisotropy": {"n_prompts": values.n_prompts}},
        UA_FILES[SLUG]: _last_layer(values, draws, name),
        SCALING: {"models": {OWN: {"n_layers": values.n_layers}}},
        LAYERS: {**name, **documents.layers(values)},
        BOOTSTRAP: {**name, **documents.category_bootstrap(values, draws, by_category)},
        BINS: {
            **name,
            "method": "Option A: Random Bins (same metric)",
            **documents.bins(values, draws, by_bins),
        },
        TYPED_INTERVALS: {"original_results": documents.by_layer(by_category)},
        PAIRS: {
            **name,
            "method": "Option B: Pair-Level Analysis (EXPERIMENTAL)",
            **documents.pairs(values, draws, by_pair),
            "best_per_layer": [{"layer": layer} for layer in by_pair],
            "caveat": "Pair-level metrics are not category-level UA: read them differently.",
        },
        ANISOTROPY: {**name, **documents.anisotropy(values)},
        "notebook 004": {"PAPER2_L_STAR_ESTIMATE": PAPER2_LAYER},
        CHOICES_FILE: {READER: {**name, **choices.document(values, draws)}},
    }
    return Drawn(files, by_category, by_bins)


def _require_names(values: Values) -> None:
    reserved = [name for name in values.categories if name.startswith("_")]
    if reserved:
        raise LayerwiseError(
            "a category's name must not begin with an underscore, which marks other entries, "
            f"found {', '.join(reserved)}; rename it"
        )


def _dataset(values: Values) -> dict[str, Any]:
    counts = np.bincount(values.category_of_pair).tolist()
    sizes = zip(values.categories, counts, strict=True)
    return {DATASET: {name: {"n_pairs": count} for name, count in sizes}}


def _last_layer(values: Values, draws: Draws, name: dict[str, str]) -> dict[str, Any]:
    """Cosines and preferences by category, and what notebook 003 says beside them."""
    settings = {
        "n_bootstrap": draws.n_resamples,
        "random_seed": draws.seed,
        "purpose": "uniformity asymmetry and output preference by category",
    }
    found: dict[str, Any] = {
        category: {key: of[key] for key in OF_LAST_LAYER}
        for category, of in of_categories(values).items()
    }
    return {**found, "_metadata": {**name, **settings}, "_reference": LISTED}
