"""Norms and ranks of matrices, against the full decomposition and matrices of known spectrum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layerwise.errors import LayerwiseError
from layerwise.measures import spectral
from layerwise.measures.spectral import frobenius_norm, singular_values, spectral_norm, spectrum

SHAPES = [(1, 1), (1, 9), (7, 3), (64, 64), (65, 65), (200, 90), (90, 200), (128, 128)]


def effective_rank(matrix):
    return spectrum(matrix).effective_rank


def random_matrix(shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def of_spectrum(values, shape, seed=0):
    """A matrix with these singular values."""
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.standard_normal((n, len(values))))[0] for n in shape)
    return (left * values) @ right.T


def naive(matrix):
    """By the whole decomposition, as the notebook writes it."""
    s = np.linalg.svd(matrix.astype(np.float64), compute_uv=False)
    p = s / (s.sum() + 1e-10)
    return s[0], np.sqrt(np.sum(s**2)), np.exp(-np.sum(p * np.log(p + 1e-10)))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("size", "block"), [(1.0, 9), (1e-6, 7), (1e6, 99), (0.0, 9)])
def test_against_the_whole_decomposition(shape, size, block, monkeypatch):
    monkeypatch.setattr(spectral, "BLOCK", block)  # rows turned into float64 at a time
    matrix = random_matrix(shape) * np.float32(size)
    norm, frobenius, rank = naive(matrix)
    assert spectral_norm(matrix) == pytest.approx(norm, rel=1e-10)
    assert frobenius_norm(matrix) == pytest.approx(frobenius, rel=1e-12)
    assert effective_rank(matrix) == pytest.approx(rank, rel=1e-10)
    assert spectrum(matrix).frobenius_norm == frobenius_norm(matrix)
    assert spectrum(matrix).spectral_norm == pytest.approx(norm, rel=1e-10)
    np.testing.assert_allclose(
        singular_values(matrix), np.linalg.svd(matrix.astype(float))[1], rtol=1e-12
    )


@settings(max_examples=15)
@given(
    decay=st.floats(0.0, 12.0),
    close=st.floats(0.0, 1.0),
    n=st.integers(66, 90),
    more=st.integers(0, 40),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_spectrum_to_ten_digits(decay, close, n, more, seed):
    """From flat to falling over 12 decades, the two largest values as close as can be."""
    values = 10 ** -np.linspace(0, decay, n)
    values[1] = values[0] - close * 1e-7 * values[0]
    matrix = of_spectrum(values, (n, n + more), seed)
    assert spectral_norm(matrix) == pytest.approx(1.0, rel=1e-10)
    assert effective_rank(matrix) == pytest.approx(naive(matrix)[2], rel=1e-10)


def test_invariances():
    """Norms scale with the matrix, the rank does not; transposing and rotating change nothing."""
    matrix = random_matrix((100, 140), dtype=np.float64)
    turned = np.linalg.qr(random_matrix((100, 100), 3, np.float64))[0] @ matrix
    for one, other in ((matrix, matrix.T), (matrix, turned), (matrix, matrix[::-1])):
        assert spectral_norm(one) == pytest.approx(spectral_norm(other), rel=1e-12)
        assert effective_rank(one) == pytest.approx(effective_rank(other), rel=1e-10)
    assert spectral_norm(-2e150 * matrix) == pytest.approx(2e150 * spectral_norm(matrix), rel=1e-12)
    tiny = 1e-200 * matrix
    assert spectral_norm(tiny) == pytest.approx(1e-200 * spectral_norm(matrix), rel=1e-12)
    assert frobenius_norm(tiny) == pytest.approx(1e-200 * frobenius_norm(matrix), rel=1e-12)


def test_spectral_refused():
    for bad in (np.nan, np.inf, -np.inf):
        matrix = random_matrix((3, 4))
        matrix[1, 2] = bad
        for measure in (spectral_norm, frobenius_norm, spectrum, singular_values):
            with pytest.raises(LayerwiseError, match="needs finite entries, found a NaN or an"):
                measure(matrix)
    with pytest.raises(LayerwiseError, match=r"needs a matrix with entries, found .* \(0, 4\)"):
        spectral_norm(np.zeros((0, 4)))
