"""Papers 1 and 2 from values: what replay reads is there, and is what a loop over states gives."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from layerwise.analyses.documents import UA_FILES, categories, n_pairs
from scipy import stats

from layerwise.analyses import replay
from layerwise.analyses.calibration_text import MODELS, WORDS
from layerwise.analyses.output_correlation import CLASSES, CONTRIBUTIONS, Rows
from layerwise.analyses.pair_curves import CONSOLIDATED, CURVES, LLAMA, SUMMARY, TEMPLATE
from layerwise.errors import LayerwiseError
from layerwise.experiments import Fragments
from layerwise.experiments.of_pairs import curve_values
from layerwise.experiments.of_pairs.pair_values import fragments, of_pairs
from layerwise.experiments.reduction import measure
from layerwise.extraction.store import BEFORE_NORM, HiddenStates
from layerwise.inputs.measured import measured, merge
from layerwise.inputs.models import extractions_of, read_models
from layerwise.inputs.pairs import StatementPairs, read_pairs
from layerwise.inputs.published import DATASET, Published, pointer, read_published, split_pointer
from layerwise.measures.pairwise import METRICS, pair_metrics
from layerwise.measures.values import Values, load
from layerwise.statistics.bootstrap import CorrelationInterval
from random_states import some_pairs, write_states

ROOT = Path(__file__).parents[1]
EXTRACTIONS = extractions_of(read_models(ROOT / "models.yaml"))
DRAWS = {"n_resamples": 120, "level": 0.95, "seed": 42}
DEPTH = {"gemma-2b": 18, "pythia-410m": 24, "pythia-1p4b": 24, "pythia-12b": 36, "gemma-2-9b": 42}
ANALYSES = (
    *("validation", "layers", "category_bootstrap", "bins", "pairs", "scaling"),
    *("cross_model", "template", "phases", "consolidated"),
    *("calibration", "output_correlation", "neutral_control"),
)
# Statistics without a measurement: labels without a published rule, and the study left out.
NEVER = {
    "output_correlation": {
        f"classification:/{word}" for word in ("LIE_REGIME", "BULLSHIT_REGIME", "MIXED")
    },
    "neutral_control": None,
}
# Cells that no extraction fills and no replay derives: without a rule, without a number, or about
# the file itself.
UNFILLED = {
    "category_classification.csv": {"divergence", "classification"},
    "contribution_by_category.csv": {"category_type"},
    "correlation_analysis.json": {"ymyl_categories", "non_ymyl_categories", "interpretation"},
    "PHASE_SUMMARY.csv": {"pattern"},
    "results": {"version"},
}


@pytest.fixture(scope="module")
def published() -> Published:
    return read_published(ROOT / "published")


@pytest.fixture(scope="module")
def pairs(published: Published) -> StatementPairs:
    names = categories(published)
    return some_pairs(tuple(n_pairs(published, name) for name in names), tuple(names))


@pytest.fixture(scope="module")
def states(pairs: StatementPairs, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Two extractions of 32 layers, and one of each other depth."""
    folder = tmp_path_factory.mktemp("states")
    sizes = {"n_pairs": len(pairs), "hidden": 6, "tokens": 0}
    deep = {
        key: write_states(folder / key, n_layers=32, seed=seed, **sizes)
        for seed, key in enumerate(("one", "two"))
    }
    others = {
        str(n): write_states(folder / str(n), n_layers=n, seed=n, **sizes)
        for n in sorted(set(DEPTH.values()))
    }
    return deep | others


@pytest.fixture(scope="module")
def values(states: dict[str, HiddenStates], pairs: StatementPairs) -> dict[str, Values]:
    def of(key: str) -> Values:
        slug, step = EXTRACTIONS[key].slug, EXTRACTIONS[key].layer_step
        chosen = "two" if "templated" in key else str(DEPTH.get(slug, "one"))
        found = states[chosen]
        return measure(found, pairs, layer_step=step, k_values=(10,), n_permutations=1)

    return {key: of(key) for key in EXTRACTIONS}


@pytest.fixture(scope="module")
def parts(values: dict[str, Values], published: Published) -> dict[str, Fragments]:
    return {
        key: fragments(EXTRACTIONS[key], value, published, **DRAWS) for key, value in values.items()
    }


