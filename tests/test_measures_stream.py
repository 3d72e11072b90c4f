"""The five gains, and the rounding of norms, against torch, theory and each other."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from layerwise.errors import LayerwiseError
from layerwise.measures import residual_gain as g
from layerwise.measures.traces import Trace


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


def test_one_block_has_no_gain_over_a_block_before() -> None:
    found = synthetic([1, 2])
    for gain in (g.layer_gains, g.last_block_gain, g.gain_definitions):
        with pytest.raises(LayerwiseError, match="compares two blocks, the model has 1"):
            gain(found)


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


def test_other_dtypes_are_refused() -> None:
    with pytest.raises(LayerwiseError, match=r"must be float32, float16 or bfloat16, found 'int8'"):
        g.round_to(np.zeros(1, dtype=np.float32), "int8")
