"""Resamples of several series at once: what counts as constant, how few still give an interval."""

import numpy as np
import pytest

from layerwise.errors import LayerwiseError
from layerwise.statistics.joint_bootstrap import ends, resampled_correlations

# Decimals that no float64 holds: the sums of a constant resample miss zero by rounding.
REPEATING = np.array([0.1, 0.1, 0.1, 0.7, 0.7, 1.3])
VARYING = np.array([0.3, 0.9, 0.2, 1.7, 0.6, 1.1])


def resampled(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    units = np.arange(len(x))
    return resampled_correlations(x[None], y, units, np.random.RandomState(3), 4000)[:, 0]


def constant(values: np.ndarray) -> list[bool]:
    stream, n = np.random.RandomState(3), len(values)
    return [len(set(values[stream.randint(0, n, n)])) == 1 for _ in range(4000)]


def test_a_resample_has_no_r_where_either_side_repeats_one_value() -> None:
    assert constant(VARYING) != constant(REPEATING)  # it mostly varies on the other side
    assert sum(constant(REPEATING)) > 20
    assert np.isnan(resampled(REPEATING, VARYING)).tolist() == constant(REPEATING)
    assert np.isnan(resampled(VARYING, REPEATING)).tolist() == constant(REPEATING)


def test_a_side_that_varies_little_has_an_r() -> None:
    """A hundred-thousandth of its largest deviation is variation, not rounding."""
    x = np.array([0.1, 0.1 + 1e-5, 0.1 - 1e-5, 0.1 + 2e-5, 0.1 - 2e-5, 1.1])
    for have in (resampled(x, VARYING), resampled(VARYING, x)):
        assert np.isnan(have).tolist() == constant(x)


def test_an_interval_needs_a_hundred_resamples() -> None:
    values = np.concatenate([np.linspace(-1, 1, 100), [np.nan, np.nan]])
    assert ends(values, 0.5) == pytest.approx((-0.5, 0.5))
    with pytest.raises(LayerwiseError, match="at least 100 usable resamples, found 99 of 101"):
        ends(values[1:], 0.5)
