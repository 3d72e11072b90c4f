"""Our passes are the model's own: held against a plain loop of one statement at a time.

The faults are those by which numbers of real checkpoints were wrong in silence; each is tried in
every dtype in which it can be told from rounding.
"""

import copy
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import accelerate
import numpy as np
import pytest
import torch
import transformers

import layerwise
from layerwise import LayerwiseError
from layerwise.files import read_json, write_json
from layerwise.models import probe as module
from layerwise.models.hidden_states import extract
from layerwise.models.load import Checkpoint, from_memory, load_model, with_random_weights
from layerwise.models.passes import Passes, lengths_beside
from layerwise.models.store import HiddenStates
from tiny_checkpoints import EVERY_KIND, EXAMPLE, TEXTS, deviations, twin_folder

DTYPES = ("float32", "float16", "bfloat16")
LONGEST = " ".join(TEXTS)
Change = Callable[[Any], object]


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return transformers.AutoTokenizer.from_pretrained(twin_folder("llama"))


def llama(dtype: str = "float32") -> Any:
    kind = getattr(torch, dtype)
    return transformers.AutoModelForCausalLM.from_pretrained(twin_folder("llama"), dtype=kind)


def measured(checkpoint: Checkpoint, folder: Path) -> HiddenStates:
    return extract(checkpoint, TEXTS, (LONGEST,), folder)


# --- sound models -------------------------------------------------------------------------------


@pytest.mark.parametrize("family", EVERY_KIND)
def test_the_wiring_of_every_family_is_its_own_to_the_bit(family: str, tmp_path: Path) -> None:
    """On a CPU, so that no tolerance hides a part that is left out; and nothing is refused."""
    for dtype in DTYPES:
        checkpoint = load_model(twin_folder(family), dtype, "cpu")
        passes = measured(checkpoint, tmp_path / dtype).index["passes"]
        assert passes["logits"] == ("model" if family == "gemma2" else "head")
        assert (passes["alone"], passes["left_out"], passes["before_norm"]) == (False, [], True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_model_is_afterwards_as_it_was(tokenizer: Any, dtype: str) -> None:
    """Also one that the caller left in training mode, with hooks of the caller's own."""
    model = llama(dtype)
    model.train()
    seen: list[torch.Tensor] = []
    model.model.layers[1].register_forward_hook(lambda block, given, out: seen.append(out))
    before = snapshot(model)
    drawn = torch.get_rng_state(), np.random.get_state()[1].tolist(), random.getstate()
    checkpoint = from_memory(model, tokenizer)
    ids = {"statements": [np.arange(30, 49, dtype=np.int32)]}
    module.probe(checkpoint, ids)
    assert seen
    assert snapshot(model) == before
    now = torch.get_rng_state(), np.random.get_state()[1].tolist(), random.getstate()
    assert torch.equal(drawn[0], now[0])
    assert drawn[1:] == now[1:]


def snapshot(model: Any) -> list[Any]:
    modules = list(model.modules())
    hooks = [(list(part._forward_hooks), list(part._forward_pre_hooks)) for part in modules]
    buffers = [(name, id(held), held.tolist()) for name, held in model.named_buffers()]
    flags = [(part.training, "_output_capturing_hooks_installed" in vars(part)) for part in modules]
    return [hooks, buffers, flags, str(model.config), model.config._attn_implementation]


@pytest.mark.parametrize("reported_before", [False, True])
def test_a_hook_is_measured_while_it_is_there(tokenizer: Any, reported_before: bool) -> None:
    """Whether or not transformers' own recorders are in the model, which run before later hooks."""
    model = llama()
    if reported_before:
        model(torch.tensor([[3, 4, 5]]), output_hidden_states=True)

    def asymmetries() -> list[float]:
        given: dict[str, Any] = {"pairs": EXAMPLE["pairs"], "without": ["spectral"]}
        result = layerwise.analyze(model, **given, tokenizer=tokenizer)
        return [row["UA"] for row in result.categories.records]

    plain = asymmetries()
    handle = model.model.layers[1].register_forward_hook(lambda block, given, out: out + 1.0)
    steered = asymmetries()
    handle.remove()
    assert asymmetries() == plain
    assert steered != plain


# --- faults of folders --------------------------------------------------------------------------


def falcon_with_alibi(folder: Path) -> Path:
    """Its eager attention adds the bias twice; a hub has checkpoints of this kind."""
    config = transformers.FalconConfig(
        hidden_size=16,
        num_hidden_layers=3,
        num_attention_heads=4,
        vocab_size=512,
        alibi=True,
        parallel_attn=False,
        multi_query=False,
        bias=True,
    )
    torch.manual_seed(0)
    model = transformers.FalconForCausalLM(config)
    for weight in model.parameters():
        weight.data += 0.3 * torch.randn_like(weight)
    model.save_pretrained(folder)
    for file in twin_folder("falcon").glob("tokenizer*"):
        shutil.copy(file, folder)
    return folder


def changed(family: str, folder: Path, **keys: Any) -> Path:
    shutil.copytree(twin_folder(family), folder)
    config = folder / "config.json"
    write_json(config, read_json(config) | keys)
    return folder


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "make",
    [
        falcon_with_alibi,
        # a key that this class ignores
        lambda folder: changed("llama", folder, final_logit_softcapping=0.5),
        lambda folder: changed("gemma2", folder, final_logit_softcapping=0.5),
    ],
    ids=["alibi", "ignored soft cap", "soft cap"],
)
def test_a_folder_gives_what_transformers_gives(
    tmp_path: Path, make: Callable[[Path], Path], dtype: str
) -> None:
    folder = make(tmp_path / "model")
    checkpoint = load_model(folder, dtype, "cpu")
    states = measured(checkpoint, tmp_path / "states")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype))
    of_states, of_nll = deviations(model, checkpoint.tokenizer, states)
    assert of_states < {"float32": 1e-5, "float16": 2e-3, "bfloat16": 2e-2}[dtype]
    assert of_nll < {"float32": 1e-5, "float16": 2e-3, "bfloat16": 2e-2}[dtype]


