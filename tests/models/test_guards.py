"""Every guard on a checkpoint is tried twice: on what it stops, and on real things that must pass.

What is real: configurations of public models (`real_configs.yaml`).
"""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from layerwise.errors import LayerwiseError, TextError
from layerwise.models import checkpoint_config
from layerwise.models.checkpoint_config import check_config, check_declared
from layerwise.models.checkpoint_tokenizer import load_tokenizer
from layerwise.models.families import heads_of
from layerwise.models.load import load_model
from layerwise.models.outline import read_outline, read_sizes
from layerwise.models.registry import read_models
from tiny_checkpoints import REPOSITORY, TWIN_FAMILIES, twin_folder

REAL = yaml.safe_load((Path(__file__).parents[1] / "real_configs.yaml").read_text())
MODELS = read_models(REPOSITORY / "models.yaml")
TEXT = "Water boils at 100 degrees."
OURS = ("slug", "name", "refused", "as")  # keys that say what a configuration is, not what it says


def says(folder: Path, document: dict[str, Any], name: str = "config.json") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(document))
    return folder


def changed(folder: Path, name: str = "config.json", **changes: Any) -> Path:
    """The twin's folder with some keys of a file as given."""
    document = json.loads((folder / name).read_text())
    return says(folder, document | changes, name)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(twin_folder("gpt_neox"), tmp_path / "copy"))


def heads_in(folder: Path) -> Any:
    """The configuration of a folder, once it and its heads are known."""
    check_config(folder)
    config = checkpoint_config.declared(folder)
    assert heads_of(config).hidden_size == config.hidden_size
    return config


# --- config.json --------------------------------------------------------------------------------


@pytest.mark.parametrize("about", REAL["models"], ids=lambda one: one.get("slug") or one["name"])
def test_real_configurations_pass(tmp_path: Path, about: dict[str, Any]) -> None:
    """Those of the registry are as it declares; a layout that is not known is refused in words."""
    document = REAL["of"].get(about.get("as"), {}) | about
    said = {key: value for key, value in document.items() if key not in OURS}
    folder = says(tmp_path, said)
    if "refused" in about:
        with pytest.raises(LayerwiseError, match=about["refused"]):
            heads_in(folder)
        return
    config, sizes = heads_in(folder), read_sizes(folder)
    assert (sizes.n_layers, sizes.hidden_size) == (config.num_hidden_layers, config.hidden_size)
    assert (sizes.key_size, sizes.vocab_size) == (
        heads_of(config).heights["W_K"],
        config.vocab_size,
    )
    assert sizes.n_positions == getattr(config, "max_position_embeddings", None)
    if "slug" in about:
        check_declared(MODELS[about["slug"]], config)


def test_every_model_of_the_registry_is_among_them() -> None:
    assert [one["slug"] for one in REAL["models"] if "slug" in one] == list(MODELS)


# --- tokenizer.json -----------------------------------------------------------------------------


PADDING = {
    "strategy": {"Fixed": 10**9},
    "direction": "Right",
    "pad_id": 0,
    "pad_type_id": 0,
    "pad_token": "x",
    "pad_to_multiple_of": None,
}
TRUNCATION = {"max_length": 2, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}


def test_padding_truncation_and_a_length_are_not_the_tokenizers_to_choose(copy: Path) -> None:
    before = load_tokenizer(copy)(TEXT).input_ids
    changed(copy, "tokenizer.json", padding=PADDING, truncation=TRUNCATION)
    changed(copy, "tokenizer_config.json", model_max_length=1)
    assert load_tokenizer(copy)(TEXT).input_ids == before


@pytest.mark.parametrize("family", TWIN_FAMILIES)
def test_an_outline_is_that_of_the_loaded_model(family: str) -> None:
    folder = twin_folder(family)
    outline, loaded = read_outline(folder), load_model(folder, device="cpu").outline
    same = replace(loaded.sizes, dtype=outline.sizes.dtype)
    assert outline.sizes == same
    assert outline.n_parameters == pytest.approx(loaded.n_parameters, rel=1e-3)  # buffers


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_hidden_layers": 4}, r"declares 4 blocks, the safetensors files hold 3; save config"),
        ({"vocab_size": 40}, r"declares 40 embeddings, the safetensors files hold 512; save"),
    ],
)
def test_a_config_of_another_model_is_refused_by_an_outline(
    copy: Path, changes: dict[str, Any], message: str
) -> None:
    changed(copy, **changes)
    with pytest.raises(LayerwiseError, match=message):
        read_outline(copy)


# --- texts ---------------------------------------------------------------------------------------


def test_texts_are_refused_before_weights_are_loaded(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("layerwise.models.load._load_weights", None)
    with pytest.raises(TextError, match="takes at most 256 tokens"):
        load_model(copy, device="cpu", texts={"prompts": ["word " * 400]})
