"""Values of statement pairs in the published files of Papers 1 and 2.

An extraction is one model in one dtype, at its own sampled layers, with or without its chat
template. What spans several models (phases, patterns, divergences, counts) is derived from the
fragments by rules; what follows from another file is left out here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from layerwise.engine.experiment import Fragments, dotted, is_about
from layerwise.engine.measured import merge
from layerwise.engine.published import Published, leaves, pointer
from layerwise.measures.pairwise import METRICS
from layerwise.measures.values import MEAN_POOLED, Values, layer_reading
from layerwise.models.registry import Extraction, Model
from layerwise.models.texts import StatementPairs
from layerwise.papers.shared.experiments import choices, documents
from layerwise.papers.shared.names import result_files as files
from layerwise.papers.shared.names.categories import FACTS, NUMERIC
from layerwise.papers.shared.names.curves import CURVES, METRIC, CurvePlace
from layerwise.papers.shared.names.models import SLUG
from layerwise.papers.shared.names.result_files import (
    CHOICES_FILE,
    TYPED_INTERVALS,
    TYPED_MODELS,
    WORDS,
)
from layerwise.statistics import curves, phases
from layerwise.statistics.bootstrap import Draws

Documents = dict[str, dict[str, Any]]  # file -> what is filled of it, nested
Test = tuple[float, float, float]  # r, and the ends of its interval
# Where Paper 2's first model has the documents on its layers.
OF_FIRST_MODEL = {
    "layers": files.LAYERS,
    "category_bootstrap": files.BOOTSTRAP,
    "bins": files.BINS,
    "intervals": TYPED_INTERVALS,
    "pairs": files.PAIRS,
}
COLUMNS = {files.CONTRIBUTIONS: ("ua", "preference"), files.CLASSES: ("nll_a", "nll_b")}
LLAMA_METRICS = tuple(METRICS)[:3]  # the Llama notebook stops after the cosines
DECIMALS = 2  # of the tables that Paper 2's figure is drawn from
UNSAVED = ("eigenvalue_variance", "var_top10", "var_top50", "spectra")  # of the anisotropy profile


def fragments(
    model: Model,
    key: str,
    values: Values,
    published: Published,
    draws: Draws,
    *,
    is_whole: bool = True,
) -> Fragments:
    """Return what one extraction of the registry fills; `published` gives places, never a value.

    Values are of the extraction's own layers: an interval depends on every test before it.

    Arguments:
        is_whole: whether the values are of all categories; if not, what rests on others is missing.
    """
    extraction = model.extractions[key]
    parts = _category_parts(model.slug, extraction, values, published)
    parts += _prompt_parts(model.slug, extraction, values)
    under_choices: Fragments = {}
    if is_whole:
        parts += _parts_over_categories(model.slug, extraction, values, published, draws)
        under_choices = {CHOICES_FILE: {pointer(key): choices.document(values, draws)}}
    filled = [
        {file: dict(leaves("", document))} for part in parts for file, document in part.items()
    ]
    return merge([under_choices, *filled])


def _category_parts(
    slug: str, extraction: Extraction, values: Values, published: Published
) -> list[Documents]:
    """Return what rests on one category each."""
    parts: list[Documents] = []
    if "p1_ua" in extraction.experiments:
        parts.append(paper_1_file(values, slug.partition("-")[0]))
    if "p1_outcorr" in extraction.experiments:
        parts.append(output_files(values, slug.partition("-")[0], published))
    if "p1_pythia_ua" in extraction.experiments and slug in files.UA_FILES:  # two sizes were saved
        columns = documents.OF_LAST_LAYER
        parts.append({files.UA_FILES[slug]: documents.category_numbers(values, columns)})
    return parts


def _prompt_parts(slug: str, extraction: Extraction, values: Values) -> list[Documents]:
    """Return what rests on the prompts alone."""
    if slug != SLUG or "p2_layers" not in extraction.experiments or not values.n_prompts:
        return []
    profile = documents.anisotropy(values)
    return [{files.ANISOTROPY: {name: profile[name] for name in UNSAVED}}]


def _parts_over_categories(
    slug: str, extraction: Extraction, values: Values, published: Published, draws: Draws
) -> list[Documents]:
    """Return what rests on all categories, or on the pairs of all."""
    if extraction.template == "once":
        return []  # beside the published condition, and never in its place
    if slug == "llama-3p1-8b-instruct":
        return [template_files(values, draws, with_template=extraction.template != "none")]
    parts: list[Documents] = []
    if "p2_scaling" in extraction.experiments:
        parts.append(scaling_file(values, slug, published))
    if "p2_layers" in extraction.experiments:
        parts.append(
            (first_model_files if slug == SLUG else cross_validation_file)(values, slug, draws)
        )
    return parts


# --- Paper 1: categories ------------------------------------------------------------------------


def paper_1_file(values: Values, model: str) -> Documents:
    """Return a model's main result file (`Results/results_<model>_*.json`)."""
    by_category = documents.category_numbers(values, ("uniformity_a", "uniformity_b"))
    last = values.layers.index(values.n_layers)
    similarity = values.pair_metrics[last, list(METRICS).index("within_pair_sim")]
    for number, entry in enumerate(by_category.values()):
        entry["pair_similarity_mean"] = float(similarity[values.category_of_pair == number].mean())
    return {files.PAPER1[model]: by_category}


