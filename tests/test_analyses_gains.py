"""Gains of Paper 3: derived statistics against the result files, their rules against theory."""

import itertools
import math

import numpy as np
import pytest

from judged import DRAWS, analysed, changed, judged, of
from layerwise.analyses import lab_heritage
from layerwise.analyses.evidence import Evidence
from layerwise.errors import LayerwiseError
from layerwise.inputs import result_files as files
from layerwise.statistics import gains

ANALYSES = ("depth_gain", "lab_heritage", "crowding", "mlp_scaling", "laws")


def evidence(published):
    return Evidence(published, DRAWS)


@pytest.fixture(scope="module")
def ours(records):
    return of(records, *ANALYSES)


@pytest.fixture(scope="module")
def documents(works):
    return {name: works[name].documents for name in ANALYSES}


# --- against the result files -------------------------------------------------------------------


def test_full_precision_against_published(ours):
    full = [record for record in ours.values() if record["decimals"] == "full"]
    assert len(full) >= 170
    for record in full:
        assert record["verdict"] == "agrees", record
        assert record["recomputed"] == pytest.approx(record["published"], rel=1e-12, abs=0)


DIFFERING = {
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


def test_what_differs_names_the_reading_that_gives_print(ours):
    differing = {i: r["cause"] for i, r in ours.items() if r["verdict"] == "differs"}
    assert set(differing) == set(DIFFERING) | {"p3.crowding.rho_crit"}
    for claim, reading in DIFFERING.items():
        assert f"{reading} would give what is printed" in differing[claim] or (
            reading in differing[claim] and "would give what is printed" in differing[claim]
        )
    assert "Pythia-160M expands inside the printed range" in differing["p3.crowding.rho_crit"]


def test_pythia_160m_expands_inside_the_printed_range(published, documents):
    row = documents["crowding"]["family"]["models"][1]
    assert row["model"] == "pythia-160m"
    assert 0.15 < row["rho"] < 0.20
    assert row["class"] == "EXPAND"


def test_labs_of_the_counted_models(published):
    """The ledger says that the result files name five labs and the GPT-2 test a sixth."""
    assert set(lab_heritage.labs(evidence(published)[files.HUNT])) == {
        "EleutherAI",
        "Meta",
        "BigScience",
        "TII",
        "StabilityAI",
    }
    sweep = {entry["model"].split("-")[0] for entry in published.document(files.SWEEP)["models"]}
    assert sweep == {"pythia"}


def test_density_rule_over_all_models(documents):
    """14 of 23 right, no more than by calling every model expanding."""
    rule = documents["crowding"]["pooled"]["density_rule"]
    assert rule["accuracy_pct"] == pytest.approx(100 * 14 / 23, rel=1e-15)
    assert rule["constant_accuracy"] == pytest.approx(14 / 23, rel=1e-15)
    assert rule["explains"] is False


def test_bound_is_exceeded_by_one_size(published, documents):
    above = [
        entry["model"]
        for entry in documents["depth_gain"]["family"]["models"]
        if entry["residual_gain_mean"] > 10 ** (1 / entry["n_layers"])
    ]
    assert above == ["pythia-1b"]


def test_spectral_norms_separate_the_labs_entirely(published, documents):
    """So the exact rank test has its smallest p, two of the 35 orders."""
    assert documents["laws"]["laws"]["p"]["spectral_norms"] == pytest.approx(2 / 35, rel=1e-15)


# --- the recorded inputs ------------------------------------------------------------------------


def test_a_single_model_has_no_spread_whatever_its_gain(records):
    assert records["p3.hunt.TII.std_gain"]["recomputed"] == 0.0
    assert records["p3.hunt.TII.std_gain"]["provenance"]["inputs"] == []
    assert len(records["p3.hunt.Meta.std_gain"]["provenance"]["inputs"]) == 5


def test_inputs_of_the_depth_correlation(records, published):
    inputs = records["p3.kleiber.r"]["provenance"]["inputs"]
    keys = [cell.split("#")[1].rsplit("/", 1)[0] for cell in inputs]
    assert len(inputs) == 8 * (25 + 1)
    assert not any(key.endswith("residual_gain_mean") for key in keys)
    assert all(cell.startswith(f"{files.SWEEP}#/models/") for cell in inputs)


def test_a_gain_at_the_limit_changes_what_rests_on_it_and_no_more(root, works, ours, published):
    """OPT-350m at 1 expands: Meta's share, Fisher's table and the density rule follow."""
    cell = (files.HUNT, "/tested_results/4/all_layer_gains/22")
    assert published.cells[cell] < 1
    other = changed(published, {cell: 1.0})
    again = works | {analysis: analysed(analysis, other) for analysis in ANALYSES}
    after = of(judged(root, other, again), *ANALYSES)
    moved = {i for i, r in after.items() if r["recomputed"] != ours[i]["recomputed"]}
    for claim in moved:
        assert f"{cell[0]}#{cell[1]}" in ours[claim]["provenance"]["inputs"]
    assert after["p3.heritage.meta_expand"]["verdict"] == "agrees"
    assert {"p3.heritage.fisher_p", "p3.fig3.opt-350m.class", "p3.hunt.h25_accuracy"} <= moved
    assert "p3.heritage.bigscience_expand" not in moved


# --- tables and ranks ---------------------------------------------------------------------------


def test_fisher_against_naive(published):
    """Every way to give the six damping models to the 16, one by one."""
    f = evidence(published)[files.HUNT]
    assert lab_heritage.signs(f).tolist() == [[4, 1], [2, 9]]
    assert lab_heritage.signs(f, 2).tolist() == [[4, 1], [0, 11]]
    assert gains.sign_table([0.9], [1.0, 0.9]).tolist() == [[1, 0], [1, 1]]
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
    assert gains.signatures_verdict(["NEUTRAL"] * 2) == "FALSIFIED"
    assert gains.signatures_verdict(["NEUTRAL", "EXPANDER"]) == "VALIDATED"
    assert [gains.p_text(p) for p in (0.0009, 0.001, 0.0357)] == ["< 0.001", "0.001", "0.036"]
    assert gains.layer_counts(np.array([0.5, 1.0, 2.0])) == (1, 1)


def test_density_rule():
    assert gains.head_density(71, 4544) == 71 / 64  # Falcon-7B
    densities, values = [0.1, 0.2, 0.3, 0.4], [1.1, 0.9, 0.8, 1.2]
    assert gains.density_accuracy(densities, values) == 0.75
    assert gains.density_accuracy(densities, values, limit=0.15) == 0.75
    assert gains.constant_accuracy(values) == 0.5
    assert gains.density_explains(densities, values)
    assert not gains.density_explains(densities, [1.1] * 4)


def test_separating_interval_against_its_limits():
    """Exactly the limits above its first and up to its second end make no error."""
    densities, values = [0.1, 0.15, 0.25, 0.4], [1.2, 1.1, 0.9, 0.8]
    low, high = gains.separating_interval(densities, values)
    assert (low, high) == (0.15, 0.25)
    right = [gains.density_accuracy(densities, values, x) == 1 for x in (0.15, 0.151, 0.25, 0.251)]
    assert right == [False, True, True, False]
    with pytest.raises(LayerwiseError, match="no limit separates"):
        gains.separating_interval(densities, [0.9, 1.1, 0.9, 0.8])


def test_bound():
    assert gains.depth_bound(12) ** 12 == pytest.approx(10, rel=1e-14)
    assert gains.bound_word([1.46, 1.2], [6, 12]) == "holds"
    assert gains.bound_word([1.46, 1.22], [6, 12]) == "violated"


def test_share_iv():
    with pytest.raises(LayerwiseError, match="at least one model"):
        gains.share([])
    assert gains.percent([True, True, True, False]) == 75
    assert isinstance(gains.percent([True]), int)
