"""Rules for L*, against loops written as the notebooks describe them, and with NaN."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layerwise.errors import LayerwiseError
from layerwise.statistics import critical_layer as rules

NAN = float("nan")
series = st.lists(st.integers(-4, 4).map(float), min_size=3, max_size=12).map(np.array)


def looped_sign_change(t: np.ndarray) -> tuple[int, str]:
    """The rule of the sign-change run, one layer at a time."""
    n = len(t)
    if n < 3:
        return n // 2, "fallback"
    steps = [t[i + 1] - t[i] for i in range(n - 1)]
    for i in range(n - 2):
        if steps[i] > 0 and steps[i + 1] < 0:
            return i + 1, "sign_change"
    peak = int(np.argmax(t))
    if 0 < peak < n - 1:
        return peak, "peak"
    last = None
    for i, step in enumerate(steps):
        if abs(step) >= 0.5 * max(abs(s) for s in steps):
            last = i
    return (n // 2, "fallback") if last is None else (last + 1, "gradient_drop")


@given(series)
def test_sign_change_against_a_loop(t: np.ndarray) -> None:
    found = rules.sign_change(t)
    assert (found.layer, found.rule) == looped_sign_change(t)


@pytest.mark.parametrize(
    ("t", "layer", "rule"),
    [
        ([0, 2, 1, 5, 0], 1, "sign_change"),  # the first turn, not the highest
        ([0, 1, 1, 0, 0], 1, "peak"),  # a plateau is no strict change
        ([0, 1, 9, 10, 11], 2, "gradient_drop"),
        ([9, 1, 1, 1, 1], 1, "gradient_drop"),
        ([0, 1, 2, NAN, NAN], 3, "peak"),  # NaN compares false and wins the argmax
        ([0, 1, 2, NAN, 1], 3, "peak"),
        ([NAN, 1, 2, 3], 2, "fallback"),  # nothing to compare the steps with
        ([NAN, 1, 3, 2], 2, "sign_change"),
        ([1, 2], 1, "fallback"),
    ],
)
def test_sign_change_by_hand(t: list[float], layer: int, rule: str) -> None:
    assert rules.sign_change(np.array(t, float)) == rules.SignChange(layer, rule)


@given(series, st.integers(0, 11))
def test_a_nan_wins_the_legacy_rules_and_no_guarded_one(t: np.ndarray, place: int) -> None:
    place %= len(t)
    t = t.copy()
    t[place] = NAN
    assert np.argmax(t) == place
    for sizes in (rules.gradient_sizes, rules.step_sizes, rules.bend_sizes):
        layer = rules.guarded(sizes, t)
        assert layer is None or not np.isnan(sizes(t)[layer])
        assert np.isnan(sizes(t)[np.argmax(sizes(t))])


@given(series)
def test_without_a_nan_the_guard_changes_nothing(t: np.ndarray) -> None:
    for sizes in (rules.gradient_sizes, rules.step_sizes, rules.bend_sizes):
        assert rules.guarded(sizes, t) == rules.sharpest(sizes, t)
    assert rules.guarded_sign_change(t) == rules.sign_change(t).layer


def test_the_guard_looks_behind_the_nan() -> None:
    t = np.array([0, 1, 1, NAN, NAN, 5, 9, 8])
    assert (rules.sharpest(rules.step_sizes, t), rules.guarded(rules.step_sizes, t)) == (3, 6)
    assert rules.guarded_sign_change(np.array([0, 1, NAN, 3, 2])) == 3


def test_nothing_but_nan_has_no_layer() -> None:
    t = np.full(4, NAN)
    for sizes in (rules.gradient_sizes, rules.step_sizes, rules.bend_sizes):
        assert rules.guarded(sizes, t) is None
    assert rules.guarded_sign_change(t) is None


@pytest.mark.parametrize("seed", range(5))
def test_least_absolute_deviations_against_all_lines_through_as_many_rows(seed: int) -> None:
    stream = np.random.default_rng(seed)
    x, y = stream.normal(size=(9, 3)), stream.normal(size=9)
    chosen = [list(rows) for rows in combinations(range(9), 3)]
    through = [np.linalg.solve(x[rows], y[rows]) for rows in chosen]
    best = min(through, key=lambda c: np.sum(np.abs(x @ c - y)))
    assert rules.least_absolute_deviations(x, y) == pytest.approx(best, rel=1e-9)


def test_critical_layer_iv() -> None:
    with pytest.raises(LayerwiseError, match="at least 2 layers, found 1"):
        rules.step_sizes(np.ones(1))
    with pytest.raises(LayerwiseError, match="at least 2 layers, found 0"):
        rules.gradient_sizes(np.ones(0))
    with pytest.raises(LayerwiseError, match="at least 3 layers, found 2"):
        rules.bend_sizes(np.ones(2))
    with pytest.raises(LayerwiseError, match=r"as many independent rows as coefficients \(3\)"):
        rules.least_absolute_deviations(np.ones((4, 3)), np.arange(4.0))
