"""Paper 1 from its published numbers: calibration, neutral control, supplement."""

import json
import math

import numpy as np
import pytest
import scipy.stats

from judged import statistics_of
from layerwise.analyses import replay
from layerwise.analyses.calibration_text import MODELS, NUMERIC, WORDS
from layerwise.analyses.neutral_control import CONTROL
from layerwise.analyses.output_correlation import CLASSES, CONTRIBUTIONS, REGIMES
from layerwise.errors import LayerwiseError
from layerwise.inputs.published import Published, read_published, split_pointer
from layerwise.ledger.claims import read_ledger
from layerwise.ledger.verdicts import judge
from layerwise.statistics import calibration
from layerwise.statistics.two_samples import control_verdict, pooled_t

DRAWS = {"n_resamples": 10000, "level": 0.95, "seed": 42}
OURS = ("calibration", "neutral_control", "output_correlation")
GROUPS = ("all_categories", "neutral_only")


@pytest.fixture(scope="module")
def published(root):
    return read_published(root / "published")


@pytest.fixture(scope="module")
def replays(published):
    return {analysis: replay(analysis, published, **DRAWS) for analysis in OURS}


@pytest.fixture(scope="module")
def records(root, published, replays):
    statistics = statistics_of(replays)
    claims = [claim for claim in read_ledger(root / "claims", published) if claim.paper == 1]
    return {claim.id: judge(claim, statistics) for claim in claims}


def at(document, key):
    for name in split_pointer(key):
        document = document[int(name)] if isinstance(document, list) else document[name]
    return document


# --- against what was published -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("analysis", "document", "n"),
    [
        *(("calibration", model, 23) for model in MODELS),
        ("neutral_control", "mistral", 8),
        ("output_correlation", "correlation", 24),
        ("output_correlation", "divergence", 30),
    ],
)
def test_derived_statistics_against_published(replays, published, analysis, document, n):
    work = replays[analysis]
    (start, origin), *others = (
        (key, cell) for key, cell in work.given.items() if key.startswith(f"{document}:")
    )
    assert not others
    file, compared = origin.removesuffix("#"), 0
    for statistic in work.derived:
        cell = (file, statistic.removeprefix(start))
        if not statistic.startswith(start) or cell not in published.cells:
            continue
        compared += 1
        key = statistic.split(":", 1)[1]
        value, printed = at(work.documents[document], key), published.cells[cell]
        if isinstance(printed, float):
            assert math.isclose(value, printed, rel_tol=1e-12), key
        else:
            assert type(value) is type(printed), key
            assert value == printed, key
    assert compared == n


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("group", GROUPS)
def test_intervals_are_published_bit_for_bit(replays, published, model, group):
    printed = published.value(MODELS[model], f"/_global_stats/{group}/bootstrap_95ci")
    found = replays["calibration"].documents[model]["_global_stats"][group]["bootstrap_95ci"]
    assert found == printed


def test_intervals_rest_on_the_cosines_alone(replays):
    derived = replays["calibration"].derived
    for model, file in MODELS.items():
        cells = derived[f"{model}:/_global_stats/neutral_only/bootstrap_95ci/0"]
        assert len(cells) == 10
        assert all(cell.startswith(f"{file}#/") and "/uniformity_" in cell for cell in cells)
        assert not any(NUMERIC in cell for cell in cells)


def test_neutral_control_is_published_bit_for_bit(replays, published):
    """Single precision as upstream ran it: float64 would differ in the ninth digit."""
    found = replays["neutral_control"].documents["mistral"]["summary_stats"]
    for name in ("neutral_mean", "political_std", "effect_ratio", "t_statistic"):
        assert found[name] == published.number(CONTROL, f"/summary_stats/{name}")


@pytest.mark.parametrize("model", MODELS)
def test_correlations_of_the_supplement_against_scipy(replays, published, model):
    rows = [row for row in published.document(CONTRIBUTIONS) if row["model"] == model]
    found = replays["output_correlation"].documents["correlation"]["numeric_split"][model]
    for suffix, kept in (
        (("full_r", "full_p"), rows),
        (
            ("r_without_numeric", "p_without_numeric"),
            [row for row in rows if row["category"] != NUMERIC],
        ),
    ):
        expected = scipy.stats.pearsonr(
            [row["ua"] for row in kept], [row["preference"] for row in kept]
        )
        assert found[suffix[0]] == pytest.approx(expected.statistic, rel=1e-12)
        assert found[suffix[1]] == pytest.approx(expected.pvalue, rel=1e-10)


