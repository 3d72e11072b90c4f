"""How well a model predicts a plain paragraph: its own loss, or nothing where it does not fit."""

import pytest
import torch
import transformers

from layerwise.models.load import from_memory
from layerwise.models.plain_text import PARAGRAPH, nll_of_paragraph
from tiny_checkpoints import twin_folder


def test_it_is_the_loss_of_transformers_and_the_model_stays_as_it_was() -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(twin_folder("llama")).train()
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(twin_folder("llama"))
    ids = torch.tensor(tokenizer([PARAGRAPH]).input_ids)
    model.config.max_position_embeddings = ids.shape[1]
    found = nll_of_paragraph(from_memory(model, tokenizer))
    assert model.training
    expected = model.eval()(ids, labels=ids).loss.item()
    assert found == pytest.approx(expected, abs=1e-5)
    model.config.max_position_embeddings = ids.shape[1] - 1
    assert nll_of_paragraph(from_memory(model, tokenizer)) is None
