"""Mean pairwise cosine against every pair by itself, and what must not change it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layerwise.measures import uniformity
from layerwise.measures.uniformity import mean_pairwise_cosine_by_group


def mean_cosine(states):
    """Of all rows together."""
    return mean_pairwise_cosine_by_group(states, np.zeros(len(states), int), 1)[0]


def naive(states):
    """Every pair of rows by itself."""
    units = [u / np.linalg.norm(u) for u in states.astype(float)]
    return np.mean([units[i] @ units[j] for i in range(len(units)) for j in range(i)])


def rows(seed, n=7, hidden=5):
    return np.random.default_rng(seed).normal(size=(n, hidden)) + 0.5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_by_group_against_naive(dtype):
    states, labels = rows(3, 12).astype(dtype), np.array([2, 0, 0, 2, 2, 0, 4, 1, 1, 4, 4, 4])
    found = mean_pairwise_cosine_by_group(states, labels, 6)
    expected = [naive(states[labels == group]) for group in (0, 1, 2, 4)]
    np.testing.assert_allclose(found[[0, 1, 2, 4]], expected, atol=1e-9)
    assert np.isnan(found[[3, 5]]).all()
    assert np.isnan(mean_cosine(states[:1]))


def test_identical_and_opposite_rows():
    row = rows(0, 1)
    assert mean_cosine(np.repeat(row, 4, axis=0)) == pytest.approx(1, abs=1e-9)
    assert mean_cosine(np.vstack([row, -row])) == pytest.approx(-1, abs=1e-9)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 1e4))
def test_rotation_scale_and_order_do_not_matter(seed, scale):
    states = rows(seed)
    rng = np.random.default_rng(seed)
    rotation, _ = np.linalg.qr(rng.normal(size=(5, 5)))
    expected = mean_cosine(states)
    assert mean_cosine(states @ rotation) == pytest.approx(expected, abs=1e-7)
    assert mean_cosine(states * scale) == pytest.approx(expected, abs=1e-6)
    assert mean_cosine(rng.permutation(states)) == pytest.approx(expected, abs=1e-12)


def test_the_offset_of_norms_is_the_published_one():
    tiny = np.full((2, 1), 1e-10)  # |u| = 1e-10 / (1e-10 + 1e-10) = 1/2
    assert mean_cosine(tiny) == pytest.approx(0.25)


@settings(deadline=None)
@given(st.integers(1, 12), st.integers(1, 15))
def test_blocks_do_not_change_the_answer(n, block):
    states, labels = rows(4, n), np.arange(n) * 7 % 4
    whole = mean_pairwise_cosine_by_group(states, labels, 5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uniformity, "BLOCK", block)
        found = mean_pairwise_cosine_by_group(states, labels, 5)
    np.testing.assert_allclose(found, whole, rtol=1e-12)
