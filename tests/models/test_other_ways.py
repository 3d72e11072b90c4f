"""What an error tells the owner of another model to do runs as it stands, and is right."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import layerwise
from layerwise import LayerwiseError
from layerwise.models.hidden_states import extract
from layerwise.models.load import from_memory
from layerwise.models.other_ways import ANY_OTHER
from layerwise.papers.fetching.texts import read_pairs
from tiny_checkpoints import EXAMPLE, TEXTS, built, twin_folder

SIZES: dict[str, Any] = {
    "vocab_size": 512,
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "pad_token_id": 1,
}
OF_BART: dict[str, Any] = {
    "vocab_size": 512,
    "d_model": 32,
    "encoder_layers": 3,
    "decoder_layers": 2,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "pad_token_id": 1,
}
OF_T5: dict[str, Any] = {
    "vocab_size": 512,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 3,
    "num_heads": 4,
    "pad_token_id": 1,
}
# What no one decodes with: an encoder, an encoder-decoder, one without a class for language.
EMBEDDING = {
    "bert": SIZES,
    "modernbert": SIZES | {"global_attn_every_n_layers": 2, "cls_token_id": 0, "sep_token_id": 0},
    "bart": OF_BART,
    "t5": OF_T5,
    "clip_text_model": SIZES,
}
TRUNCATION = {
    "direction": "Right",
    "max_length": 4,
    "strategy": "LongestFirst",
    "stride": 0,
}
PADDING = {
    "strategy": {"Fixed": 16},
    "direction": "Right",
    "pad_to_multiple_of": None,
    "pad_id": 1,
    "pad_type_id": 0,
    "pad_token": "<pad>",
}


def statements_of(message: str) -> tuple[list[str], list[str], str]:
    """The statements of an error: those before the texts, those of each text, and the call."""
    *parts, call = re.findall("`([^`]+)`", message)
    first = next(place for place, part in enumerate(parts) if "text" in part)
    return parts[:first], parts[first:], call


def follow(message: str, texts: Any, **names: Any) -> tuple[dict[str, Any], str]:
    """Run the statements of an error on texts, and return their names and the last call."""
    before, each, call = statements_of(message)
    modules = {"torch": torch, "transformers": transformers, "numpy": np, "layerwise": layerwise}
    names = {**modules, "states": [], "nll": [], **names}
    was_enabled = torch.is_grad_enabled()
    try:
        exec("\n".join(before), names)
        for text in texts:
            exec("\n".join(each), names | {"text": text}, names)
    finally:
        torch.set_grad_enabled(was_enabled)
    return names, call


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a tokenizer whose file asks for padding and truncation, which no text needs."""
    place = tmp_path_factory.mktemp("other")
    transformers.AutoTokenizer.from_pretrained(twin_folder("gpt2")).save_pretrained(place)
    file = place / "tokenizer.json"
    tokenizer = json.loads(file.read_text())
    tokenizer |= {"truncation": TRUNCATION, "padding": PADDING}
    file.write_text(json.dumps(tokenizer))
    return place


def test_the_lines_for_any_other_model_pool_as_the_papers_did(folder: Path, tmp_path: Path) -> None:
    checkpoint = built("gpt2")
    names, call = follow(ANY_OTHER, TEXTS, folder=folder, model=checkpoint.model)
    given = call.partition("measure(")[2].partition(", nll")[0]
    found = extract(checkpoint, TEXTS, (), tmp_path / "out")
    for layer, rows in enumerate(eval(given, names)):
        np.testing.assert_allclose(rows, found.pooled(layer), atol=2e-5)
    np.testing.assert_allclose(names["nll"], found.nll, atol=2e-5)


@pytest.fixture(params=EMBEDDING)
def embedding_model(request: pytest.FixtureRequest, folder: Path) -> Path:
    """A folder of a tiny model with random weights that predicts no next token."""
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(request.param, **EMBEDDING[request.param])
    transformers.AutoModel.from_config(config).save_pretrained(folder)
    return folder


def test_the_way_of_a_refused_architecture_gives_its_asymmetries(embedding_model: Path) -> None:
    """Against a loop of one statement at a time, in double precision."""
    with pytest.raises(LayerwiseError) as refused:
        layerwise.analyze(embedding_model, **EXAMPLE)
    pairs = read_pairs(EXAMPLE["pairs"])
    names, call = follow(str(refused.value), pairs.statements, folder=embedding_model)
    result = eval(call, names | {"pairs": EXAMPLE["pairs"]})
    model = transformers.AutoModel.from_pretrained(embedding_model).double()
    reader = model.get_encoder() if model.config.is_encoder_decoder else model
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(embedding_model)
    means = []
    with torch.no_grad():
        for text in pairs.statements:
            ids = tokenizer(text, return_tensors="pt").input_ids
            last = reader(ids, output_hidden_states=True).hidden_states[-1][0, 1:]
            means.append(last.mean(dim=0) / last.mean(dim=0).norm())
    cosines = (torch.stack(means) @ torch.stack(means).T).numpy()
    for row in result.categories.records:
        number = pairs.categories.index(str(row["category"]))
        of_sides = []
        for start in (0, len(pairs)):
            rows = start + np.flatnonzero(np.asarray(pairs.category_of_pair) == number)
            inside = cosines[np.ix_(rows, rows)]
            of_sides.append((inside.sum() - len(rows)) / (len(rows) * (len(rows) - 1)))
        np.testing.assert_allclose(float(row["UA"]), of_sides[0] - of_sides[1], atol=1e-5)


def test_a_loaded_model_is_told_the_same_as_its_folder(embedding_model: Path) -> None:
    model = transformers.AutoModel.from_pretrained(embedding_model)
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(embedding_model)
    given = (
        lambda: layerwise.analyze(embedding_model, **EXAMPLE),
        lambda: from_memory(model, tokenizer),
    )
    ways = []
    for call in given:
        with pytest.raises(LayerwiseError) as refused:
            call()
        ways.append(statements_of(str(refused.value)))
    assert ways[0] == ways[1]