@pytest.fixture(scope="module")
def tables(parts: dict[str, Fragments], pairs: StatementPairs, published: Published) -> Published:
    return measured(published, merge([of_pairs(pairs), *parts.values()]))


@pytest.fixture(scope="module")
def derived(tables: Published) -> dict[str, set[str]]:
    return {analysis: set(replay(analysis, tables, **DRAWS).derived) for analysis in ANALYSES}


@pytest.mark.parametrize("analysis", ANALYSES)
def test_what_follows_from_published_follows_from_measured(
    analysis: str, published: Published, derived: dict[str, set[str]]
) -> None:
    want = set(replay(analysis, published, **DRAWS).derived)
    never = NEVER.get(analysis, set())
    assert want - derived[analysis] == (want if never is None else never)


def test_every_published_cell_is_filled_or_derived(
    parts: dict[str, Fragments],
    published: Published,
    tables: Published,
    derived: dict[str, set[str]],
) -> None:
    files = {file for part in parts.values() for file in part}
    cells = {cell for cell in published.cells if cell[0] in files}
    empty = {cell for cell in cells if cell not in tables.cells or cell in tables.unmeasured}
    places = {
        key.partition(":")[2].removeprefix("/rows") for keys in derived.values() for key in keys
    }
    for file, key in empty:
        name = "results" if Path(file).name.startswith("results_") else Path(file).name
        assert key in places or set(split_pointer(key)) & UNFILLED.get(name, set()), (file, key)


@pytest.mark.parametrize("key", ["llama-3p1-8b", "mistral-7b", "llama-3p1-8b-instruct-templated"])
def test_one_extraction_alone_leaves_the_others_open(
    key: str, parts: dict[str, Fragments], published: Published
) -> None:
    alone = measured(published, parts[key])
    slug = EXTRACTIONS[key].slug
    own = {slug, f"{slug}-template", slug.partition("-")[0]}
    for analysis in ("calibration", "template", "consolidated", "neutral_control"):
        found = replay(analysis, alone, **DRAWS).derived
        assert {place.partition(":")[0] for place in found} <= own


def test_a_model_of_paper_1_against_a_loop(
    states: dict[str, HiddenStates], pairs: StatementPairs, parts: dict[str, Fragments]
) -> None:
    document = parts["mistral-7b"][MODELS["mistral"]][""]
    last, n = states["one"].pooled(32).astype(float), len(pairs)
    unit = last / np.linalg.norm(last, axis=1, keepdims=True)
    asymmetry = {}
    for number, name in enumerate(pairs.categories):
        rows = np.flatnonzero(pairs.category_of_pair == number)
        means = []
        for side in (unit[rows], unit[n + rows]):
            means.append(np.mean([u @ v for i, u in enumerate(side) for v in side[i + 1 :]]))
        assert document[name]["n_pairs"] == len(rows)
        assert document[name]["uniformity_a"] == pytest.approx(means[0], abs=1e-7)
        assert document[name]["uniformity_b"] == pytest.approx(means[1], abs=1e-7)
        cosines = [unit[row] @ unit[n + row] for row in rows]
        assert document[name]["pair_similarity_mean"] == pytest.approx(np.mean(cosines), abs=1e-7)
        asymmetry[name] = document[name]["asymmetry"]
        assert asymmetry[name] == pytest.approx(means[0] - means[1], abs=1e-7)
    for group, left_out in (("all_categories", ""), ("neutral_only", "ground_truth_numeric")):
        ua = np.array([value for name, value in asymmetry.items() if name != left_out])
        stream = np.random.RandomState(42)
        means = [ua[stream.choice(len(ua), len(ua))].mean() for _ in range(120)]
        found = document["_global_stats"][group]
        assert found["bootstrap_95ci"] == pytest.approx(list(np.percentile(means, [2.5, 97.5])))
        assert found["mean_asymmetry"] == pytest.approx(ua.mean())
        assert found["cohens_d"] == pytest.approx(ua.mean() / ua.std(), rel=1e-6)


