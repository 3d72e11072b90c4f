"""Values of statement pairs in the published files of Papers 1 and 2.

An extraction is one model in one dtype, at its own sampled layers, with or without its chat
template. What spans several models (phases, patterns, divergences, counts) is derived from the
fragments by rules; what follows from another file is left out here. `table` says which of these
functions an experiment calls.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from layerwise.engine.experiment import Documents, PairSubject
from layerwise.engine.measured import Fragments
from layerwise.engine.published import pointer
from layerwise.measures.pairwise import METRICS
from layerwise.measures.values import MEAN_POOLED, layer_reading
from layerwise.models.registry import lookup_key
from layerwise.models.texts import StatementPairs
from layerwise.papers.experiments import documents
from layerwise.papers.shared import result_files as files
from layerwise.papers.shared.names import FACTS, NUMERIC
from layerwise.papers.shared.result_files import (
    CURVES,
    METRIC,
    TYPED_INTERVALS,
    TYPED_MODELS,
    WORDS,
    CurvePlace,
)
from layerwise.statistics import curves, phases

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


# --- Paper 1: categories ------------------------------------------------------------------------


def name_in_paper_1(slug: str) -> str:
    """Return what the files of Paper 1 call a model: llama-3p1-8b is llama."""
    return slug.partition("-")[0]


def paper_1_file(subject: PairSubject) -> Documents:
    """Return a model's main result file (`Results/results_<model>_*.json`)."""
    values = subject.values
    by_category = documents.category_numbers(values, ("uniformity_a", "uniformity_b"))
    last = values.layers.index(values.n_layers)
    similarity = values.pair_metrics[last, list(METRICS).index("within_pair_sim")]
    for number, entry in enumerate(by_category.values()):
        entry["pair_similarity_mean"] = float(similarity[values.category_of_pair == number].mean())
    return {files.PAPER1[name_in_paper_1(subject.slug)]: by_category}


def last_layer_file(subject: PairSubject) -> Documents:
    """Return a size's file of cosines, preferences and shares of pairs (notebook 002)."""
    by_category = documents.category_numbers(subject.values, documents.OF_LAST_LAYER)
    return {files.UA_FILES[subject.slug]: by_category}


def output_files(subject: PairSubject) -> Documents:
    """Return a model's share of the supplement's files on outputs, and of notebook 003.

    Its labels of regimes and its column `divergence` are left out: no rule for them is published.
    """
    model, values, published = name_in_paper_1(subject.slug), subject.values, subject.published
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


def scaling_file(subject: PairSubject) -> Documents:
    """Return a model of the family file (notebook 002); its last r follows from the file on UA."""
    slug, values = subject.slug, subject.values
    by_strategy = documents.strategies(values)
    results = {
        str(layer): {"correlation": by_strategy[layer_reading(layer)]["correlation"]}
        for layer in values.layers
        if slug not in files.UA_FILES or layer != values.n_layers
    }
    names = subject.published.document(files.SCALING)["models"]
    (name,) = (name for name in names if lookup_key(name) == lookup_key(slug))
    model = {"n_layers": values.n_layers, "layer_results": results}
    return {files.SCALING: {"models": {name: model}}}


def first_model_files(subject: PairSubject) -> Documents:
    """Return the files on Pythia-6.9B's layers, and Paper 2's tables of its curve.

    The last layer over the categories follows from the file on UA. The bins are compared, as in
    their notebook, with two-decimal intervals over categories and a flag of the unrounded one.
    """
    values, last = subject.values, subject.values.n_layers
    by_result = documents.layer_documents(values, subject.draws)
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
    return {**by_file, **printed_rows(curve, CURVES[subject.slug])}


def unsaved_anisotropy(subject: PairSubject) -> Documents:
    """Return what the notebook computed of Pythia-6.9B's prompts and did not save."""
    profile = documents.profile_of_states(subject.values)
    return {files.ANISOTROPY: {name: profile[name] for name in UNSAVED}}


def cross_validation_file(subject: PairSubject) -> Documents:
    """Return the file of Llama, Apertus and Gemma: r and interval over the pairs.

    Llama's has three measures from one stream and r over the categories, whose last value follows
    from Paper 1's cosines.
    """
    values, place = subject.values, CURVES[subject.slug]
    by_file = curve_documents(subject, place)
    by_file[place.file] |= {
        "n_layers": values.n_layers,
        "layers_tested": list(values.layers),
        "n_pairs": values.n_pairs,
        "n_bootstrap": subject.draws.n_resamples,
    }
    if place.metric:
        r = documents.strategies(values)
        by_file[place.file]["category_level_results"] = {
            str(layer): {"r": r[layer_reading(layer)]["correlation"]}
            for layer in values.layers[:-1]
        }
    return by_file


def template_files(subject: PairSubject) -> Documents:
    """Return a condition of the template notebook, whose stream drew WITH, then WITHOUT."""
    with_template = subject.extraction.template != "none"
    place = CURVES[subject.slug + "-template" * with_template]
    tests_before = 0 if with_template else len(subject.values.layers)
    by_file = curve_documents(subject, place, tests_before)
    if with_template:
        by_file[place.file]["n_pairs"] = subject.values.n_pairs
    return by_file


def curve_documents(subject: PairSubject, place: CurvePlace, tests_before: int = 0) -> Documents:
    """Return a curve in its file, and in Paper 2's tables."""
    metrics = LLAMA_METRICS if place.metric else (METRIC,)
    by_layer = documents.pair_intervals(
        subject.values, subject.draws, metrics, tests_before=tests_before
    )
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
    return {place.file: {place.group: results}, **printed_rows(curve, place)}


def printed_rows(curve: Mapping[int, Test], place: CurvePlace) -> Documents:
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
    sizes: dict[str, dict[str, int]] = {}
    words: dict[str, list[dict[str, int]]] = {}
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
