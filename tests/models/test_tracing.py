"""One text through a model, against plain hooks and the sums of the residual stream."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from layerwise.errors import LayerwiseError
from layerwise.models.load import Checkpoint, attention_kernel
from layerwise.models.tracing import trace
from tiny_checkpoints import EVERY_KIND, TEXTS, built, plain_loop

PARALLEL = ("gpt_neox", "gptj", "falcon", "stablelm-parallel")
TEXT = TEXTS[4]


@pytest.fixture(scope="module", params=EVERY_KIND)
def checkpoint(request: pytest.FixtureRequest) -> Checkpoint:
    return built(request.param)


def test_states_maps_logits_and_embedding_against_transformers(checkpoint: Checkpoint) -> None:
    found = trace(checkpoint, TEXT, attention=True)
    tokens = torch.tensor([checkpoint.tokenizer(TEXT).input_ids])
    outputs: list[torch.Tensor] = []
    handle = checkpoint.blocks[-1].register_forward_hook(
        lambda module, args, out: outputs.append(out if torch.is_tensor(out) else out[0])
    )
    with torch.no_grad(), attention_kernel(checkpoint.model, "eager"):
        reference = checkpoint.model(tokens, output_hidden_states=True, output_attentions=True)
    handle.remove()
    assert found.tokens.tolist() == tokens[0].tolist()
    assert found.n_layers == checkpoint.n_layers
    assert found.dtype == "float32"
    for mine, theirs in zip(found.states, reference.hidden_states, strict=True):
        np.testing.assert_array_equal(mine, theirs[0].numpy())
    for mine, theirs in zip(found.attention, reference.attentions, strict=True):
        np.testing.assert_array_equal(mine, theirs[0].numpy())
    np.testing.assert_array_equal(found.before_norm, outputs[0][0].numpy())
    np.testing.assert_array_equal(found.logits, reference.logits[0, -1].numpy())
    table = checkpoint.model.get_input_embeddings().weight.detach().numpy()
    np.testing.assert_array_equal(found.embedding, table[found.tokens])
    if checkpoint.name != "opt-350m":  # it has no final norm
        assert not np.allclose(found.before_norm, found.states[-1], atol=1e-3)


def _count_calls(action: Callable[[], object]) -> int:
    """How many functions are called inside one, Python's and C's."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(None)
    return calls


def test_what_is_read_before_every_text_is_little_beside_its_pass(checkpoint: Checkpoint) -> None:
    """A model may change between two texts, so that its properties are asked anew for each."""
    tokens = torch.tensor([checkpoint.tokenizer(TEXT).input_ids])
    _ = checkpoint.blocks, checkpoint.towers  # which are found once
    plain = _count_calls(lambda: plain_loop(checkpoint.model, tokens))
    for name, kind in vars(Checkpoint).items():
        if isinstance(kind, property):
            assert _count_calls(lambda name=name: getattr(checkpoint, name)) < 2 * plain, name


def _reassembled(block: Any, checkpoint: Checkpoint, x: torch.Tensor, m: Any) -> dict[str, Any]:
    """The inputs of the parts, and the block's output, from the norms and the parts' outputs."""
    attention, mlp = torch.from_numpy(m.attention_output), torch.from_numpy(m.mlp_output)
    family, config = checkpoint.family, checkpoint.model.config
    if family == "opt" and not config.do_layer_norm_before:
        middle = block.self_attn_layer_norm(x + attention)
        return {"in": x, "mid": middle, "out": block.final_layer_norm(middle + mlp)}
    if family in ("gemma2", "gemma3_text"):
        middle = x + block.post_attention_layernorm(attention)
        out = middle + block.post_feedforward_layernorm(mlp)
        normed = block.pre_feedforward_layernorm(middle)
        return {"in": block.input_layernorm(x), "mid": normed, "out": out}
    names = {
        "gpt2": ("ln_1", "ln_2"),
        "gpt_neo": ("ln_1", "ln_2"),
        "gptj": ("ln_1", "ln_1"),
        "opt": ("self_attn_layer_norm", "final_layer_norm"),
        "falcon": ("input_layernorm", "input_layernorm"),
        "apertus": ("attention_layernorm", "feedforward_layernorm"),
        "stablelm-parallel": ("input_layernorm", "input_layernorm"),
    }
    default = names.get(family, ("input_layernorm", "post_attention_layernorm"))
    first, second = names.get(checkpoint.name, default)
    normed = getattr(block, first)(x)
    parallel = checkpoint.name in PARALLEL
    middle = x if parallel else (normed if checkpoint.name == "bloom-post" else x) + attention
    again = getattr(block, second)(middle)
    base = x + attention if parallel else (again if checkpoint.name == "bloom-post" else middle)
    return {"in": normed, "mid": again, "out": base + mlp}


def test_modules_put_the_residual_stream_together(checkpoint: Checkpoint) -> None:
    found = trace(checkpoint, TEXT, modules=True)
    assert len(found.modules) == checkpoint.n_layers
    stream = (found.states[0], *found.block_outputs)
    for block, before, after, m in zip(
        checkpoint.blocks, stream[:-1], stream[1:], found.modules, strict=True
    ):
        with torch.no_grad():
            want = _reassembled(block, checkpoint, torch.from_numpy(before), m)
        np.testing.assert_allclose(m.attention_input, want["in"].numpy(), atol=1e-5)
        np.testing.assert_allclose(m.mlp_input, want["mid"].numpy(), atol=1e-5)
        np.testing.assert_allclose(after, want["out"].numpy(), atol=2e-5)


