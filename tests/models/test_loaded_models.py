"""A model in memory: it is measured as it is now, in our arithmetic, and given back whole."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch.nn.utils import parametrizations, prune
from transformers.integrations.sdpa_attention import sdpa_attention_forward

import layerwise
from layerwise import LayerwiseError
from layerwise.models.hidden_states import extract
from layerwise.models.kernels import settings
from layerwise.models.load import from_memory, with_random_weights
from layerwise.models.projections import Weights
from layerwise.models.replicates import Replicates
from layerwise.models.store import BEFORE_NORM
from tiny_checkpoints import EXAMPLE, TEXTS, twin_folder

FEW = {"pairs": EXAMPLE["pairs"], "without": ["spectral"]}


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return transformers.AutoTokenizer.from_pretrained(twin_folder("llama"))


@pytest.fixture
def model() -> Any:
    return transformers.AutoModelForCausalLM.from_pretrained(twin_folder("llama"))


class Adapter(torch.nn.Module):
    """A low-rank term beside a projection, which can be switched off."""

    def __init__(self, base: torch.nn.Module) -> None:
        super().__init__()
        self.base, self.enabled = base, True
        generator = torch.Generator().manual_seed(0)
        self.down = torch.nn.Parameter(torch.randn((4, base.in_features), generator=generator))
        self.up = torch.nn.Parameter(torch.randn((base.out_features, 4), generator=generator))

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.base(hidden)
        return out + hidden @ self.down.T @ self.up.T if self.enabled else out


def adapt(model: Any) -> None:
    attention = model.model.layers[0].self_attn
    attention.v_proj = Adapter(attention.v_proj)


def steer(model: Any) -> None:
    model.model.layers[0].register_forward_hook(lambda block, given, out: out + 1.0)


def turn_rotary_buffer(model: Any) -> None:
    model.model.rotary_emb.inv_freq *= 3


def turn_rotary_base(model: Any) -> None:
    rotary = model.model.rotary_emb
    model.config.rope_parameters["rope_theta"] = 50.0
    model.model.rotary_emb = type(rotary)(model.config)


def widen_norms(model: Any) -> None:
    for module in model.modules():
        if hasattr(module, "variance_epsilon"):
            module.variance_epsilon = 0.5


def switch_adapter_off(model: Any) -> None:
    model.model.layers[0].self_attn.v_proj.enabled = False


def patch_method(model: Any) -> None:
    mlp = model.model.layers[0].mlp
    forward = mlp.forward
    mlp.forward = lambda hidden: 3 * forward(hidden)


@pytest.mark.parametrize(
    ("prepare", "change"),
    [
        (None, steer),
        (None, turn_rotary_buffer),
        (None, turn_rotary_base),
        (None, widen_norms),
        (None, patch_method),
        (adapt, switch_adapter_off),
    ],
)
def test_a_changed_model_is_measured_anew_in_the_same_folder(
    model: Any,
    tokenizer: Any,
    tmp_path: Path,
    prepare: Callable[[Any], None] | None,
    change: Callable[[Any], None],
) -> None:
    """None of these changes is part of the weights that a digest could cover."""

    def states(folder: str) -> list[torch.Tensor]:
        extracted = extract(from_memory(model, tokenizer), TEXTS, (), tmp_path / folder)
        return [torch.from_numpy(extracted.pooled(layer)) for layer in (1, 2, 3)]

    if prepare is not None:
        prepare(model)
    before = states("same")
    change(model)
    after, elsewhere = states("same"), states("other")
    assert all(map(torch.equal, after, elsewhere))
    assert not any(map(torch.equal, after, before))


def ablate(attention: Callable[..., Any]) -> Callable[..., Any]:
    """The same attention, whose heads give half."""

    def ablated(*given: Any, **named: Any) -> Any:
        out, weights = attention(*given, **named)
        return out / 2, weights

    return ablated


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", ["sdpa", "eager", "ablated"])
def test_attention_is_the_callers(
    tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, dtype: Any
) -> None:
    """Whatever stands under its name in transformers' registry."""
    model = transformers.AutoModelForCausalLM.from_pretrained(twin_folder("llama"), dtype=dtype)
    functions = transformers.AttentionInterface._global_mapping
    monkeypatch.setitem(functions, name, ablate(sdpa_attention_forward))
    model.set_attn_implementation(name)
    found = extract(from_memory(model, tokenizer), TEXTS, (), tmp_path / "states")
    for number, text in enumerate(TEXTS):
        out = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True)
        for layer, states in enumerate(out.hidden_states):
            expected = states[0, 1:].mean(dim=0).float().detach()
            torch.testing.assert_close(torch.from_numpy(found.pooled(layer)[number]), expected)


