"""Paper 2's phases, labels, transitions and hand-typed tables, from its published curves."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats

from judged import analysed, changed, of
from layerwise.analyses.pair_curves import CURVES
from layerwise.errors import LayerwiseError
from layerwise.inputs.published import Published
from layerwise.inputs.result_files import (
    APERTUS,
    CONTRIBUTIONS,
    GEMMA,
    LLAMA,
)
from layerwise.statistics import phases

NINE = list(range(0, 33, 4))


# --- the statistics -----------------------------------------------------------------------------


def test_thirds_against_theory():
    spans = {"early": [0, 4, 8], "mid": [12, 16, 20], "late": [24, 28, 32]}
    assert phases.thirds_of_list(NINE) == phases.thirds_of_depth(NINE, 32) == spans
    gemma = list(range(0, 19, 2))
    assert [len(part) for part in phases.thirds_of_list(gemma).values()] == [3, 3, 4]
    by_depth = phases.thirds_of_depth(gemma, 18).values()
    assert [phases.span(part) for part in by_depth] == ["0-6", "8-12", "14-18"]
    for n in range(3, 40):  # every layer is kept
        layers = list(range(n))
        for parts in (phases.thirds_of_list(layers), phases.thirds_of_depth(layers, n - 1)):
            assert list(itertools.chain(*parts.values())) == layers


def test_too_few_layers_iv():
    with pytest.raises(LayerwiseError, match="at least three sampled layers, found 2"):
        phases.thirds_of_list([0, 4])


def test_layer_without_phase_iv():
    partition = phases.thirds_of_list(NINE)
    assert phases.phase_of(12, partition) == "mid"
    with pytest.raises(LayerwiseError, match="layer 5 is in no phase"):
        phases.phase_of(5, partition)


@pytest.mark.parametrize("n", [6, 20, 230])
def test_stars_against_theory(n):
    """The critical r of the t law, a hair below and above it."""
    for bound, text in phases.STARS:
        t = scipy.stats.t.isf(bound / 2, n - 2)
        critical = t / math.sqrt(n - 2 + t * t)
        assert phases.stars(-critical - 1e-9, n) == text
        assert phases.stars(critical - 1e-9, n) != text
    assert phases.stars(0.0, n) == phases.NO_STARS


def test_p_bound():
    words = [phases.p_bound(p) for p in (0.0009, 0.001, 0.049, 0.05)]
    assert words == ["p < 0.001", "p < 0.01", "p < 0.05", "p >= 0.05"]


def test_transition_is_the_first_from_positive_to_negative():
    assert phases.transition({0: -0.4, 2: 0.4, 4: 0.1, 6: -0.1, 8: 0.2, 10: -0.3}) == "L4-6"
    assert phases.transition({0: -0.4, 2: 0.4}) == "---"
    assert phases.transition({0: 0.4, 4: 0.0, 8: -0.4}) == "---"
    assert phases.first_not_positive({0: 0.4, 4: 0.0, 8: -0.4}) == "L4"
    assert phases.first_not_positive({0: 0.4}) == "---"


def test_equal_signs_are_strict():
    assert phases.equal_signs({0: 0.1, 4: -0.1, 8: 0.0}, {0: 0.2, 4: 0.2, 8: 0.0}) == 1


@pytest.mark.parametrize(
    ("means", "thirds", "llama", "template"),
    [
        ((0.4, 0.3, -0.2), "PYTHIA_PATTERN: positive early, negative late", "MATCHES", "PYTHIA"),
        ((0.4, 0.05, -0.2), "PYTHIA_PATTERN: positive early, negative late", "MATCHES", "OTHER"),
        ((0.1, -0.2, -0.2), "LATE_INVERSION", "PARTIAL MATCH", "OTHER"),
        ((-0.1, -0.2, -0.2), "LATE_INVERSION", "PARTIAL", "OTHER"),
        ((0.09, 0.09, -0.09), "DECOUPLED", "MATCHES", "DECOUPLED"),
        ((0.14, 0.14, -0.1), "DECOUPLED", "MATCHES", "OTHER"),
        ((0.4, 0.3, 0.0), "OTHER", "DIFFERENT PATTERN", "OTHER"),
        ((0.4, 0.1, -0.11), "PYTHIA_PATTERN: positive early, negative late", "MATCHES", "OTHER"),
    ],
)
def test_labels(means, thirds, llama, template):
    assert phases.thirds_label(*means) == thirds
    assert phases.llama_label(*means).partition(":")[0] == llama
    assert phases.template_label(*means).removesuffix("_PATTERN") == template


def test_template_verdict():
    assert phases.template_verdict("OTHER", "OTHER") == "TEMPLATE_INVARIANT"
    assert phases.template_verdict("OTHER", "DECOUPLED") == "TEMPLATE_ENABLES_COUPLING"
    assert phases.template_verdict("DECOUPLED", "OTHER") == "TEMPLATE_CHANGES_PATTERN"


def test_structured_needs_all_three():
    assert phases.structured(0.1, -0.1, True) == "Yes"
    for arguments in ((-0.1, -0.1, True), (0.1, 0.1, True), (0.1, -0.1, False)):
        assert phases.structured(*arguments) == "No"
    assert [phases.late_inversion(mean) for mean in (-0.11, -0.1)] == ["TRUE", "FALSE"]


def test_fisher_interval_against_scipy():
    x, y = np.random.RandomState(3).normal(size=(2, 40))
    found = scipy.stats.pearsonr(x, y)
    low, high = found.confidence_interval(0.95)
    assert phases.fisher_interval(float(found.statistic), 40) == pytest.approx((low, high))


@pytest.mark.parametrize(("r", "n"), [(0.5, 3), (1.0, 10), (-1.0, 10)])
def test_fisher_interval_iv(r, n):
    with pytest.raises(LayerwiseError, match=f"found n={n}, r={r}"):
        phases.fisher_interval(r, n)


def test_constant_resamples_against_naive():
    stream = np.random.RandomState(5)
    naive = [sum(len(set(stream.choice(3, 3))) == 1 for _ in range(200)) for _ in range(4)]
    assert phases.constant_resamples(3, 200, 4, seed=5) == naive
    assert sum(naive) > 0


# --- against what was published -----------------------------------------------------------------


def test_category_r_of_llama_against_published(works, published):
    """From Paper 1's cosines and the preferences of its follow-up; the same run to the last bit."""
    found = works["cross_model"].documents["llama-3p1-8b"]["category_level_results"]["32"]
    printed = published[LLAMA, "/category_level_results/32/r"]
    assert found["r"] == pytest.approx(printed, rel=1e-12)
    inputs = works["cross_model"].derived["llama-3p1-8b:/category_level_results/32/r"]
    assert len(inputs) == 18
    assert sum(cell.startswith(CONTRIBUTIONS) for cell in inputs) == 6