def test_only_apertus_moved_between_the_runs(replays):
    noise = replays["output_correlation"].documents["rerun"]
    assert {model: value > 0 for model, value in noise.items()} == {
        model: model == "apertus" for model in MODELS
    }


def test_regimes_cover_every_cell(replays, published):
    counts = replays["output_correlation"].documents["classification"]
    assert set(counts) == set(REGIMES)
    assert sum(counts.values()) == len(published.document(CLASSES)) == 24


def test_word_counts_against_upstream(published, mirror):
    """White-space words of every statement of the neutral categories."""
    dataset = json.loads((mirror / "dataset.json").read_text())
    counted = {
        (WORDS, f"/{category}/{number}/{side}"): len(statement.split())
        for category, entry in dataset.items()
        if category != NUMERIC
        for number, pair in enumerate(entry["pairs"])
        for side, statement in zip("ab", pair, strict=True)
    }
    assert counted == {cell: value for cell, value in published.cells.items() if cell[0] == WORDS}


# --- the ledger of Paper 1 ------------------------------------------------------------------------

DIFFERING = {
    "p1.disc.hyp2.ratio": "the ratio of the two printed values",
    "p1.disc.gemma_lifestyle_others": "the paper's own calibration zone",
    "p1.abstract.neutral_most_models": "most as more than half",
    "p1.limits.sample_size": "the largest categories only would give what is printed",
    "p1.table_dataset.caption.parity": "would give what is printed",
}


def test_claims_that_differ_say_why(records):
    differing = {name: r["cause"] for name, r in records.items() if r["verdict"] == "differs"}
    assert set(differing) == set(DIFFERING)
    for name, cause in DIFFERING.items():
        assert cause in differing[name]


def test_what_needs_weights_is_cosines_only(records):
    found = [name for name, record in records.items() if record["verdict"] == "needs weights"]
    assert len(found) == 4 * 6 * 3
    assert all(name.endswith(("uniformity_a", "uniformity_b", "similarity_mean")) for name in found)


def test_a_changed_cosine_reaches_table_interval_and_text(published):
    file = MODELS["apertus"]
    cell = (file, "/business/uniformity_a")
    other = Published({**published.cells, cell: published.cells[cell] + 0.1})
    found = replay("calibration", other, **DRAWS).documents
    assert found["apertus"]["business"]["asymmetry"] == pytest.approx(0.119576, abs=1e-6)
    assert found["models"]["business"]["apertus"] == "place 4 of 4 from below"
    assert found["models"]["apertus"]["facts_over_business"] == "1×"
    assert found["models"]["apertus"]["strongest"] == "Business"


def test_a_third_model_near_zero_on_lifestyle_changes_the_words(published):
    cells = {**published.cells}
    for side in "ab":
        cells[MODELS["apertus"], f"/lifestyle/uniformity_{side}"] = 0.5
    found = replay("calibration", Published(cells), **DRAWS).documents["models"]["lifestyle"]
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


def test_the_two_rules_part_on_mistral(replays):
    documents = replays["calibration"].documents
    words = {
        m: tuple(documents[m]["_verdicts"][f"status_{s}"] for s in ("paper", "code"))
        for m in MODELS
    }
    assert words == {
        "gemma": ("not Pass", "ASYMMETRY"),
        "llama": ("Pass", "NEUTRAL"),
        "mistral": ("Pass", "MARGINAL"),
        "apertus": ("not Pass", "ASYMMETRY"),
    }


def test_sample_d_against_scipy():
    """t of one sample is d times the root of n."""
    values = np.array([0.3, -0.1, 0.25, 0.4])
    expected = scipy.stats.ttest_1samp(values, 0).statistic / 2
    assert calibration.sample_d(values) == pytest.approx(expected, rel=1e-12)


