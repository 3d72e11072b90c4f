"""Rounding to 16 bits against torch."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from layerwise.errors import LayerwiseError
from layerwise.measures.stream_norms import round_to

EVERY = arrays(np.uint32, st.integers(0, 20), elements=st.integers(0, 2**32 - 1))


def by_torch(values: np.ndarray, dtype: str) -> np.ndarray:
    return torch.from_numpy(values).to(getattr(torch, dtype)).float().numpy()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@given(bits=EVERY)
def test_every_bit_pattern_against_torch(dtype: str, bits: np.ndarray) -> None:
    values = bits.view(np.float32)
    np.testing.assert_array_equal(round_to(values, dtype), by_torch(values, dtype))


def test_ties_go_to_even_and_overflow_is_infinite() -> None:
    ties = np.array([1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-8], dtype=np.float32)
    assert round_to(ties, "bfloat16").tolist() == [1.0, 1 + 2**-6, -1.0]
    assert round_to(np.float32([65519, 65520, 70000]), "float16").tolist() == [
        65504,
        np.inf,
        np.inf,
    ]
    assert round_to(np.float32([3.4e38, np.inf]), "bfloat16").tolist() == [np.inf, np.inf]
    assert np.isnan(round_to(np.float32([np.nan, -np.nan]), "bfloat16")).all()


def test_rounding_twice_is_rounding_once() -> None:
    values = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    for dtype in ("float16", "bfloat16"):
        once = round_to(values, dtype)
        np.testing.assert_array_equal(round_to(once, dtype), once)
        assert (once != values).any()


def test_other_dtypes_are_refused() -> None:
    with pytest.raises(LayerwiseError, match=r"must be float32, float16 or bfloat16, found 'int8'"):
        round_to(np.zeros(1, dtype=np.float32), "int8")