def test_degenerate_resamples_of_the_published_stream(works):
    """A resample of one category has no r; which layers had some is known from the notebook."""
    assert works["phases"].documents["paper"]["constant_resamples"] == [0, 0, 1, 3, 0, 1, 1, 1, 0]


# --- the ledger ---------------------------------------------------------------------------------

UNEXPLAINED = "p2.csv.pythia."  # the table's Pythia intervals, whose origin is not known


def test_evenly_chosen_difference_has_a_reading_that_gives_print(records):
    ours = of(records, "pairs", "cross_model", "phases", "consolidated")
    causes = {name: r["cause"] for name, r in ours.items() if r["verdict"] == "differs"}
    unexplained = [claim for claim, cause in causes.items() if "would give" not in cause]
    expected = {"p2.abstract.late_range_weak", "p2.table_phase.pythia.late.stars"}
    assert expected <= set(causes)
    assert unexplained
    assert all(claim.startswith(UNEXPLAINED) and ".ci_" in claim for claim in unexplained)


def test_no_other_model_of_the_table_differs(records):
    rows = [record for claim, record in records.items() if claim.startswith("p2.csv.")]
    assert len(rows) == 275
    assert {record["model"] for record in rows if record["verdict"] == "differs"} == {"pythia-6p9b"}


def test_transition_of_llama_rests_on_its_curve(records):
    record = records["p2.abstract.transition_llama"]
    assert record["recomputed"] == "L0-4"
    assert len(record["provenance"]["inputs"]) == 9
    assert all("centroid_asymmetry/r" in cell for cell in record["provenance"]["inputs"])


@pytest.mark.parametrize("slug", CURVES)
def test_a_phase_mean_names_its_layers_only(works, slug):
    inputs = works["phases"].derived[f"{slug}:/means/early"]
    layers = [cell.split("/")[-2 if CURVES[slug].metric is None else -3] for cell in inputs]
    assert sorted(layers, key=int) == (["0", "2", "4"] if slug == "gemma-2b" else ["0", "4", "8"])


def test_label_moves_with_its_numbers(published):
    cells = {(APERTUS, f"/results/{layer}/r"): 0.5 for layer in (24, 28, 32)}
    found = analysed("cross_model", changed(published, cells)).documents["apertus-8b"]
    assert found["phase_structure"]["pattern"] == "OTHER"


def test_missing_number_iv(published):
    cells = {cell: value for cell, value in published.cells.items() if cell[1] != "/results/12/r"}
    with pytest.raises(LayerwiseError, match=r"nothing stands at /results/12/r") as error:
        analysed("consolidated", Published(cells))
    assert APERTUS in str(error.value) or GEMMA in str(error.value)
