"""The papers' sentences as data: printed tests, upstream's files; and what is claimed of us."""

import math
import re

import numpy as np
import pytest
from scipy import stats

from claim_records import record
from judged import analysed, ledger
from layerwise.engine.published import Published
from layerwise.engine.tally import Totals, tally_sentence, totals
from layerwise.papers.across.rules.printed_tests import KINDS, PRINTED, p_of_rank_sum


@pytest.fixture
def numbers(published):
    return published


def printed(kind, values, decimals, n, p):
    """What the test gives in place of a printed p."""
    cells = {(PRINTED, "/x/kind"): kind, (PRINTED, "/x/p"): p}
    for name, column in (("values", values), ("decimals", decimals), ("n", n)):
        cells |= {(PRINTED, f"/x/{name}/{row}"): value for row, value in enumerate(column)}
    return analysed("printed_tests", Published(cells)).documents["tests"]["x"]["given"]


# --- printed tests ------------------------------------------------------------------------------


def test_the_kinds_of_tests_against_scipy():
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=9), rng.normal(0.4, 1.3, size=6)
    both = stats.pearsonr(x[:6], y)
    assert math.isclose(KINDS["r"]([both.statistic], [6.0]), both.pvalue, rel_tol=1e-9)
    assert math.isclose(KINDS["r_squared"]([both.statistic**2], [6.0]), both.pvalue, rel_tol=1e-9)
    line = stats.linregress(x[:6], y)
    assert math.isclose(KINDS["slope"]([line.slope, line.stderr], [6.0]), line.pvalue, rel_tol=1e-9)
    two = stats.ttest_ind(x, y)
    assert math.isclose(KINDS["t"]([two.statistic], [9.0, 6.0]), two.pvalue, rel_tol=1e-9)
    means = [x.mean(), x.std(), y.mean(), y.std()]
    assert math.isclose(KINDS["means"](means, [9.0, 6.0]), two.pvalue, rel_tol=1e-9)
    pooled = math.sqrt((9 * x.var() + 6 * y.var()) / 13)
    d = (x.mean() - y.mean()) / pooled
    assert math.isclose(KINDS["d"]([d], [9.0, 6.0]), two.pvalue, rel_tol=1e-9)
    one = stats.ttest_1samp(x, 0.5, alternative="less")
    assert math.isclose(KINDS["t_less"]([one.statistic], [9.0]), one.pvalue, rel_tol=1e-9)
    exact = stats.mannwhitneyu(x, y, method="exact")
    assert math.isclose(p_of_rank_sum(exact.statistic, [9.0, 6.0]), exact.pvalue, rel_tol=1e-9)
    table = stats.fisher_exact([[4, 1], [2, 9]]).pvalue
    assert math.isclose(KINDS["fisher"]([80, 100 * 2 / 11], [5.0, 11.0]), table, rel_tol=1e-9)


@pytest.mark.parametrize(
    ("kind", "values", "decimals", "n", "p", "given"),
    [
        ("r", [-0.81], [2], [8], "p = 0.014", "p = 0.014"),  # -0.815 has 0.0137
        ("r", [-0.81], [2], [8], "p = 0.018", "p = 0.014 or more"),
        ("r", [-0.81], [2], [8], "p < 0.05", "p < 0.05"),
        ("r", [-0.81], [2], [8], "p < 0.01", "p = 0.014 or more"),
        ("r", [-0.17], [2], [230], "***", "**"),
        ("r", [-0.17], [2], [230], "*", "*"),  # -0.165 has 0.012
        ("r", [0.02], [2], [230], "(none)", "(none)"),
        ("rank_sum", [12], [12], [3, 4], "p = 0.0571", "p = 0.0571"),
        ("fisher", [80, 0], [12, 12], [5, 11], "p < 0.001", "p = 0.0027 or more"),
    ],
)
def test_a_printed_p_stands_if_the_rounded_statistic_can_give_it(
    kind, values, decimals, n, p, given
):
    assert printed(kind, values, decimals, n, p) == given


def test_every_printed_test_is_a_claim_with_the_p_of_the_table(root, numbers):
    claims = {claim.id.partition(".test.")[2]: claim for claim in ledger(root)}
    tested = {key.split("/")[1] for key in numbers.keys(PRINTED)}
    assert tested
    for name in tested:
        assert claims[name].printed == numbers[PRINTED, f"/{name}/p"], name
    assert {name for name in claims if name} == tested


# --- facts about upstream's files ---------------------------------------------------------------


# --- what is claimed of this work ---------------------------------------------------------------


def test_totals_count_each_kind_of_document_apart():
    verdicts = ["agrees", "reproduced", "differs", "follows", "contradicted", "declared"]
    records = [record(f"p1.{n}", verdict=word) for n, word in enumerate(verdicts)]
    records += [record("p1.n", verdict="differs", document="notebook")]
    papers = Totals(n=6, compared=3, agree=2, differ=1, contradicted=1, copies=1)
    assert totals(records) == {"paper": papers, "notebook": Totals(1, 1, 0, 1, 0, 0)}
    numbers = re.findall(r"\d+", tally_sentence(records))
    assert [*map(int, numbers)] == [6, 3, 2, 1, 1, 1, 0, 1, 0]


# --- findings by weight -------------------------------------------------------------------------
