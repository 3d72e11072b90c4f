"""Paper 1 from its published numbers: calibration, neutral control, supplement."""

import numpy as np
import pytest
import scipy.stats

from judged import analysed, changed
from layerwise.analyses.calibration import MODELS
from layerwise.analyses.categories import NUMERIC
from layerwise.analyses.output_correlation import REGIMES
from layerwise.errors import LayerwiseError
from layerwise.inputs.result_files import CLASSES, CONTRIBUTIONS, CONTROL
from layerwise.statistics import calibration

# --- against what was published -------------------------------------------------------------------


def test_intervals_rest_on_the_cosines_alone(works):
    derived = works["calibration"].derived
    for model, file in MODELS.items():
        cells = derived[f"{model}:/_global_stats/neutral_only/bootstrap_95ci/0"]
        assert len(cells) == 10
        assert all(cell.startswith(f"{file}#/") and "/uniformity_" in cell for cell in cells)
        assert not any(NUMERIC in cell for cell in cells)


def test_a_count_of_models_rests_on_a_number_of_each(works):
    derived = works["calibration"].derived["models:/dataset/n_models"]
    assert {cell.split("#")[0] for cell in derived} == set(MODELS.values())


def test_neutral_control_is_published_bit_for_bit(works, published):
    """Single precision as upstream ran it: float64 would differ in the ninth digit."""
    found = works["neutral_control"].documents["mistral"]["summary_stats"]
    for name in ("neutral_mean", "political_std", "effect_ratio", "t_statistic"):
        assert found[name] == published[CONTROL, f"/summary_stats/{name}"]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("left_out", "r", "p"),
    [("", "full_r", "full_p"), (NUMERIC, "r_without_numeric", "p_without_numeric")],
)
def test_correlations_of_the_supplement_against_scipy(works, published, model, left_out, r, p):
    rows = [
        row
        for row in published.document(CONTRIBUTIONS)
        if row["model"] == model and row["category"] != left_out
    ]
    expected = scipy.stats.pearsonr(
        [row["ua"] for row in rows], [row["preference"] for row in rows]
    )
    found = works["output_correlation"].documents["correlation"]["numeric_split"][model]
    assert found[r] == pytest.approx(expected.statistic, rel=1e-12)
    assert found[p] == pytest.approx(expected.pvalue, rel=1e-10)


def test_only_apertus_moved_between_the_runs(works):
    noise = works["output_correlation"].documents["rerun"]
    assert [model for model, value in noise.items() if value > 0] == ["apertus"]
    assert set(noise) == set(MODELS)


def test_regimes_cover_every_cell(works, published):
    counts = works["output_correlation"].documents["classification"]
    assert set(counts) == set(REGIMES)
    assert sum(counts.values()) == len(published.document(CLASSES)) == 24


# --- the ledger of Paper 1 ------------------------------------------------------------------------

DIFFERING = {
    "p1.disc.hyp2.ratio": "the ratio of the two printed values",
    "p1.disc.gemma_lifestyle_others": "the paper's own calibration zone",
    "p1.abstract.neutral_most_models": "most as more than half",
    "p1.limits.sample_size": "the largest categories only would give what is printed",
}


def test_claims_that_differ_say_why(records):
    records = {name: r for name, r in records.items() if name.startswith("p1.")}
    differing = {name: r["cause"] for name, r in records.items() if r["verdict"] == "differs"}
    assert set(differing) == set(DIFFERING)
    for name, cause in DIFFERING.items():
        assert cause in differing[name]


def test_what_needs_weights_is_cosines_only(records):
    needing = [name for name, record in records.items() if record["verdict"] == "needs weights"]
    found = [name for name in needing if name.startswith("p1.")]
    assert len(found) == 4 * 6 * 3
    assert all(name.endswith(("uniformity_a", "uniformity_b", "similarity_mean")) for name in found)


def test_a_changed_cosine_reaches_table_interval_and_text(published):
    cell = (MODELS["apertus"], "/business/uniformity_a")
    found = analysed("calibration", changed(published, {cell: published.cells[cell] + 0.1}))
    assert found.documents["apertus"]["business"]["asymmetry"] == pytest.approx(0.119576, abs=1e-6)
    text = found.documents["models"]
    assert text["business"]["apertus"] == "place 4 of 4 from below"
    assert text["apertus"]["facts_over_business"] == "1×"
    assert text["apertus"]["strongest"] == "Business"


