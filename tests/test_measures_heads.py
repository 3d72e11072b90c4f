"""Contributions of heads: they add up; chunks of the mixed output are something else."""

import numpy as np
import pytest
import torch

from layerwise.errors import LayerwiseError
from layerwise.extraction.tracing import trace
from layerwise.measures import heads
from tiny_networks import TEXT, built


def parts(name: str) -> tuple[np.ndarray, ...]:
    """Of block 1: maps, input, W_V per query head, W_O, output; Llama has no biases."""
    checkpoint = built(name)
    found = trace(checkpoint, TEXT, attention=True, modules=True)
    attention = checkpoint.blocks[1].self_attn
    maps, seen = found.attention[1], found.modules[1]
    size = attention.head_dim
    values = attention.v_proj.weight.detach().numpy().reshape(-1, size, checkpoint.hidden_size)
    values = np.repeat(values, len(maps) // len(values), axis=0)
    output = attention.o_proj.weight.detach().numpy()
    return maps, seen.attention_input, values, output, seen.attention_output


@pytest.mark.parametrize("name", ["llama", "gemma", "gemma2"])
def test_contributions_add_up_to_the_attention(name: str) -> None:
    *given, output = parts(name)
    found = heads.contributions(*given)
    np.testing.assert_allclose(found.sum(axis=0), output, atol=2e-5)


def test_contribution_of_one_head_by_loop() -> None:
    maps, inputs, values, output, _ = parts("gemma")
    head, token, size = 2, 5, values.shape[1]
    mixed = sum(maps[head, token, j] * (values[head] @ inputs[j]) for j in range(len(inputs)))
    want = output[:, head * size : (head + 1) * size] @ mixed
    found = heads.contributions(maps, inputs, values, output)
    np.testing.assert_allclose(found[head, token], want, atol=1e-5)
    assert heads.contribution_norms(found)[token, head] == pytest.approx(
        np.linalg.norm(want), rel=1e-5
    )


def test_a_silent_head_contributes_nothing_yet_its_chunk_does() -> None:
    maps, inputs, values, output, _ = parts("llama")
    values = values.copy()
    values[3] = 0
    found = heads.contributions(maps, inputs, values, output)
    assert heads.contribution_norms(found)[:, 3].max() == 0
    assert heads.chunk_norms(found.sum(axis=0), 4)[:, 3].min() > 0


def test_chunk_norms_against_torch() -> None:
    output = np.random.default_rng(0).normal(size=(3, 8)).astype(np.float32)
    reference = torch.from_numpy(output).view(3, 4, 2).norm(dim=-1).numpy()
    np.testing.assert_allclose(heads.chunk_norms(output, 4), reference, rtol=1e-6)
    np.testing.assert_allclose(
        np.linalg.norm(heads.chunk_norms(output, 2), axis=1), np.linalg.norm(output, axis=1)
    )


def test_low_heads() -> None:
    norms = np.array([1.0, 1.0, 1.0, 0.2])
    assert heads.low(norms).tolist() == [False, False, False, True]
    assert not heads.low(np.ones(4)).any()


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(LayerwiseError, match=r"width that 3 divides, found 8"):
        heads.chunk_norms(np.zeros((2, 8), dtype=np.float32), 3)
    maps, inputs, values, output, _ = parts("llama")
    with pytest.raises(LayerwiseError, match=r"4 x 4 columns .* found 12; repeat shared"):
        heads.contributions(maps, inputs, values, output[:, :12])