def test_a_kernel_that_is_part_of_the_method_is_not_exchanged(tmp_path: Path) -> None:
    checkpoint = load_model(falcon_with_alibi(tmp_path / "model"), device="cpu")
    ids = {"statements": [np.arange(30, 69, dtype=np.int32)]}
    assert module.probe(checkpoint, ids).kernel == "sdpa"
    with pytest.raises(LayerwiseError, match="eager attention differs from sdpa at layer 1"):
        module.probe(checkpoint, ids, fixed_kernel=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("family", "key"),
    [
        ("llama", {"is_causal": False}),
        ("gemma3_text", {"use_bidirectional_attention": True, "sliding_window": 64}),
    ],
)
def test_a_model_that_sees_what_it_predicts_has_no_nll(
    tmp_path: Path, dtype: str, family: str, key: dict[str, Any]
) -> None:
    folder = changed(family, tmp_path / "model", **key)
    for load in (load_model, loaded):
        with pytest.raises(LayerwiseError, match="its earlier states differ at layer"):
            measured(load(folder, dtype, "cpu"), tmp_path / "states")


def loaded(folder: Path, dtype: str, device: str) -> Checkpoint:
    kind = getattr(torch, dtype)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=kind)
    return from_memory(model, transformers.AutoTokenizer.from_pretrained(folder))


# --- faults of models in memory -----------------------------------------------------------------


class CrowdedMLP(torch.nn.Module):
    """An MLP with room for a few tokens of a batch, as experts of limited capacity have it."""

    def __init__(self, mlp: torch.nn.Module, room: int) -> None:
        super().__init__()
        self.mlp, self.room = mlp, room

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        out = 20 * self.mlp(hidden)
        has_room = torch.arange(out.shape[0] * out.shape[1]) < self.room
        return out * has_room.reshape(out.shape[:2])[..., None]


def crowd(model: Any) -> None:
    model.model.layers[1].mlp = CrowdedMLP(model.model.layers[1].mlp, 20)


class AveragingMLP(torch.nn.Module):
    """An MLP that looks at the other texts of a batch, as norms over a batch do."""

    def __init__(self, mlp: torch.nn.Module) -> None:
        super().__init__()
        self.mlp = mlp

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = 20 * self.mlp(hidden)
        return out - out.mean(dim=0, keepdim=True) * (len(out) > 1)


