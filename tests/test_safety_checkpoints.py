"""A checkpoint's folder and id: weights are safetensors of that folder, and no name is a path."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import torch

from hostile import UNSEEN, is_unseen
from layerwise.errors import LayerwiseError
from layerwise.extraction.checkpoint_folder import (
    check_folder,
    weight_files,
)
from layerwise.extraction.hub import fetch, look_up
from layerwise.extraction.load import load_local
from layerwise.extraction.projections import Weights
from tiny_checkpoints import twin_folder, twinned_model

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ODD_SHARDS = (
    *("../../x.safetensors", "/etc/x.safetensors", "a/b.safetensors", "a\\b.safetensors", ".."),
    *("pytorch_model.bin", "model.safetensors.pt", "", "a\nb.safetensors", "\x1b.safetensors"),
    *(7, None, ["model.safetensors"]),
)


@pytest.fixture
def tiny() -> Path:
    return twin_folder("gpt_neox")


@pytest.fixture
def copy(tiny: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny, tmp_path / "folder" / "copy"))


@pytest.fixture
def no_pickle(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a pickle was about to be read")

    monkeypatch.setattr(torch, "load", refuse)


# --- checkpoints --------------------------------------------------------------------------------


def sharded(folder: Path, shard: object) -> Path:
    """The folder with its weights in one shard, beside what else an index may name."""
    if (folder / "model.safetensors").exists():
        whole = (folder / "model.safetensors").rename(folder / "a.safetensors")
        (folder / "pytorch_model.bin").write_bytes(whole.read_bytes())
        (folder.parent.parent / "x.safetensors").write_bytes(whole.read_bytes())
    keys = ["gpt_neox.embed_in.weight", "embed_out.weight"]
    index = {"metadata": {}, "weight_map": dict.fromkeys(keys, shard)}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


@pytest.mark.parametrize("shard", ODD_SHARDS, ids=repr)
def test_a_shard_elsewhere_or_of_another_kind_is_refused(
    copy: Path, no_pickle: None, shard: object
) -> None:
    message = r"a shard must be a \*\.safetensors file of the same folder, found .*; save the mod"
    for read in (load_local, Weights.open, check_folder, weight_files):
        with pytest.raises(LayerwiseError, match=message) as raised:
            read(sharded(copy, shard))
        assert not [character for character in str(raised.value) if is_unseen(character)]


def test_shards_of_the_folder_are_read(copy: Path, tiny: Path, no_pickle: None) -> None:
    loaded, whole = load_local(sharded(copy, "a.safetensors")), load_local(tiny)
    for one, two in zip(loaded.model.parameters(), whole.model.parameters(), strict=True):
        assert torch.equal(one, two)
    assert weight_files(copy) == [copy / "a.safetensors"]
    assert weight_files(tiny) == [tiny / "model.safetensors"]


@pytest.mark.parametrize("index", [[], {}, {"weight_map": []}, {"weight_map": {}}])
def test_an_index_of_another_shape_is_refused(copy: Path, index: Any) -> None:
    sharded(copy, "a.safetensors")
    (copy / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(LayerwiseError, match="names the file of every weight in `weight_map`, th"):
        load_local(copy)


def test_a_link_to_weights_is_followed_and_to_anything_else_refused(
    copy: Path, tmp_path: Path, no_pickle: None
) -> None:
    """The hub's own cache is made of links; what they lead to is held to be safetensors."""
    weights = copy / "model.safetensors"
    weights.rename(tmp_path / "elsewhere")
    weights.symlink_to(tmp_path / "elsewhere")
    assert load_local(copy).n_layers == 3
    weights.unlink()
    torch.save({"a": torch.zeros(1)}, tmp_path / "pickle.bin")
    weights.symlink_to(tmp_path / "pickle.bin")
    with pytest.raises(LayerwiseError, match=r"model\.safetensors: not a safetensors file"):
        load_local(copy)
    for place in ("/dev/null", tmp_path / "nothing", tmp_path):
        weights.unlink()
        weights.symlink_to(place)
        with pytest.raises(LayerwiseError, match=r"model\.safetensors is missing or no file"):
            load_local(copy)


@pytest.mark.parametrize("kind", [kind for kind in UNSEEN if kind not in ("NUL", "half a pair")])
def test_a_checkpoint_folder_has_a_printable_name(copy: Path, kind: str) -> None:
    """Results call the model by it."""
    with pytest.raises(LayerwiseError, match="the folder of a checkpoint: a name must be printab"):
        load_local(copy.rename(copy.with_name(UNSEEN[kind])))


def test_a_file_name_that_is_no_text_is_refused(copy: Path) -> None:
    odd = os.fsdecode(b"a\xff")
    with pytest.raises(LayerwiseError, match=r"a name must be printable, character 1 .* U\+DCFF"):
        load_local(copy.rename(copy.with_name(odd)))


# --- the hub ------------------------------------------------------------------------------------


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache, and no network: what gets past the checks is not in the cache."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


@pytest.mark.parametrize(
    "name", ["../x", "a/..", "../..", "/etc", "a/b/c", "a\nb", "a/b--c", "~/x"]
)
def test_a_model_id_is_no_path(no_network: Path, name: str) -> None:
    model = twinned_model().model_copy(update={"hub": name, "revision": COMMIT})
    for ask in (lambda: fetch(name, COMMIT), lambda: look_up(model)):
        with pytest.raises(LayerwiseError, match="not a model id `organisation/name`"):
            ask()
    assert not no_network.exists()


@pytest.mark.parametrize(
    "revision", ["../../x", "/etc/hostname", "refs/../../x", "a\\b", "a b", "a\nb", "", "a//b", "."]
)
def test_a_revision_is_no_path(no_network: Path, revision: str) -> None:
    """The hub's client joins it to the path of the cache."""
    with pytest.raises(LayerwiseError, match="org/name: a revision is a commit, tag or branch"):
        fetch("org/name", revision)
    assert not no_network.exists()


@pytest.mark.parametrize("revision", ["main", "refs/pr/7", "v1.0+b_2-c", COMMIT])
def test_a_revision_that_is_one_reaches_the_hub(no_network: Path, revision: str) -> None:
    with pytest.raises(LayerwiseError, match="is not in the local cache, and HF_HUB_OFFLINE"):
        fetch("org/name", revision)
