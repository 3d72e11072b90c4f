"""Sheaf, L*, benchmark and gains of Paper 3: against the result files, scipy and theory."""

import math
import random

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from layerwise.analyses import TABLES, replay, series, sheaf_trace, spectral_norms, twins
from layerwise.analyses import critical_layer as formula
from layerwise.analyses.derivation import derived_cells
from layerwise.analyses.evidence import Draws, Evidence
from layerwise.errors import LayerwiseError
from layerwise.inputs.published import Published, read_published, split_pointer
from layerwise.ledger.claims import read_ledger
from layerwise.ledger.verdicts import judge
from layerwise.statistics import critical_layer, norm_ratios
from replayed import statistics_of

ANALYSES = (
    "critical_layer",
    "gemma_anisotropy",
    "sequence_gains",
    "sheaf_trace",
    "spectral_norms",
    "thermodynamic_benchmark",
    "twins",
    "unembedding",
)
# Published numbers that each table must be able to give.
COMPARED = {
    "critical_layer": 42,
    "gemma_anisotropy": 11,
    "sheaf_trace": 60,
    "spectral_norms": 62,
    "twins": 25,
}
DRAWS = {"n_resamples": 10000, "level": 0.95, "seed": 42}
# What does not follow from the published numbers, and what its record must say.
DIFFERS = {
    "p3.spectral.predicts": "no rule is stated",
    "p3.draft.ratio.pythia-410m": "the ratio of the means rounded to two decimals would give",
    "p3.figA5.ratio": "Pythia over the two OPT models would give",
    "p3.sheaf.discriminates": "the multi-head trace in place of the single-slice trace",
    "p3.rmap.draft_min_ratio": "the ratio over that of layer 0 would give",
    "p3.lstar.mape_within": "the formula with unrounded coefficients would give",
}
SEEDS = range(5)


@pytest.fixture(scope="module")
def published(root):
    return read_published(root / "published")


@pytest.fixture(scope="module")
def works(published):
    return {analysis: replay(analysis, published, **DRAWS) for analysis in ANALYSES}


@pytest.fixture(scope="module")
def records(root, published, works):
    statistics = statistics_of(works)
    claims = read_ledger(root / "claims", published)
    ours = [claim for claim in claims if (claim.statistic or "").split(":")[0] in ANALYSES]
    return {claim.id: judge(claim, statistics) for claim in ours}


def at(work, statistic):
    document, key = statistic.split(":", 1)
    node = work.documents[document]
    for name in split_pointer(key):
        node = node[int(name)] if isinstance(node, list) else node[name]
    return node


# --- against the result files -------------------------------------------------------------------


@pytest.mark.parametrize(("analysis", "least"), COMPARED.items())
def test_derived_numbers_against_the_published_ones(published, analysis, least):
    evidence = Evidence(published, Draws(**DRAWS))
    found = {}
    for document in TABLES[analysis].values():
        found |= derived_cells(document, evidence)
    assert len(found) >= least
    for cell, rule in found.items():
        value, printed = rule(), published.cells[cell]
        assert type(value) is type(printed), cell
        if isinstance(printed, float):
            assert value == pytest.approx(printed, rel=1e-12, abs=0), cell
        else:
            assert value == printed, cell


def test_single_precision_statistics_are_published_bit_for_bit(works, published):
    for model, row in (("opt-125m", 3), ("gpt2", 6)):
        found = works["spectral_norms"].documents[model]
        for matrix in spectral_norms.MATRICES:
            key = f"{matrix}_mean_spectral"
            assert found[key] == published.cells[spectral_norms.SPECTRAL, f"/results/{row}/{key}"]


def test_verdicts(records):
    counts = {}
    for record in records.values():
        counts[record["verdict"]] = counts.get(record["verdict"], 0) + 1
    assert counts == {"agrees": 307, "needs weights": 20, "differs": 6}


def test_what_differs_says_why(records):
    found = {i: r["cause"] for i, r in records.items() if r["verdict"] == "differs"}
    assert set(found) == set(DIFFERS)
    for claim, text in DIFFERS.items():
        assert text in found[claim]


def test_nothing_agrees_without_inputs(records):
    for claim, record in records.items():
        if record["verdict"] == "agrees":
            assert record["provenance"]["inputs"], claim


def test_a_nan_is_a_word_and_moves_the_layer(records):
    assert records["p3.h4ext.pythia-2.8b.mean_trace_mh"]["recomputed"] == "NaN"
    assert records["p3.h4ext.pythia-2.8b.L_star"]["recomputed"] == 26
    assert records["p3.rmap.L_star_min_contraction"]["recomputed"] == 21


def test_layers_of_the_restriction_maps(works):
    """Without the three NaN layers the smallest ratio is where the draft puts it."""
    found = works["sheaf_trace"].documents["pythia-1.4b"]
    assert found["smallest_finite_layer"] == sheaf_trace.DRAFT_LAYER
    assert found["nan_layers"] == 3


