"""Statistics of the published numbers: against what was published, and their recorded inputs."""

import fnmatch
import math
import random

import pytest
from scipy.stats import fisher_exact

from judged import DRAWS, analysed, at, changed, inputs_of, ledger
from layerwise.engine.evidence import Evidence
from layerwise.engine.judging import recomputed_cells
from layerwise.engine.verdicts import gives
from layerwise.papers.across.analyses import TABLES
from layerwise.papers.paper2.rules.pairs import PYTHIA_CURVE, read_curve
from layerwise.papers.shared.result_files import (
    BOOTSTRAP,
    CURVES,
    PAIRS,
    PAPER1,
    PAPER_3_TEXT,
    SWEEP,
    TYPED_CURVE,
    TYPED_INTERVALS,
    TYPED_MODELS,
)

# The statistics that are not what the file says: the notebook typed its L*, where the stated rule
# finds the inversion four layers later; a flag of Paper 2's table.
DIFFERING = {
    ("anisotropy", "/L_star_paper2"),
    ("consolidated", "/6/significant"),
}
LEAST = 1100  # published numbers that follow from others
CELLS = 4  # numbers perturbed per analysis
DEAR = ("questions",)  # analyses that take seconds each time; one number is perturbed


def same(value, printed):
    if isinstance(printed, float):
        return isinstance(value, float) and math.isclose(value, printed, rel_tol=1e-12)
    return type(value) is type(printed) and value == printed


# what is asked of other numbers, what is held of files and of print itself, what no file holds
WITHOUT_COUNTERPART = {
    *("sensitivity", "questions", "laws", "sources", "phases"),
}


def test_derived_statistics_against_published(published):
    derived = list(recomputed_cells(TABLES, Evidence(published, DRAWS)))
    assert len(derived) >= LEAST
    assert {analysis for analysis, *_ in derived} == set(TABLES) - WITHOUT_COUNTERPART
    assert {
        (analysis, key)
        for analysis, (file, key), value, _ in derived
        if not same(value, published.value(file, key))
    } == DIFFERING


@pytest.mark.parametrize("slug", CURVES)
def test_the_consolidated_table_rounds_the_result_files(published, slug):
    """But for Pythia's intervals, which are claims of their own."""
    curve = read_curve(slug, Evidence(published, DRAWS))
    for layer, r in curve.r().items():
        row = curve.row(layer)
        printed, values = [row.r], [r]
        if slug != PYTHIA_CURVE:
            printed, values = [row.r, row.ci_lo, row.ci_hi], [r, *curve.ends()[layer]]
        assert gives(printed, values, 2), (slug, layer)


def test_what_notebooks_typed_rounds_the_result_files(published, works):
    layers = published.value(BOOTSTRAP, "/layer_results")
    for layer, typed in published.value(TYPED_INTERVALS, "/original_results").items():
        assert all(gives(number, layers[layer][name], 2) for name, number in typed.items()), layer
    for layer, r in published.value(TYPED_CURVE, "/pythia_reference").items():
        assert gives(r, published[PAIRS, f"/results/{layer}/centroid_asymmetry/r"], 2), layer
    reference = works["validation"].documents["reference"]
    for model, typed in published.value(TYPED_MODELS, "/reference_models").items():
        numbers = reference[model.partition("-")[0].lower()]
        assert gives([typed["ua"], typed["pref"]], [numbers["ua"], numbers["pref"]], 3), model


def test_fisher_p_of_the_printed_shares_against_counting(published, works):
    """With 80% of 5 and none of 11, the four damping models of 16 are all of the first lab."""
    p = math.comb(5, 4) / math.comb(16, 4)
    assert at(works["lab_heritage"], "hunt:/fisher/printed") == f"{p:.3f}"
    shares = {
        (PAPER_3_TEXT, "/heritage/eleuther_dampen_pct"): 40,
        (PAPER_3_TEXT, "/heritage/others_expand_pct"): 81,
    }
    again = analysed("lab_heritage", changed(published, shares))
    assert at(again, "hunt:/fisher/printed") == f"{fisher_exact([[2, 3], [2, 9]]).pvalue:.3f}"


# --- the recorded inputs are the true dependencies ------------------------------------------------


def test_a_reading_names_what_its_own_statistic_read(works, records, root, published):
    """Not what the claim's does; a reading of a source that has no such number names nothing."""
    of_claim = {claim.id: claim.readings for claim in ledger(root)}
    n_other = 0
    for record in records.values():
        for reading in record.readings:
            selection = of_claim[record.id][reading.text]
            analysis, _, statistic = selection.partition(":")
            cells = inputs_of(works[analysis], statistic)
            if cells is not None:
                assert reading.inputs == cells
            elif reading.value is None:
                assert reading.inputs == []
            else:  # a number that was published
                (cell,) = reading.inputs
                assert published.cells[tuple(cell.split("#", 1))] == reading.value
            n_other += reading.inputs != record.provenance.inputs
    assert n_other > 100


