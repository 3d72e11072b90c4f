"""A reader's own model: its lowest-level numbers, in files of its own that fill the roles."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from layerwise.engine.experiment import Documents
from layerwise.engine.published import DATASET, PROMPTS, Published
from layerwise.files import JsonObject
from layerwise.measures.values import Values
from layerwise.models.store import Index
from layerwise.papers.experiments import choices, documents
from layerwise.papers.shared.names import READER_ENTRY
from layerwise.papers.shared.published import tables_of_reader
from layerwise.papers.shared.result_files import (
    CHOICES_FILE,
    PROFILES_FILE,
    TYPED_LAYER,
    TYPED_MODELS,
    own_file,
)
from layerwise.papers.shared.roles import roles_of_reader
from layerwise.statistics.bootstrap import Draws
from layerwise.statistics.sizes import MIN_POINTS

# Why a result file has no numbers.
WITHOUT_PREFERENCES = dict.fromkeys(
    ("category_bootstrap", "bins", "pairs"),
    "it correlates asymmetry with preference, a difference of NLL, and no NLL was given",
)
WITHOUT_CATEGORIES = dict.fromkeys(
    ("category_bootstrap", "bins"),
    f"it correlates over the categories, which takes {MIN_POINTS} of them",
)
INTERPRETATIONS = {  # of the models that notebook 003 lists
    "Llama-3.1-8B": "MASKED (RLHF)",
    "Gemma-2-9B": "Weak",
    "Mistral-7B": "MASKED (RLHF)",
    "Apertus-8B": "ALIGNED (no RLHF)",
}


@dataclass(frozen=True)
class Measured:
    """The numbers of one model, and what they were made of.

    Attributes:
        numbers: the lowest level, with the keys of the published files.
        absent: why a result file has no numbers.
        values: what the hidden states of the pairs gave.
        index: of the hidden states: model, dtype, device, versions, lengths of the prompts.
    """

    numbers: Published
    absent: Mapping[str, str]
    values: Values
    index: Index


def without_numbers(values: Values) -> dict[str, str]:
    """Return why a result file on the pairs has no numbers, by its name."""
    if values.output is None:
        return dict(WITHOUT_PREFERENCES)
    return {} if values.has_r_over_categories else dict(WITHOUT_CATEGORIES)


def result_files(values: Values, draws: Draws, published: Published) -> Documents:
    """Return the files that the analyses of a reader's model read; every interval is drawn once.

    Arguments:
        published: for what the notebooks typed of other models.

    Raises:
        LayerwiseError: if a correlation does not exist.
    """
    name = {"model": values.model, "model_display": values.display}
    counts = np.bincount(values.category_of_pair).tolist()
    sizes = zip(values.categories, counts, strict=True)
    under_choices = choices.choices_document(values, draws)
    files: Documents = {
        DATASET: {category: {"n_pairs": count} for category, count in sizes},
        PROMPTS: {"anisotropy": {"n_prompts": values.n_prompts}},
        own_file("validation"): _category_document(values, draws, name, published),
        own_file("depth"): {"n_layers": values.n_layers},
        TYPED_LAYER: published.document(TYPED_LAYER),
        CHOICES_FILE: {READER_ENTRY: {**name, **under_choices}},
    }
    if "profile" in under_choices:
        profile = under_choices["profile"]
        files[PROFILES_FILE] = {
            READER_ENTRY: {
                "last_share_before_norm": profile["last_before_norm"],
                "shares_by_prompt": profile["shares_by_prompt"],
            }
        }
    by_result = documents.layer_documents(values, draws)
    if values.n_prompts:
        by_result["anisotropy"] = documents.profile_of_states(values)
    for result, document in by_result.items():
        is_a_result = result != "intervals"
        document = (
            {**name, **document, **_published_texts(result, values)} if is_a_result else document
        )
        files[own_file(result)] = document
    return files


def tables(files: Mapping[str, JsonObject]) -> Published:
    """Return the tables of a reader's model, and the roles that its files fill.

    Args:
        files: those of `result_files`, and of gains and norms where they were measured.
    """
    to_the_end = "curves" in files[CHOICES_FILE][READER_ENTRY]
    return tables_of_reader(files, roles_of_reader(files, to_the_end=to_the_end))


def _category_document(
    values: Values, draws: Draws, name: dict[str, str], published: Published
) -> dict[str, object]:
    """The file on UA, with what a notebook typed of other models."""
    typed = published.document(TYPED_MODELS)["reference_models"]
    columns, what = documents.COSINES, "uniformity asymmetry"
    if values.output is not None:
        columns, what = documents.OF_LAST_LAYER, f"{what} and output preference"
    return {
        **documents.category_numbers(values, columns),
        "_metadata": {
            **name,
            "n_bootstrap": draws.n_resamples,
            "random_seed": draws.seed,
            "purpose": f"{what} by category",
        },
        "_reference": {
            model: {**numbers_of_model, "interpretation": INTERPRETATIONS[model]}
            for model, numbers_of_model in typed.items()
        },
    }


def _published_texts(result: str, values: Values) -> dict[str, object]:
    """Return what the published file says beside its numbers."""
    if result == "bins":
        return {"method": "Option A: Random Bins (same metric)"}
    if result == "pairs":
        return {
            "method": "Option B: Pair-Level Analysis (EXPERIMENTAL)",
            "best_per_layer": [{"layer": layer} for layer in values.layers],
            "caveat": "Pair-level metrics are not category-level UA: read them differently.",
        }
    return {}
