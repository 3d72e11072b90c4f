"""Quantised weights: a loaded model is measured as its own modules run, against a plain loop.

The modules are made by hand, as those of bitsandbytes, torchao and quanto are: whole numbers with a
scale, in a module's parameter or in a tensor of a class of its own.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import layerwise
from layerwise import LayerwiseError
from layerwise.models.hidden_states import extract
from layerwise.models.load import from_memory, with_random_weights
from layerwise.models.quantised import PACKED
from layerwise.papers.fetching.texts import read_pairs
from layerwise.reader.files import RECORD
from tiny_checkpoints import EXAMPLE, TEXTS, deviations, twin_folder

BLOCK = 8  # rows and columns of fp8 weights that share a scale


def rounded_to_int8(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Whole numbers and the scale of each row."""
    scale = weight.abs().amax(dim=1, keepdim=True) / 127
    return (weight / scale).round().to(torch.int8), scale


class Int8Linear(torch.nn.Module):
    """A linear map whose weight is made of whole numbers in its own forward."""

    def __init__(self, linear: torch.nn.Linear) -> None:
        super().__init__()
        numbers, scale = rounded_to_int8(linear.weight.detach())
        self.weight = torch.nn.Parameter(numbers, requires_grad=False)
        self.register_buffer("scale", scale)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        return self.rounded(states) @ (self.weight * self.scale).T

    def rounded(self, states: torch.Tensor) -> torch.Tensor:
        return states


class RoundingByToken(Int8Linear):
    """One that rounds what it is given too, each token by its own largest number."""

    def rounded(self, states: torch.Tensor) -> torch.Tensor:
        scale = states.abs().amax(dim=-1, keepdim=True) / 127
        return (states / scale).round() * scale


class RoundingByBatch(Int8Linear):
    """One that rounds the first token by the largest number of the whole batch."""

    def rounded(self, states: torch.Tensor) -> torch.Tensor:
        scale = states[:, :1].abs().amax() / 127
        first = (states[:, :1] / scale).round() * scale
        return torch.cat([first, states[:, 1:]], dim=1)


class RoundingOfTwo(Int8Linear):
    """One that rounds where two texts stand beside each other; the probe tries one and three."""

    def rounded(self, states: torch.Tensor) -> torch.Tensor:
        return states.bfloat16().float() if len(states) == 2 else states


class SpoiltBySaving(Int8Linear):
    """One that is another one once it was saved, as bitsandbytes' is on a CPU."""

    def _save_to_state_dict(self, *args: Any, **options: Any) -> None:
        super()._save_to_state_dict(*args, **options)
        self.weight.data = -self.weight.data


class RoundingByText(Int8Linear):
    """One that rounds a token by the mean size of all tokens: by later ones too."""

    def rounded(self, states: torch.Tensor) -> torch.Tensor:
        scale = states.abs().mean() / 32
        return (states / scale).round() * scale


class Int8Tensor(torch.Tensor):
    """A weight that is no plain tensor, and gives its numbers to whoever computes with it."""

    numbers: torch.Tensor
    scale: torch.Tensor

    @staticmethod
    def __new__(cls, numbers: torch.Tensor, scale: torch.Tensor) -> "Int8Tensor":
        made: Int8Tensor = torch.Tensor._make_wrapper_subclass(
            cls, numbers.shape, dtype=scale.dtype, device=numbers.device
        )
        made.numbers, made.scale = numbers, scale
        return made

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["numbers", "scale"], None

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.aten.detach.default:
            return cls(args[0].numbers, args[0].scale)
        plain = [one.numbers * one.scale if isinstance(one, cls) else one for one in args]
        return func(*plain, **(kwargs or {}))


def into_tensor(linear: torch.nn.Linear) -> torch.nn.Linear:
    weight = Int8Tensor(*rounded_to_int8(linear.weight.detach()))
    linear.weight = torch.nn.Parameter(weight, requires_grad=False)
    return linear


def quantised(change: Callable[[Any], Any]) -> tuple[Any, Any]:
    """A twin with Llama's blocks, its projections quantised, and its tokenizer."""
    folder = twin_folder("llama")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    for block in model.model.layers:
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(block.self_attn, name, change(getattr(block.self_attn, name)))
        block.mlp.down_proj = change(block.mlp.down_proj)
    return model, transformers.PreTrainedTokenizerFast.from_pretrained(folder)


