"""Attention maps, next-token entropies and the attention sheaf, by definition and at their limits.

What a model's own maps and logits give is held against torch in the tests of the experiments.
"""

import math

import numpy as np
import pytest
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from layerwise.errors import LayerwiseError
from layerwise.measures import entropy as e
from layerwise.measures import sheaf

TINY = 1e-10


def causal(n: int, heads: int, seed: int = 0) -> np.ndarray:
    """Softmax maps in float32."""
    scores = np.random.default_rng(seed).normal(size=(heads, n, n))
    scores[:, *np.triu_indices(n, 1)] = -np.inf
    return torch.softmax(torch.from_numpy(scores).float(), -1).numpy()


# --- logits ---------------------------------------------------------------------------------------


def test_entropies_at_their_limits() -> None:
    flat, sure = np.full(64, 2.5, np.float32), np.array([0, 2000, 0, 0], np.float32)
    for of in (e.half_entropy, e.clipped_entropy, e.shifted_entropy):
        assert of(flat) == pytest.approx(np.log(64), rel=1e-6)
        assert of(sure) == pytest.approx(0, abs=1e-8)
    assert e.clipped_entropy(sure) == pytest.approx(3e-10 * (1 - math.log(1e-10)), rel=1e-5)
    # eleven shares of float16 do not add up to 1: they are divided by what they do
    stored = scipy.stats.entropy(np.full(11, 1 / 11, np.float16))
    assert e.half_entropy(flat[:11]) == pytest.approx(stored, rel=1e-6)
    tail = np.zeros(40_000, np.float32)
    tail[0] = 30.0  # all others have p = 1e-13: gone in float16, clipped they weigh more
    assert e.half_entropy(tail) == 0 < scipy.stats.entropy(e.softmax(tail))


# --- the sheaf ------------------------------------------------------------------------------------


def values(heads: int, size: int, hidden: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(heads, size, hidden)).astype(np.float32)


def block_by_block(a: np.ndarray, w: np.ndarray, shift: float) -> np.ndarray:
    """The sheaf Laplacian from its restriction maps sqrt(a_ij + shift) w, one block at a time."""
    n, width = len(a), w.shape[1]
    a, w = a.astype(np.float64), w.astype(np.float64)
    found = np.zeros((n * width, n * width))
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            there, back = np.sqrt(a[i, j] + shift) * w, np.sqrt(a[j, i] + shift) * w
            rows, columns = slice(i * width, (i + 1) * width), slice(j * width, (j + 1) * width)
            found[rows, rows] += there.T @ there
            found[rows, columns] = -there.T @ back
    return found


sheaves = given(st.integers(1, 6), st.integers(1, 3), st.integers(1, 4), st.integers(0, 1000))
few = settings(max_examples=25, deadline=None)


@few
@sheaves
def test_equation_4_is_zero_where_the_coded_trace_is_not(
    n: int, heads: int, size: int, seed: int
) -> None:
    maps, norms = causal(n, heads, seed), sheaf.squared_norms(values(heads, size, 6, seed))
    assert abs(sheaf.traces(sheaf.excess_mass(maps), norms)["mean_map"]) < 1e-6 * n * norms.sum()
    coded = sheaf.traces(sheaf.off_diagonal_mass(maps), norms)["multihead"]
    assert coded > (0.01 * norms.min() if n > 1 else -1)
    maps[0, -1, 0] += 0.25  # what rounding adds to a row, equation 4 counts
    printed = sheaf.traces(sheaf.excess_mass(maps), norms)["mean_map"]
    assert printed == pytest.approx(0.25 / heads * norms.sum(), rel=1e-4)


def test_a_nan_stays_in_its_layer_and_head() -> None:
    maps = np.stack([causal(4, 3, seed) for seed in range(2)])
    norms = np.stack([sheaf.squared_norms(values(3, 2, 4, seed)) for seed in range(2)])
    whole = sheaf.traces(sheaf.off_diagonal_mass(maps), norms)
    maps[1, 1, 2, 0] = np.nan
    masses = sheaf.off_diagonal_mass(maps)
    assert np.argwhere(np.isnan(masses)).tolist() == [[1, 1]]
    for name, found in sheaf.traces(masses, norms).items():
        assert found[0] == whole[name][0]
        assert np.isnan(found[1])


@pytest.mark.parametrize(("n", "width"), [(2, 3), (4, 3), (6, 5)])
def test_token_factor_against_a_laplacian_built_block_by_block(n: int, width: int) -> None:
    a, w = causal(n, 1)[0], values(1, width, width)[0]
    dense = block_by_block(a, w, TINY)
    gram = sheaf.corner_gram(w, width)
    np.testing.assert_allclose(np.kron(sheaf.token_laplacian(a), gram), dense, atol=1e-12)
    expected = np.linalg.eigvalsh(dense + TINY * np.eye(len(dense)))
    one = sheaf.laplacian_spectrum(a, w)
    assert one.trace == pytest.approx(np.trace(dense), rel=1e-12)
    assert [one.lambda_1, one.lambda_2] == pytest.approx(expected[:2], abs=1e-13)
    assert one.gap == one.lambda_2 - one.lambda_1


def test_nan_attention_gives_the_published_words() -> None:
    a = causal(4, 1)[0]
    a[2, 1] = np.nan
    dense = sheaf.laplacian_spectrum(a, values(1, 3, 3)[0])
    assert dense.lambda_1 == 0
    assert np.isnan([dense.lambda_2, dense.gap, dense.trace]).all()
    graph = sheaf.ascending(sheaf.graph_laplacian(a))
    assert np.isnan(graph).all()
    assert np.isnan(sheaf.smallest_products(graph, np.ones(3)).gap)


def test_graph_laplacian_is_what_an_eigen_solver_reads_of_half_a_matrix() -> None:
    a = np.random.default_rng(0).uniform(size=(7, 7))  # as it stands, not symmetric
    expected = np.linalg.eigvalsh(np.diag(a.sum(axis=1)) - a, UPLO="L")
    found = sheaf.graph_laplacian(a)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(sheaf.ascending(found), expected + TINY)
    with pytest.raises(LayerwiseError, match="at least two tokens, found 1; use more text"):
        sheaf.graph_laplacian(np.ones((1, 1), np.float32))


def test_what_the_scripts_take_of_long_texts_and_wide_weights() -> None:
    assert [len(sheaf.evenly_chosen(n, 6)) for n in (5, 6, 17)] == [5, 6, 6]
    one = sheaf.smallest_products(np.arange(-2.0, 6.0), np.arange(1.0, 8.0))  # of the five smallest
    assert (one.lambda_1, one.lambda_2, one.trace) == (-10, -8, 12 * 28)


def test_contraction_where_no_pair_attends() -> None:
    a = np.full((4, 4), 1e-9, np.float32)
    a[0, 0] = 5e-9
    expected = (np.sqrt(5.1e-9) + 9 * np.sqrt(1.1e-9)) / 10  # the ten largest
    assert sheaf.contraction_ratio(a) == pytest.approx(expected, rel=1e-6)
    a[:] = np.nan
    assert np.isnan(sheaf.contraction_ratio(a))
    a[:2, :2] = causal(2, 1)[0]  # a NaN is left out while another pair attends
    assert sheaf.contraction_ratio(a) == sheaf.contraction_ratio(a[:2, :2])