def output_files(values: Values, model: str, published: Published) -> Documents:
    """Return a model's share of the supplement's files on outputs, and of notebook 003.

    Its labels of regimes and its column `divergence` are left out: no rule for them is published.
    """
    by_file: Documents = {
        file: {
            str(row): by_category[entry["category"]]
            for by_category in [documents.category_numbers(values, columns)]
            for row, entry in enumerate(published.document(file))
            if entry["model"] == model and entry["category"] in by_category
        }
        for file, columns in COLUMNS.items()
    }
    facts = documents.category_numbers(values, ("ua", "preference")).get(FACTS)
    if facts is None:
        return by_file
    listed = published.document(TYPED_MODELS)["reference_models"]
    (name,) = (name for name in listed if name.lower().startswith(model))
    typed = {"ua": round(facts["ua"], 3), "pref": round(facts["preference"], 3)}
    by_file[TYPED_MODELS] = {"reference_models": {name: typed}}
    return by_file


# --- Paper 2: layers ----------------------------------------------------------------------------


def scaling_file(values: Values, slug: str, published: Published) -> Documents:
    """Return a model of the family file (notebook 002); its last r follows from the file on UA."""
    by_strategy = documents.strategies(values)
    results = {
        str(layer): {"correlation": by_strategy[layer_reading(layer)]["correlation"]}
        for layer in values.layers
        if slug not in files.UA_FILES or layer != values.n_layers
    }
    names = published.document(files.SCALING)["models"]
    (name,) = (name for name in names if is_about(name, dotted(slug)))
    model = {"n_layers": values.n_layers, "layer_results": results}
    return {files.SCALING: {"models": {name: model}}}


def first_model_files(values: Values, slug: str, draws: Draws) -> Documents:
    """Return the files on Pythia-6.9B's layers, and Paper 2's tables of its curve.

    The last layer over the categories follows from the file on UA. The bins are compared, as in
    their notebook, with two-decimal intervals over categories and a flag of the unrounded one.
    """
    by_result, last = documents.layer_documents(values, draws), values.n_layers
    by_file: Documents = {file: by_result[name] for name, file in OF_FIRST_MODEL.items()}
    for name in (MEAN_POOLED, layer_reading(last)):
        del by_file[files.LAYERS]["strategies"][name]["correlation"]
    by_file[TYPED_INTERVALS] = {
        "original_results": {
            layer: {
                **{name: round_as_printed(value) for name, value in interval.items()},
                "includes_zero": curves.includes_zero((interval["ci_lower"], interval["ci_upper"])),
            }
            for layer, interval in by_result["intervals"]["original_results"].items()
        }
    }
    del by_file[files.BOOTSTRAP]["layer_results"][str(last)]
    results = by_file[files.PAIRS]["results"]
    curve = {layer: tuple(results[str(layer)][METRIC].values()) for layer in values.layers}
    return {**by_file, **tables(curve, CURVES[slug])}


