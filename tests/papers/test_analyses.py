"""Each analysis against a loop written from its description, on random states."""

import dataclasses
import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from scipy import stats

from layerwise.errors import LayerwiseError
from layerwise.measures.anisotropy import anisotropy
from layerwise.measures.pairwise import METRICS
from layerwise.measures.values import ANISOTROPY, POOLED, sampled_layers
from layerwise.measuring.reduction import measure
from layerwise.papers.across.analyses import analyse_reader
from layerwise.papers.experiments import reader
from layerwise.papers.paper2.rules.scaling import compare_curves
from layerwise.papers.shared.result_files import SCALING
from layerwise.papers.shared.roles import PAPERS
from layerwise.statistics.bootstrap import Draws
from random_states import CATEGORIES, SIZES, numbers_of, some_pairs, write_states

N = sum(SIZES)
LAYERS = (0, 4, 8, 10)
RESAMPLES = 150
FEW = {"k_values": (5, 8), "n_permutations": 4, "k_stable": 9}
WITH_PAIRS = ("validation", "layers", "category_bootstrap", "bins", "pairs", "anisotropy")


@pytest.fixture(scope="module")
def states(tmp_path_factory):
    return write_states(tmp_path_factory.mktemp("extraction") / "states")


@pytest.fixture(scope="module")
def values(states):
    return measure(states, some_pairs(), **FEW)


def analyse(values):
    draws = Draws(RESAMPLES, 0.95, 42)
    return analyse_reader(reader.tables(numbers_of(values, draws)), draws)


@pytest.fixture(scope="module")
def documents(values):
    return analyse(values)


def cosine_mean(rows):
    unit = rows.astype(float) / np.linalg.norm(rows.astype(float), axis=1, keepdims=True)
    return np.mean((unit @ unit.T)[np.triu_indices(len(unit), 1)])


def groups(labels):
    return [np.flatnonzero(labels == group) for group in range(labels.max() + 1)]


class Naive:
    """The notebooks' quantities, recomputed from the states one by one."""

    def __init__(self, states):
        self.states = states
        self.preference = np.array([states.nll[N + i] - states.nll[i] for i in range(N)])
        self.by_category = groups(some_pairs().category_of_pair)

    def asymmetries(self, members, layer, pooling="mean"):
        pooled = self.states.pooled(layer, pooling)
        return np.array(
            [cosine_mean(pooled[pairs]) - cosine_mean(pooled[N + pairs]) for pairs in members]
        )

    def means(self, members):
        return np.array([np.mean(self.preference[pairs]) for pairs in members])

    def categories(self, layer, pooling="mean"):
        return self.asymmetries(self.by_category, layer, pooling), self.means(self.by_category)


def loop(x, y, draw):
    """r, p and the ends of its interval, one resample at a time."""
    kept = []
    for _ in range(RESAMPLES):
        rows = draw(len(x))
        if len(set(rows)) > 1:
            kept.append(stats.pearsonr(x[rows], y[rows])[0])
    r, p = stats.pearsonr(x, y)
    low, high = np.percentile(kept, [2.5, 97.5])
    return {"r": r, "ci_lower": low, "ci_upper": high, "p_value": p}


@pytest.fixture(scope="module")
def naive(states):
    return Naive(states)


@pytest.fixture
def draw():
    stream = np.random.RandomState(42)
    return lambda n: stream.choice(n, size=n, replace=True)


def assert_result(result, expected):
    for key, value in expected.items():
        assert result[key] == pytest.approx(value, abs=1e-6), key
    assert result["includes_zero"] == (expected["ci_lower"] <= 0 <= expected["ci_upper"])


def test_validation_against_naive(documents, naive):
    document = documents["validation"]
    asymmetries, preferences = naive.categories(10)
    for number, name in enumerate(CATEGORIES):
        member, entry = naive.by_category[number], document[name]
        assert entry["n_pairs"] == SIZES[number]
        assert entry["asymmetry"] == pytest.approx(asymmetries[number], abs=1e-9)
        assert entry["asymmetry"] == entry["uniformity_a"] - entry["uniformity_b"]
        assert entry["output_preference"] == pytest.approx(preferences[number])
        share = 100 * np.mean([naive.preference[i] > 0 for i in member])
        assert entry["pct_prefer_a"] == pytest.approx(share)
    statistics = document["_global_stats"]
    rng = np.random.RandomState(42)
    means = [np.mean(rng.choice(asymmetries, 6)) for _ in range(RESAMPLES)]
    assert statistics["bootstrap_95ci"] == pytest.approx(
        np.percentile(means, [2.5, 97.5]), abs=1e-9
    )
    expected = np.corrcoef(asymmetries, preferences)[0, 1]
    assert statistics["ua_output_correlation"] == pytest.approx(expected)
    assert set(document["_verdicts"]["aligned"]) == set(CATEGORIES)


