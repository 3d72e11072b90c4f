"""How well a model predicts a plain paragraph: its own loss, or nothing where it does not fit."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers

import layerwise
from layerwise.models.load import from_memory
from layerwise.models.plain_text import FEWEST, PARAGRAPH, nll_of_paragraph
from tiny_checkpoints import EXAMPLE, twin_folder


def llama() -> tuple[Any, Any]:
    model = transformers.AutoModelForCausalLM.from_pretrained(twin_folder("llama")).train()
    return model, transformers.PreTrainedTokenizerFast.from_pretrained(twin_folder("llama"))


@pytest.mark.parametrize("fewer", [0, 1])
def test_it_is_the_loss_of_transformers_and_the_model_stays_as_it_was(fewer: int) -> None:
    """Of as many tokens as the model takes."""
    model, tokenizer = llama()
    ids = torch.tensor(tokenizer([PARAGRAPH]).input_ids)
    most = ids.shape[1] - fewer
    model.config.max_position_embeddings = most
    found = nll_of_paragraph(from_memory(model, tokenizer))
    assert model.training
    expected = model.eval()(ids[:, :most], labels=ids[:, :most]).loss.item()
    assert found == pytest.approx(expected, abs=1e-5)


def test_a_few_tokens_of_it_are_no_number() -> None:
    model, tokenizer = llama()
    model.config.max_position_embeddings = FEWEST - 1
    assert nll_of_paragraph(from_memory(model, tokenizer)) is None


def mpt(n_positions: int) -> Any:
    """Its bias is made for so many positions, which its config calls `max_seq_len`."""
    sizes = {"d_model": 32, "n_heads": 4, "n_layers": 2, "vocab_size": 512}
    return transformers.MptForCausalLM(transformers.MptConfig(**sizes, max_seq_len=n_positions))


def test_the_limit_of_every_config_is_read() -> None:
    _, tokenizer = llama()
    assert from_memory(mpt(64), tokenizer).declaration.n_positions == 64
    assert nll_of_paragraph(from_memory(mpt(64), tokenizer)) is not None


class OutOfMemory(torch.nn.Module):
    """A block in which memory runs out with a text that is longer than all others."""

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        if hidden.shape[1] > 64:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return hidden


def run_out_of_memory(model: Any) -> None:
    model.model.norm = torch.nn.Sequential(model.model.norm, OutOfMemory())


def add_by_position(model: Any) -> None:
    """A vector for each of 64 positions, of which no config says how many there are."""
    vectors = torch.ones(64, 1)
    model.model.layers[1].register_forward_hook(
        lambda block, given, out: out + vectors[: out.shape[1]]
    )


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("change", [run_out_of_memory, add_by_position])
def test_what_fails_after_all_passes_costs_this_number_alone(change: Callable[[Any], None]) -> None:
    model, tokenizer = llama()
    model.config.max_position_embeddings = 1024
    change(model)
    asked: dict[str, Any] = {**EXAMPLE, "without": ["spectral"]}
    found = layerwise.analyze(model, **asked, tokenizer=tokenizer)
    assert found.answers.records
    assert nll_of_paragraph(from_memory(model, tokenizer)) is None
