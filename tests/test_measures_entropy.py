"""Next-token entropies against scipy, torch and the uniform distribution."""

import numpy as np
import pytest
import scipy.stats
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from layerwise.measures import entropy as e

LOGITS = arrays(np.float32, st.integers(2, 40), elements=st.floats(-30, 30, width=32))


def some(n: int = 3000, scale: float = 3.0) -> np.ndarray:
    return (scale * np.random.default_rng(1).normal(size=n)).astype(np.float32)


def exact(logits: np.ndarray) -> float:
    return float(scipy.stats.entropy(e.softmax(logits)))


@pytest.mark.parametrize("scale", [0.5, 3.0, 8.0])
def test_half_entropy_is_scipys_of_a_float16_softmax(scale: float) -> None:
    logits = some(scale=scale)
    stored = torch.softmax(torch.from_numpy(logits), -1).half().numpy()
    reference = scipy.stats.entropy(stored)
    assert reference.dtype == np.float32
    assert e.half_entropy(logits).dtype == np.float32
    assert e.half_entropy(logits) == pytest.approx(reference, rel=1e-6)


def test_float16_loses_the_tail() -> None:
    tail = np.zeros(40_000_000 // 1000, dtype=np.float32)
    tail[0] = 30.0  # all others have p = 1e-13, gone in float16
    assert e.half_entropy(tail) == 0
    assert exact(tail) > 0


def test_clipped_entropy_by_steps() -> None:
    logits = some(scale=8.0)
    p = torch.softmax(torch.from_numpy(logits).float(), dim=-1).numpy().astype(np.float64)
    assert p.min() < 1e-10
    p = np.clip(p, 1e-10, 1.0)
    p = p / p.sum()
    assert e.clipped_entropy(logits) == pytest.approx(scipy.stats.entropy(p), rel=1e-6)
    assert e.clipped_entropy(logits) > exact(logits)  # the clipped tail weighs more


def test_shifted_entropy_by_steps() -> None:
    logits = some()
    p = torch.softmax(torch.from_numpy(logits), dim=-1)
    reference = -(p * torch.log(p + 1e-10)).sum().item()
    assert e.shifted_entropy(logits) == pytest.approx(reference, rel=1e-5)


def test_uniform() -> None:
    flat = np.full(64, 2.5, dtype=np.float32)
    for of in (e.half_entropy, e.clipped_entropy, e.shifted_entropy):
        assert of(flat) == pytest.approx(np.log(64), rel=1e-6)


def test_certain() -> None:
    sure = np.array([0, 2000, 0, 0], dtype=np.float32)
    assert e.half_entropy(sure) == 0
    assert e.clipped_entropy(sure) == pytest.approx(3e-10 * (1 - np.log(1e-10)), rel=1e-5)


@given(logits=LOGITS, shift=st.floats(-50, 50, width=32))
def test_a_constant_changes_nothing(logits: np.ndarray, shift: float) -> None:
    moved = logits.astype(np.float64) + shift
    assert e.softmax(moved.astype(np.float32)) == pytest.approx(e.softmax(logits), abs=2e-5)
