"""Every guard on a checkpoint is tried twice: on what it stops, and on real things that must pass.

What is real: configurations of public models (`real_configs.yaml`).
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file

from layerwise.errors import LayerwiseError, TextError
from layerwise.models import checkpoint_config
from layerwise.models.checkpoint import open_folder
from layerwise.models.checkpoint_config import check_config, check_declared
from layerwise.models.checkpoint_tokenizer import load_tokenizer
from layerwise.models.families import heads_of
from layerwise.models.load import check_loading, load_model
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
    """Those of the registry are as it declares; an order of rows that is not known is refused."""
    document = REAL["of"].get(about.get("as"), {}) | about
    said = {key: value for key, value in document.items() if key not in OURS}
    folder = says(tmp_path, said)
    if "refused" in about:
        with pytest.raises(LayerwiseError, match=about["refused"]):
            heads_in(folder)
        return
    config = heads_in(folder)
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
def test_the_outline_of_a_folder_is_that_of_the_loaded_model(family: str) -> None:
    files = open_folder(twin_folder(family))
    outline, loaded = files.outline("float32", "cpu"), load_model(files.folder, device="cpu")
    assert outline == replace(loaded.outline, declaration=outline.declaration)
    assert outline.declaration.n_embeddings == loaded.declaration.n_embeddings


# --- what is decided before weights are loaded --------------------------------------------------


def with_tensors(change: Callable[[dict[str, torch.Tensor]], object]) -> Callable[[Path], object]:
    def spoil(folder: Path) -> None:
        file = folder / "model.safetensors"
        tensors = load_file(file)
        change(tensors)
        save_file(tensors, file, {"format": "pt"})

    return spoil


BLOCK = "gpt_neox.layers.1"
FOREIGN: dict[str, Callable[[dict[str, torch.Tensor]], object]] = {
    "a block more": lambda tensors: tensors.update(
        {f"gpt_neox.layers.3.{key}": torch.zeros(2) for key in ("a", "b")}
    ),
    "a bias that the config denies": lambda tensors: tensors.update(
        {"embed_out.bias": torch.zeros(512)}
    ),
    "a norm of another architecture": lambda tensors: tensors.update(
        {f"{BLOCK}.pre_feedforward_layernorm.weight": torch.ones(32)}
    ),
    "LoRA": lambda tensors: tensors.update(
        {f"{BLOCK}.attention.dense.lora_A.weight": torch.ones(4, 32)}
    ),
    "DoRA": lambda tensors: tensors.update(
        {f"{BLOCK}.attention.dense.lora_magnitude_vector": torch.ones(32)}
    ),
    "zero points": lambda tensors: tensors.update(
        {f"{BLOCK}.attention.dense.weight_zero_point": torch.ones(32)}
    ),
    "fewer words": lambda tensors: tensors.update({"gpt_neox.embed_in.weight": torch.ones(40, 32)}),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_tensors_are_refused_by_the_dry_run_in_the_words_of_the_run(
    copy: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_tensors(FOREIGN[name])(copy)
    monkeypatch.setattr("layerwise.models.load._load_weights", None)
    with pytest.raises(LayerwiseError) as dry:
        check_loading(open_folder(copy), "float32", "cpu")
    with pytest.raises(LayerwiseError) as run:
        load_model(copy, device="cpu")
    assert str(dry.value) == str(run.value)


def test_other_weights_than_those_that_are_checked_are_refused(copy: Path) -> None:
    """transformers would load the file that this key names."""
    shutil.copy(copy / "model.safetensors", copy / "other.safetensors")
    changed(copy, transformers_weights="other.safetensors")
    with pytest.raises(LayerwiseError, match="found 'transformers_weights'"):
        open_folder(copy)


@pytest.mark.parametrize("name", ["my\u00a0model", "a\u202eb", "a\nb"])
def test_a_folder_whose_name_cannot_be_shown_is_refused(copy: Path, name: str) -> None:
    with pytest.raises(LayerwiseError, match="a name must be printable"):
        open_folder(copy.rename(copy.with_name(name)))


def test_weights_that_this_user_may_not_read_are_called_so(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may read everything, so the question itself is answered here."""
    monkeypatch.setattr("os.access", lambda file, mode: not str(file).endswith("model.safetensors"))
    with pytest.raises(LayerwiseError, match="this user may not read it"):
        open_folder(copy)


# --- texts ---------------------------------------------------------------------------------------


def test_texts_are_refused_before_weights_are_loaded(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("layerwise.models.load._load_weights", None)
    with pytest.raises(TextError, match="takes at most 256 tokens"):
        load_model(copy, device="cpu", texts={"prompts": ["word " * 400]})
