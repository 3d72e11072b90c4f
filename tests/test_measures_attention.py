"""Attention maps against naive loops and maps whose measures are known."""

import math

import numpy as np
import pytest
import torch

from layerwise.measures import attention as a


def causal(heads: int, n: int, seed: int = 0) -> np.ndarray:
    scores = np.random.default_rng(seed).normal(size=(heads, n, n))
    scores[:, *np.triu_indices(n, 1)] = -np.inf
    return torch.softmax(torch.from_numpy(scores).float(), -1).numpy()


def test_row_entropies_by_loop() -> None:
    maps = causal(2, 5)
    plain, shifted = a.row_entropies(maps), a.shifted_row_entropies(maps)
    for head in range(2):
        for row in range(5):
            weights = [float(w) for w in maps[head, row]]
            assert plain[head, row] == pytest.approx(
                -sum(w * math.log(w + 1e-10) for w in weights), abs=1e-9
            )
            p = [(w + 1e-10) / (sum(weights) + 5e-10) for w in weights]
            assert shifted[head, row] == pytest.approx(-sum(w * math.log(w) for w in p), abs=1e-9)
    np.testing.assert_allclose(a.row_entropies(maps[0]), plain[0])


def test_uniform_rows() -> None:
    maps = (np.tril(np.ones((6, 6))) / np.arange(1, 7)[:, None]).astype(np.float32)
    np.testing.assert_allclose(a.row_entropies(maps), np.log(np.arange(1, 7)), atol=1e-6)
    assert a.sparsity(maps) == pytest.approx(5 / 12)  # the causal zeros
    assert a.sparsity(maps, limit=0.3) == pytest.approx((15 + 4 + 5 + 6) / 36)


def test_head_mean() -> None:
    maps = causal(8, 6)
    np.testing.assert_allclose(a.head_mean(maps), maps.mean(0), rtol=1e-6)


def test_nan_makes_its_row_nan_and_counts_as_dense() -> None:
    maps = causal(2, 4)
    before = a.sparsity(maps)
    maps[1, 2] = np.nan
    entropies = a.row_entropies(maps)
    assert np.isnan(entropies).sum() == 1
    assert np.isnan(entropies[1, 2])
    assert np.isnan(a.shifted_row_entropies(maps)).sum() == 1
    assert a.sparsity(maps) == pytest.approx(before - 1 / 32)  # one causal zero is gone
    assert np.isnan(a.head_mean(maps)[2]).all()
