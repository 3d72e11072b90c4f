"""Verdicts follow from values alone."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layerwise.errors import LayerwiseError
from layerwise.ledger.claims import Claim
from layerwise.ledger.verdicts import STORED, Statistics, equal, judge

CLAIM = Claim(
    id="p2.x",
    paper=2,
    where="table",
    quantity="r",
    kind="computed",
    printed=0.123,
    decimals=3,
    tolerance="half",
    statistic="layers:m:/r",
    source_file="f.json",
    source_key="/r",
    model="m",
    unit=None,
    why=None,
)


def published(value, derived=True):
    return Statistics(
        "published",
        {"layers": {"m": {"r": value}}},
        {"layers:m:/r": ["f.json#/a"]} if derived else {},
    )


def verdict(claim, statistics):
    return judge(claim, statistics)["verdict"]


def test_agrees_exactly_when_the_print_is_the_rounding():
    assert verdict(CLAIM, published(0.1234)) == "agrees"
    assert verdict(CLAIM, published(0.12251)) == "agrees"
    assert verdict(CLAIM, published(0.1236)) == "differs"


@given(st.floats(-10, 10), st.integers(1, 6))
def test_a_rounded_number_agrees_with_itself(value, decimals):
    printed = float(f"{value:.{decimals}f}")
    assert equal(printed, value, decimals, STORED)
    assert not equal(printed, printed + 1.1 * 10.0**-decimals, decimals, STORED)


def test_full_precision_is_one_part_in_1e12():
    claim = replace(CLAIM, printed=0.5, decimals="full")
    assert verdict(claim, published(0.5 * (1 + 5e-13))) == "agrees"
    assert verdict(claim, published(0.5 * (1 + 5e-12))) == "differs"


def test_differs_shows_both_values_and_the_reason():
    record = judge(replace(CLAIM, why="a typed table"), published(0.9))
    assert record["cause"] == "printed 0.123, the stated method gives 0.9; a typed table"
    assert record["recomputed"] == 0.9


def test_a_given_number_is_not_its_own_recomputation():
    full = replace(CLAIM, printed=0.1234, decimals="full")
    record = judge(full, published(0.1234, derived=False))
    assert (record["verdict"], record["recomputed"]) == ("needs weights", None)


def test_follows_is_the_rounding_of_a_given_number():
    record = judge(CLAIM, published(0.1234, derived=False))
    assert (record["verdict"], record["recomputed"]) == ("follows", 0.1234)
    assert verdict(CLAIM, published(0.2, derived=False)) == "differs"


def test_nothing_published_needs_weights():
    unpublished = replace(CLAIM, unpublished=True)
    assert verdict(unpublished, Statistics("published", {})) == "needs weights"
    assert verdict(replace(unpublished, printed=None), Statistics("published", {})) == (
        "needs weights"
    )


def test_selection_of_no_statistic_iv():
    with pytest.raises(LayerwiseError, match=r"claim p2\.x: .* layers:m:/r matches no statistic"):
        judge(CLAIM, Statistics("published", {}))


def test_without_print_or_rule_nothing_can_be_checked():
    record = judge(replace(CLAIM, printed=None, why="never saved"), published(0.5))
    assert (record["verdict"], record["recomputed"]) == ("not checkable", 0.5)
    assert record["cause"] == "never saved"
    assert verdict(replace(CLAIM, statistic=None), published(0.5)) == "not checkable"


def test_a_setting_is_declared():
    assert verdict(replace(CLAIM, kind="declared"), published(9.0)) == "declared"


@pytest.mark.parametrize(
    ("printed", "value", "same"),
    [
        (True, True, True),
        (True, 1, False),
        ("OTHER", "OTHER", True),
        ("OTHER", "DECOUPLED", False),
        ([8, 12], [8, 12], True),
        ([8, 12], [8, 12, 16], False),
        (6, 6.0, True),
        (6, 6.4, False),
        (1.0, None, False),
        (float("nan"), float("nan"), False),
    ],
)
def test_labels_counts_and_lists_are_exact(printed, value, same):
    assert equal(printed, value, 0 if isinstance(printed, int) else None, STORED) is same


def test_measured_sources():
    measured = Statistics("measured", {"layers": {"m": {"r": 0.1237}}})
    assert verdict(CLAIM, measured) == "reproduced"
    assert verdict(replace(CLAIM, tolerance="exact"), measured) == "differs"
    assert verdict(CLAIM, Statistics("measured", {})) == "not measured"


def test_unknown_tolerance_iv():
    with pytest.raises(LayerwiseError, match=r"claim p2\.x: tolerance must be one of exact"):
        judge(replace(CLAIM, tolerance="loose"), published(1.0))


def test_selection_of_several_statistics_iv():
    several = Statistics("published", {"layers": {"m": {"r": {"a": 1, "b": 2}}}})
    with pytest.raises(LayerwiseError, match=r"claim p2\.x: .* matches 2 statistics"):
        judge(CLAIM, several)
