from dataclasses import replace
from pathlib import Path

import pytest
import torch

from layerwise.errors import LayerwiseError
from layerwise.tiny import build_tiny
from layerwise.weights import load_built
from tiny_checkpoints import FAMILIES, TEXTS, tiny_model


@pytest.mark.parametrize("family", FAMILIES)
def test_tiny_has_the_declared_shape(tmp_path: Path, family: str) -> None:
    model = tiny_model(family)
    folder = build_tiny(model, TEXTS, tmp_path / "m")
    loaded = load_built(model, folder, device="cpu")
    assert (loaded.n_layers, loaded.hidden_size, len(loaded.blocks)) == (3, 16, 3)
    assert loaded.adds_bos == (family in ("opt", "llama"))
    ids = loaded.tokenizer(TEXTS[0]).input_ids
    assert (ids[0] == loaded.tokenizer.bos_token_id) == loaded.adds_bos
    assert loaded.tokenizer.decode(ids, skip_special_tokens=True) == TEXTS[0]
    assert loaded.model.config._attn_implementation == "eager"


def test_tiny_same_seed_same_bytes_other_seed_other_weights(tmp_path: Path) -> None:
    state = torch.random.get_rng_state()
    one, two, three = (
        build_tiny(tiny_model(), TEXTS, tmp_path / str(n), seed) for n, seed in enumerate((5, 5, 6))
    )
    assert torch.equal(torch.random.get_rng_state(), state)
    for name in ("model.safetensors", "tokenizer.json"):
        assert (one / name).read_bytes() == (two / name).read_bytes()
    assert (one / "model.safetensors").read_bytes() != (three / "model.safetensors").read_bytes()


def test_tiny_iv(tmp_path: Path) -> None:
    with pytest.raises(LayerwiseError, match="a tokenizer needs at least one text, found none"):
        build_tiny(tiny_model(), [], tmp_path)
    with pytest.raises(LayerwiseError, match=r"tiny checkpoints exist for .*, not mamba"):
        build_tiny(replace(tiny_model(), family="mamba"), TEXTS, tmp_path)
