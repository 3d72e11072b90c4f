"""Paper 3's statistics against its result files, their inputs, and their rules against theory."""

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judged import DRAWS, analysed, at, changed, judged, of
from layerwise.analyses import lab_heritage, twins
from layerwise.analyses.evidence import Evidence
from layerwise.errors import LayerwiseError
from layerwise.inputs import result_files as files
from layerwise.statistics import gains

GAINS = ("crowding", "depth_gain", "lab_heritage", "laws", "mlp_scaling")
ANALYSES = (
    *GAINS,
    *("critical_layer", "sequence_gains", "sheaf_trace", "spectral_norms"),
    *("thermodynamic_benchmark", "twins", "unembedding"),
)
# What does not follow from the published numbers, and what its record must say.
DIFFERS = {
    "p3.spectral.predicts": "no rule is stated",
    "p3.draft.ratio.pythia-410m": "the ratio of the means rounded to two decimals would give",
    "p3.figA5.ratio": "Pythia over the two OPT models would give",
    "p3.sheaf.discriminates": "the multi-head trace in place of the single-slice trace",
    "p3.rmap.draft_min_ratio": "the ratio over that of layer 0 would give",
    "p3.lstar.mape_within": "the formula with unrounded coefficients would give",
    "p3.crowding.rho_crit": "Pythia-160M expands inside the printed range",
}
# ... and the reading that gives what is printed.
READINGS = {
    "p3.kleiber.r": "density of heads instead of depth",
    "p3.kleiber.p": "density of heads instead of depth",
    "p3.kleiber.fig1.r": "density of heads instead of depth",
    "p3.kleiber.fig1.p": "density of heads instead of depth",
    "p3.kleiber.figA3.r": "density of heads instead of depth",
    "p3.kleiber.figA3.p": "density of heads instead of depth",
    "p3.kleiber.bound": "all sizes but Pythia-1B",
    "p3.heritage.meta_expand": "gains rounded to two decimals first",
    "p3.heritage.bigscience_expand": "gains rounded to two decimals first",
    "p3.heritage.others_expand": "gains rounded to two decimals first",
    "p3.heritage.fisher_p": "a chi-square without continuity correction",
    "p3.heritage.all_p_below_05": "without the law of the spectral norms",
    "p3.fig2.EleutherAI.mean": "three Pythia sizes of the sweep",
    "p3.fig2.EleutherAI.se": "three Pythia sizes of the sweep",
    "p3.fig3.pythia-160m.class": "the mean gain of the model's lab",
    "p3.fig3.opt-350m.class": "the mean gain of the model's lab",
    "p3.readme.meta_openai": "gains rounded to two decimals first",
    "p3.appB.acc_after": "Pythia-6.9B and GPT-J alone and the eight Pythia sizes",
    "p3.crowding.explains": "Pythia-6.9B and GPT-J alone and the eight Pythia sizes",
    "p3.sheaf.eq4": "the attention off the diagonal",
}


@pytest.fixture(scope="module")
def ours(records):
    return of(records, *ANALYSES)


# --- against the result files -------------------------------------------------------------------


def test_what_differs_says_why_and_names_the_reading_that_gives_print(ours):
    found = {i: r["cause"] for i, r in ours.items() if r["verdict"] == "differs"}
    assert set(found) == set(DIFFERS) | set(READINGS)
    for claim, text in (DIFFERS | READINGS).items():
        assert text in found[claim]
    for claim in READINGS:
        assert "would give what is printed" in found[claim]


def test_nothing_agrees_without_inputs(ours):
    agreeing = [i for i, r in ours.items() if r["verdict"] == "agrees"]
    bare = {i for i in agreeing if not ours[i]["provenance"]["inputs"]}
    assert {claim.rpartition(".")[2] for claim in bare} == {"n"}  # a number of models
    assert len(ours["p3.hunt.Meta.std_gain"]["provenance"]["inputs"]) == 5


def test_a_nan_is_a_word_and_moves_the_layer(ours):
    assert ours["p3.h4ext.pythia-2.8b.mean_trace_mh"]["recomputed"] == "NaN"
    assert ours["p3.h4ext.pythia-2.8b.L_star"]["recomputed"] == 26
    assert ours["p3.rmap.L_star_min_contraction"]["recomputed"] == 21


