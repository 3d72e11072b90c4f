"""Papers 1 and 2 from values: the lowest level is filled, and is what a loop over states gives."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layerwise.engine.derivation import derive, evidence_of
from layerwise.engine.evidence import Evidence
from layerwise.engine.experiment import Fragments, PairSubject
from layerwise.engine.judging import derive_all
from layerwise.engine.measured import measured, merge
from layerwise.engine.published import DATASET, Published, leaves, pointer
from layerwise.measures.values import Values
from layerwise.measuring.reduction import measure
from layerwise.models.registry import read_models
from layerwise.models.store import HiddenStates
from layerwise.models.texts import StatementPairs
from layerwise.papers.across.analyses import TABLES
from layerwise.papers.experiments.pairs import printed_rows, text_fragments
from layerwise.papers.experiments.table import fill_experiments
from layerwise.papers.fetching.texts import read_pairs, read_prompts
from layerwise.papers.paper2.rules.pairs import read_curve
from layerwise.papers.shared.result_files import (
    CHOICES_FILE,
    CLASSES,
    CONSOLIDATED,
    CONTRIBUTIONS,
    CURVES,
    PAPER1,
    PHASE_SUMMARY,
    TEMPLATE,
    TYPED_INTERVALS,
    WORDS,
)
from layerwise.statistics.bootstrap import Draws, correlation_interval
from random_states import some_pairs, write_states

ROOT = Path(__file__).parents[2]
MODELS = {
    key: model for model in read_models(ROOT / "models.yaml").values() for key in model.extractions
}
DRAWS = {"n_resamples": 120, "level": 0.95, "seed": 42}
DEPTH = {"gemma-2b": 18, "pythia-410m": 24, "pythia-1p4b": 24, "pythia-12b": 36, "gemma-2-9b": 42}
# Statistics that print has and these measurements have not: labels without a published rule, what
# one model's traces say, and the model of the neutral control, which is left out.
NOT_MEASURED = {  # settings, a picture, words that no rule is published for
    "output_correlation": ("classification:/",),
    "calibration": ("models:/settings/", "models:/figure/bars"),
}
ANALYSES = (
    *("validation", "layers", "category_bootstrap", "bins", "pairs", "scaling"),
    *("cross_model", "phases", "consolidated", "calibration", "output_correlation"),
)


@pytest.fixture(scope="module")
def pairs(published: Published) -> StatementPairs:
    sizes = {name: category["n_pairs"] for name, category in published.document(DATASET).items()}
    return some_pairs(tuple(sizes.values()), tuple(sizes))


@pytest.fixture(scope="module")
def states(pairs: StatementPairs, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Two extractions of 32 layers, and one of each other depth."""
    folder = tmp_path_factory.mktemp("states")
    sizes = {"n_pairs": len(pairs), "hidden": 6, "tokens": 0}
    deep = {"one": (32, 0), "two": (32, 1)} | {str(n): (n, n) for n in set(DEPTH.values())}
    return {
        key: write_states(folder / key, n_layers=n_layers, seed=seed, **sizes)
        for key, (n_layers, seed) in deep.items()
    }


@pytest.fixture(scope="module")
def values(states: dict[str, HiddenStates], pairs: StatementPairs) -> dict[str, Values]:
    def measured_values(key: str) -> Values:
        slug, step = MODELS[key].slug, MODELS[key].extractions[key].layer_step
        chosen = "two" if "templated" in key else str(DEPTH.get(slug, "one"))
        chosen_states = states[chosen]
        return measure(chosen_states, pairs, layer_step=step, k_values=(10,), n_permutations=1)

    return {key: measured_values(key) for key in MODELS}


@pytest.fixture(scope="module")
def parts(values: dict[str, Values], published: Published) -> dict[str, Fragments]:
    return {
        key: fill_experiments(
            PairSubject(
                MODELS[key].slug, MODELS[key].extractions[key], value, published, Draws(**DRAWS)
            ),
            key,
        )
        for key, value in values.items()
    }


def evidence(numbers: Published) -> Evidence:
    return evidence_of(numbers, Draws(**DRAWS), TABLES)


@pytest.fixture(scope="module")
def everything(
    parts: dict[str, Fragments], pairs: StatementPairs, published: Published
) -> dict[str, dict[str, Any]]:
    return merge([text_fragments(pairs, ["a prompt"]), *parts.values()])


@pytest.fixture(scope="module")
def of_measured(everything: Fragments, published: Published) -> Evidence:
    return evidence(measured(published, everything))


def test_what_follows_from_print_follows_from_measurements(
    of_measured: Evidence, published: Published
) -> None:
    """Every statistic of print: an experiment that fills less would leave claims unmeasured."""
    from_weights = derive_all(TABLES, of_measured)
    for analysis, in_print in derive_all(TABLES, evidence(published)).items():
        if analysis in ANALYSES:
            absent = set(in_print.derived) - set(from_weights[analysis].derived)
            known = NOT_MEASURED.get(analysis, ())
            assert {place for place in absent if not place.startswith(tuple(known))} == set(), (
                analysis
            )
            assert bool(absent) is bool(known), analysis


def test_filled_and_derived_are_disjoint(everything: Fragments, of_measured: Evidence) -> None:
    """A share of pairs is the exception: its rule says which share the printed one can be."""
    filled = {
        (file, key)
        for file, places in everything.items()
        for place, part in places.items()
        for key, _ in leaves(place, part)
    }
    both = {(file, key) for file, key in filled & set(of_measured.rules)}
    assert {key.rpartition("/")[2] for _, key in both} == {"pct_prefer_a"}
    assert len(filled) > 4500