# A smooth statistic moves with the slightest change, an extreme or a rank only with a large one in
# the right direction, a count when a bound is crossed; to have no value is a reaction as well.
CHANGES = (
    lambda x: x * (1 + 1e-3),
    lambda x: x + 1e3,
    lambda x: x - 1e3,
    lambda x: 1e3 * x,
    lambda x: -1e3 * x,
    lambda x: 0.5,
)
# Its calibration rests on the position of an extreme among traces of which some are NaN: numpy puts
# it at the first NaN, whatever the other traces are.
NAN_FIRST = "H4_v2_extended"
# A line of least absolute deviations runs through some of its points, whatever the others are.
ROBUST = {f"calibration:/{coefficient}" for coefficient in ("constant", "depth", "heads")}


@pytest.mark.parametrize(
    "analysis", [pytest.param(name, marks=[pytest.mark.long] * (name in DEAR)) for name in TABLES]
)
def test_a_statistic_changes_with_a_number_if_and_only_if_it_names_it(
    works, published, records, analysis
):
    """Some of the named numbers, one at a time; real numbers that claims select must move."""
    work = works[analysis]
    claimed = {record.provenance.statistic or "" for record in records.values()}
    claimed = {place.partition(":")[2] for place in claimed if place.startswith(f"{analysis}:")}
    names = {place: inputs_of(work, place) for place in (*work.derived, *claimed)}
    names = {place: cells for place, cells in names.items() if cells is not None}
    before = {place: str(at(work, place)) for place in names}
    smooth = {
        place for place in claimed & names.keys() if isinstance(at(work, place), float)
    } - ROBUST
    named = sorted({cell for place in smooth or names for cell in names[place]})
    for name in random.Random(7).sample(named, min(1 if analysis in DEAR else CELLS, len(named))):
        cell = tuple(name.split("#", 1))
        value = published.cells[cell]
        if not isinstance(value, float) or NAN_FIRST in name:
            continue
        unmoved = {place for place in smooth if name in names[place]}
        for change in CHANGES:
            after = analysed(analysis, changed(published, {cell: change(value)}))
            if after.undefined:
                unmoved = set()
                break
            moved = {place for place in names if str(at(after, place)) != before[place]}
            assert all(name in names[place] for place in moved), name
            unmoved -= moved
            if not unmoved:
                break
        assert not unmoved, name


# --- what does not stand --------------------------------------------------------------------------

# Numbers that differ and that no other reading gives; what a sentence says in words needs none.
# A pattern names such numbers alone.
UNEXPLAINED = (
    "p1.ext.page.[al]*.total",
    "p1.ext.page.divergence.ratio",
    # intervals of a table that does not say where they come from
    *("p2.csv.pythia.L?.ci_??", "p2.csv.pythia.L[12][0-6].ci_??", "p2.csv.pythia.L28.ci_lo"),
    "p2.notebook.gemma.step",
    *("p3.bentov.rank.Gemma-7B.*", "p3.bentov.rank.Mistral-7B.Nonsense"),
    "p3.crowding.rho_crit",
    "p3.eli5.pythia",
    "p3.notebook.hunt.shrunk",
)


def test_every_difference_says_why_and_most_name_the_reading_that_gives_print(records):
    differing = {i: r for i, r in records.items() if r.verdict == "differs"}
    assert [i for i, r in differing.items() if not r.cause] == []
    numbers = {i: r for i, r in differing.items() if not isinstance(r.published, str | bool)}
    bare = {i for i, r in numbers.items() if "would give" not in r.cause}
    named = {pattern: set(fnmatch.filter(records, pattern)) for pattern in UNEXPLAINED}
    assert [pattern for pattern, ids in named.items() if not ids or ids - bare] == []
    assert bare - set().union(*named.values()) == set()
    table = [r for i, r in differing.items() if i.startswith("p2.csv.")]
    assert {r.model for r in table} == {"pythia-6p9b"}


# --- what has no value ----------------------------------------------------------------------------

FACTS = {f"/scientific_facts/uniformity_{side}": 0.5 for side in "ab"}


@pytest.mark.parametrize(
    ("analysis", "file", "cells", "statistic", "why"),
    [
        (
            "calibration",
            PAPER1["gemma"],
            FACTS,
            "models:/apertus/facts_ratios",
            "a ratio to gemma does not exist",
        ),
        (
            "crowding",
            SWEEP,
            {"/models/2/n_heads": 1},
            "family:/separating_interval",
            "no limit separates damping densities",
        ),
        (
            "pairs",
            PAIRS,
            {"/best_per_layer/3/layer": 13},
            "pythia-6p9b:/best_per_layer/3/r",
            "a row must be of a sampled layer",
        ),
    ],
)
def test_what_a_number_leaves_without_value_is_undefined(
    published, analysis, file, cells, statistic, why
):
    numbers = changed(published, {(file, key): value for key, value in cells.items()})
    work = analysed(analysis, numbers)
    assert why in work.undefined[statistic]
    assert at(work, statistic) is None
    assert not analysed(analysis, published).undefined
