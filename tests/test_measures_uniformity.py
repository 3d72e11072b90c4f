"""Mean pairwise cosine and its asymmetry."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layerwise.errors import LayerwiseError
from layerwise.measures import uniformity
from layerwise.measures.uniformity import (
    mean_pairwise_cosine,
    mean_pairwise_cosine_by_group,
    uniformity_asymmetry,
)


def naive(states):
    """Every pair of rows by itself."""
    total, n = 0.0, len(states)
    for i in range(n):
        for j in range(i):
            u, v = states[i].astype(float), states[j].astype(float)
            total += u @ v / (np.linalg.norm(u) * np.linalg.norm(v))
    return total / (n * (n - 1) / 2)


def rows(seed, n=7, hidden=5):
    return np.random.default_rng(seed).normal(size=(n, hidden)) + 0.5


@pytest.mark.parametrize("n", [2, 3, 30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mean_pairwise_cosine_against_naive(n, dtype):
    states = rows(n, n, 40).astype(dtype)
    assert mean_pairwise_cosine(states) == pytest.approx(naive(states), abs=1e-9)


def test_by_group_against_naive():
    states, labels = rows(3, 12), np.array([2, 0, 0, 2, 2, 0, 4, 1, 1, 4, 4, 4])
    found = mean_pairwise_cosine_by_group(states, labels, 5)
    for group in (0, 1, 2, 4):
        assert found[group] == pytest.approx(naive(states[labels == group]), abs=1e-9)


def test_by_group_degenerate():
    found = mean_pairwise_cosine_by_group(rows(0, 3), np.array([0, 0, 1]), 3)
    assert np.isnan(found).tolist() == [False, True, True]


def test_identical_and_opposite_rows():
    row = rows(0, 1)
    assert mean_pairwise_cosine(np.repeat(row, 4, axis=0)) == pytest.approx(1, abs=1e-9)
    assert mean_pairwise_cosine(np.vstack([row, -row])) == pytest.approx(-1, abs=1e-9)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 1e4))
def test_rotation_scale_and_order_do_not_matter(seed, scale):
    states = rows(seed)
    rng = np.random.default_rng(seed)
    rotation, _ = np.linalg.qr(rng.normal(size=(5, 5)))
    expected = mean_pairwise_cosine(states)
    assert mean_pairwise_cosine(states @ rotation) == pytest.approx(expected, abs=1e-7)
    assert mean_pairwise_cosine(states * scale) == pytest.approx(expected, abs=1e-6)
    assert mean_pairwise_cosine(rng.permutation(states)) == pytest.approx(expected, abs=1e-12)


def test_the_offset_of_norms_is_the_published_one():
    tiny = np.full((2, 1), 1e-10)  # |u| = 1e-10 / (1e-10 + 1e-10) = 1/2
    assert mean_pairwise_cosine(tiny) == pytest.approx(0.25)


@settings(deadline=None)
@given(st.integers(0, 10**6))
def test_swapping_sides_flips_the_asymmetry(seed):
    side_a, side_b = rows(seed), rows(seed + 1)
    assert uniformity_asymmetry(side_a, side_b) == -uniformity_asymmetry(side_b, side_a)
    assert uniformity_asymmetry(side_a, side_a) == 0


def test_one_row_iv():
    with pytest.raises(LayerwiseError, match="at least two vectors, found 1; add statements"):
        mean_pairwise_cosine(rows(0, 1))


@settings(deadline=None)
@given(st.integers(1, 12), st.integers(1, 15))
def test_blocks_do_not_change_the_answer(n, block):
    states, labels = rows(4, n), np.arange(n) * 7 % 4
    whole = mean_pairwise_cosine_by_group(states, labels, 5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uniformity, "BLOCK", block)
        found = mean_pairwise_cosine_by_group(states, labels, 5)
    np.testing.assert_allclose(found, whole, rtol=1e-12)