def test_words_over_models():
    values = {"one": -0.2, "two": 0.01, "three": 0.1}
    assert calibration.ratios(values, "three") == pytest.approx({"one": 0.5, "two": 10.0})
    assert calibration.times(5.07, 10.42, 8.69) == "5-10×"
    assert calibration.times(2.98) == "3×"
    assert calibration.within(values) == ["two"]
    assert calibration.within({"edge": 0.015}) == []
    assert calibration.negative_words(values) == "1/3 negative"
    assert calibration.split_words(values) == "2-vs-1"
    assert calibration.rank_words(values, "one") == "lowest"
    assert calibration.rank_words(values, "three") == "place 3 of 3 from below"
    assert calibration.bound_words("d", [0.1, 0.29], 0.3) == "d < 0.3"
    assert calibration.bound_words("", [-0.2, -0.14], -0.14) == ">= -0.14"
    assert [calibration.quantor(n, 4) for n in (2, 3)] == ["2 of 4 models", "most models"]
    assert calibration.size_words([50, 50]) == "50 pairs per category"
    assert calibration.size_words([50, 20, 30]) == "20 to 50 pairs per category"


def test_word_parity():
    gaps = calibration.length_gaps(np.array([[4, 5], [8, 8], [8, 5]]))
    assert gaps.tolist() == [0.2, 0.0, 0.375]
    assert calibration.parity_words(gaps[:2]) == "±20%"
    assert calibration.parity_words(gaps) == "±38%"


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_pooled_t_against_scipy(dtype):
    stream = np.random.RandomState(3)
    first, second = stream.normal(0.3, 1, 7).astype(dtype), stream.normal(0, 2, 11).astype(dtype)
    expected = scipy.stats.ttest_ind(first, second)
    found = pooled_t(first, second)
    assert found.t == pytest.approx(float(expected.statistic), rel=float(np.finfo(dtype).eps) * 16)
    assert found.p_value == pytest.approx(
        float(expected.pvalue), rel=float(np.finfo(dtype).eps) * 16
    )


def test_pooled_t_changes_sign_with_the_order():
    first, second = np.array([1.0, 2.0, 4.0]), np.array([0.0, 0.5])
    there, back = pooled_t(first, second), pooled_t(second, first)
    assert there.t == -back.t > 0
    assert there.p_value == back.p_value


@pytest.mark.parametrize(
    ("p", "ratio", "word"),
    [
        (0.01, 2.0, "CONFIRMED"),
        (0.05, 2.0, "INCONCLUSIVE"),
        (0.01, 1.5, "INCONCLUSIVE"),
        (0.66, 0.64, "INCONCLUSIVE"),
    ],
)
def test_control_verdict(p, ratio, word):
    assert control_verdict(p, ratio) == word


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [[1.0], [2.0, 2.0], [1.0, math.nan]])
def test_sample_d_iv(values):
    with pytest.raises(LayerwiseError, match="two finite values that differ"):
        calibration.sample_d(np.array(values))


def test_ratios_iv():
    with pytest.raises(LayerwiseError, match="need a value of 'three', found one, two"):
        calibration.ratios({"one": 1.0, "two": 2.0}, "three")
    with pytest.raises(LayerwiseError, match="a ratio to two does not exist"):
        calibration.ratios({"one": 1.0, "two": 0.0}, "one")


@pytest.mark.parametrize("words", [[[3, 0]], np.zeros((0, 2), dtype=int)])
def test_length_gaps_iv(words):
    with pytest.raises(LayerwiseError, match="word counts must be at least 1"):
        calibration.length_gaps(np.array(words))


def test_pooled_t_iv():
    with pytest.raises(LayerwiseError, match="at least two finite values, found 1 and 2 values"):
        pooled_t(np.array([1.0]), np.array([1.0, 2.0]))
    with pytest.raises(LayerwiseError, match="at least two finite values"):
        pooled_t(np.array([1.0, math.inf]), np.array([1.0, 2.0]))
    with pytest.raises(LayerwiseError, match="values that vary"):
        pooled_t(np.array([1.0, 1.0]), np.array([2.0, 2.0]))


def test_a_similarity_that_is_no_number_iv(published):
    cells = {**published.cells, (CONTROL, "/neutral_results/3/sim_a"): "zero"}
    with pytest.raises(LayerwiseError, match="a similarity of neutral_results is not a number"):
        replay("neutral_control", Published(cells), **DRAWS)


def test_missing_row_of_the_supplement_iv(published):
    cells = {**published.cells, (CLASSES, "/0/category"): "other"}
    with pytest.raises(LayerwiseError, match="no row of gemma and ground_truth_numeric"):
        replay("output_correlation", Published(cells), **DRAWS)
