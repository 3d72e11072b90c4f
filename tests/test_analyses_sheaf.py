"""Paper 3's sheaf, spectral norms, L* and single runs, against the result files and SciPy."""

import math
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judged import DRAWS, analysed, at, changed, of
from layerwise.analyses import critical_layer as formula
from layerwise.analyses import sheaf_trace, spectral_norms, twins
from layerwise.analyses.evidence import Evidence
from layerwise.errors import LayerwiseError
from layerwise.inputs.published import Published
from layerwise.inputs.result_files import OPT, SPECTRAL, TWIN_ROWS
from layerwise.statistics import critical_layer
from layerwise.statistics.gains import contracting_percent, cumulative_gain, norm_ratios

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
# What does not follow from the published numbers, and what its record must say.
DIFFERS = {
    "p3.spectral.predicts": "no rule is stated",
    "p3.draft.ratio.pythia-410m": "the ratio of the means rounded to two decimals would give",
    "p3.figA5.ratio": "Pythia over the two OPT models would give",
    "p3.sheaf.discriminates": "the multi-head trace in place of the single-slice trace",
    "p3.rmap.draft_min_ratio": "the ratio over that of layer 0 would give",
    "p3.lstar.mape_within": "the formula with unrounded coefficients would give",
}


@pytest.fixture(scope="module")
def ours(records):
    return of(records, *ANALYSES)


# --- against the result files -------------------------------------------------------------------


def test_single_precision_statistics_are_published_bit_for_bit(works, published):
    for model, row in (("opt-125m", 3), ("gpt2", 6)):
        found = works["spectral_norms"].documents[model]
        for matrix in spectral_norms.MATRICES:
            key = f"{matrix}_mean_spectral"
            assert found[key] == published.cells[SPECTRAL, f"/results/{row}/{key}"]


def test_verdicts(ours):
    counts = Counter(record["verdict"] for record in ours.values())
    assert counts == {"agrees": 307, "needs weights": 20, "differs": 6}


def test_what_differs_says_why(ours):
    found = {i: r["cause"] for i, r in ours.items() if r["verdict"] == "differs"}
    assert set(found) == set(DIFFERS)
    for claim, text in DIFFERS.items():
        assert text in found[claim]


def test_nothing_agrees_without_inputs(ours):
    agreeing = [record for record in ours.values() if record["verdict"] == "agrees"]
    assert all(record["provenance"]["inputs"] for record in agreeing)


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
        other = published[OPT, f"/W_V_analysis/{key}/mean_frobenius"]
        found = works["spectral_norms"].documents[model]["W_V_mean_frobenius"]
        assert found == pytest.approx(other, rel=2e-6)


def test_the_fit_passes_through_three_of_eight_models(works, published):
    models = formula.calibrated(Evidence(published, DRAWS))
    found = works["critical_layer"].documents["calibration"]
    fit = critical_layer.Formula(*(found[name] for name in ("constant", "depth", "heads")))
    off = [abs(fit.layer(m.n_layers, m.n_heads) - formula.layer(m)) / m.n_layers for m in models]
    assert len(off) == 8
    assert sum(one < 1e-12 for one in off) == 3
    assert found["error"]["fitted_coefficients"] == pytest.approx(100 * np.mean(off), rel=1e-12)


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
        after = analysed(analysis, changed(published, {cell: value * 1.01}))
        for statistic, inputs in work.derived.items():
            if at(work, statistic) != at(after, statistic):
                moved += 1
                assert name in inputs, (name, statistic)
    assert moved


def test_statistics_of_an_end_name_two_norms(works):
    derived = works["sequence_gains"].derived
    for statistic, ends in (("initial_gain", ("0", "1")), ("last_gain", ("31", "32"))):
        inputs = derived[f"pythia-6.9b:/{statistic}"]
        assert [cell.rsplit("/", 1)[1] for cell in inputs] == list(ends)
    assert len(derived["pythia-6.9b:/max_gain"]) == 33


@pytest.mark.parametrize(("row", "n"), [(6, 12), (5, 24)])
def test_late_layers_are_the_last_third(published, row, n):
    key = f"/results/{row}/W_V_spectral_norm"
    late = [published[SPECTRAL, f"{key}/{i}"] for i in range(n * 2 // 3, n)]
    squares = [value**2 for value in late]
    model = Evidence(published, DRAWS)[SPECTRAL].results[row]
    found = spectral_norms.late_square(model)
    assert found == pytest.approx(sum(squares) / len(squares), rel=1e-12)


def test_a_variant_names_its_own_rows_only(works):
    inputs = works["twins"].derived["Gemma-7B:/Base_Gain"]
    assert len(inputs) == 25
    assert all(cell.startswith(f"{TWIN_ROWS}#/") for cell in inputs)
    both = works["twins"].derived["Gemma-7B:/Ratio"]
    assert len(both) == 50
    assert set(inputs) < set(both)


@pytest.mark.parametrize("analysis", ANALYSES)
def test_missing_number_iv(works, published, analysis):
    file, key = max(works[analysis].derived.values(), key=len)[0].split("#", 1)
    cells = {cell: value for cell, value in published.cells.items() if cell != (file, key)}
    with pytest.raises(LayerwiseError, match=r"no number|nothing stands at") as error:
        analysed(analysis, Published(cells))
    assert file in str(error.value)
    assert key in str(error.value)


# --- gains and words ----------------------------------------------------------------------------


@given(st.lists(st.floats(0.1, 1e4), min_size=2, max_size=20))
def test_gains_multiply_to_the_last_norm_over_the_first(norms):
    gains = norm_ratios(np.array(norms))
    assert len(gains) == len(norms) - 1
    assert cumulative_gain(gains) == pytest.approx(norms[-1] / norms[0], rel=1e-3)


def test_contracting_percent():
    assert contracting_percent(np.array([0.5, 1.0, 2.0, 0.9])) == 50


@pytest.mark.parametrize("norms", [[1.0], [1.0, 0.0], [1.0, math.nan], [1.0, -2.0]])
def test_norm_ratios_iv(norms):
    with pytest.raises(LayerwiseError, match="all positive and finite"):
        norm_ratios(np.array(norms))


def test_words_of_the_twin_test():
    words = [twins.effect(delta) for delta in (-0.06, -0.05, 0.05, 0.06)]
    assert words == ["DAMPENS", "NEUTRAL", "NEUTRAL", "AMPLIFIES"]


def test_rounding_as_printed():
    assert [spectral_norms.one_digit(x) for x in (337.7, 57.7, 350.1, 9.4)] == [300, 60, 400, 9]