def test_layers_against_naive(documents, naive):
    document = documents["layers"]
    readings = [(10, "mean"), (10, "last"), (10, "first"), *((layer, "mean") for layer in LAYERS)]
    names = [*POOLED, *(f"layer_{layer}" for layer in LAYERS)]
    assert list(document["strategies"]) == names
    curve = []
    for name, reading in zip(names, readings, strict=True):
        x, y = naive.categories(*reading)
        r, p = stats.pearsonr(x, y)
        strategy = document["strategies"][name]
        assert (strategy["correlation"], strategy["p_value"]) == pytest.approx((r, p), abs=1e-8)
        assert strategy["category_uas"] == pytest.approx(x, abs=1e-9)
        assert strategy["category_prefs"] == pytest.approx(y)
        curve.append(r)
    changes = [LAYERS[i] for i in range(3) if curve[i + 3] * curve[i + 4] < 0]
    assert [change["layer_before"] for change in document["summary"]["sign_changes"]] == changes


@pytest.mark.parametrize("norm", [30.0, 0.0])
def test_layers_with_one_vector_for_all_first_tokens(tmp_path, norm):
    states = write_states(tmp_path / "states")
    file = states.folder / "statements_00000.safetensors"
    arrays = load_file(file)
    first = arrays["first/10"]
    first[:] = norm * first[0] / np.linalg.norm(first[0])  # what a BOS gives
    save_file(arrays, file)
    document = analyse(measure(states, some_pairs(), **FEW))["layers"]
    strategy = document["strategies"]["first_token"]
    assert (strategy["correlation"], strategy["p_value"]) == (None, None)
    assert document["summary"]["bands"]["first_token"] is None
    assert document["strategies"]["last_token"]["correlation"] is not None


def test_category_bootstrap_against_naive(documents, naive, draw):
    document = documents["category_bootstrap"]
    for layer in LAYERS:
        expected = loop(*naive.categories(layer), draw)
        assert_result(document["layer_results"][str(layer)], expected)
    assert document["summary"]["mid_layer_range"] == [2, 5]
    assert document["summary"]["mid_layers_tested"] == [4]
    assert document["summary"]["late_layers_tested"] == [8, 10]


def test_bins_against_naive(documents, naive):
    document = documents["bins"]
    np.random.seed(42)
    for k in (5, 8):
        for layer in LAYERS:
            r, p = [], []
            for _ in range(4):
                members = [
                    group for group in groups(np.random.randint(0, k, size=N)) if len(group) >= 2
                ]
                test = stats.pearsonr(naive.asymmetries(members, layer), naive.means(members))
                r.append(test.statistic)
                p.append(test.pvalue)
            result = document["results_by_k"][str(k)][str(layer)]
            expected = {
                "r_mean": np.mean(r),
                "r_std": np.std(r),
                "p_mean": np.mean(p),
                "n_valid": 4,
            }
            assert result == pytest.approx(expected, abs=1e-7)
    np.random.seed(42)
    members = [group for group in groups(np.random.randint(0, 9, size=N)) if len(group) >= 2]
    for layer in LAYERS:
        expected = loop(
            naive.asymmetries(members, layer),
            naive.means(members),
            lambda n: np.random.choice(n, n),
        )
        result = document["bootstrap_results"][str(layer)]
        assert_result(result, expected)
        assert result["n_bins"] == len(members)
    before = documents["category_bootstrap"]["layer_results"]  # of this model, not the published
    after = document["bootstrap_results"]
    for results, significant, width in (
        (before, "original_sig_layers", "mean_width_n6"),
        (after, "new_sig_layers", "mean_width_n20"),
    ):
        flags = [not interval["includes_zero"] for interval in results.values()]
        assert document["comparison"][significant] == sum(flags)
        widths = [interval["ci_upper"] - interval["ci_lower"] for interval in results.values()]
        assert document["widths"][width] == pytest.approx(np.mean(widths))


