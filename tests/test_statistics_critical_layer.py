"""Rules for L*, against loops written as the notebooks describe them, and with NaN."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from layerwise.errors import LayerwiseError
from layerwise.statistics import critical_layer as rules

NAN = float("nan")
SIZES = (rules.gradient_sizes, rules.step_sizes, rules.bend_sizes)
series = st.lists(st.sampled_from([*map(float, range(-4, 5)), NAN]), min_size=3, max_size=12)


def looped_sign_change(t: np.ndarray) -> tuple[int, str]:
    """The rule of the sign-change run, one layer at a time; NaN compares false."""
    n = len(t)
    if n < 3:
        return n // 2, "fallback"
    steps = [t[i + 1] - t[i] for i in range(n - 1)]
    for i in range(n - 2):
        if steps[i] > 0 and steps[i + 1] < 0:
            return i + 1, "sign_change"
    nan = [i for i in range(n) if np.isnan(t[i])]
    peak = nan[0] if nan else max(range(n), key=lambda i: t[i])  # the first NaN wins the argmax
    if 0 < peak < n - 1:
        return peak, "peak"
    last = None
    for i, step in enumerate(steps):
        if not nan and abs(step) >= 0.5 * max(abs(s) for s in steps):
            last = i
    return (n // 2, "fallback") if last is None else (last + 1, "gradient_drop")


@given(st.one_of(series, st.just([1.0, 2.0])).map(np.array))
@example(np.array([0, 2, 1, 5, 0]))  # the first turn, not the highest
@example(np.array([0, 1, 1, 0, 0]))  # a plateau is no strict change: the peak
@example(np.array([0, 1, 9, 10, 11]))  # the last large step
def test_sign_change_against_a_loop(t: np.ndarray) -> None:
    found = rules.sign_change(t.astype(float))
    assert (found.layer, found.rule) == looped_sign_change(t)


@given(series.map(np.array))
def test_a_nan_wins_where_nothing_guards_against_it(t: np.ndarray) -> None:
    for sizes in SIZES:
        of = sizes(t)
        numbers = [layer for layer in range(len(t)) if np.isfinite(of[layer])]
        guarded = max(numbers, key=lambda layer: of[layer], default=None)
        assert rules.guarded(sizes, t) == guarded
        nan = np.flatnonzero(np.isnan(of)).tolist()
        assert rules.sharpest(sizes, t) == (nan[0] if nan else guarded)


def test_a_guarded_sign_change_is_that_of_the_numbers() -> None:
    for t, layer in ([0, 1, NAN, 3, 2], 3), ([0, 1, 3, 2, 4], 2), ([NAN] * 4, None):
        assert rules.guarded_sign_change(np.array(t, dtype=float)) == layer


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