def average(model: Any) -> None:
    model.model.layers[1].mlp = AveragingMLP(model.model.layers[1].mlp)


def scale_logits(model: Any) -> None:
    def scale(whole: Any, given: Any, out: Any) -> Any:
        out.logits = 4 * out.logits
        return out

    model.register_forward_hook(scale)


def patch_the_whole(model: Any) -> None:
    forward = model.forward

    def patched(*given: Any, **named: Any) -> Any:
        out = forward(*given, **named)
        out.logits = out.logits.flip(-1)
        return out

    model.forward = patched


def turn_tuples_on(model: Any) -> None:
    model.config.return_dict = False


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("change", "logits", "alone"),
    [
        (crowd, "head", True),
        (average, "head", True),
        (scale_logits, "model", False),
        (patch_the_whole, "model", False),
        (turn_tuples_on, "head", False),
    ],
)
def test_a_model_in_memory_is_measured_as_it_runs(
    tokenizer: Any, tmp_path: Path, dtype: str, change: Change, logits: str, alone: bool
) -> None:
    model = llama(dtype)
    change(model)
    states = measured(from_memory(model, tokenizer), tmp_path / "states")
    passes = states.index["passes"]
    assert (passes["logits"], passes["alone"]) == (logits, alone)
    assert bool(passes["left_out"]) == alone
    model.config.return_dict = True
    of_states, of_nll = deviations(model, tokenizer, states)
    assert of_states < {"float32": 1e-5, "float16": 2e-3, "bfloat16": 2e-2}[dtype]
    assert of_nll < {"float32": 1e-5, "float16": 4e-3, "bfloat16": 4e-2}[dtype]


class StuckDropout(torch.nn.Module):
    """Dropout that no `eval` switches off."""

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.dropout(hidden, 0.5, training=True)


def drop(model: Any) -> None:
    block = model.model.layers[1]
    block.mlp = torch.nn.Sequential(block.mlp, StuckDropout())


def remember(model: Any) -> None:
    kept: list[torch.Tensor] = []

    def add(block: Any, given: Any, out: torch.Tensor) -> torch.Tensor:
        kept.append(out.mean())
        return out + 10 * torch.stack(kept).sum()

    model.model.layers[1].register_forward_hook(add)


def remember_length(model: Any) -> None:
    """What a longer text leaves behind changes the shorter ones after it."""
    longest = [0]

    def stretch(block: Any, given: Any, out: torch.Tensor) -> torch.Tensor:
        longest[0] = max(longest[0], out.shape[1])
        return out * (1 + longest[0])

    model.model.layers[1].register_forward_hook(stretch)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("change", [drop, remember, remember_length])
def test_a_model_that_differs_from_itself_is_refused(
    tokenizer: Any, tmp_path: Path, dtype: str, change: Change
) -> None:
    model = llama(dtype)
    change(model)
    with pytest.raises(LayerwiseError, match=r"differs from itself at (layer [23]|the logits),"):
        measured(from_memory(model, tokenizer), tmp_path / "states")


# --- what short texts, one kernel or few neighbours do not show ---------------------------------

TOLERATED = {"float32": 1e-5, "float16": 4e-3, "bfloat16": 4e-2}


def near(module: Any, query: Any, key: Any, value: Any, mask: Any, **named: Any) -> Any:
    """Attention to a token and the two before it."""
    key, value = (
        part.repeat_interleave(query.shape[1] // part.shape[1], 1) for part in (key, value)
    )
    behind = torch.arange(query.shape[2])[:, None] - torch.arange(query.shape[2])
    scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
    weights = scores.masked_fill((behind < 0) | (behind > 2), -1e4).softmax(-1)
    return (weights @ value).transpose(1, 2).contiguous(), weights


def seeing(dtype: str, text: Any) -> Any:
    """A model that sees images and reads text as `text` says, with weights far from nothing."""
    config = transformers.LlavaConfig(
        image_token_id=5,
        text_config=text,
        vision_config=transformers.CLIPVisionConfig(
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=1,
            num_attention_heads=2,
            image_size=28,
            patch_size=14,
        ),
    )
    torch.manual_seed(0)
    model = transformers.LlavaForConditionalGeneration(config).eval()
    for weight in model.parameters():
        weight.data += 0.3 * torch.randn_like(weight)
    return model.to(getattr(torch, dtype))


SIZES = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3}
SIZES |= {"num_attention_heads": 4, "vocab_size": 512}


