"""Anisotropy of token states."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layerwise.errors import LayerwiseError
from layerwise.measures.anisotropy import anisotropy

NAMES = (
    "eigenvalue_variance",
    "first_pc_share",
    "effective_rank",
    "mean_cosine_to_mean",
    "var_top10",
    "var_top50",
)


def tokens(n=40, hidden=96, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, hidden)) * np.geomspace(9, 0.01, hidden) + rng.normal(size=hidden)


def naive(states):
    """From the full covariance, in the dtype of the states."""
    covariance = np.cov(states, rowvar=False, dtype=states.dtype)
    spectrum = np.maximum(np.linalg.eigvalsh(covariance)[::-1], 1e-10)
    share = spectrum / spectrum.sum()
    mean = states.mean(axis=0)
    cosines = [x @ mean / (np.linalg.norm(x) * np.linalg.norm(mean) + 1e-10) for x in states]
    return {
        "eigenvalue_variance": np.var(spectrum),
        "first_pc_share": share[0],
        "effective_rank": np.exp(-sum(p * np.log(p + 1e-10) for p in share)),
        "mean_cosine_to_mean": np.mean(cosines),
        "var_top10": share[:10].sum(),
        "var_top50": share[:50].sum(),
        "eigenvalues": spectrum[:100],
    }


@pytest.mark.parametrize("shape", [(2, 96), (40, 96), (200, 30), (96, 96)])
def test_anisotropy_against_float64_covariance(shape):
    states = tokens(*shape)
    found, expected = anisotropy(states), naive(states)
    for name in NAMES:
        assert getattr(found, name) == pytest.approx(expected[name], rel=1e-12), name
    np.testing.assert_allclose(found.eigenvalues, expected["eigenvalues"], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shape", [(40, 96), (200, 30)])
def test_anisotropy_against_float32_covariance(shape):
    states = tokens(*shape).astype(np.float32)
    found, expected = anisotropy(states), naive(states)
    for name in NAMES:
        assert getattr(found, name) == pytest.approx(float(expected[name]), rel=1e-4), name


def test_zero_eigenvalues_are_clamped_and_counted():
    """Two tokens 2 apart in 4 dimensions: eigenvalues 2, and three times 1e-10."""
    found = anisotropy(np.array([[1.0, 0, 0, 0], [-1.0, 0, 0, 0]]))
    assert found.eigenvalues.tolist() == pytest.approx([2, 1e-10, 1e-10, 1e-10])
    assert found.eigenvalue_variance == pytest.approx(np.var([2, 0, 0, 0]))
    assert found.mean_cosine_to_mean == 0  # the mean vanishes


def test_isotropic_and_one_directional_limits():
    flat = anisotropy(np.vstack([np.eye(8), -np.eye(8)]))
    assert flat.effective_rank == pytest.approx(8)
    assert flat.first_pc_share == pytest.approx(1 / 8)
    line = anisotropy(np.outer(np.arange(1.0, 9.0), np.ones(8)))
    assert line.first_pc_share == pytest.approx(1)
    assert line.effective_rank == pytest.approx(1)
    assert line.mean_cosine_to_mean == pytest.approx(1)


@given(st.integers(0, 10**6))
def test_rotation_does_not_matter(seed):
    states = tokens(12, 20, seed)
    rotation, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(20, 20)))
    before, after = anisotropy(states), anisotropy(states @ rotation)
    for name in NAMES:
        assert getattr(after, name) == pytest.approx(getattr(before, name), rel=1e-9), name


def test_scale_moves_only_the_variance():
    before, after = anisotropy(tokens()), anisotropy(3 * tokens())
    assert after.eigenvalue_variance == pytest.approx(81 * before.eigenvalue_variance)
    assert after.first_pc_share == pytest.approx(before.first_pc_share)
    assert after.mean_cosine_to_mean == pytest.approx(before.mean_cosine_to_mean)


def test_anisotropy_iv():
    with pytest.raises(LayerwiseError, match="at least two tokens, found 1; add prompts"):
        anisotropy(np.ones((1, 4)))
    with pytest.raises(LayerwiseError, match=r"must be finite.*try dtype float32"):
        anisotropy(np.array([[1.0, np.inf], [0, 1]]))
