"""Traces and spectra of the attention sheaf, against a Laplacian built block by block."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layerwise.errors import LayerwiseError
from layerwise.measures import sheaf

TINY = 1e-10


def attention(n: int, heads: int, seed: int = 0) -> np.ndarray:
    """Causal softmax maps in float32."""
    scores = np.random.default_rng(seed).normal(size=(heads, n, n))
    scores = np.where(np.tril(np.ones((n, n), dtype=bool)), scores, -np.inf)
    weights = np.exp(scores)
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)


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


def multihead(maps: np.ndarray, w: np.ndarray) -> float:
    return float(sheaf.traces(sheaf.off_diagonal_mass(maps), sheaf.squared_norms(w))["multihead"])


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 6), st.integers(1, 3), st.integers(1, 4), st.integers(0, 1000))
def test_traces_against_a_laplacian_built_block_by_block(
    n: int, heads: int, size: int, seed: int
) -> None:
    maps, w = attention(n, heads, seed), values(heads, size, 5, seed + 1)
    masses, norms = sheaf.off_diagonal_mass(maps), sheaf.squared_norms(w)
    traces = [np.trace(block_by_block(a, v, 0.0)) for a, v in zip(maps, w, strict=True)]
    mean = maps.astype(np.float64).mean(axis=0)
    first = np.trace(block_by_block(mean, w[0], 0.0))
    whole = np.trace(block_by_block(mean, w.reshape(heads * size, 5), 0.0))
    expected = {"full": first, "multihead": sum(traces), "mean_map": whole}
    assert sheaf.traces(masses, norms) == pytest.approx(expected, rel=1e-12)


def test_several_layers_at_once() -> None:
    maps = [attention(5, 3, seed) for seed in range(4)]
    w = [values(3, 2, 6, seed) for seed in range(4)]
    masses = np.stack([sheaf.off_diagonal_mass(a) for a in maps])
    norms = np.stack([sheaf.squared_norms(v) for v in w])
    each = [sheaf.traces(mass, norm) for mass, norm in zip(masses, norms, strict=True)]
    for name, found in sheaf.traces(masses, norms).items():
        np.testing.assert_allclose(found, [one[name] for one in each], rtol=1e-14)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 1000))
def test_equation_4_is_zero_where_the_coded_trace_is_not(n: int, heads: int, seed: int) -> None:
    maps, w = attention(n, heads, seed), values(heads, 4, 6, seed)
    norms = sheaf.squared_norms(w)
    printed = sheaf.traces(sheaf.excess_mass(maps), norms)["mean_map"]
    assert abs(printed) < 1e-6 * n * norms.sum()
    assert multihead(maps, w) > (0.01 * norms.min() if n > 1 else -1)


def test_equation_4_is_the_excess_of_the_rows() -> None:
    maps = attention(6, 2)
    maps[0, 3, 1] += 0.25
    norms = sheaf.squared_norms(values(2, 3, 5))
    printed = sheaf.traces(sheaf.excess_mass(maps), norms)["mean_map"]
    assert printed == pytest.approx(0.125 * norms.sum(), rel=1e-5)


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(4)), st.floats(0.01, 50.0), st.integers(0, 100))
def test_order_of_heads_and_scale_of_weights(order: list[int], scale: float, seed: int) -> None:
    maps, w = attention(5, 4, seed), values(4, 2, 6, seed)
    trace = multihead(maps, w)
    assert multihead(maps[order], w[order]) == pytest.approx(trace, rel=1e-12)
    scaled = (np.float32(scale) * w).astype(np.float32)
    assert multihead(maps, scaled) == pytest.approx(np.float64(scale) ** 2 * trace, rel=1e-5)


def test_attention_to_oneself_alone_has_no_trace() -> None:
    maps = np.tile(np.eye(4, dtype=np.float32), (2, 1, 1))
    assert multihead(maps, values(2, 3, 5)) == 0


def test_attention_to_the_first_token_alone_counts_evenly_chosen_token() -> None:
    maps = np.zeros((1, 5, 5), np.float32)
    maps[:, :, 0] = 1
    w = values(1, 3, 5)
    assert multihead(maps, w) == pytest.approx(4 * np.sum(w.astype(np.float64) ** 2))


def test_nan_of_one_head_is_nan_of_the_sum() -> None:
    maps = attention(4, 3)
    maps[1, 2, 0] = np.nan
    masses, norms = sheaf.off_diagonal_mass(maps), sheaf.squared_norms(values(3, 2, 4))
    assert np.isnan(masses).tolist() == [False, True, False]
    assert all(map(np.isnan, sheaf.traces(masses, norms).values()))


def test_kept_tokens_against_linspace() -> None:
    assert sheaf.evenly_chosen(5, 6) == [0, 1, 2, 3, 4]
    assert sheaf.evenly_chosen(6, 6) == [0, 1, 2, 3, 4, 5]
    assert sheaf.evenly_chosen(8, 6) == [0, 1, 2, 4, 5, 7]
    assert sheaf.evenly_chosen(17, 8) == [0, 2, 4, 6, 9, 11, 13, 16]


@pytest.mark.parametrize(("n", "width"), [(2, 3), (4, 3), (6, 5)])
def test_token_factor_against_a_laplacian_built_block_by_block(n: int, width: int) -> None:
    a, w = attention(n, 1)[0], values(1, width, width)[0]
    dense = block_by_block(a, w, TINY)
    gram = sheaf.corner_gram(w, width)
    np.testing.assert_allclose(np.kron(sheaf.token_laplacian(a), gram), dense, atol=1e-12)
    expected = np.linalg.eigvalsh(dense + TINY * np.eye(len(dense)))
    one = sheaf.laplacian_spectrum(a, w)
    assert one.trace == pytest.approx(np.trace(dense), rel=1e-12)
    assert [one.lambda_1, one.lambda_2] == pytest.approx(expected[:2], abs=1e-13)
    assert one.gap == one.lambda_2 - one.lambda_1


def test_nan_attention_gives_the_published_words() -> None:
    a = attention(4, 1)[0]
    a[2, 1] = np.nan
    w = values(1, 3, 3)[0]
    dense = sheaf.laplacian_spectrum(a, w)
    assert dense.lambda_1 == 0
    assert np.isnan([dense.lambda_2, dense.gap, dense.trace]).all()
    graph = sheaf.ascending(sheaf.graph_laplacian(a))
    assert np.isnan(graph).all()
    assert np.isnan(sheaf.smallest_products(graph, np.ones(3)).gap)


def test_graph_laplacian_against_what_an_eigen_solver_reads() -> None:
    a = attention(7, 2).mean(axis=0)
    whole = np.diag(a.sum(axis=1).astype(np.float64)) - a
    expected = np.linalg.eigvalsh(whole, UPLO="L")
    np.testing.assert_allclose(np.linalg.eigvalsh(sheaf.graph_laplacian(a)), expected, atol=1e-6)
    np.testing.assert_allclose(
        sheaf.ascending(sheaf.graph_laplacian(a)), expected + TINY, atol=1e-6
    )
    both = sheaf.graph_laplacian(np.random.default_rng(0).uniform(size=(4, 4)))
    np.testing.assert_array_equal(both, both.T)


def test_corner_of_the_whole_gram_matrix() -> None:
    w = values(1, 4, 9)[0]
    whole = w.astype(np.float64).T @ w
    np.testing.assert_allclose(sheaf.corner_gram(w, 6), whole[:6, :6], atol=1e-6)
    assert sheaf.corner_gram(w, 50).shape == (9, 9)


def test_smallest_products_against_a_loop() -> None:
    graph, gram = np.arange(-2.0, 6.0), np.arange(1.0, 8.0)
    products = sorted(g * w for g in graph[:5] for w in gram[:5])
    one = sheaf.smallest_products(graph, gram)
    assert (one.lambda_1, one.lambda_2) == (products[0], products[1]) == (-10.0, -8.0)
    assert one.trace == graph.sum() * gram.sum()


def test_products_are_those_of_the_kronecker_product() -> None:
    """With at most five eigenvalues either way nothing is left out."""
    graph, gram = (
        sheaf.graph_laplacian(attention(4, 1)[0]),
        sheaf.corner_gram(values(1, 3, 3)[0], 3),
    )
    expected = np.linalg.eigvalsh(np.kron(graph, gram))
    one = sheaf.smallest_products(np.linalg.eigvalsh(graph), np.linalg.eigvalsh(gram))
    assert [one.lambda_1, one.lambda_2] == pytest.approx(expected[:2], abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 7), st.integers(0, 1000))
def test_contraction_against_operator_norms_of_each_map(n: int, seed: int) -> None:
    a, w = attention(n, 1, seed)[0], values(1, 4, 6, seed)[0].astype(np.float64)
    norms = [
        np.linalg.norm(np.sqrt(a[i, j] + TINY) * w, ord=2)
        for i, j in np.ndindex(n, n)
        if a[i, j] > 1e-8
    ]
    ratio = sheaf.contraction_ratio(a)
    assert ratio == pytest.approx(np.mean(norms) / np.linalg.norm(w, ord=2), rel=1e-6)
    assert ratio <= 1 + 1e-6


def test_contraction_where_no_pair_attends() -> None:
    a = np.full((4, 4), 1e-9, np.float32)
    a[0, 0] = 5e-9
    expected = (np.sqrt(5.1e-9) + 9 * np.sqrt(1.1e-9)) / 10  # the ten largest
    assert sheaf.contraction_ratio(a) == pytest.approx(expected, rel=1e-6)
    assert np.isnan(sheaf.contraction_ratio(np.full((4, 4), np.nan, np.float32)))


def test_a_nan_pair_is_left_out_while_another_attends() -> None:
    a = attention(3, 1)[0]
    two = sheaf.contraction_ratio(a[:2, :2])
    a[2] = np.nan
    assert sheaf.contraction_ratio(a) == two


def test_a_single_token_has_no_graph() -> None:
    with pytest.raises(LayerwiseError, match="at least two tokens, found 1; use more text"):
        sheaf.graph_laplacian(np.ones((1, 1), np.float32))