@pytest.mark.parametrize(
    "change", [Int8Linear, RoundingByToken, RoundingByBatch, RoundingOfTwo, into_tensor]
)
def test_states_and_nll_are_those_of_a_plain_loop(change: Any, tmp_path: Path) -> None:
    model, tokenizer = quantised(change)
    found = extract(from_memory(model, tokenizer), TEXTS, (), tmp_path / "states")
    states, nats = deviations(model, tokenizer, found)
    assert states < 1e-6
    assert nats < 1e-6
    whole = transformers.AutoModelForCausalLM.from_pretrained(twin_folder("llama"))
    assert deviations(whole, tokenizer, found)[0] > 1e-4  # the rounding is in what was measured


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("change", "how"), [(Int8Linear, "by hand"), (into_tensor, PACKED)])
def test_all_but_spectral_norms_is_measured_and_the_result_says_what_it_is_of(
    change: Any, how: str
) -> None:
    model, tokenizer = quantised(change)
    if how != PACKED:
        model.config.quantization_config = {"quant_method": how}
    result = layerwise.analyze(model, **EXAMPLE, tokenizer=tokenizer, control=1)
    assert set(result.absent) == {"spectral"}
    assert result.documents["layers"][RECORD]["quantised"] == how
    assert result.settings["quantised"] == how
    assert sum(how in caution for caution in result.cautions) == 1


def test_a_model_is_afterwards_as_it_was() -> None:
    model, tokenizer = quantised(SpoiltBySaving)
    ids = tokenizer(TEXTS[0], return_tensors="pt").input_ids
    with torch.no_grad():
        before = model(ids).logits
        from_memory(model, tokenizer)
        assert torch.equal(model(ids).logits, before)


def test_random_weights_of_the_same_architecture_are_not_quantised() -> None:
    model, tokenizer = quantised(Int8Linear)
    model.config.quantization_config = {"quant_method": "by hand"}
    checkpoint = from_memory(model, tokenizer)
    assert (checkpoint.quantised, with_random_weights(checkpoint, 0).quantised) == ("by hand", "")


def test_what_rounds_by_later_tokens_is_refused() -> None:
    model, tokenizer = quantised(RoundingByText)
    with pytest.raises(LayerwiseError, match="packed weights rounds depends on it"):
        layerwise.analyze(model, **EXAMPLE, tokenizer=tokenizer)


def test_another_number_in_a_packed_weight_is_another_revision() -> None:
    for change in (Int8Linear, into_tensor):
        model, tokenizer = quantised(change)
        before = from_memory(model, tokenizer).revision
        weight = model.model.layers[1].mlp.down_proj.weight
        getattr(weight, "numbers", weight.data)[0, 0] += 1
        assert from_memory(model, tokenizer).revision != before


def in_8_bits(folder: Path, source: Path) -> Path:
    """A checkpoint folder with projections in 8 bits, as models are published in them."""
    tensors = {}
    for key, weight in load_file(source / "model.safetensors").items():
        tensors[key] = weight
        if key.endswith("_proj.weight"):
            blocks = weight.unflatten(1, (-1, BLOCK)).unflatten(0, (-1, BLOCK))
            scale = blocks.abs().amax(dim=(1, 3)) / 448
            spread = scale.repeat_interleave(BLOCK, 0).repeat_interleave(BLOCK, 1)
            tensors[key] = (weight / spread).to(torch.float8_e4m3fn)
            tensors[f"{key}_scale_inv"] = scale
    for name in ("tokenizer.json", "tokenizer_config.json", "config.json"):
        (folder / name).write_bytes((source / name).read_bytes())
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((source / "config.json").read_text())
    by = {"quant_method": "fp8", "weight_block_size": [BLOCK, BLOCK]}
    (folder / "config.json").write_text(json.dumps(config | {"quantization_config": by}))
    return folder


@pytest.mark.usefixtures("quick")
def test_the_way_that_the_error_of_a_quantised_folder_names_is_right(tmp_path: Path) -> None:
    folder = in_8_bits(tmp_path, twin_folder("llama"))
    with pytest.raises(LayerwiseError) as refused:
        layerwise.analyze(folder, **EXAMPLE)
    names: dict[str, Any] = {"transformers": transformers, "layerwise": layerwise, **EXAMPLE}
    *statements, call = re.findall("`([^`]+)`", str(refused.value))
    exec("\n".join(statements), names | {"folder": folder}, names)
    result = eval(call, names)
    pairs, expected = read_pairs(EXAMPLE["pairs"]), []
    for text in pairs.side_a:
        ids = names["tokenizer"](text, return_tensors="pt").input_ids
        with torch.no_grad():
            expected.append(names["model"](ids, labels=ids).loss.item())
    found = [row["NLL A (nats)"] for row in result.by_pair.records]
    np.testing.assert_allclose(found, expected, atol=1e-5)