def test_pairs_against_naive(documents, values, naive, draw):
    document = documents["pairs"]
    for row, layer in enumerate(LAYERS):
        best = (0.0, "")
        for number, metric in enumerate(METRICS):
            expected = loop(values.pair_metrics[row, number], naive.preference, draw)
            assert_result(document["results"][str(layer)][metric], expected)
            if abs(expected["r"]) > best[0]:
                best = abs(expected["r"]), metric
        assert document["best_per_layer"][row]["best_metric"] == best[1]
        assert document["best_per_layer"][row]["layer"] == layer
    flags = [
        not test["includes_zero"]
        for tests in document["results"].values()
        for test in tests.values()
    ]
    assert document["summary"]["total_tests"] == len(flags) == 20
    assert document["summary"]["significant_tests"] == sum(flags)


def test_anisotropy_of_every_layer(documents, values, states):
    document = documents["anisotropy"]
    for row, layer in enumerate([*range(11), "before_norm"]):
        expected = anisotropy(states.tokens(layer))
        assert values.anisotropy[:, row].tolist() == [
            getattr(expected, name) for name in ANISOTROPY
        ]
        np.testing.assert_array_equal(values.eigenvalues[row], expected.eigenvalues)
        if str(layer) in document["spectra"]:
            assert document["spectra"][str(layer)] == pytest.approx(expected.eigenvalues, rel=1e-6)
    for name in ("first_pc_share", "effective_rank", "eigenvalue_variance", "var_top10"):
        key = "intrinsic_dim_ratio" if name == "first_pc_share" else name
        measured = values.anisotropy[ANISOTROPY.index(name), :11]
        assert document[key] == pytest.approx(measured, rel=1e-6)
    star = int(np.argmax(document["intrinsic_dim_ratio"]))
    assert document["L_star_anisotropy"] == star
    # of Pythia-6.9B alone
    assert not {"gap", "match_verdict", "three_phases", "L_star_paper2"} & document.keys()
    assert set(document["spectra"]) == {str(n) for n in (0, star // 2, star, (star + 10) // 2, 10)}


def test_sensitivity_against_naive(documents, values, naive):
    document = documents["sensitivity"]
    r, p = stats.pearsonr(*naive.categories("before_norm"))
    result = document["before_norm"]
    assert (result["r"], result["p_value"]) == pytest.approx((r, p), abs=1e-8)
    after, _ = stats.pearsonr(*naive.categories(10))
    assert result["r_after_norm"] == pytest.approx(after, abs=1e-8)
    result = document["all_tokens"]["8"]
    both = [stats.pearsonr(*naive.categories(8, *pooling)) for pooling in (["mean_all"], [])]
    r = [test.statistic for test in both]
    assert [result["r"], result["r_without_first"]] == pytest.approx(r, abs=1e-8)
    p_values = [document["holm"][str(layer)]["p_value"] for layer in LAYERS]
    smallest = LAYERS[int(np.argmin(p_values))]
    assert document["holm"][str(smallest)]["p_holm"] == pytest.approx(min(1, 4 * min(p_values)))
    x, y = values.pair_metrics[0, 0], naive.preference
    result = document["within_categories"]["0"]
    assert result["r"] == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)
    for name, inside in zip(values.categories, naive.by_category, strict=True):
        r = np.corrcoef(x[inside], y[inside])[0, 1]
        z, half = np.arctanh(r), stats.norm.ppf(0.975) / np.sqrt(len(inside) - 3)
        found = result["by_category"][name]
        assert (found["r"], found["n"]) == (pytest.approx(r, abs=1e-9), len(inside))
        assert found["interval"] == pytest.approx([np.tanh(z - half), np.tanh(z + half)])


def test_scaling_compares_the_layers_of_several_models(published, works):
    """From the published curves, in the shape of `layers` documents: the published comparison."""
    models = published.document(SCALING)["models"]
    layers = {
        display: {
            "model": model["model_name"],
            "n_layers": model["n_layers"],
            "strategies": {
                "mean_pooled": {"correlation": 0.0, "p_value": 1.0},
                **{f"layer_{layer}": test for layer, test in model["layer_results"].items()},
            },
        }
        for display, model in models.items()
    }
    compared, family = compare_curves(layers), works["scaling"].documents["family"]
    assert compared["models"] == models
    assert [compared[key] for key in ("summary", "peak_analysis")] == [
        family[key] for key in ("summary", "peak_analysis")
    ]


# the roles that results fill, where these have another name
FILLED_BY = {"validation": "preferences", "anisotropy": "profiles"}


@pytest.mark.parametrize("name", WITH_PAIRS)
def test_documents_have_the_published_keys(name, documents, published):
    (file, _), *_ = PAPERS[FILLED_BY.get(name, name)].values()
    expected, document = published.document(file), documents[name]
    assert json.loads(json.dumps(document, allow_nan=False)) == document

    def lacking(expected, document, place=""):
        for key, below in expected.items() if isinstance(expected, dict) else ():
            if key in document:
                yield from lacking(below, document[key], f"{place}/{key}")
            else:
                yield f"{place}/{key}"

    absent = set(lacking(expected, document))
    of_the_model = {path for path in absent if path.split("/")[-1].isdigit() or "layer_" in path}
    if name == "validation":
        of_the_model |= {f"/{category}" for category in expected if category[0] != "_"}
    if name == "anisotropy":  # a layer of Pythia-6.9B
        of_the_model.add("/L_star_paper2")
    assert absent <= of_the_model


def test_names_that_are_numbers_stay_names(states):
    """Layers 0, 1, 2 and categories 0 to 5 are the names of objects, not the rows of lists."""
    values = measure(states, some_pairs(), **FEW, layers=[0, 1, 2])
    results = analyse(dataclasses.replace(values, categories=tuple("012345")))
    assert list(results["category_bootstrap"]["layer_results"]) == ["0", "1", "2"]
    assert list(results["pairs"]["results"]) == ["0", "1", "2"]
    words = results["validation"]["_verdicts"]
    assert list(words["aligned"]) == list("012345")
    assert (words["sf_label"], words["key_question"]) == (None, None)  # no scientific facts
    assert {"late", "sign_change", "late_inversion"}.isdisjoint(
        row["question"] for row in results["sensitivity"]["rows"]
    )


def test_sampled_layers():
    assert sampled_layers(32) == (0, 4, 8, 12, 16, 20, 24, 28, 32)
    assert sampled_layers(6) == (0, 4, 6)
    assert sampled_layers(2, layer_step=1) == (0, 1, 2)
    assert sampled_layers(6, layers=[5, 0, 5]) == (0, 5)


def changed(states):
    pairs = some_pairs()
    return measure(states, dataclasses.replace(pairs, side_a=("changed", *pairs.side_a[1:])))


def flat(states):
    values = measure(states, some_pairs(), **FEW)
    output = dataclasses.replace(values.known_output, preferences=np.full(N, 0.5))
    return analyse(dataclasses.replace(values, output=output))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda _: sampled_layers(6, layers=[7, 2, -1]), "from 0 to n_layers = 6, found 7, -1"),
        (lambda _: sampled_layers(6, layers=[]), "at least one layer, found none"),
        (
            lambda states: measure(states, some_pairs((10, 8, 7), "xyz")),
            "found 140 statements for 25 pairs",
        ),
        (
            lambda states: measure(states, some_pairs(), k_values=(2,)),
            r"k of at least 3, each once.*k_values \[2\]",
        ),
        (changed, "extracted from other statements than these pairs"),
        (flat, "the preference of the categories is constant"),
        (lambda _: compare_curves({}), "compares models, found none"),
        (
            lambda _: compare_curves({"Empty": {"model": "m", "n_layers": 2, "strategies": {}}}),
            "Empty: the layer document names no layer",
        ),
    ],
)
def test_analyses_refused(states, call, said):
    with pytest.raises(LayerwiseError, match=said):
        call(states)


def test_equal_preferences_refused(tmp_path):
    equal = write_states(tmp_path / "equal", n_layers=1, nll=np.full(2 * N, 3.25))
    with pytest.raises(LayerwiseError, match="preferences that vary, all 70 are 0 nats"):
        measure(equal, some_pairs())