def test_nothing_stays_behind(checkpoint: Checkpoint) -> None:
    trace(checkpoint, TEXT, attention=True)  # some architectures hook themselves on first use
    modules = list(checkpoint.model.modules())
    before = [(len(m._forward_hooks), len(m._forward_pre_hooks)) for m in modules]
    trace(checkpoint, TEXT, attention=True, modules=True)
    after = [(m._forward_hooks, m._forward_pre_hooks) for m in checkpoint.model.modules()]
    assert [tuple(map(len, hooks)) for hooks in after] == before
    plain = trace(checkpoint, TEXT)
    assert plain.attention == ()
    assert plain.modules == ()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["gpt_neox", "gemma2"])
def test_half_precision_numbers_are_the_models_own(name: str, dtype: str) -> None:
    checkpoint = built(name, dtype)
    found = trace(checkpoint, TEXT, attention=True, modules=True)
    kind = getattr(torch, dtype)
    for values in (*found.states, found.logits, found.embedding, *found.attention):
        assert values.dtype == np.float32
        torch.testing.assert_close(
            torch.from_numpy(values).to(kind).float(), torch.from_numpy(values), rtol=0, atol=0
        )
    assert found.dtype == dtype


def test_autocast_computes_in_bfloat16() -> None:
    checkpoint = built("llama")
    plain, cast = trace(checkpoint, TEXT), trace(checkpoint, TEXT, autocast=True)
    tokens = torch.tensor([checkpoint.tokenizer(TEXT).input_ids])
    checkpoint.model.set_attn_implementation("sdpa")
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        reference = checkpoint.model(tokens, output_hidden_states=True)
    np.testing.assert_array_equal(cast.logits, reference.logits[0, -1].float().numpy())
    np.testing.assert_array_equal(cast.states[2], reference.hidden_states[2][0].float().numpy())
    assert 0 < np.abs(cast.before_norm - plain.before_norm).max() < 0.3
    np.testing.assert_array_equal(cast.embedding, plain.embedding)


def test_nan_in_a_map_is_returned() -> None:
    checkpoint = built("gpt2", "float16")
    with torch.no_grad():
        checkpoint.blocks[1].attn.c_attn.bias[:32] = 3e4  # scores overflow: inf - inf
    found = trace(checkpoint, TEXT, attention=True)
    assert np.isfinite(found.attention[0]).all()
    assert np.isnan(found.attention[1]).any()
    assert np.isfinite(found.states[1]).all()
    assert np.isnan(found.states[2]).any()


def test_without_maps_attention_is_the_fused_kernel(checkpoint: Checkpoint) -> None:
    eager, fused = trace(checkpoint, TEXT, attention=True), trace(checkpoint, TEXT)
    np.testing.assert_allclose(fused.logits, eager.logits, atol=2e-5)
    assert checkpoint.model.config._attn_implementation == checkpoint.kernel
    if not checkpoint.model._supports_sdpa:
        np.testing.assert_array_equal(fused.logits, eager.logits)
        return
    network = transformers.AutoModelForCausalLM.from_pretrained(
        checkpoint.files.folder, attn_implementation="sdpa"
    ).eval()
    with torch.no_grad():
        reference = network(torch.from_numpy(fused.tokens)[None], output_hidden_states=True)
    np.testing.assert_array_equal(fused.logits, reference.logits[0, -1].numpy())
    for mine, theirs in zip(fused.states, reference.hidden_states, strict=True):
        np.testing.assert_array_equal(mine, theirs[0].numpy())


def test_scores_that_overflow_only_before_they_are_scaled() -> None:
    checkpoint = built("gpt_neox", "float16")
    with torch.no_grad():  # q.k reaches 4 * 140^2 = 78,400 > 65,504, half of it after scaling
        checkpoint.blocks[1].attention.query_key_value.bias.copy_(
            torch.tensor([140.0] * 8 + [0.0] * 4).half().repeat(4)
        )
    assert np.isfinite(trace(checkpoint, TEXT).logits).all()
    watched = trace(checkpoint, TEXT, attention=True)
    assert not np.isfinite(watched.attention[1]).all()


def overflowing(checkpoint: Checkpoint) -> None:
    block = checkpoint.blocks[1]
    block.mlp.c_proj.bias[:] = block.attn.c_proj.bias[:] = 6e4


def no_softmax(checkpoint: Checkpoint) -> None:
    checkpoint.blocks[2].self_attn.register_forward_hook(lambda m, a, out: (out[0], 2 * out[1]))


OVERFLOW = r"gpt2: states at layer 2 are not finite for 'Two .* in float16; try dtype bf"


@pytest.mark.parametrize(
    ("name", "dtype", "spoil", "kept", "message"),
    [
        ("gpt2", "float16", overflowing, "", OVERFLOW),
        ("llama", "float32", no_softmax, "attention", "must sum to 1, block 2 is off by 1;"),
    ],
)
def test_trace_refused(name: str, dtype: str, spoil: Any, kept: str, message: str) -> None:
    checkpoint = built(name, dtype)
    with torch.no_grad():
        spoil(checkpoint)
    with pytest.raises(LayerwiseError, match=message):
        trace(checkpoint, TEXT, attention=kept == "attention")