def test_findings_beside_the_claims(works):
    """What the causes and the papers' texts say of models, labs and layers."""
    family = works["crowding"].documents["family"]["models"][1]
    assert (family["model"], family["class"]) == ("pythia-160m", "EXPAND")
    assert 0.15 < family["rho"] < 0.20
    pooled = works["crowding"].documents["pooled"]["density_rule"]  # 14 of 23 right: as all expand
    assert pooled["accuracy_pct"] == pytest.approx(100 * pooled["constant_accuracy"], rel=1e-15)
    assert pooled["constant_accuracy"] == pytest.approx(14 / 23, rel=1e-15)
    sizes = works["depth_gain"].documents["family"]["models"]
    above = [m["model"] for m in sizes if m["residual_gain_mean"] > 10 ** (1 / m["n_layers"])]
    assert above == ["pythia-1b"]
    # the exact rank test has its smallest p, two of the 35 orders
    rank_test = works["spectral_norms"].documents["study"]["mann_whitney"]
    assert rank_test["p"] == pytest.approx(2 / 35)


# --- inputs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("analysis", ANALYSES)
def test_only_statistics_that_name_a_number_change_with_it(works, published, analysis):
    work = works[analysis]
    cells = sorted({cell for inputs in work.derived.values() for cell in inputs})
    moved = 0
    for name in random.Random(3).sample(cells, min(12, len(cells))):
        cell = tuple(name.split("#", 1))
        value = published.cells[cell]
        if isinstance(value, str) or value != value:
            continue
        after = analysed(analysis, changed(published, {cell: value * 1.05}))
        for statistic, inputs in work.derived.items():
            if at(work, statistic) != at(after, statistic):
                moved += 1
                assert name in inputs, (name, statistic)
    assert moved or analysis == "laws"  # of which there are words alone


def test_statistics_of_an_end_name_two_norms(works):
    derived = works["sequence_gains"].derived
    for statistic, ends in (("initial_gain", ("0", "1")), ("last_gain", ("31", "32"))):
        inputs = derived[f"pythia-6.9b:/{statistic}"]
        assert [cell.rsplit("/", 1)[1] for cell in inputs] == list(ends)
    assert len(derived["pythia-6.9b:/max_gain"]) == 33


def test_a_variant_names_its_own_rows_only(works):
    inputs = works["twins"].derived["Gemma-7B:/Base_Gain"]
    assert len(inputs) == 25
    assert all(cell.startswith(f"{files.TWIN_ROWS}#/") for cell in inputs)
    both = works["twins"].derived["Gemma-7B:/Ratio"]
    assert len(both) == 50
    assert set(inputs) < set(both)


def test_inputs_of_the_depth_correlation(ours):
    inputs = ours["p3.kleiber.r"]["provenance"]["inputs"]
    keys = [cell.split("#")[1].rsplit("/", 1)[0] for cell in inputs]
    assert len(inputs) == 8 * (25 + 1)
    assert not any(key.endswith("residual_gain_mean") for key in keys)
    assert all(cell.startswith(f"{files.SWEEP}#/models/") for cell in inputs)


def test_a_gain_at_the_limit_changes_what_rests_on_it_and_no_more(root, works, ours, published):
    """OPT-350m at 1 expands: Meta's share, Fisher's table and the density rule follow."""
    cell = (files.HUNT, "/tested_results/4/all_layer_gains/22")
    assert published.cells[cell] < 1
    numbers = changed(published, {cell: 1.0})
    again = works | {name: analysed(name, numbers) for name in GAINS}
    after = of(judged(root, numbers, again), *GAINS)
    moved = {i for i, r in after.items() if r["recomputed"] != ours[i]["recomputed"]}
    for claim in moved:
        assert f"{cell[0]}#{cell[1]}" in ours[claim]["provenance"]["inputs"]
    assert after["p3.heritage.meta_expand"]["verdict"] == "agrees"
    assert {"p3.heritage.fisher_p", "p3.fig3.opt-350m.class", "p3.hunt.h25_accuracy"} <= moved
    assert "p3.heritage.bigscience_expand" not in moved


# --- tables and ranks ---------------------------------------------------------------------------


