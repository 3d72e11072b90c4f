"""One of each odd kind of architecture, held against a plain loop of one statement at a time.

`docs/architectures.py` tries every class of the installed transformers in the same way.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

import layerwise
from layerwise import LayerwiseError
from layerwise.files import read_json
from layerwise.models.families import FAMILIES
from layerwise.models.hidden_states import extract
from layerwise.models.load import from_memory, load_model
from layerwise.models.registry import RANDOM
from layerwise.present.terminal import as_text
from layerwise.run.steps import list_models
from tiny_checkpoints import EXAMPLE, TEXTS, deviations, plain_loop, twin_folder

USUAL: dict[str, Any] = {
    "vocab_size": 512,
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "intermediate_size": 48,
    "pad_token_id": 1,
}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
MAMBA = {"vocab_size": 512, "hidden_size": 32, "num_hidden_layers": 3, "state_size": 8}
POSITIONS = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [1, 1, 2]}
GRANITE = {"logits_scaling": 3.0, "embedding_multiplier": 5.0, "residual_multiplier": 0.5}
VISION = {"hidden_size": 32, "embed_dim": 16, "depth": 1, "num_heads": 2}
IMAGES = VISION | {"intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
KINDS = {
    "a state-space model": ("mamba", MAMBA),
    "fused experts": ("qwen3_moe", USUAL | EXPERTS),
    "divided logits": ("granite", USUAL | GRANITE),
    "multiplied logits": ("cohere2", USUAL | {"logit_scale": 0.25}),
    "no final norm": ("openai-gpt", {"vocab_size": 512, "n_embd": 32, "n_layer": 3, "n_head": 4}),
    "a text tower": (
        "qwen2_vl",
        {
            "text_config": USUAL | {"rope_parameters": POSITIONS, "model_type": "qwen2_vl_text"},
            "vision_config": VISION,
        },
    ),
    "a tower with a head": (
        "llama4",
        {"text_config": USUAL | {"num_local_experts": 2}, "vision_config": IMAGES},
    ),
}
OF_RANK_4 = {
    "streams first": (
        "gemma3n_text",
        USUAL | {"vocab_size_per_layer_input": 512, "num_kv_shared_layers": 0},
    ),
    # and its final norm has a name that transformers' renaming would spoil
    "streams last": (
        "deepseek_v4",
        USUAL | {"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16},
    ),
}


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return transformers.AutoTokenizer.from_pretrained(twin_folder("gpt_neox"))


def tiny(kind: str) -> Any:
    """A model of a kind with random weights, every one of which is moved."""
    family, sizes = (KINDS | OF_RANK_4)[kind]
    auto = (
        transformers.AutoModelForImageTextToText
        if "vision_config" in sizes
        else transformers.AutoModelForCausalLM
    )
    torch.manual_seed(0)
    model = auto.from_config(transformers.AutoConfig.for_model(family, **sizes)).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.05 * torch.randn_like(weight)
    return model


def saved(model: Any, tokenizer: Any, folder: Path) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def loop_of_mamba(model: Any, ids: torch.Tensor) -> tuple[Sequence[torch.Tensor], torch.Tensor]:
    """Its reported states are what leaves every block, without what enters the first."""
    (*outputs, _, last), logits = plain_loop(model, ids)
    return (model.get_input_embeddings()(ids).detach(), *outputs, last), logits


@pytest.mark.parametrize("kind", KINDS)
def test_states_and_nll_are_those_of_a_plain_loop(
    kind: str, tokenizer: Any, tmp_path: Path
) -> None:
    model = tiny(kind)
    loop = loop_of_mamba if kind == "a state-space model" else plain_loop
    loaded = load_model(saved(model, tokenizer, tmp_path / "model"), device="cpu")
    for checkpoint in (loaded, from_memory(model, tokenizer)):
        found = extract(checkpoint, TEXTS, (), tmp_path / f"in-memory-{checkpoint.in_memory}")
        states, nats = deviations(model, tokenizer, found, loop)
        assert states < 1e-5
        assert nats < 1e-5
        assert found.index["passes"]["before_norm"] == (kind != "no final norm")


@pytest.mark.parametrize(("kind", "sizes"), [("streams first", "4, 3, "), ("streams last", "3, ")])
def test_states_of_another_rank_are_refused_by_name(
    kind: str, sizes: str, tokenizer: Any, tmp_path: Path
) -> None:
    model = tiny(kind)
    loaded = load_model(saved(model, tokenizer, tmp_path / "model"), device="cpu")
    for checkpoint in (loaded, from_memory(model, tokenizer)):
        with pytest.raises(
            LayerwiseError, match=rf"^{checkpoint.name}: .* layer 0 .*\({sizes}\d+, "
        ):
            extract(checkpoint, TEXTS, (), tmp_path / f"in-memory-{checkpoint.in_memory}")


@pytest.mark.parametrize(
    ("kind", "sizes"),
    [
        ("encoder", transformers.BertConfig(**USUAL)),
        ("encoder", transformers.BertGenerationConfig(**USUAL)),
        ("encoder-decoder", transformers.BartConfig(**{"vocab_size": 512, "d_model": 32})),
    ],
)
def test_what_is_no_decoder_is_refused_by_its_kind(
    kind: str, sizes: Any, tokenizer: Any, tmp_path: Path
) -> None:
    """Also where only its forward tells: its configuration looks like that of a decoder."""
    model = transformers.AutoModelForCausalLM.from_config(sizes)
    folder = saved(model, tokenizer, tmp_path / "model")
    for load in (lambda: load_model(folder, device="cpu"), lambda: from_memory(model, tokenizer)):
        with pytest.raises(LayerwiseError, match=rf"is an {kind}\b"):
            extract(load(), TEXTS, (), tmp_path / "states")


def test_the_list_says_what_is_a_decoder_and_whose_weights_are_known() -> None:
    listed = json.loads(list_models.run_architectures(as_json=True))["architectures"]
    by_family = {one.pop("family"): one for one in listed}
    assert {family for family in by_family if by_family[family]["spectral"]} == {*FAMILIES}
    assert by_family["mamba"] == {"class": "MambaForCausalLM", "refused": None, "spectral": False}
    assert by_family["bert"]["refused"] == "an encoder"
    assert by_family["t5"]["refused"] == "an encoder-decoder"
    lines = as_text(list_models.run_architectures(as_json=False), 200).splitlines()
    assert [line.split()[0] for line in lines[2 : lines.index("")]] == [*by_family]


def test_an_encoder_that_is_declared_a_decoder_is_measured(tokenizer: Any, tmp_path: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_config(
        transformers.BertConfig(**USUAL, is_decoder=True)
    ).eval()
    found = extract(from_memory(model, tokenizer), TEXTS, (), tmp_path / "states")
    assert max(deviations(model, tokenizer, found)) < 1e-5


def test_a_model_without_heads_has_every_answer_but_spectral_norms(
    tokenizer: Any, tmp_path: Path
) -> None:
    model = tiny("a state-space model")
    setattr(model.config, RANDOM, True)
    folder, out = saved(model, tokenizer, tmp_path / "model"), tmp_path / "out"
    layerwise.analyze(folder, *EXAMPLE.values(), out=out)
    gains = read_json(out / "gains.json")
    assert {gains[key] for key in ("n_heads", "d_head", "rho")} == {None}
    assert gains["d_model"] == 32
    assert not (out / "spectral.json").exists()
    page = (out / "index.html").read_text()
    assert page.count("it needs the places of W_Q") == 1
    assert page.count("as the class declares, checked on") == 1
