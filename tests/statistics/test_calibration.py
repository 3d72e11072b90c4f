"""The bench of error rates, in its short form: three nulls, and what makes an interval worth it.

The long form is `python benchmarks/calibration.py`; its recorded table is held to its own aims.
"""

import runpy
from pathlib import Path

import numpy as np
import pytest

from layerwise.engine.answer_words import NO, YES
from layerwise.papers.across.questions import QUESTIONS
from layerwise.present.error_rates import Row, error_rate, read_error_rates, rows_by_question

BENCH = runpy.run_path(
    str(Path(__file__).parents[2] / "benchmarks" / "calibration.py"), run_name="calibration"
)
SETS, MOST, LEAST = 400, 0.05, 0.9


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def assert_keeps_its_word(row):
    assert row.sets == SETS
    assert (row.truth, row.wrong_yes <= MOST, row.wrong_no <= MOST) == ("border", True, True), row
    assert row.coverage >= LEAST, row


def rows_of(rng, kind, names, sets=SETS):
    made = BENCH["correlations"](*BENCH["make_pairs"](rng, sets, kind))
    for name in names:
        rule, true = BENCH["RULES"][name]
        yield BENCH["tally"](name, "", map(rule, made), float(true(kind.z)))


@pytest.mark.parametrize(
    ("sizes", "names"),
    [
        (BENCH["PAPERS"], ("early", "sign_change", "late_inversion")),
        ((100, 5, 5), ("early", "sign_change")),
    ],
)
def test_r_that_differs_between_categories_about_zero(rng, sizes, names):
    for row in rows_of(rng, BENCH["Kind"](BENCH["FLAT"], 0.4, sizes), names):
        assert_keeps_its_word(row)


def test_gains_that_hang_together_within_a_category(rng):
    noise = BENCH["make_prompts"](rng, (SETS,), 0.8)
    assert_keeps_its_word(
        BENCH["tally"]("damping", "", (BENCH["over_prompts"](1 + 0.1 * one) for one in noise), 1.0)
    )


def test_an_effect_is_found(rng):
    """No interval is so wide that it is never wrong for that alone."""
    kind = BENCH["Kind"](BENCH["falling"](0.5), 0.3)
    for row in rows_of(rng, kind, ("early", "late", "sign_change"), 100):
        assert row.truth == YES
        assert row.power > 0.7
        assert row.wrong_no == 0


def test_the_stages_give_the_words_of_the_bench():
    n_questions = 6 * 3 + 1 + 3  # of three models, of the one with a named layer, of their pairs
    assert BENCH["check_path"](1, seed=5) == n_questions


def test_a_right_word_is_no_wrong_one():
    row = Row("damping", "", 200, YES, 150, 20, 190)
    assert (row.wrong_yes, row.wrong_no, row.power, row.coverage) == (None, 0.1, 0.75, 0.95)
    assert not row.is_met
    assert Row("damping", "", 200, NO, 5, 150, 190).is_met
    assert not Row("damping", "", 200, "border", 5, 5, 150).is_met


def test_the_recorded_table_says_why_an_aim_is_missed():
    rows = read_error_rates()
    assert [row for row in rows if not row.is_met and not row.why] == []
    cannot = {"trace", "peak_shift", "tuning_never"}
    assert set(QUESTIONS) - set(rows_by_question()) == cannot
    for name in QUESTIONS:
        assert (error_rate(name) is None) == (name in cannot)
    models = {row.model for row in rows}
    assert len(models) > 2  # the made data, and two trained models