def kernels(model: Any) -> list[str]:
    config = model.config
    configs = (config, config.text_config, config.vision_config)
    return [part._attn_implementation for part in configs]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", ["near", "eager"])
def test_the_attention_of_a_text_tower_is_measured_and_stays(
    tokenizer: Any, tmp_path: Path, dtype: str, kernel: str
) -> None:
    transformers.AttentionInterface.register("near", near)
    model = seeing(dtype, transformers.LlamaConfig(**SIZES))
    model.set_attn_implementation({"text_config": kernel})
    ids = torch.arange(30, 50)[None]
    before, own = kernels(model), model(ids).logits
    states = measured(from_memory(model, tokenizer), tmp_path / "states")
    assert states.index["passes"]["kernel"] == kernel == before[1]
    assert kernels(model) == before
    assert torch.equal(model(ids).logits, own)
    assert max(deviations(model, tokenizer, states)) < TOLERATED[dtype]


def test_random_weights_read_with_the_same_attention(tokenizer: Any) -> None:
    transformers.AttentionInterface.register("near", near)
    model = seeing("float32", transformers.LlamaConfig(**SIZES))
    model.set_attn_implementation({"text_config": "near"})
    drawn = with_random_weights(from_memory(model, tokenizer), 0)
    assert kernels(drawn.model) == kernels(model)
    assert drawn.kernel == "near"


@pytest.mark.parametrize("in_memory", [False, True])
def test_a_tower_that_only_one_kernel_runs_is_measured(tmp_path: Path, in_memory: bool) -> None:
    """Gemma 2 inside a model that sees: its soft cap is in eager attention alone."""
    config = transformers.Gemma2Config(**SIZES, num_key_value_heads=2, head_dim=8)
    seeing("float32", config).save_pretrained(tmp_path / "model")
    for file in twin_folder("llama").glob("tokenizer*"):
        shutil.copy(file, tmp_path / "model")
    checkpoint = load_model(tmp_path / "model", "float32", "cpu")
    if in_memory:
        checkpoint = from_memory(checkpoint.model, checkpoint.tokenizer)
    before = kernels(checkpoint.model)
    states = measured(checkpoint, tmp_path / "states")
    assert states.index["passes"]["kernel"] == "eager" == before[1] != before[0]
    assert kernels(checkpoint.model) == before
    assert max(deviations(checkpoint.model, checkpoint.tokenizer, states)) < 1e-5


LONG = 16  # tokens: longer than the rows


def stretch_positions(model: Any) -> None:
    """Positions nearer to each other in long texts, by the forward of the whole."""
    forward = type(model).forward

    class Stretched(type(model)):  # type: ignore[misc]
        def forward(self, input_ids: Any = None, **named: Any) -> Any:
            if input_ids.shape[1] > LONG:
                named["position_ids"] = torch.arange(input_ids.shape[1])[None] // 4
            return forward(self, input_ids=input_ids, **named)

    model.__class__ = Stretched


def cool_logits(first: int, end: int = 1000) -> Change:
    """Logits that are smaller in texts of `first` tokens or more, by the forward of the whole."""

    def change(model: Any) -> None:
        forward = type(model).forward

        class Cooled(type(model)):  # type: ignore[misc]
            def forward(self, input_ids: Any = None, **named: Any) -> Any:
                out = forward(self, input_ids=input_ids, **named)
                out.logits = out.logits * (0.25 if first <= input_ids.shape[1] < end else 1)
                return out

        model.__class__ = Cooled

    return change


