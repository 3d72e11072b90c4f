"""Verdicts follow from values alone."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layerwise.errors import LayerwiseError
from layerwise.inputs.published import Published
from layerwise.ledger.claims import Claim
from layerwise.ledger.verdicts import AS_RANDOM, STORED, TOLERANCES, Statistics, equal, judge
from layerwise.statistics.correlation import pearson_p

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


def published(value, derived=True, cells=None):
    inputs = [f"f.json#{key}" for key in cells or {"/a": 0}]
    return Statistics(
        "published",
        {"layers": {"m": {"r": value}}},
        {"layers:m:/r": inputs} if derived else {},
        published=Published({("f.json", key): stored for key, stored in (cells or {}).items()}),
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


def test_differs_says_what_the_values_do_not_say():
    statistics = published(0.9)
    statistics.documents["layers"]["m"]["cut"] = 0.123
    claim = replace(CLAIM, why="a typed table", readings={"cut off": "layers:m:/cut"})
    record = judge(claim, statistics)
    assert record["cause"] == "cut off would give what is printed; a typed table"
    assert (record["published"], record["recomputed"]) == (0.123, 0.9)
    assert judge(CLAIM, statistics)["cause"] is None


def test_a_given_number_is_not_its_own_recomputation():
    full = replace(CLAIM, printed=0.1234, decimals="full")
    record = judge(full, published(0.1234, derived=False))
    assert (record["verdict"], record["recomputed"]) == ("needs weights", None)


def test_follows_is_the_rounding_of_a_given_number():
    record = judge(CLAIM, published(0.1234, derived=False))
    assert (record["verdict"], record["recomputed"]) == ("follows", 0.1234)
    assert verdict(CLAIM, published(0.2, derived=False)) == "differs"


@pytest.mark.parametrize(
    ("cells", "decimals", "word"),
    [
        ({"/a": 0.5}, "full", "same number"),  # one stored number in two places
        ({"/a": 0.5}, 3, "follows"),
        ({"/a": 0.25, "/b": 0.25}, "full", "agrees"),
        ({"/a": 0.5, "/b": 2}, "full", "agrees"),  # the smallest of several, say
        ({"/r": 0.4, "/b": 2}, "full", "same number"),  # it rests on the printed number itself
    ],
)
def test_a_copy_is_no_recomputation(cells, decimals, word):
    claim = replace(CLAIM, printed=0.5, decimals=decimals)
    record = judge(claim, published(0.5, cells=cells))
    assert (record["verdict"], record["recomputed"]) == (word, 0.5)
    other = judge(replace(claim, printed=0.75), published(0.5, cells=cells))
    assert (other["verdict"], other["recomputed"]) == ("differs", 0.5)


def test_a_part_of_what_was_derived_was_derived_from_the_same():
    """A statistics file says it once, of the whole."""
    whole = replace(published(0.1234), derived={"layers:m:": ["f.json#/a", "f.json#/b"]})
    record = judge(CLAIM, whole)
    assert (record["verdict"], record["provenance"]["inputs"]) == (
        "agrees", ["f.json#/a", "f.json#/b"],
    )  # fmt: skip


def test_two_places_may_store_one_number():
    full = replace(CLAIM, printed=0.1234, decimals="full", same={"file": "g", "key": "/r"})
    for stored, word in ((0.1234, "same number"), (0.1235, "differs")):
        statistics = replace(
            published(0.1234, derived=False), published=Published({("g", "/r"): stored})
        )
        assert verdict(full, statistics) == word
    assert verdict(replace(CLAIM, identity=True), published(0.123)) == "same number"


def test_a_statement_is_contradicted_with_the_place():
    denied = replace(CLAIM, statistic=None, against=("/x of f says 'base'",), why="so it is")
    record = judge(denied, Statistics("measured", {}))
    assert (record["verdict"], record["cause"]) == (
        "contradicted",
        "/x of f says 'base'; so it is",
    )
    asked = replace(denied, statistic="layers:m:/r")
    assert verdict(asked, Statistics("measured", {"layers": {"m": {"r": 0.123}}})) == "reproduced"


def test_readings_stand_on_every_verdict():
    claim = replace(CLAIM, readings={"rounded": "layers:m:/rounded", "none": "layers:m:/none"})
    statistics = published(0.1234)
    statistics.documents["layers"]["m"]["rounded"] = 0.2
    assert judge(claim, statistics)["readings"] == [
        {"text": "rounded", "value": 0.2, "gives": False},
        {"text": "none", "value": None, "gives": False},
    ]


def test_a_recomputed_value_is_not_rounded_but_held_against_the_rounding():
    claim = replace(CLAIM, printed=26, decimals=0)
    assert judge(claim, published(26.48))["recomputed"] == 26.48
    assert verdict(claim, published(26.48)) == "agrees"
    assert verdict(replace(claim, tolerance="exact"), published(26.48)) == "differs"
    assert verdict(replace(claim, printed=300, decimals=-2), published(338.0)) == "agrees"


@pytest.mark.parametrize("n", [6, 20, 230])
def test_the_band_of_p_is_what_the_band_of_r_does(n):
    """And no absolute one: 3e-6 is not 1.9e-3."""
    for r in np.linspace(0, 0.85, 40):
        p, moved = (float(pearson_p(of, n)) for of in (r, r + max(0.01 * r, 0.002)))
        assert equal(p, moved, None, TOLERANCES["p"]), r
    assert not equal(3e-6, 1.9e-3, None, TOLERANCES["p"])
    assert not equal(0.5, 0.0, None, TOLERANCES["p"])


def test_the_band_of_ua_is_what_half_precision_does_to_it():
    rng = np.random.default_rng(0)
    sides = rng.standard_normal((2, 20, 512)) + rng.standard_normal(512)
    noise = 3e-3 * rng.standard_normal(sides.shape) * np.abs(sides)

    def asymmetry(states):
        units = states / np.linalg.norm(states, axis=-1, keepdims=True)
        a, b = (side @ side.T for side in units)
        return np.mean(a[np.triu_indices(20, 1)]) - np.mean(b[np.triu_indices(20, 1)])

    moved = abs(asymmetry(sides + noise) - asymmetry(sides))
    assert 0 < moved < TOLERANCES["ua"].absolute / 2
    assert not equal(0.001, 0.0019, None, TOLERANCES["ua"])


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
        (6, 7, False),
        (1.0, None, False),
        (float("nan"), float("nan"), False),
    ],
)
def test_labels_counts_and_lists_are_exact(printed, value, same):
    assert equal(printed, value, None, STORED) is same


def test_measured_sources():
    measured = Statistics("measured", {"layers": {"m": {"r": 0.1237}}})
    assert verdict(CLAIM, measured) == "reproduced"
    assert verdict(replace(CLAIM, tolerance="exact"), measured) == "differs"
    assert verdict(CLAIM, Statistics("measured", {})) == "not measured"


def test_what_random_weights_give_too_is_no_evidence():
    """Whether they do is asked with the band of the claim."""

    def of(value):
        return Statistics("measured", {"layers": {"m": {"r": value}}})

    for control, word in ((0.1225, AS_RANDOM), (0.5, "reproduced"), (None, "reproduced")):
        assert judge(CLAIM, of(0.1237), of(control))["verdict"] == word
    assert judge(CLAIM, of(0.5), of(0.5))["verdict"] == "differs"


@pytest.mark.parametrize(
    ("known", "word", "cause"),
    [
        ({"derived": {"layers:m:/changes": ["f#/r"]}}, "differs", "/changes has 0 entries"),
        ({"undefined": {"layers:m:/changes/0": "no sign change"}}, "differs", "no sign change"),
        ({"missing": {"layers:m:/changes/0": "f#/r"}}, "not measured", None),
        ({}, "not measured", None),
    ],
)
def test_a_curve_without_what_is_printed_differs(known, word, cause):
    """It was measured, and does not cross zero: that is no missing measurement."""
    claim = replace(CLAIM, statistic="layers:m:/changes/0/layer", decimals=None)
    statistics = Statistics("measured", {"layers": {"m": {"changes": []}}}, **known)
    record = judge(claim, statistics)
    assert (record["verdict"], record["recomputed"]) == (word, None)
    assert cause is None or cause in record["cause"]
    assert verdict(replace(claim, unmeasured="another definition"), statistics) == "not measured"


@pytest.mark.parametrize("name", TOLERANCES)
@given(st.floats(1e-9, 1e-2), st.floats(1e-9, 1e-2))
def test_no_band_spans_a_sign(name, printed, value):
    assert not equal(printed, -value, None, TOLERANCES[name])
    assert not equal(-printed, value, 9, TOLERANCES[name]) or printed + value < 1e-9


def test_unknown_tolerance_iv():
    with pytest.raises(LayerwiseError, match=r"claim p2\.x: tolerance must be one of exact"):
        judge(replace(CLAIM, tolerance="loose"), published(1.0))


def test_selection_of_several_statistics_iv():
    several = Statistics("published", {"layers": {"m": {"r": {"a": 1, "b": 2}}}})
    with pytest.raises(LayerwiseError, match=r"claim p2\.x: .* matches 2 statistics"):
        judge(CLAIM, several)