def cross_validation_file(values: Values, slug: str, draws: Draws) -> Documents:
    """Return the file of Llama, Apertus and Gemma: r and interval over the pairs.

    Llama's has three measures from one stream and r over the categories, whose last value follows
    from Paper 1's cosines.
    """
    place = CURVES[slug]
    by_file = curve_documents(values, place, draws)
    by_file[place.file] |= {
        "n_layers": values.n_layers,
        "layers_tested": list(values.layers),
        "n_pairs": values.n_pairs,
        "n_bootstrap": draws.n_resamples,
    }
    if place.metric:
        r = documents.strategies(values)
        by_file[place.file]["category_level_results"] = {
            str(layer): {"r": r[layer_reading(layer)]["correlation"]}
            for layer in values.layers[:-1]
        }
    return by_file


def template_files(values: Values, draws: Draws, *, with_template: bool) -> Documents:
    """Return a condition of the template notebook, whose stream drew WITH, then WITHOUT."""
    place = CURVES["llama-3p1-8b-instruct" + "-template" * with_template]
    by_file = curve_documents(values, place, draws, 0 if with_template else len(values.layers))
    if with_template:
        by_file[place.file]["n_pairs"] = values.n_pairs
    return by_file


def curve_documents(
    values: Values, place: CurvePlace, draws: Draws, tests_before: int = 0
) -> Documents:
    """Return a curve in its file, and in Paper 2's tables."""
    metrics = LLAMA_METRICS if place.metric else (METRIC,)
    by_layer = documents.pair_intervals(values, draws, metrics, tests_before=tests_before)
    tests = {
        str(layer): {
            name: documents.r_and_ends(test, place.names) for name, test in by_metric.items()
        }
        for layer, by_metric in by_layer.items()
    }
    results = (
        tests if place.metric else {layer: by_metric[METRIC] for layer, by_metric in tests.items()}
    )
    curve = {
        n: (by_metric[METRIC].r, by_metric[METRIC].low, by_metric[METRIC].high)
        for n, by_metric in by_layer.items()
    }
    return {place.file: {place.group: results}, **tables(curve, place)}


def tables(curve: Mapping[int, Test], place: CurvePlace) -> Documents:
    """Return a curve's numbers in Paper 2's two tables, which give two decimals."""
    r = {layer: test[0] for layer, test in curve.items()}
    rows = {
        str(place.first_row + number): {
            "n_layers": max(curve),
            **dict(zip(("r", "ci_lo", "ci_hi"), map(round_as_printed, test), strict=True)),
        }
        for number, test in enumerate(curve.values())
    }
    means = {
        f"{phase}_mean": round_as_printed(phases.phase_mean(r, layers))
        for phase, layers in phases.thirds_of_list(list(r)).items()
    }
    return {files.CONSOLIDATED: rows, files.PHASE_SUMMARY: {str(place.summary_row): means}}


def round_as_printed(value: float) -> float:
    """Return two decimals; a rounded zero has no sign."""
    return round(value, DECIMALS) + 0.0


# --- the texts themselves -----------------------------------------------------------------------


def text_fragments(pairs: StatementPairs, prompts: Sequence[str]) -> Fragments:
    """Return the categories' sizes, the words of neutral statements and the number of prompts."""
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
    count = {"/anisotropy/n_prompts": len(prompts)}
    return {files.DATASET: sizes, WORDS: words, files.PROMPTS: count}
