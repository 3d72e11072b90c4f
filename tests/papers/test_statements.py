"""Statements of the papers in words: held on the published numbers, and denied on changed ones."""

import numpy as np
import pytest

from judged import analysed, at, changed
from layerwise.papers.shared.result_files import CONSOLIDATED, HUNT, PAIRS, SWEEP, V2

UA = "Results/pythia/pythia_6.9b_ua_results_20260102_002828.json"


def derive_again(published, analysis, cells):
    """Return an analysis of the published numbers with other values in some places."""
    return analysed(analysis, changed(published, cells))


# --- Paper 2 --------------------------------------------------------------------------------------


def test_a_star_stands_where_the_interval_excludes_zero(published, works):
    tests = {
        layer: test["centroid_asymmetry"]
        for layer, test in published.value(PAIRS, "/results").items()
    }
    stars = [int(layer) for layer, t in tests.items() if not t["ci_lower"] <= 0 <= t["ci_upper"]]
    assert at(works["phases"], "paper:/significant_layers") == sorted(stars)
    bare = {(PAIRS, "/results/0/centroid_asymmetry/ci_lower"): 0.0}
    assert 0 not in at(derive_again(published, "phases", bare), "paper:/significant_layers")


def test_the_stars_of_the_table_are_its_flags(published, works):
    table = at(works["phases"], "paper:/significant_layers_of_table")
    assert 24 in table
    assert 28 not in table
    again = derive_again(published, "phases", {(CONSOLIDATED, "/6/significant"): "FALSE"})
    assert at(again, "paper:/significant_layers_of_table") == [n for n in table if n != 24]


def test_a_mid_phase_counts_by_model(published, works):
    """Two of the three near zero or change sign; with Pythia's near zero all of them do."""
    strict = "paper:/mid_transition_strict"
    assert at(works["phases"], strict) == "approaches zero or changes sign in 2 of 3 models"
    near = {
        (PAIRS, f"/results/{layer}/centroid_asymmetry/r"): r
        for layer, r in ((12, 0.09), (16, 0.08), (20, 0.1))
    }
    assert at(derive_again(published, "phases", near), strict) == "approaches zero or changes sign"
    at_bound = dict.fromkeys(near, 0.101)
    assert at(derive_again(published, "phases", at_bound), strict).endswith("in 2 of 3 models")
    assert at(works["phases"], "paper:/mid_transition") == "approaches zero or changes sign"


@pytest.mark.parametrize(
    ("preference", "says"),
    [
        (None, "contributes disproportionately"),
        (-0.2, "contributes proportionately"),  # among the other categories
    ],
)
def test_a_category_contributes_disproportionately_if_it_outweighs_the_others(
    published, preference, says
):
    values = published.document(UA)
    names = [name for name in values if not name.startswith("_")]
    ua = np.array([values[name]["asymmetry"] for name in names])
    preferences = np.array([values[name]["output_preference"] for name in names])
    numeric = names.index("ground_truth_numeric")
    cells = {}
    if preference is not None:
        ua[numeric], preferences[numeric] = 0.0, preference
        start = "/ground_truth_numeric"
        cells = {
            (UA, f"{start}/uniformity_a"): 0.5,
            (UA, f"{start}/uniformity_b"): 0.5,
            (UA, f"{start}/output_preference"): preference,
        }
    whole = np.corrcoef(ua, preferences)[0, 1]
    left_out = [
        np.corrcoef(np.delete(ua, i), np.delete(preferences, i))[0, 1] for i in range(len(names))
    ]
    moved = np.abs(np.array(left_out) - whole)
    assert (moved[numeric] > moved.sum() - moved[numeric]) == ("dis" in says)
    assert at(derive_again(published, "validation", cells), "pythia-6p9b:/_numeric") == says


# --- Paper 3 --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "model", "word"),
    [
        ({}, "opt-350m", "UNDECIDED"),
        ({(HUNT, "/tested_results/4/gain_no_ln_std"): 1e-6}, "opt-350m", "DAMPEN"),
        ({}, "bloom-560m", "EXPAND"),
        ({(HUNT, "/tested_results/6/gain_no_ln_std"): 1.0}, "bloom-560m", "UNDECIDED"),
        ({}, "pythia-410m", "DAMPEN"),
        ({(SWEEP, "/models/2/residual_gain_all/0"): 9.0}, "pythia-410m", "UNDECIDED"),
    ],
)
def test_figure_3_has_a_class_where_the_prompts_give_one(published, cells, model, word):
    again = derive_again(published, "lab_heritage", cells)
    assert at(again, f"hunt:/figure3/{model}") == word


@pytest.mark.parametrize("series", ["full", "multihead"])
def test_traces_by_the_gains_that_were_measured(published, works, series):
    """Pythia-160M expands in the sweep, though the script calls it a dampener."""
    traces = {
        model["model"].rpartition("/")[2]: np.mean(model[f"traces_{series}"])
        for model in published.value(V2, "/results")
    }
    damping = traces.pop("pythia-410m")
    assert at(works["sheaf_trace"], f"study:/expand_over_dampen/{series}_by_gain") == pytest.approx(
        np.mean(list(traces.values())) / damping
    )


def test_traces_of_one_kind_alone_have_no_ratio(published):
    """Where the one damping model expands as well, by its gain in the sweep."""
    cells = {(SWEEP, f"/models/2/residual_gain_all/{prompt}"): 1.5 for prompt in range(25)}
    again = derive_again(published, "sheaf_trace", cells)
    assert "both kinds, found 4 and 0" in again.undefined["study:/expand_over_dampen/full_by_gain"]
    assert at(again, "study:/expand_over_dampen/full") > 1