def quieten(token: int) -> Change:
    """Suppress a token at the last position, as hooks for generation do."""

    def change(model: Any) -> None:
        def after(head: Any, given: Any, out: torch.Tensor) -> torch.Tensor:
            out = out.clone()
            out[:, -1, token] = -1e4
            return out

        model.lm_head.register_forward_hook(after)

    return change


class Centred(torch.nn.Linear):
    """Output embeddings that centre the logits over the tokens of a text."""

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = super().forward(hidden)
        return out - out.mean(dim=1, keepdim=True)


def centre(model: Any) -> None:
    model.lm_head.__class__ = Centred


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "change",
    [
        stretch_positions,
        cool_logits(LONG + 1),
        cool_logits(module.TOKENS + 1, 60),
        cool_logits(1, module.TOKENS),
        quieten(40),
    ],
    ids=["positions", "logits", "of usual texts", "of short texts", "last position"],
)
def test_what_the_whole_forward_alone_does_is_measured(
    tokenizer: Any, tmp_path: Path, dtype: str, change: Change
) -> None:
    model = llama(dtype)
    change(model)
    long_texts = (*TEXTS, " ".join(TEXTS[:3]), LONGEST)
    states = extract(from_memory(model, tokenizer), long_texts, (), tmp_path / "states")
    assert states.index["passes"]["logits"] == "model"
    for number, text in enumerate(long_texts):
        ids = torch.tensor([tokenizer(text).input_ids])
        with torch.no_grad():
            mask = torch.ones_like(ids)  # without it positions that do not rise are packed texts
            own = model(ids, attention_mask=mask, output_hidden_states=True)
        loss = torch.nn.functional.cross_entropy(own.logits[0, :-1].float(), ids[0, 1:])
        expected = own.hidden_states[-1][0, 1:].mean(dim=0).float().numpy()
        found = states.pooled(states.n_layers)[number]
        assert np.linalg.norm(found - expected) < TOLERATED[dtype] * np.linalg.norm(expected)
        assert abs(float(loss) - states.nll[number]) < TOLERATED[dtype]


def drop_long(model: Any) -> None:
    model.model.layers[1].register_forward_hook(
        lambda block, given, out: torch.dropout(out, 0.3, out.shape[1] > LONG)
    )


def remember_long(model: Any) -> None:
    kept: list[torch.Tensor] = []

    def add(block: Any, given: Any, out: torch.Tensor) -> torch.Tensor:
        if out.shape[1] <= LONG:
            return out
        added = out + sum(kept[-1:])
        kept.append(out.mean(dim=1, keepdim=True))
        return added

    model.model.layers[1].register_forward_hook(add)


@pytest.mark.parametrize("change", [drop_long, remember_long])
def test_what_only_long_texts_show_is_refused(
    tokenizer: Any, tmp_path: Path, change: Change
) -> None:
    model = llama()
    change(model)
    with pytest.raises(LayerwiseError, match=r"differs from itself at .* in a text of"):
        measured(from_memory(model, tokenizer), tmp_path / "states")


def prepare(model: Any) -> None:
    """As a training script does that goes on in mixed precision."""
    accelerate.Accelerator(mixed_precision="bf16", cpu=True).prepare(model)


def autocast_block(model: Any) -> None:
    block = model.model.layers[1]
    forward = block.forward

    def patched(*given: Any, **named: Any) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return forward(*given, **named)

    block.forward = patched


@pytest.mark.parametrize("change", [prepare, autocast_block])
def test_sixteen_bits_are_not_recorded_as_float32(
    tokenizer: Any, tmp_path: Path, change: Change
) -> None:
    model = llama()
    change(model)
    with pytest.raises(LayerwiseError, match="computes in bfloat16"):
        measured(from_memory(model, tokenizer), tmp_path / "states")
    whole = accelerate.Accelerator(cpu=True).unwrap_model(model, keep_fp32_wrapper=False)
    if change is prepare:  # the fix that is named
        assert measured(from_memory(whole, tokenizer), tmp_path / "states").index["passes"]


