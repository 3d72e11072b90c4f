"""What an error tells the owner of any other model to do is what is measured of the known ones."""

from pathlib import Path

import numpy as np
import tokenizers
import torch

import layerwise
from layerwise.models.families import ANY_OTHER
from layerwise.models.hidden_states import extract
from tiny_checkpoints import TEXTS, built, twin_folder


def test_the_lines_for_any_other_model_pool_as_the_papers_did(tmp_path: Path) -> None:
    checkpoint = built("gpt2")
    opening, *each, call = ANY_OTHER.split("`")[1::2]
    names = {"torch": torch, "tokenizers": tokenizers, "layerwise": layerwise, "numpy": np}
    names |= {"model": checkpoint.model, "states": [], "nll": []}
    exec(opening, names | {"path": str(twin_folder("gpt2") / "tokenizer.json")}, names)
    for text in TEXTS:
        with torch.no_grad():
            exec("\n".join(each), names | {"text": text})
    given = call.partition("measure(")[2].partition(", nll")[0]
    found = extract(checkpoint, TEXTS, (), tmp_path / "out")
    for layer, rows in enumerate(eval(given, names)):
        np.testing.assert_allclose(rows, found.pooled(layer), atol=2e-5)
    np.testing.assert_allclose(names["nll"], found.nll, atol=2e-5)
