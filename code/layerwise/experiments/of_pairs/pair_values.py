"""Papers 1 and 2 from values: which extractions they need, and what each of them fills.

An extraction is one model in one dtype, at its own sampled layers, with or without its chat
template. Its values become fragments of the files that Papers 1 and 2 published; what spans
several models (phases, patterns, divergences, counts) is derived from them by `analyses`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from layerwise.analyses.calibration import WORDS
from layerwise.analyses.categories import NUMERIC
from layerwise.analyses.evidence import Draws
from layerwise.analyses.survival import CHOICES_FILE
from layerwise.errors import LayerwiseError
from layerwise.experiments import Fragments
from layerwise.experiments.of_pairs import category_values, choices, curve_values
from layerwise.extraction.templates import NONE, ONCE
from layerwise.inputs.measured import merge
from layerwise.inputs.models import Extraction
from layerwise.inputs.pairs import StatementPairs
from layerwise.inputs.published import Published, pointer
from layerwise.inputs.result_files import DATASET, PROMPTS
from layerwise.measures.values import Values, sampled_layers

PAPER1 = {
    "gemma-2-9b": "gemma",
    "llama-3p1-8b": "llama",
    "mistral-7b": "mistral",
    "apertus-8b": "apertus",
}
FAMILY = {  # as the scaling file calls them
    "pythia-410m": "Pythia-410M",
    "pythia-1p4b": "Pythia-1.4B",
    "pythia-6p9b": "Pythia-6.9B",
    "pythia-12b": "Pythia-12B",
}
LAYERWISE: dict[str, Callable[..., Fragments]] = {
    "pythia-6p9b": curve_values.pythia_layers,
    "llama-3p1-8b": curve_values.llama,
    "apertus-8b": curve_values.one_curve,
    "gemma-2b": curve_values.one_curve,
}


def fragments(
    extraction: Extraction,
    values: Values,
    published: Published,
    *,
    n_resamples: int = 10000,
    level: float = 0.95,
    seed: int = 42,
) -> Fragments:
    """What one extraction of the registry fills; `published` gives places, never a value.

    Raises:
        LayerwiseError: for values of other layers than the extraction's: a published interval
            depends on every test before it.
    """
    wanted = sampled_layers(values.n_layers, layer_step=extraction.layer_step)
    if values.layers != wanted:
        raise LayerwiseError(
            f"{extraction.key} needs values of every {extraction.layer_step}th layer from 0, and "
            f"the last, found {', '.join(map(str, values.layers))}; measure with layer_step "
            f"{extraction.layer_step}"
        )
    draws = Draws(n_resamples, level, seed)
    under_choices = {CHOICES_FILE: {pointer(extraction.key): choices.document(values, draws)}}
    return merge([under_choices, *_parts(extraction, values, published, draws)])


def _parts(
    extraction: Extraction, values: Values, published: Published, draws: Draws
) -> list[Fragments]:
    slug, experiments = extraction.slug, extraction.experiments
    if extraction.template == ONCE:
        return []  # beside the published condition, and never in its place
    if slug == "llama-3p1-8b-instruct":
        condition = slug if extraction.template == NONE else f"{slug}-template"
        return [curve_values.template(values, condition, draws)]
    found: list[Fragments] = []
    if "p1_ua" in experiments:
        found.append(category_values.paper_1(values, PAPER1[slug]))
    if "p1_outcorr" in experiments:
        found.append(category_values.outputs(values, PAPER1[slug], published))
    if "p1_pythia_ua" in experiments:
        found.append(category_values.pythia(values, slug))
    if "p2_scaling" in experiments:
        found.append(curve_values.pythia_scaling(values, slug, FAMILY[slug]))
    if "p2_layers" in experiments:
        found.append(LAYERWISE[slug](values, slug, draws))
    return found


def of_texts(pairs: StatementPairs, prompts: Sequence[str]) -> Fragments:
    """What the texts themselves fill: sizes, and the words of the neutral statements."""
    sizes: dict[str, Any] = {}
    words: dict[str, Any] = {}
    for number, name in enumerate(pairs.categories):
        inside = np.flatnonzero(pairs.category_of_pair == number)
        sizes[pointer(name)] = {"n_pairs": len(inside)}
        if name != NUMERIC:
            words[pointer(name)] = [
                {"a": len(pairs.side_a[pair].split()), "b": len(pairs.side_b[pair].split())}
                for pair in inside
            ]
    return {DATASET: sizes, WORDS: words, PROMPTS: {"/anisotropy/n_prompts": len(prompts)}}
