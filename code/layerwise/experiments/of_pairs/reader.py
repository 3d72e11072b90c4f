"""A reader's own model: its lowest-level numbers, in the files of Paper 2's first model."""

from __future__ import annotations

from layerwise.analyses.categories import SLUG, UA_FILES
from layerwise.analyses.validation import LISTED
from layerwise.errors import LayerwiseError
from layerwise.experiments import Fragments
from layerwise.experiments.of_pairs.category_values import of_categories
from layerwise.inputs.published import DATASET
from layerwise.measures.values import Values

OF_LAST_LAYER = ("uniformity_a", "uniformity_b", "output_preference", "pct_prefer_a")


def fragments(values: Values, *, n_resamples: int, seed: int) -> Fragments:
    """What the analyses of a reader's model read.

    Raises:
        LayerwiseError: if a category's name begins with an underscore.
    """
    reserved = [name for name in values.categories if name.startswith("_")]
    if reserved:
        raise LayerwiseError(
            "a category's name must not begin with an underscore, which marks other entries, "
            f"found {', '.join(reserved)}; rename it"
        )
    found = of_categories(values)
    settings = {
        "model": values.model,
        "model_display": values.display,
        "n_bootstrap": n_resamples,
        "random_seed": seed,
        "purpose": "uniformity asymmetry and output preference by category",
    }
    return {
        DATASET: {"": {name: {"n_pairs": int(of["n_pairs"])} for name, of in found.items()}},
        UA_FILES[SLUG]: {
            "": {name: {key: of[key] for key in OF_LAST_LAYER} for name, of in found.items()}
            | {"_metadata": settings, "_reference": LISTED}
        },
    }