@pytest.mark.usefixtures("quick")
def test_random_weights_have_the_attention_of_the_model_beside_them(
    model: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = transformers.AttentionInterface._global_mapping
    monkeypatch.setitem(functions, "ablated", ablate(sdpa_attention_forward))
    model.set_attn_implementation("ablated")
    checkpoint = from_memory(model, tokenizer)
    random = with_random_weights(checkpoint, 0)
    assert random.kernel == checkpoint.kernel == "ablated"


def replace_tokens_by_embeddings(base: Any, given: Any, named: Any) -> Any:
    embeddings = base.embed_tokens(named.pop("input_ids"))
    return given, {**named, "input_ids": None, "inputs_embeds": embeddings}


def test_rounding_noise_leaves_the_callers_hooks_in_force(tokenizer: Any, tmp_path: Path) -> None:
    """Also those on an embedding whose scale is noisy, and before the base model."""
    family = "gemma3_text"
    loading = {"dtype": torch.bfloat16}
    model = transformers.AutoModelForCausalLM.from_pretrained(twin_folder(family), **loading)
    embedding = model.model.embed_tokens
    embedding.scalar_embed_scale = 640**0.5  # the twin's own is a number that bfloat16 holds
    embedding.embed_scale.fill_(640**0.5)
    embedding.register_forward_hook(lambda module, given, out: out + 1000)
    model.model.register_forward_pre_hook(replace_tokens_by_embeddings, with_kwargs=True)
    checkpoint = from_memory(model, tokenizer)
    states = extract(checkpoint, TEXTS, (), tmp_path / "states").pooled(0)
    with Replicates(checkpoint).disturbed(0) as replicate:
        noisy = extract(replicate, TEXTS, (), tmp_path / "noisy").pooled(0)
    assert abs(noisy - states).max() < 2**-6 * 1000
    assert (noisy != states).any()


# --- the matrices of a model in memory -----------------------------------------------------------


class AddingLinear(torch.nn.Linear):
    """A linear map with an adapter inside, as loralib has it."""

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return super().forward(hidden) + hidden.sum(dim=-1, keepdim=True)


def with_adapter_inside(attention: Any) -> None:
    plain = attention.v_proj
    attention.v_proj = AddingLinear(plain.in_features, plain.out_features, bias=False)
    attention.v_proj.weight = plain.weight


def with_adapter_around(attention: Any) -> None:
    attention.v_proj = Adapter(attention.v_proj)


def with_patched_forward(attention: Any) -> None:
    forward = attention.v_proj.forward
    attention.v_proj.forward = lambda hidden: 2 * forward(hidden)


def without_projections(attention: Any) -> None:
    del attention.q_proj, attention.k_proj, attention.v_proj
    attention.forward = lambda hidden_states, **named: (hidden_states, None)


@pytest.mark.parametrize(
    "change",
    [with_adapter_inside, with_adapter_around, with_patched_forward, without_projections],
)
def test_a_projection_that_is_more_than_its_weight_has_no_matrix(
    model: Any, tokenizer: Any, change: Callable[[Any], None]
) -> None:
    change(model.model.layers[1].self_attn)
    with pytest.raises(LayerwiseError, match="_proj of block 1 must multiply by its weight"):
        Weights.from_checkpoint(from_memory(model, tokenizer))


@pytest.mark.parametrize(
    "change",
    [
        lambda projection: prune.l1_unstructured(projection, "weight", 0.5),
        parametrizations.spectral_norm,
    ],
    ids=["pruned", "parametrized"],
)
def test_the_matrix_of_a_projection_is_what_it_multiplies_by_now(
    model: Any, tokenizer: Any, change: Callable[[Any], Any]
) -> None:
    projection = model.model.layers[1].self_attn.v_proj
    before = projection.weight.detach().clone()
    change(projection)
    model.eval()  # a parametrization that is in training moves with every look at it
    matrix = Weights.from_checkpoint(from_memory(model, tokenizer)).matrix(1, "W_V", "correct")
    assert (matrix == projection.weight.detach().numpy()).all()
    assert not torch.equal(projection.weight, before)


# --- whatever the caller's program chose --------------------------------------------------------


@contextlib.contextmanager
def default_dtype() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


@contextlib.contextmanager
def tf32() -> Iterator[None]:
    torch.set_float32_matmul_precision("medium")
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = True
    try:
        yield
    finally:
        torch.set_float32_matmul_precision("highest")


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("is_loaded", [True, False], ids=["loaded", "folder"])
def test_the_callers_torch_changes_no_number_and_is_given_back(
    model: Any, tokenizer: Any, is_loaded: bool
) -> None:
    """TF32, autocast, default dtype and device, inference mode at once; a folder has noise too."""
    given: dict[str, Any] = {"model": model, "tokenizer": tokenizer}
    if not is_loaded:
        given = {"model": twin_folder("llama"), "dtype": "bfloat16", "replicates": 1}
    plain = layerwise.analyze(**given, **FEW)
    model.train()
    model.model.layers[1].eval()  # as of one who trains only some blocks
    training = [module.training for module in model.modules()]
    with (
        torch.autocast("cpu", dtype=torch.bfloat16),
        tf32(),
        default_dtype(),
        torch.device("meta"),
        torch.inference_mode(),
    ):
        state = caller_state()
        found = layerwise.analyze(**given, **FEW)
        assert caller_state() == state
    assert found.documents == plain.documents
    assert [module.training for module in model.modules()] == training


def test_the_callers_state_is_given_back_after_an_error(model: Any, tokenizer: Any) -> None:
    model.train()
    model.model.layers[1].mlp.forward = lambda hidden: hidden * float("nan")
    autocast = torch.autocast("cpu", dtype=torch.bfloat16)
    with autocast, pytest.raises(LayerwiseError, match="not finite"):
        layerwise.analyze(model, **FEW, tokenizer=tokenizer)
    assert all(module.training for module in model.modules())
    assert not torch.is_autocast_enabled("cpu")


def caller_state() -> list[Any]:
    enabled = torch.is_autocast_enabled("cpu"), torch.is_grad_enabled()
    exact = torch.get_float32_matmul_precision(), settings(torch.device("cpu"))
    return [*enabled, torch.get_default_dtype(), torch.get_default_device(), *exact]


# --- models that are not what they seem ---------------------------------------------------------


def pack_weights_in_buffers(model: Any) -> Any:
    """As AWQ and GPTQ do: what is left of parameters has one dtype."""
    attention = model.model.layers[0].self_attn
    attention.q_proj = torch.nn.Module()
    attention.q_proj.register_buffer("qweight", torch.zeros(4, 4, dtype=torch.int32))
    model.config.quantization_config = {"quant_method": "awq", "bits": 4}
    return model


def repeat_a_block(model: Any) -> Any:
    model.model.layers[1] = model.model.layers[0]
    return model


def exchange_rare_tokens(model: Any) -> Any:
    def exchange(whole: Any, given: Any, named: Any) -> Any:
        ids = named["input_ids"]
        return given, {**named, "input_ids": ids.where(ids < 300, 5)}

    model.register_forward_pre_hook(exchange, with_kwargs=True)
    return model


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (pack_weights_in_buffers, "does not run the texts"),
        (repeat_a_block, "every block must run once and in order"),
        (exchange_rare_tokens, "must run the tokens that it is given"),
    ],
)
def test_a_model_that_is_more_or_less_than_its_parts_is_refused(
    model: Any, tokenizer: Any, tmp_path: Path, change: Callable[[Any], Any], said: str
) -> None:
    with pytest.raises(LayerwiseError, match=said):
        layerwise.analyze(change(model), **FEW, tokenizer=tokenizer, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_model_of_which_a_block_was_taken_out_is_a_model(
    model: Any, tokenizer: Any, tmp_path: Path
) -> None:
    """The layers below it are those of the whole model, whatever the config says."""
    whole = extract(from_memory(model, tokenizer), TEXTS, (), tmp_path / "whole")
    del model.model.layers[2]
    cut = extract(from_memory(model, tokenizer), TEXTS, (), tmp_path / "cut")
    assert cut.n_layers == 2
    for layer, same in ((1, 1), (BEFORE_NORM, 2)):
        assert (cut.pooled(layer) == whole.pooled(same)).all()
