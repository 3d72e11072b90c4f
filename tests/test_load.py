import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import numpy as np
import pytest
import torch

from layerwise.errors import LayerwiseError
from layerwise.extraction import load as weights
from layerwise.extraction.load import (
    as_declared,
    load_hub,
    load_local,
    load_model,
    load_registered,
    require_accelerator,
)
from layerwise.extraction.projections import Weights
from layerwise.extraction.twins import twin_of
from layerwise.inputs.models import Model
from layerwise.rehearsal.cache import keep
from tiny_checkpoints import twin_checkpoint, twin_folder, twinned_model

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def tiny() -> Path:
    return twin_folder("gpt_neox")


@pytest.fixture
def copy(tiny: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny, tmp_path / "copy"))


def registered(**changes: object) -> Model:
    return twin_of(twinned_model()).model_copy(update=changes)


def test_local_names_and_digest(tiny: Path, copy: Path) -> None:
    one, two = load_local(tiny, device="cpu"), load_local(copy, device="cpu")
    assert (one.name, one.display, one.family) == ("gpt_neox", "gpt_neox", "gpt_neox")
    assert one.revision.startswith("sha256:")
    assert one.revision == two.revision
    blob = bytearray((copy / "model.safetensors").read_bytes())
    blob[-1] ^= 1
    (copy / "model.safetensors").write_bytes(blob)
    assert load_local(copy, device="cpu").revision != one.revision


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_dtype_is_the_one_asked_for(tiny: Path, dtype: str) -> None:
    loaded = load_local(tiny, dtype, "cpu")
    assert {weight.dtype for weight in loaded.model.parameters()} == {getattr(torch, dtype)}


def test_local_iv(copy: Path, tmp_path: Path) -> None:
    with pytest.raises(LayerwiseError, match="no such checkpoint folder"):
        load_local(tmp_path / "none")
    with pytest.raises(LayerwiseError, match=r"dtype must be one of .*found 'int4'"):
        load_local(copy, "int4")
    (copy / "tokenizer.json").rename(copy / "away")
    with pytest.raises(LayerwiseError, match="no tokenizer"):
        load_local(copy)
    (copy / "away").rename(copy / "tokenizer.json")
    weights_file = copy / "model.safetensors"
    whole = weights_file.read_bytes()
    weights_file.write_bytes(b"version https://example/spec\noid sha256:00\n")
    with pytest.raises(LayerwiseError, match=r"not a safetensors file .*pointer to a file"):
        load_local(copy)
    weights_file.unlink()
    with pytest.raises(LayerwiseError, match=r"\*.safetensors only .* missing or no .*: none\)"):
        load_local(copy)
    (copy / "pytorch_model.bin").write_bytes(whole)
    with pytest.raises(LayerwiseError, match=r"beside it: pytorch_model.bin"):
        load_local(copy)
    (copy / "config.json").write_text('{"model_type": "mamba"}')
    with pytest.raises(LayerwiseError, match="no known layout for the architecture 'mamba'; supp"):
        load_local(copy)
    (copy / "config.json").unlink()
    with pytest.raises(LayerwiseError, match=r"has a config.json, this one has none"):
        load_local(copy)