def test_a_third_model_near_zero_on_lifestyle_changes_the_words(published):
    cells = {(MODELS["apertus"], f"/lifestyle/uniformity_{side}"): 0.5 for side in "ab"}
    found = analysed("calibration", changed(published, cells)).documents["models"]["lifestyle"]
    assert found["others"] == "other models converge to zero"
    assert found["quantor"] == "most models"
    assert found["calibrated"] == "Llama/Mistral/Apertus calibrated"


# --- rules ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("interval", "d", "paper", "code"),
    [
        ((-0.01, 0.02), 0.11, "Pass", "NEUTRAL"),
        ((-0.01, 0.02), -0.29, "Pass", "MARGINAL"),
        ((-0.01, 0.02), 0.3, "not Pass", "MARGINAL"),
        ((-0.01, 0.02), -0.2, "Pass", "MARGINAL"),
        ((0.0, 0.02), 0.1, "Pass", "NEUTRAL"),
        ((0.01, 0.02), 0.1, "not Pass", "ASYMMETRY"),
    ],
)
def test_both_calibration_rules(interval, d, paper, code):
    assert calibration.paper_status(interval, d) == paper
    assert calibration.code_status(interval, d) == code


def test_the_two_rules_part_on_mistral(works):
    found = {m: works["calibration"].documents[m]["_verdicts"] for m in MODELS}
    assert {m: (words["status_paper"], words["status_code"]) for m, words in found.items()} == {
        "gemma": ("not Pass", "ASYMMETRY"),
        "llama": ("Pass", "NEUTRAL"),
        "mistral": ("Pass", "MARGINAL"),
        "apertus": ("not Pass", "ASYMMETRY"),
    }


def test_words_over_models():
    values = {"one": -0.2, "two": 0.01, "three": 0.1}
    assert calibration.ratios(values, "three") == pytest.approx({"one": 0.5, "two": 10.0})
    assert calibration.times(5.07, 10.42, 8.69) == "5-10×"
    assert calibration.times(2.98) == "3×"
    assert calibration.within(values) == ["two"]
    assert calibration.within({"edge": 0.015}) == []
    assert calibration.split_words(values) == "2-vs-1"
    assert calibration.rank_words(values, "one") == "lowest"
    assert calibration.rank_words(values, "three") == "place 3 of 3 from below"
    assert calibration.bound_words("d", [0.1, 0.29], 0.3) == "d < 0.3"
    assert calibration.bound_words("", [-0.2, -0.14], -0.14) == ">= -0.14"
    assert [calibration.quantor(n, 4) for n in (2, 3)] == ["2 of 4 models", "most models"]
    assert calibration.size_words([50, 50]) == "50 pairs per category"
    assert calibration.size_words([50, 20, 30]) == "20 to 50 pairs per category"


def test_word_parity():
    assert calibration.parity_words(np.array([0.2, 0.0])) == "±20%"
    assert calibration.parity_words(np.array([0.2, 0.0, 0.375])) == "±38%"


# --- errors ---------------------------------------------------------------------------------------


def test_ratio_to_nothing_iv():
    with pytest.raises(LayerwiseError, match="a ratio to b does not exist"):
        calibration.ratios({"a": 1.0, "b": 0.0}, "a")


@pytest.mark.parametrize(
    ("analysis", "cell", "value", "said"),
    [
        (
            "neutral_control",
            (CONTROL, "/neutral_results/3/sim_a"),
            "zero",
            "a similarity of /?neutral_results is not a number",
        ),
        (
            "output_correlation",
            (CLASSES, "/0/category"),
            "other",
            "must have model 'gemma', category 'ground_truth_numeric', 0 have",
        ),
    ],
)
def test_wrong_cells_iv(published, analysis, cell, value, said):
    with pytest.raises(LayerwiseError, match=said):
        analysed(analysis, changed(published, {cell: value}))