def test_outputs_of_a_model_against_a_loop(
    states: dict[str, HiddenStates],
    pairs: StatementPairs,
    parts: dict[str, Fragments],
    published: Published,
) -> None:
    rows, nll, n = Rows(published), states["one"].nll, len(pairs)
    for number, name in enumerate(pairs.categories):
        inside = np.flatnonzero(pairs.category_of_pair == number)
        a, b = (np.mean([nll[start + row] for row in inside]) for start in (0, n))
        at = pointer(rows.number[CLASSES]["llama", name])
        cells = parts["llama-3p1-8b"][CLASSES]
        assert [cells[f"{at}/nll_{side}"] for side in "ab"] == pytest.approx([a, b])
        assert cells[f"{at}/mean_nll"] == pytest.approx(np.mean([a, b]))
        assert cells[f"{at}/preference"] == pytest.approx(b - a)
        at = pointer(rows.number[CONTRIBUTIONS]["llama", name])
        cells = parts["llama-3p1-8b"][CONTRIBUTIONS]
        ua = parts["llama-3p1-8b"][MODELS["llama"]][""][name]["asymmetry"]
        assert cells[f"{at}/ua"] == ua
        assert cells[f"{at}/contribution"] == pytest.approx(ua * (b - a))
        assert cells[f"{at}/aligned"] == (np.sign(ua) == np.sign(b - a))


def test_the_supplement_groups_as_published(published: Published) -> None:
    """Its own rows give its means by group and its correlations, by the rules used here."""
    document = published.document("extended_results/data/correlation_analysis.json")
    for model in MODELS:
        rows = {
            row["category"]: row
            for row in published.document(CONTRIBUTIONS)
            if row["model"] == model
        }
        ymyl = [rows[name]["contribution"] for name in ("scientific_facts", "lifestyle")]
        found = document["ymyl_effect"][model]
        assert found["ymyl_mean_contribution"] == pytest.approx(np.mean(ymyl))
        stronger = found["ymyl_mean_contribution"] > found["non_ymyl_mean_contribution"]
        assert found["ymyl_stronger"] == str(stronger)
        for row in rows.values():
            assert row["contribution"] == pytest.approx(row["ua"] * row["preference"])
            assert row["aligned"] == (row["ua"] * row["preference"] > 0)


def _naive_interval(
    x: np.ndarray, y: np.ndarray, stream: np.random.RandomState
) -> tuple[float, float]:
    drawn = [stream.choice(len(x), len(x)) for _ in range(120)]
    low, high = np.percentile([np.corrcoef(x[rows], y[rows])[0, 1] for rows in drawn], [2.5, 97.5])
    return float(low), float(high)


def test_llama_draws_three_measures_layer_by_layer(
    values: dict[str, Values], parts: dict[str, Fragments]
) -> None:
    one, found = values["llama-3p1-8b"], parts["llama-3p1-8b"][LLAMA][""]
    stream = np.random.RandomState(42)
    for row, layer in enumerate((0, 4)):
        names = list(found["pair_level_results"][str(layer)])
        assert names == ["centroid_asymmetry", "cross_centroid", "within_pair_sim"]
        for metric in names:
            x = one.pair_metrics[row, list(METRICS).index(metric)]
            entry = found["pair_level_results"][str(layer)][metric]
            r, p = stats.pearsonr(x, one.preferences)
            assert [entry["r"], entry["p_value"]] == pytest.approx([r, p])
            ends = _naive_interval(x, one.preferences, stream)
            assert [entry["ci_lower"], entry["ci_upper"]] == pytest.approx(ends, abs=1e-12)
    ua = [one.asymmetries("layer_8"), one.category_preferences()]
    r, p = stats.pearsonr(*ua)
    assert found["category_level_results"]["8"] == pytest.approx({"r": r, "p_value": p})