@pytest.mark.parametrize("key", ["llama-3p1-8b", "mistral-7b", "llama-3p1-8b-instruct-templated"])
def test_one_extraction_alone_leaves_the_others_open(
    key: str, parts: dict[str, Fragments], published: Published
) -> None:
    alone = derive_all(TABLES, evidence(measured(published, parts[key])))
    slug = MODELS[key].slug
    own = {slug, f"{slug}-template", slug.partition("-")[0]}
    for analysis in ("calibration", "consolidated", "neutral_control"):
        # a constant stands beside anything, a figure speaks of the models that were measured
        derived = alone[analysis].derived
        claimed = [place for place, cells in derived.items() if cells and "/drawn/" not in place]
        assert {place.partition(":")[0] for place in claimed} <= own


def test_paper_1_against_a_loop(
    states: dict[str, HiddenStates],
    pairs: StatementPairs,
    parts: dict[str, Fragments],
    published: Published,
) -> None:
    """Outputs of a model, and similarity within the pairs of a category."""
    nll, n, filled = states["one"].nll, len(pairs), parts["llama-3p1-8b"]
    last = states["one"].pooled(32).astype(float)
    unit = last / np.linalg.norm(last, axis=1, keepdims=True)
    row_of = {
        (row["model"], row["category"]): number
        for number, row in enumerate(published.document(CLASSES))
    }
    for number, name in enumerate(pairs.categories):
        inside = np.flatnonzero(pairs.category_of_pair == number)
        a, b = nll[inside].mean(), nll[inside + n].mean()
        at = pointer(row_of["llama", name])
        assert [filled[CLASSES][f"{at}/nll_{side}"] for side in "ab"] == pytest.approx([a, b])
        assert filled[CONTRIBUTIONS][f"{at}/preference"] == pytest.approx(b - a)
        cells = filled[PAPER1["llama"]]
        ua = cells[pointer(name, "uniformity_a")] - cells[pointer(name, "uniformity_b")]
        assert filled[CONTRIBUTIONS][f"{at}/ua"] == ua
        similar = cells[pointer(name, "pair_similarity_mean")]
        assert similar == pytest.approx(
            np.mean([unit[row] @ unit[n + row] for row in inside]), abs=1e-7
        )


def _naive_interval(
    x: np.ndarray, y: np.ndarray, stream: np.random.RandomState
) -> tuple[float, float]:
    drawn = [stream.choice(len(x), len(x)) for _ in range(120)]
    low, high = np.percentile([np.corrcoef(x[rows], y[rows])[0, 1] for rows in drawn], [2.5, 97.5])
    return float(low), float(high)


def test_the_template_notebook_draws_with_before_without(
    values: dict[str, Values], parts: dict[str, Fragments]
) -> None:
    stream, templated = np.random.RandomState(42), "llama-3p1-8b-instruct-templated"
    order = [(templated, "with"), ("llama-3p1-8b-instruct", "without")]
    for key, condition in order:
        model_values, cells = values[key], parts[key][TEMPLATE]
        for row, layer in enumerate(model_values.layers):
            at = pointer(f"results_{condition}_template", layer)
            ends = _naive_interval(
                model_values.pair_metrics[row, 0], model_values.preferences, stream
            )
            filled = [cells[f"{at}/{end}"] for end in ("ci_lo", "ci_hi")]
            assert filled == pytest.approx(ends, abs=1e-12)
    # the template with one BOS stands beside the published condition, never in its place
    assert list(parts[f"{templated}-once"]) == [CHOICES_FILE]


@pytest.mark.parametrize("slug", CURVES)
def test_tables_of_published_curves_are_the_published_tables(
    slug: str, published: Published
) -> None:
    """Pythia's intervals and its late mean in print are not those of its file."""
    printed = read_curve(slug, evidence(published))
    curve = {
        layer: (test.r, *printed.ends([layer])[layer]) for layer, test in printed.tests.items()
    }
    different = {
        (file, key.rpartition("/")[2])
        for file, rows in printed_rows(curve, CURVES[slug]).items()
        for key, value in leaves("", rows)
        if published[file, key] != value
    }
    pythia = {(CONSOLIDATED, "ci_lo"), (CONSOLIDATED, "ci_hi"), (PHASE_SUMMARY, "late_mean")}
    assert different == (pythia if slug == "pythia-6p9b" else set())


def test_bins_are_compared_with_what_the_notebook_would_have_typed(
    values: dict[str, Values], parts: dict[str, Fragments], of_measured: Evidence
) -> None:
    """Two decimals of r and ends, and a flag of the unrounded interval."""
    model_values, cells = values["pythia-6p9b"], parts["pythia-6p9b"][TYPED_INTERVALS]
    stream, series = np.random.RandomState(42), model_values.category_preferences()
    widths = []
    for layer in model_values.layers:
        interval = correlation_interval(
            model_values.asymmetries(f"layer_{layer}"), series, stream, 120
        )
        at = pointer("original_results", layer)
        assert cells[f"{at}/ci_lower"] == round(interval.low, 2)
        assert cells[f"{at}/includes_zero"] is bool(interval.low <= 0 <= interval.high)
        widths.append(cells[f"{at}/ci_upper"] - cells[f"{at}/ci_lower"])
    document = derive(TABLES["bins"], of_measured).documents["pythia-6p9b"]
    assert document["widths"]["mean_width_n6"] == pytest.approx(np.mean(widths))


def test_pairs_of_the_dataset_against_published(mirror: Path, published: Published) -> None:
    prompts = read_prompts(mirror / "prompts.json")
    filled = text_fragments(read_pairs(mirror / "dataset.json"), prompts)
    for file in (DATASET, WORDS):
        assert filled[file] == {pointer(k): v for k, v in published.document(file).items()}