def test_frobenius_norms_of_two_runs(works, published):
    for model, key in (("gpt2", "gpt2"), ("opt-125m", "facebook~1opt-125m")):
        other = published.number(spectral_norms.OPT, f"/W_V_analysis/{key}/mean_frobenius")
        found = works["spectral_norms"].documents[model]["W_V_mean_frobenius"]
        assert found == pytest.approx(other, rel=2e-6)


def test_fit_against_linear_programming(works, published):
    models = formula.calibrated(Evidence(published, Draws(**DRAWS)))
    assert len(models) == 8
    x = np.array([[1, m.n_layers, 1 / m.n_heads] for m in models])
    y = np.array([formula.layer(m) / m.n_layers for m in models])
    found = works["critical_layer"].documents["calibration"]
    coefficients = [found[name] for name in ("constant", "depth", "heads")]
    assert coefficients == pytest.approx(deviations_by_program(x, y)[0], rel=1e-9)
    mean = 100 * np.mean(np.abs(x @ coefficients - y))
    assert found["error"]["fitted_coefficients"] == pytest.approx(mean, rel=1e-12)


# --- inputs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("analysis", ANALYSES)
def test_only_statistics_that_name_a_number_change_with_it(works, published, analysis):
    work = works[analysis]
    cells = sorted({cell for inputs in work.derived.values() for cell in inputs})
    moved = 0
    for name in random.Random(3).sample(cells, min(6, len(cells))):
        cell = tuple(name.split("#", 1))
        value = published.cells[cell]
        if isinstance(value, str) or value != value:
            continue
        other = Published({**published.cells, cell: value * 1.01})
        after = replay(analysis, other, **DRAWS)
        for statistic, inputs in work.derived.items():
            if at(work, statistic) != at(after, statistic):
                moved += 1
                assert name in inputs, (name, statistic)
    assert moved


# What need not move with each of its inputs: ranks, extremes, counts and roundings choose.
CHOOSES = (
    *("Spearman", "spearman", "mann_whitney", "range/", "profile_range", "max_", "_pct", "phase"),
    *(
        "rounded",
        "calibration:",
        "mean_layer_error",
        "first_mean_depth",
        "L_star_ratio",
        "_gap",
        "final_cumulative",
    ),
)


@pytest.mark.parametrize("analysis", ANALYSES)
def test_smooth_statistics_change_with_the_numbers_they_name(works, published, analysis):
    work = works[analysis]
    smooth = {
        statistic: inputs
        for statistic, inputs in work.derived.items()
        if type(at(work, statistic)) is float and not any(word in statistic for word in CHOOSES)
    }
    cells = sorted({cell for inputs in smooth.values() for cell in inputs})
    cells = [name for name in cells if type(published.cells[tuple(name.split("#", 1))]) is float]
    compared = 0
    for name in random.Random(5).sample(cells, min(6, len(cells))):
        cell = tuple(name.split("#", 1))
        value = published.cells[cell]
        if math.isnan(value):
            continue
        after = replay(analysis, Published({**published.cells, cell: value * 1.001}), **DRAWS)
        for statistic, inputs in smooth.items():
            if name in inputs:
                compared += 1
                assert at(after, statistic) != at(work, statistic), (name, statistic)
    assert compared >= 3


def test_statistics_of_an_end_name_two_norms(works):
    derived = works["sequence_gains"].derived
    for statistic, ends in (("initial_gain", ("0", "1")), ("last_gain", ("31", "32"))):
        inputs = derived[f"pythia-6.9b:/{statistic}"]
        assert [cell.rsplit("/", 1)[1] for cell in inputs] == list(ends)
    assert len(derived["pythia-6.9b:/max_gain"]) == 33


