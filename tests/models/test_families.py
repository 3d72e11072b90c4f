"""What an error tells the owner of any other model to do is what is measured of the known ones."""

from pathlib import Path

import numpy as np
import torch

from layerwise.models.families import ANY_OTHER
from layerwise.models.hidden_states import extract
from tiny_checkpoints import TEXTS, built


def test_the_lines_for_any_other_model_pool_as_the_papers_did(tmp_path: Path) -> None:
    checkpoint = built("gpt2")
    lines = ANY_OTHER.split("`")[1:6:2]
    names = {"torch": torch, "model": checkpoint.model, "states": [], "nll": []}
    for text in TEXTS:
        ids = torch.tensor([checkpoint.tokenizer(text).input_ids])
        with torch.no_grad():
            exec("\n".join(lines), names | {"ids": ids})
    stacked = torch.stack(names["states"], dim=1).float().numpy()
    found = extract(checkpoint, TEXTS, (), tmp_path / "out")
    for layer, rows in enumerate(stacked):
        np.testing.assert_allclose(rows, found.pooled(layer), atol=2e-5)
    np.testing.assert_allclose(names["nll"], found.nll, atol=2e-5)