def test_the_template_notebook_draws_with_before_without(
    values: dict[str, Values], parts: dict[str, Fragments]
) -> None:
    stream, templated = np.random.RandomState(42), "llama-3p1-8b-instruct-templated"
    order = [(templated, "with"), ("llama-3p1-8b-instruct", "without")]
    for key, condition in order:
        one = values[key]
        found = parts[key][TEMPLATE][f"/results_{condition}_template"]
        for row, layer in enumerate(one.layers):
            entry = found[str(layer)]
            ends = _naive_interval(one.pair_metrics[row, 0], one.preferences, stream)
            assert [entry["ci_lo"], entry["ci_hi"]] == pytest.approx(ends, abs=1e-12)
            assert entry["sig"] == (not ends[0] <= 0 <= ends[1])
    once = parts[f"{templated}-once"]
    assert list(once) == ["beyond/p2_template"]
    found = once["beyond/p2_template"]["/llama-3p1-8b-instruct"]
    late = [found["results_with_template_once"][str(layer)]["r"] for layer in (24, 28, 32)]
    assert found["phase_with_once"]["late"] == pytest.approx(np.mean(late))


def test_gemma_is_sampled_every_second_layer(parts: dict[str, Fragments]) -> None:
    file = CURVES["gemma-2b"].file
    assert list(parts["gemma-2b"][file][""]["results"]) == [str(n) for n in range(0, 19, 2)]
    assert parts["gemma-2b"][file][""]["n_layers"] == 18


@pytest.mark.parametrize("slug", CURVES)
def test_tables_of_published_curves_are_the_published_tables(
    slug: str, published: Published
) -> None:
    """Pythia's intervals, one flag and its late mean in print are not those of its file."""
    place = CURVES[slug]
    curve = {
        layer: CorrelationInterval(
            *place.interval(published, layer),
            r=place.r(published, [layer])[layer],
            p_value=0.0,
            n_kept=0,
        )
        for layer in place.layers(published)
    }
    different = [
        (file, row, name)
        for file, rows in curve_values.tables(curve, place).items()
        for row, entry in rows.items()
        for name, value in entry.items()
        if published[file, f"{row}/{name}"] != value
    ]
    if slug != "pythia-6p9b":
        assert different == []
    else:
        names = {name for file, _, name in different if file == CONSOLIDATED}
        assert names == {"ci_lo", "ci_hi", "significant"}
        assert {name for file, _, name in different if file == SUMMARY} == {
            "late_mean",
            "late_inversion",
        }


def test_models_without_a_result_file_go_beyond(parts: dict[str, Fragments]) -> None:
    assert list(parts["pythia-2p8b"]) == ["beyond/p1_pythia_ua"]
    found = parts["pythia-2p8b"]["beyond/p1_pythia_ua"]["/pythia-2p8b"]
    assert found.keys() == parts["pythia-12b"][UA_FILES["pythia-12b"]][""].keys()
    assert not any(file in parts["pythia-1p4b"] for file in UA_FILES.values())


def test_pairs_of_the_dataset_against_published(mirror: Path, published: Published) -> None:
    found = of_pairs(read_pairs(mirror / "dataset.json"))
    assert found[DATASET] == {
        pointer(name): {"n_pairs": n_pairs(published, name)} for name in categories(published)
    }
    words = {pointer(name): listed for name, listed in published.document(WORDS).items()}
    assert found[WORDS] == words


def test_further_values_against_the_states(
    states: dict[str, HiddenStates], pairs: StatementPairs, tmp_path: Path
) -> None:
    found, n = states["one"], len(pairs)
    one = measure(found, pairs, layers=[4, 32], k_values=(10,), n_permutations=1)
    one.save(tmp_path / "values.npz")
    one = load(tmp_path / "values.npz")
    np.testing.assert_array_equal(one.nll, [found.nll[:n], found.nll[n:]])
    before, everything = found.pooled(BEFORE_NORM), found.pooled(4, "mean_all")
    np.testing.assert_allclose(
        one.pair_metrics_before_norm, pair_metrics(before[:n], before[n:]), atol=1e-12
    )
    np.testing.assert_allclose(
        one.pair_metrics_all_tokens[0], pair_metrics(everything[:n], everything[n:]), atol=1e-12
    )


def test_fragments_iv(values: dict[str, Values], published: Published) -> None:
    one = values["gemma-2b"]
    fewer = dataclasses.replace(one, layers=(0, 4, 8, 12, 16, 18))
    message = r"every 2th layer from 0, and the last, found 0, 4, 8"
    with pytest.raises(LayerwiseError, match=message):
        fragments(EXTRACTIONS["gemma-2b"], fewer, published)
