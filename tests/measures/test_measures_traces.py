"""Measures of traces: attention, next-token entropies, sheaf and gains, by definition and theory.

What a model's own maps and logits give is held against torch in the tests of the experiments.
"""

import math

import numpy as np
import pytest
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from layerwise.errors import LayerwiseError
from layerwise.measures import entropy as e
from layerwise.measures import residual_gain as g
from layerwise.measures import sheaf
from layerwise.measures.traces import Trace
from layerwise.papers.experiments.gains import gains_over_texts

TINY = 1e-10


def causal(n: int, heads: int, seed: int = 0) -> np.ndarray:
    """Softmax maps in float32."""
    scores = np.random.default_rng(seed).normal(size=(heads, n, n))
    scores[:, *np.triu_indices(n, 1)] = -np.inf
    return torch.softmax(torch.from_numpy(scores).float(), -1).numpy()


# --- logits ---------------------------------------------------------------------------------------


def test_entropies_at_their_limits() -> None:
    flat, sure = np.full(64, 2.5, np.float32), np.array([0, 2000, 0, 0], np.float32)
    for of in (e.half_entropy, e.clipped_entropy):
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
few = settings(max_examples=25)


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


def test_what_the_scripts_take_of_long_texts_and_wide_weights() -> None:
    assert [len(sheaf.evenly_chosen(n, 6)) for n in (5, 6, 17)] == [5, 6, 6]
    one = sheaf.smallest_products(np.arange(-2.0, 6.0), np.arange(1.0, 8.0))  # of the five smallest
    assert (one.lambda_1, one.lambda_2, one.trace) == (-10, -8, 12 * 28)


# --- gains ----------------------------------------------------------------------------------------


def synthetic(
    norms: list[float], before_norm: float = 5.0, tokens: int = 3, dtype: str = "float32"
) -> Trace:
    """States whose tokens all have the given norm, in a direction of their own."""
    rng = np.random.default_rng(0)

    def states(norm: float) -> np.ndarray:
        direction = rng.normal(size=(tokens, 8))
        direction *= norm / np.linalg.norm(direction, axis=1, keepdims=True)
        return direction.astype(np.float32)

    return Trace(
        dtype=dtype,
        tokens=np.arange(tokens),
        embedding=states(0.5),
        states=tuple(map(states, norms)),
        before_norm=states(before_norm),
        logits=np.zeros(4, dtype=np.float32),
    )


def test_definitions_on_known_norms() -> None:
    # layers 0..4: 1, 2, 4, 3, then 9 behind and 5 before the final norm
    found = synthetic([1, 2, 4, 3, 9])
    np.testing.assert_allclose(g.layer_gains(found), [2, 2, 3 / 4, 3], rtol=1e-6)
    assert g.gain_definitions(found) == pytest.approx(
        {
            "penultimate": 3 / 4,
            "final_norm": 3,
            "last_block": 5 / 3,
            "last_block_rounded": 5 / 3,
            "sequence": 5 / 3,
            "sequence_final_norm": 3,
            "token": 5 / 3,
            "token_final_norm": 3,
            "total_amplification": 5 / 2,
        }
    )


def test_a_zero_block_gives_one() -> None:
    found = synthetic([1, 0, 0, 9])
    assert g.last_block_gain(found) == 1
    assert g.layer_gains(found)[2] == pytest.approx(9e10)


def test_overflow_of_a_float16_norm_is_what_the_notebook_had() -> None:
    found = synthetic([1, 2, 30000, 9], before_norm=70000, dtype="float16")
    assert g.last_block_gain(found) == np.inf
    assert g.last_block_gain(found, "float32") == pytest.approx(7 / 3)
    _, definitions = gains_over_texts([found])  # it alone is left out, not all results
    assert definitions.keys() == g.gain_definitions(found).keys() - {
        g.GainReading.LAST_BLOCK_ROUNDED
    }
    _, definitions = gains_over_texts([synthetic([1, 2, 3, 9], before_norm=7, dtype="float16")])
    assert g.GainReading.LAST_BLOCK_ROUNDED in definitions


# --- the dtype of a norm --------------------------------------------------------------------------

EVERY = arrays(np.uint32, st.integers(0, 20), elements=st.integers(0, 2**32 - 1))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@given(bits=EVERY)
def test_rounding_of_every_bit_pattern_against_torch(dtype: str, bits: np.ndarray) -> None:
    """And of ties, of what overflows, and of signed NaN."""
    special = np.float32([1 + 2**-8, 1 + 3 * 2**-8, 65519, 65520, 3.4e38, np.inf, np.nan, -np.nan])
    for found in (bits.view(np.float32), special, -special):
        expected = torch.from_numpy(found).to(getattr(torch, dtype)).float().numpy()
        np.testing.assert_array_equal(g.round_to(found, dtype), expected)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: sheaf.graph_laplacian(np.ones((1, 1), np.float32)),
            "at least two tokens, found 1; use more text",
        ),
        (
            lambda: g.round_to(np.zeros(1, dtype=np.float32), "int8"),
            "must be float32, float16 or bfloat16, found 'int8'",
        ),
        *(
            (lambda of=of: of(synthetic([1, 2])), "compares two blocks, the model has 1")
            for of in (g.layer_gains, g.last_block_gain, g.gain_definitions)
        ),
    ],
)
def test_traces_refused(call, said) -> None:
    with pytest.raises(LayerwiseError, match=said):
        call()