def test_too_little_memory(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte less than parameters and buffers take."""
    model = load_local(tiny, device="cpu").model
    stored = sum(one.nbytes for one in (*model.parameters(), *model.buffers()))
    monkeypatch.setattr(weights, "free_bytes", lambda device: stored // 2 + 100)
    load_local(tiny, "bfloat16", "cpu")
    monkeypatch.setattr(weights, "free_bytes", lambda device: stored - 1)
    with pytest.raises(LayerwiseError, match=r"float32 needs 0.\d+ MiB on cpu, .* are there; us"):
        load_local(tiny, device="cpu")


def test_auto_needs_one_process(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(LayerwiseError, match=r"'auto' .* needs one process, found 4"):
        load_local(tiny, device="auto")
    assert load_local(tiny, device="cpu").n_layers == 3


@pytest.mark.parametrize(
    ("key", "declared", "there"),
    [
        ("n_layers", 4, 3),
        ("hidden_size", 32, 16),
        ("n_heads", 2, 4),
        ("kv_heads", 2, 4),
        ("adds_bos", True, False),
    ],
)
def test_declared_shape_iv(key: str, declared: object, there: object) -> None:
    shape = registered().shape.model_copy(update={key: declared})
    with pytest.raises(LayerwiseError, match=f"declared {key} {declared}, .* has {there};"):
        as_declared(registered(shape=shape), twin_checkpoint("gpt_neox"))


def test_registered_iv() -> None:
    with pytest.raises(LayerwiseError, match=r"declared family gpt2, .* has gpt_neox"):
        as_declared(registered(family="gpt2"), twin_checkpoint("gpt_neox"))
    with pytest.raises(LayerwiseError, match="no revision is recorded for org/small-gpt-neox"):
        load_registered(registered(revision=None), "float32")


@pytest.fixture
def hub_cache(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache filled by commit: blobs, a snapshot of links, no refs/main; and no network."""
    home = tmp_path / "hub" / "models--org--tiny"
    snapshot = keep(Path(shutil.copytree(tiny, home / "built")), home, COMMIT)
    (home / "refs" / "main").unlink()
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    return snapshot


def test_hub_offline_by_commit(hub_cache: Path, tiny: Path) -> None:
    loaded = load_hub("org/tiny", COMMIT, "float32", "cpu")
    assert (loaded.name, loaded.display, loaded.revision) == ("org/tiny", "tiny", COMMIT)
    local = load_local(tiny, device="cpu")
    for one, two in zip(loaded.model.parameters(), local.model.parameters(), strict=True):
        assert torch.equal(one, two)
    model = registered(hub="org/tiny", revision=COMMIT)
    assert load_registered(model, "float32", device="cpu").display == "Small"


def test_a_control_is_the_model_before_training(hub_cache: Path) -> None:
    """Its shape, dtype and tokenizer; weights that are drawn, the same each time."""
    model = registered(hub="org/tiny", revision=COMMIT)
    trained, *controls = (
        load_registered(model, "float16", device=device, control=control)
        for device, control in (("cpu", False), ("cpu", True), ("auto", True))
    )
    matrices = [Weights.of(one).matrix(1, "W_O", "correct") for one in (trained, *controls)]
    assert matrices[0].shape == matrices[1].shape
    assert not np.isclose(matrices[0], matrices[1]).any(axis=1).all()
    assert np.array_equal(matrices[1], matrices[2])
    assert Weights.of(controls[0]).unembedding().shape == trained.head.weight.shape
    for control in controls:
        assert control.has_random_weights
        assert control.model.dtype == torch.float16
        assert control.tokenizer("a text").input_ids == trained.tokenizer("a text").input_ids


def test_hub_not_in_cache(hub_cache: Path) -> None:
    for name, revision in (("org/other", COMMIT), ("org/tiny", "main")):
        with pytest.raises(LayerwiseError, match=f"{name} at {revision} is not in the local cache"):
            load_hub(name, revision, device="cpu")
    with pytest.raises(LayerwiseError, match="no such folder, and not a model id"):
        load_hub("a/b/c", "main")


def test_bos_is_told_from_a_word() -> None:
    """A tokenizer that adds something else at the end does not add a BOS."""

    def tokenizer(text: str, add_special_tokens: bool = True) -> SimpleNamespace:
        return SimpleNamespace(input_ids=[7, 0] if add_special_tokens else [7])

    tokenizer.bos_token_id = 0
    assert not replace(twin_checkpoint("gpt_neox"), tokenizer=tokenizer).adds_bos


def test_load_model_takes_a_folder_or_a_hub_id(hub_cache: Path, tiny: Path) -> None:
    assert load_model(str(tiny), device="cpu").revision.startswith("sha256:")
    assert load_model("org/tiny", revision=COMMIT, device="cpu").revision == COMMIT
    with pytest.raises(LayerwiseError, match="is a local folder and has no revision, found 'v1'"):
        load_model(str(tiny), revision="v1")
    with pytest.raises(LayerwiseError, match="org/tiny at main is not in the local cache"):
        load_model("org/tiny", device="cpu")


def test_require_accelerator(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    require_accelerator("cpu")
    for device in (None, "auto", "cuda", "cuda:1"):
        with pytest.raises(LayerwiseError, match="need a CUDA device and none was found"):
            require_accelerator(device)
    with pytest.raises(LayerwiseError, match="need a CUDA device and none was found"):
        load_local(tiny, device="cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    require_accelerator(None)
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert weights.default_device() == "cuda:3"


def test_code_of_the_checkpoint_is_never_run(copy: Path) -> None:
    """An unknown architecture with code of its own is refused, a known one needs none of it."""
    config = json.loads((copy / "config.json").read_text())
    config["auto_map"] = {
        "AutoConfig": "theirs.TheirConfig",
        "AutoModelForCausalLM": "theirs.TheirModel",
    }
    remote = 'from pathlib import Path; Path(__file__).with_name("ran").touch()'
    (copy / "theirs.py").write_text(remote)
    (copy / "config.json").write_text(json.dumps(config))
    assert load_local(copy, device="cpu").family == "gpt_neox"
    (copy / "config.json").write_text(json.dumps({**config, "model_type": "theirs"}))
    with pytest.raises(
        LayerwiseError, match=r"code of its own \(theirs.TheirConfig, theirs.TheirModel\), which "
        r"is never run; use one whose architecture transformers brings along"
    ):  # fmt: skip
        load_local(copy, device="cpu")
    assert not (copy / "ran").exists()
