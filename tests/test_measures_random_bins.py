"""UA in random bins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layerwise.measures import random_bins, uniformity
from layerwise.measures.random_bins import bin_mean, binner
from layerwise.measures.uniformity import mean_pairwise_cosine_by_group


def sides(n=23, hidden=64, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return tuple((rng.normal(size=(n, hidden)) + 0.3).astype(dtype) for _ in range(2))


def labels(n, k, perms=6, seed=1):
    return np.random.default_rng(seed).integers(0, k, size=(perms, n))


def naive(side_a, side_b, binnings, k):
    """One binning after the other."""
    return np.array(
        [
            mean_pairwise_cosine_by_group(side_a, row, k)
            - mean_pairwise_cosine_by_group(side_b, row, k)
            for row in binnings
        ]
    )


def float32_loop(side_a, side_b, row, k):
    """UA per bin with a Gram matrix in float32, for one binning."""
    found = np.full(k, np.nan)
    for number in range(k):
        member = row == number
        if member.sum() < 2:
            continue
        per_side = []
        for side in (side_a[member], side_b[member]):
            unit = side / (np.linalg.norm(side, axis=1, keepdims=True) + 1e-10)
            per_side.append(float(np.mean((unit @ unit.T)[np.triu_indices(len(unit), 1)])))
        found[number] = per_side[0] - per_side[1]
    return found


@pytest.mark.parametrize("k", [3, 10, 30])
@pytest.mark.parametrize("hidden", [4, 64], ids=["segments", "kernel"])
def test_bin_asymmetry_against_naive(hidden, k):
    a, b = sides(hidden=hidden)
    binnings = labels(23, k)
    np.testing.assert_allclose(
        binner(a, b)(binnings, k), naive(a, b, binnings, k), atol=1e-12, rtol=0
    )


def test_r_against_float32_loop():
    a, b = sides(n=120, hidden=512, dtype=np.float32)
    preferences = np.random.default_rng(5).normal(size=120)
    binnings = labels(120, 15, perms=4)
    found = binner(a, b)(binnings, 15)
    means = bin_mean(preferences, binnings, 15)
    for perm, row in enumerate(binnings):
        kept = np.isfinite(means[perm])
        expected = np.corrcoef(float32_loop(a, b, row, 15)[kept], means[perm, kept])[0, 1]
        assert np.corrcoef(found[perm, kept], means[perm, kept])[0, 1] == pytest.approx(
            expected, abs=1e-5
        )


@settings(deadline=None, max_examples=30)
@given(st.sampled_from([4, 64]), st.integers(1, 30), st.integers(1, 300))
def test_blocks_do_not_change_the_answer(hidden, block, numbers):
    a, b = sides(hidden=hidden, dtype=np.float32)
    values, binnings = np.arange(23.0) ** 2, labels(23, 5, perms=9)
    whole, means = binner(a, b)(binnings, 5), bin_mean(values, binnings, 5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uniformity, "BLOCK", block)
        patch.setattr(random_bins, "AT_A_TIME", numbers)
        np.testing.assert_allclose(binner(a, b)(binnings, 5), whole, atol=1e-12)
        np.testing.assert_array_equal(bin_mean(values, binnings, 5), means)


@pytest.mark.parametrize("hidden", [4, 64], ids=["segments", "kernel"])
def test_swapping_sides_flips_the_sign(hidden):
    a, b = sides(hidden=hidden)
    binnings = labels(23, 5)
    np.testing.assert_allclose(binner(a, b)(binnings, 5), -binner(b, a)(binnings, 5), atol=1e-14)


def test_bins_of_under_two_pairs_degenerate():
    a, b = sides(n=4)
    binnings = np.array([[0, 0, 2, 1], [3, 3, 3, 3]])
    expected = [[True, False, False, False], [False, False, False, True]]
    assert np.isfinite(binner(a, b)(binnings, 4)).tolist() == expected
    assert np.isfinite(bin_mean(np.arange(4.0), binnings, 4)).tolist() == expected


def test_bin_mean_against_naive():
    values, binnings = np.random.default_rng(0).normal(size=40), labels(40, 6)
    found = bin_mean(values, binnings, 6)
    for perm, row in enumerate(binnings):
        for number in range(6):
            assert found[perm, number] == pytest.approx(values[row == number].mean(), abs=1e-14)