@pytest.mark.parametrize(("row", "n"), [(6, 12), (5, 24)])
def test_late_layers_are_the_last_third(published, row, n):
    key = f"/results/{row}/W_V_spectral_norm"
    late = [published.number(spectral_norms.SPECTRAL, f"{key}/{i}") for i in range(n * 2 // 3, n)]
    squares = [value**2 for value in late]
    model = Evidence(published, Draws(**DRAWS))[spectral_norms.SPECTRAL].results[row]
    found = spectral_norms.late_square(model)
    assert found == pytest.approx(sum(squares) / len(squares), rel=1e-12)


def test_a_variant_names_its_own_rows_only(works):
    inputs = works["twins"].derived["Gemma-7B:/Base_Gain"]
    assert len(inputs) == 25
    assert all(cell.startswith(f"{twins.ROWS}#/") for cell in inputs)
    both = works["twins"].derived["Gemma-7B:/Ratio"]
    assert len(both) == 50
    assert set(inputs) < set(both)


@pytest.mark.parametrize("analysis", ANALYSES)
def test_missing_number_iv(works, published, analysis):
    file, key = max(works[analysis].derived.values(), key=len)[0].split("#", 1)
    cells = {cell: value for cell, value in published.cells.items() if cell != (file, key)}
    with pytest.raises(LayerwiseError, match=r"no number|nothing stands at") as error:
        replay(analysis, Published(cells), **DRAWS)
    assert file in str(error.value)
    assert key in str(error.value)


# --- L* -----------------------------------------------------------------------------------------


def deviations_by_program(x, y):
    """Minimise the sum of t subject to -t <= x c - y <= t."""
    n, k = x.shape
    cost = np.concatenate([np.zeros(k), np.ones(n)])
    upper = np.block([[x, -np.eye(n)], [-x, -np.eye(n)]])
    bounds = [(None, None)] * k + [(0, None)] * n
    found = scipy.optimize.linprog(cost, upper, np.concatenate([y, -y]), bounds=bounds)
    return found.x[:k], found.fun


@pytest.mark.parametrize("seed", SEEDS)
def test_least_absolute_deviations_against_linear_programming(seed):
    stream = np.random.default_rng(seed)
    x, y = stream.normal(size=(9, 3)), stream.normal(size=9)
    found = critical_layer.least_absolute_deviations(x, y)
    best = deviations_by_program(x, y)[1]
    assert np.sum(np.abs(x @ found - y)) == pytest.approx(best, rel=1e-9)


def test_fit_finds_an_exact_formula():
    truth = critical_layer.Formula(0.2, 0.01, 3.0)
    shapes = [(12, 12), (24, 16), (16, 8), (32, 32), (18, 8)]
    layers = [truth.layer(*shape) for shape in shapes[:-1]] + [40.0]  # one outlier
    found = critical_layer.fit_formula(*zip(*shapes, strict=True), layers)
    assert vars(found) == pytest.approx(vars(truth), rel=1e-9)


def test_layer_from_gain_theory():
    """Half the depth at gain 1; nothing far under it, everything far over it."""
    assert critical_layer.layer_from_gain(24, 1.0) == 12
    assert critical_layer.layer_from_gain(24, -5.0) == pytest.approx(0, abs=1e-12)
    assert critical_layer.layer_from_gain(24, 7.0) == pytest.approx(24)


@pytest.mark.parametrize("seed", SEEDS)
def test_turning_layers_against_naive(seed):
    v = np.random.default_rng(seed).normal(size=12)
    inside = [(v[i + 1] - v[i - 1]) / 2 for i in range(1, 11)]
    slopes = [abs(s) for s in (v[1] - v[0], *inside, v[11] - v[10])]
    assert critical_layer.steepest(v) == slopes.index(max(slopes))
    bends = [abs(v[i - 1] - 2 * v[i] + v[i + 1]) for i in range(1, 11)]
    assert critical_layer.inflection(v) == bends.index(max(bends)) + 1


def test_turning_layers_stop_at_the_first_nan():
    v = np.array([0.0, 9.0, 1.0, 1.0, 1.0, math.nan, math.nan])
    assert critical_layer.steepest(v) == 4
    assert critical_layer.inflection(v) == 4


def test_errors_of_a_layer():
    assert critical_layer.depth_error(10, 8, 20) == 10
    assert critical_layer.relative_error(10, 8) == 25
    words = [critical_layer.verdict(error) for error in (9.99, 10, 14.99, 15)]
    assert words == ["VALIDATED", "PARTIAL", "PARTIAL", "CALIBRATION NEEDED"]


def test_critical_layer_iv():
    with pytest.raises(LayerwiseError, match="at least two layers, found 1"):
        critical_layer.steepest(np.ones(1))
    with pytest.raises(LayerwiseError, match="three layers, found 2"):
        critical_layer.inflection(np.ones(2))
    with pytest.raises(LayerwiseError, match="other than 0"):
        critical_layer.relative_error(3, 0)
    with pytest.raises(LayerwiseError, match=r"as many independent rows as coefficients \(3\)"):
        critical_layer.least_absolute_deviations(np.ones((4, 3)), np.arange(4.0))


# --- gains and words ----------------------------------------------------------------------------


@given(st.lists(st.floats(0.1, 1e4), min_size=2, max_size=20))
def test_gains_multiply_to_the_last_norm_over_the_first(norms):
    gains = norm_ratios.norm_ratios(np.array(norms))
    assert len(gains) == len(norms) - 1
    assert norm_ratios.cumulative_gain(gains) == pytest.approx(norms[-1] / norms[0], rel=1e-3)


def test_contracting_percent():
    assert norm_ratios.contracting_percent(np.array([0.5, 1.0, 2.0, 0.9])) == 50


@pytest.mark.parametrize("norms", [[1.0], [1.0, 0.0], [1.0, math.nan], [1.0, -2.0]])
def test_norm_ratios_iv(norms):
    with pytest.raises(LayerwiseError, match="all positive and finite"):
        norm_ratios.norm_ratios(np.array(norms))


def test_words_of_the_twin_test():
    words = [twins.effect(delta) for delta in (-0.06, -0.05, 0.05, 0.06)]
    assert words == ["DAMPENS", "NEUTRAL", "NEUTRAL", "AMPLIFIES"]


def test_rounding_as_printed():
    assert [series.one_digit(x) for x in (337.7, 57.7, 350.1, 9.4)] == [300, 60, 400, 9]
    assert series.whole(26.48) == 26