def test_fisher_against_naive(published):
    """Every way to give the six damping models to the 16, one by one."""
    f = Evidence(published, DRAWS)[files.HUNT]
    assert lab_heritage.signs(f).tolist() == [[4, 1], [2, 9]]
    assert lab_heritage.signs(f, 2).tolist() == [[4, 1], [0, 11]]
    ways = {}
    for chosen in itertools.combinations(range(16), 6):
        first = sum(model < 5 for model in chosen)
        ways[first] = ways.get(first, 0) + 1
    extreme = sum(way for way in ways.values() if way <= ways[4]) / math.comb(16, 6)
    assert lab_heritage.fisher_p(lab_heritage.signs(f)) == pytest.approx(extreme, rel=1e-13)


def test_tables_degenerate():
    empty = np.array([[0, 3], [0, 9]])
    assert lab_heritage.fisher_p(empty) == 1
    with pytest.raises(
        LayerwiseError, match=r"no empty row or column, found \[\[0, 3\], \[0, 9\]\]"
    ):
        lab_heritage.chi_square_p(empty)


# --- rules of the gains -------------------------------------------------------------------------


def test_limits_of_the_words():
    assert [gains.dampens(gain) for gain in (0.999, 1.0)] == [True, False]
    assert [gains.dampens(0.996, decimals) for decimals in (None, 3, 2)] == [True, True, False]
    words = [gains.signature(gain) for gain in (0.949, 0.95, 1.05, 1.051)]
    assert words == ["DAMPENER", "NEUTRAL", "NEUTRAL", "EXPANDER"]
    words = [gains.density_verdict(share) for share in (0.75, 0.74, 0.5, 0.49)]
    assert words == ["VALIDATED", "PARTIAL", "PARTIAL", "FALSIFIED"]
    assert [gains.p_text(p) for p in (0.0009, 0.001, 0.0357)] == ["< 0.001", "0.001", "0.036"]


def test_density_rule():
    assert gains.head_density(71, 4544) == 71 / 64  # Falcon-7B
    densities, values = [0.1, 0.2, 0.3, 0.4], [1.1, 0.9, 0.8, 1.2]
    assert gains.density_accuracy(densities, values) == 0.75
    assert gains.density_accuracy(densities, values, limit=0.15) == 0.75


def test_separating_interval_against_its_limits():
    """Exactly the limits above its first and up to its second end make no error."""
    densities, values = [0.1, 0.15, 0.25, 0.4], [1.2, 1.1, 0.9, 0.8]
    low, high = gains.separating_interval(densities, values)
    assert (low, high) == (0.15, 0.25)
    right = [gains.density_accuracy(densities, values, x) == 1 for x in (0.15, 0.151, 0.25, 0.251)]
    assert right == [False, True, True, False]
    for mixed in ([0.9, 1.1, 0.9, 0.8], [1.1] * 4, [0.9] * 4):
        with pytest.raises(LayerwiseError, match="no limit separates"):
            gains.separating_interval(densities, mixed)


def test_bound():
    assert gains.depth_bound(12) ** 12 == pytest.approx(10, rel=1e-14)
    assert gains.bound_word([1.46, 1.2], [6, 12]) == "holds"
    assert gains.bound_word([1.46, 1.22], [6, 12]) == "violated"


def test_share_iv():
    with pytest.raises(LayerwiseError, match="at least one model"):
        gains.share([])
    assert gains.percent([True, True, True, False]) == 75
    assert isinstance(gains.percent([True]), int)


@given(st.lists(st.floats(0.1, 1e4), min_size=2, max_size=20))
def test_gains_multiply_to_the_last_norm_over_the_first(norms):
    ratios = gains.norm_ratios(np.array(norms))
    assert len(ratios) == len(norms) - 1
    assert np.prod(ratios) == pytest.approx(norms[-1] / norms[0], rel=1e-3)


def test_contracting_percent():
    assert gains.contracting_percent(np.array([0.5, 1.0, 2.0, 0.9])) == 50


@pytest.mark.parametrize("norms", [[1.0], [1.0, 0.0], [1.0, math.nan], [1.0, -2.0]])
def test_norm_ratios_iv(norms):
    with pytest.raises(LayerwiseError, match="all positive and finite"):
        gains.norm_ratios(np.array(norms))


def test_words_of_the_twin_test():
    words = [twins.effect(delta) for delta in (-0.06, -0.05, 0.05, 0.06)]
    assert words == ["DAMPENS", "NEUTRAL", "NEUTRAL", "AMPLIFIES"]