def seen_by(mask: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Change:
    """Attention in which token t sees token s where the mask says so, of both."""

    def attend(module: Any, query: Any, key: Any, value: Any, given: Any, **named: Any) -> Any:
        key, value = (
            part.repeat_interleave(query.shape[1] // part.shape[1], 1) for part in (key, value)
        )
        place = torch.arange(query.shape[2])
        scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
        allowed = (place <= place[:, None]) | mask(place[:, None], place)
        weights = scores.masked_fill(~allowed, -1e4).softmax(-1)
        return (weights @ value).transpose(1, 2).contiguous(), weights

    def change(model: Any) -> None:
        transformers.AttentionInterface.register("masked", attend)
        model.config._attn_implementation = "masked"

    return change


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "mask",
    [
        lambda t, s: (t < 6) & (s < 6),
        lambda t, s: t // 11 == s // 11,
        lambda t, s: t // 3 == s // 3,
        lambda t, s: (t > 0) & (s > 0) & (t < 7) & (s < 7),
        lambda t, s: (t > 13) & (s > 13),
        lambda t, s: (t > 1) & (t // 32 == s // 32) & (s > 15),
    ],
    ids=["prefix", "chunks of 11", "chunks of 3", "prefix behind the first", "end", "long chunks"],
)
def test_a_mask_that_shows_later_tokens_anywhere_is_refused(
    tokenizer: Any, tmp_path: Path, dtype: str, mask: Any
) -> None:
    model = llama(dtype)
    seen_by(mask)(model)
    with pytest.raises(LayerwiseError, match="its earlier states differ at layer 1"):
        measured(from_memory(model, tokenizer), tmp_path / "states")


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_head_that_looks_at_later_tokens_is_refused(
    tokenizer: Any, tmp_path: Path, dtype: str
) -> None:
    model = llama(dtype)
    centre(model)
    with pytest.raises(LayerwiseError, match="its earlier states differ at the logits"):
        measured(from_memory(model, tokenizer), tmp_path / "states")


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_head_that_tells_the_next_token_a_little_is_refused(
    tokenizer: Any, tmp_path: Path, dtype: str
) -> None:
    """In long texts alone, by less than any norm shows: by a last token that it has seen."""
    model = llama(dtype)

    def tell(whole: Any, given: Any, named: Any, out: Any) -> Any:
        ids = named["input_ids"]
        if ids.shape[1] > module.TOKENS:
            later = ids[:, 1:, None]
            told = module.STATES[dtype] * out.logits.norm(dim=-1, keepdim=True)[:, :-1]
            told = told * (ids[:, -1, None, None] % 5) / 6
            out.logits[:, :-1].scatter_add_(2, later, told.to(out.logits.dtype))
        return out

    model.register_forward_hook(tell, with_kwargs=True)
    with pytest.raises(LayerwiseError, match="its earlier states differ at the mean NLL"):
        measured(from_memory(model, tokenizer), tmp_path / "states")


def crowd_of_four(model: Any) -> None:
    model.model.layers[1].register_forward_hook(
        lambda block, given, out: out + out.mean(dim=0) * (len(out) > 3)
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_neighbours_that_act_in_wide_batches_alone_are_left_out(
    tokenizer: Any, tmp_path: Path, dtype: str
) -> None:
    model = llama(dtype)
    crowd_of_four(model)
    texts = [TEXTS[2], *(f"A quiet {word}" for word in ("mill", "wall", "shop", "bridge"))]
    states = extract(from_memory(model, tokenizer), texts, (), tmp_path / "states")
    assert states.index["passes"]["alone"]
    for number, text in enumerate(texts):
        ids = torch.tensor([tokenizer(text).input_ids])
        with torch.no_grad():
            own = model(ids, output_hidden_states=True).hidden_states[-1][0, 1:].mean(dim=0)
        apart = np.linalg.norm(states.pooled(states.n_layers)[number] - own.float().numpy())
        assert apart < TOLERATED[dtype] * own.float().norm()


def test_tokens_that_are_exchanged_are_the_models(tokenizer: Any) -> None:
    """Of statements of the last id, or the first, alone."""
    model = llama()
    last = len(model.get_input_embeddings().weight) - 1
    for token in (last, 0):
        statements = [np.full(5, token, dtype=np.int32)] * 4
        assert module.probe(from_memory(model, tokenizer), {"statements": statements}).probed


def test_only_rare_tokens_are_exchanged_and_it_is_refused(tokenizer: Any, tmp_path: Path) -> None:
    """Where the texts that are compared hold none of them, the run sees it at the first one."""
    model = llama()
    rare = tokenizer(TEXTS[-1]).input_ids[-1]

    def exchange(whole: Any, given: Any, named: Any) -> Any:
        ids = named["input_ids"]
        return given, {**named, "input_ids": ids.where(ids != rare, 5)}

    model.register_forward_pre_hook(exchange, with_kwargs=True)
    assert rare not in tokenizer(TEXTS[0]).input_ids
    with pytest.raises(LayerwiseError, match="must run the tokens that it is given"):
        extract(from_memory(model, tokenizer), TEXTS, (), tmp_path / "states")


def test_a_text_that_its_own_forward_cannot_run_is_refused_in_words(
    tmp_path: Path, tokenizer: Any
) -> None:
    """A config that promises positions for which there are no embeddings."""
    model = transformers.AutoModelForCausalLM.from_pretrained(twin_folder("gpt2"))
    model.config.n_positions = 1024
    checkpoint = from_memory(model, tokenizer)
    with pytest.raises(LayerwiseError, match="its own forward does not run the texts"):
        extract(checkpoint, TEXTS, (" ".join([LONGEST] * 9),), tmp_path / "states")


# --- the tolerances, and what is recorded -------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("change", [crowd, average])
def test_no_tolerance_exceeds_a_tenth_of_a_fault(dtype: str, change: Change) -> None:
    model = llama(dtype)
    change(model)
    ids = torch.arange(30, 30 + module.ROWS * module.TOKENS).reshape(module.ROWS, module.TOKENS)
    with torch.no_grad():
        beside = model(ids, output_hidden_states=True).hidden_states[2][-1].float()
        alone = model(ids[-1:], output_hidden_states=True).hidden_states[2][0].float()
    apart = ((beside - alone).norm(dim=-1) / beside.norm(dim=-1)).max()
    assert apart > 10 * module.STATES[dtype]


def test_passes_are_recorded_and_read_again() -> None:
    passes = Passes("sdpa", "model", alone=True, left_out=("a", "b"), probed=30)
    assert Passes.of_record(passes.record) == passes


def test_rows_are_the_runs_own_tokens_without_special_ones(tokenizer: Any) -> None:
    checkpoint = replace(from_memory(llama(), tokenizer))
    texts = [np.array(tokenizer(text).input_ids, dtype=np.int32) for text in TEXTS]
    rows, exchanged, cuts = module._rows(checkpoint, {"statements": texts})
    assert rows.shape == (module.ROWS, module.TOKENS)
    own = {token for text in texts for token in text.tolist()} - set(tokenizer.all_special_ids)
    assert {*rows.flatten().tolist(), *exchanged.flatten().tolist()} <= own
    assert torch.equal(rows[-1], exchanged[-1])
    assert not (rows[:-1] == exchanged[:-1]).any()
    assert torch.equal(cuts[0], rows[0])
    for number, row in enumerate(cuts[1:], start=1):
        assert torch.equal(row[:number], rows[0, :number])
        assert not (row[number:] == rows[0, number:]).any()
    assert len(cuts) == module.TOKENS


@pytest.mark.parametrize(
    ("lengths", "beside"),
    [
        ([3, 5, 8, 13, 20, 21, 40], [5, 20]),
        ([12, 12, 30, 40], [30]),
        ([4, 4, 9], [4]),
        ([1, 12, 40], []),
        ([7], []),
    ],
)
def test_usual_texts_are_shorter_and_longer_than_the_rows(
    lengths: list[int], beside: list[int]
) -> None:
    assert lengths_beside(lengths[::-1]) == beside


def test_one_short_statement_is_enough() -> None:
    model = copy.deepcopy(llama())
    folder = twin_folder("llama")
    checkpoint = from_memory(model, transformers.AutoTokenizer.from_pretrained(folder))
    for ids in ([7, 8], [7, 8, 9]):
        statements = [np.array(ids, dtype=np.int32)]
        assert module.probe(checkpoint, {"statements": statements}).logits == "head"
