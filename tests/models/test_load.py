"""A checkpoint is what its folder or the hub's commit holds, or is refused before it is built."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import numpy as np
import pytest
import safetensors.torch
import torch

from hostile import is_unseen
from layerwise.errors import LayerwiseError
from layerwise.models import hub
from layerwise.models import load as module
from layerwise.models.checkpoint import open_folder
from layerwise.models.checkpoint_config import check_declared
from layerwise.models.devices import default_device, require_accelerator
from layerwise.models.families import twin_of
from layerwise.models.hub import look_up, look_up_registered
from layerwise.models.load import load_model, load_registered, open_checkpoint
from layerwise.models.projections import Weights
from layerwise.models.registry import Model
from layerwise.run.rehearsal.scratch import keep
from tiny_checkpoints import twin_checkpoint, twin_folder, twinned_model

COMMIT = "0123456789abcdef0123456789abcdef01234567"
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
Spoil = Callable[[Path], Any]


@pytest.fixture
def tiny() -> Path:
    return twin_folder("gpt_neox")


@pytest.fixture
def copy(tiny: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny, tmp_path / "folder" / "copy"))


def registered(**changes: object) -> Model:
    return twin_of(twinned_model()).model_copy(update=changes)


# --- folders ------------------------------------------------------------------------------------


def test_names_digest_and_dtype(tiny: Path, copy: Path) -> None:
    one, two = load_model(tiny, device="cpu"), load_model(str(copy), "bfloat16", "cpu")
    assert (one.name, one.display, one.family) == ("gpt_neox", "gpt_neox", "gpt_neox")
    assert one.revision.startswith("sha256:")
    assert one.revision == two.revision
    assert {weight.dtype for weight in one.model.parameters()} == {torch.float32}
    assert {weight.dtype for weight in two.model.parameters()} == {torch.bfloat16}
    blob = bytearray((copy / WEIGHTS).read_bytes())
    blob[-1] ^= 1
    (copy / WEIGHTS).write_bytes(blob)
    assert load_model(copy, device="cpu").revision != one.revision


def gone(name: str) -> Spoil:
    return lambda folder: (folder / name).unlink()


def holds(name: str, content: bytes) -> Spoil:
    return lambda folder: (folder / name).write_bytes(content)


def says(name: str = "config.json", **changes: Any) -> Spoil:
    """The same JSON file with some keys as given."""
    return lambda folder: (folder / name).write_text(
        json.dumps(json.loads((folder / name).read_text()) | changes)
    )


def in_shards(shard: object, **index: Any) -> Spoil:
    """The weights in one shard, beside what else an index may name."""

    def spoil(folder: Path) -> None:
        (folder / WEIGHTS).rename(folder / "a.safetensors")
        (folder / "pytorch_model.bin").write_bytes(b"no header")
        keys = ["gpt_neox.embed_in.weight", "embed_out.weight"]
        document = {"metadata": {}, "weight_map": dict.fromkeys(keys, shard)} | index
        (folder / INDEX).write_text(json.dumps(document))

    return spoil


def changed(change: Callable[[dict[str, torch.Tensor]], object]) -> Spoil:
    """Other tensors in the file of weights."""

    def spoil(folder: Path) -> None:
        state = safetensors.torch.load_file(folder / WEIGHTS)
        change(state)
        safetensors.torch.save_file(state, folder / WEIGHTS)

    return spoil


NORM = "gpt_neox.final_layer_norm.bias"
NO_FILE = r"{} is missing or no file \(beside it: {}\); fetch the folder again"
SPOILT: list[tuple[Spoil, str]] = [
    (gone("config.json"), "has a config.json, this one has none; check the path"),
    (gone("tokenizer.json"), "no tokenizer"),
    (gone(WEIGHTS), NO_FILE.format(WEIGHTS, "none")),
    (lambda f: (f / WEIGHTS).rename(f / "a.bin"), NO_FILE.format(WEIGHTS, "a.bin")),
    (in_shards("model-2-of-2.safetensors"), r"model-2-of-2.safetensors is missing"),
    (
        in_shards("../a.safetensors"),
        r"weights stay in the folder .*found '\.\./a.safetensors'; put",
    ),
    (in_shards("/a.safetensors"), "weights stay in the folder of their index"),
    (in_shards(5), "no index of weights"),
    (holds(INDEX, b"[]"), ""),  # the whole file is there: nobody asks the index
    (holds(WEIGHTS, b"version https://example/spec\n"), "not a safetensors file .*pointer to a f"),
    (
        changed(lambda state: state.update({"embed_out.weight": torch.zeros(9).char()})),
        "embed_out.weight must be one of F64, F32, F16, BF16, found I8; a folder has weights",
    ),
    (says(model_type="nobodys"), "has no architecture 'nobodys', .* is ever run"),
    (says(model_type="t5"), "t5 is an encoder-decoder; take a decoder"),
    (says(model_type="bert"), "bert is an encoder; take a decoder"),
    (says(is_encoder_decoder=True), "gpt_neox is an encoder-decoder; take a decoder"),
    (
        says(quantization_config={"bits": 4}),
        "has 'quantization_config' .* load the model and",
    ),
    (says(_attn_implementation="org/kernel"), "'_attn_implementation' names a kernel .* remove"),
    (says(text_config={"experts_implementation": {"": "a/b"}}), "names a kernel of the hub"),
    (says(num_hidden_layers=10**5), r"every block has .* 'num_hidden_layers' 100000 and \d+ tens"),
    (says(text_config={"n_layer": 10**5}), "every block has tensors of its own, found 'n_layer'"),
    (says(num_blocks=10**9), r"every block has .* 'num_blocks' 1e\+09 and"),  # xLSTM's
    (says(num_hidden_layers=2), r"layers\.2\..* has no place in it .*; save"),
    (
        changed(lambda state: state.pop(NORM)),
        f"it declares {NORM}, .* hold no weight for it .1 such parameters.; save config and",
    ),
    (
        changed(lambda state: state.update(x=state.pop(NORM))),
        "x in model.safetensors has no place in it .1 such tensors.; save config",
    ),
    (says("tokenizer.json", model=None), "the tokenizer cannot be loaded .*; save it again"),
]


@pytest.mark.parametrize(("spoil", "message"), SPOILT)
def test_a_spoilt_folder_is_refused(
    copy: Path, spoil: Spoil, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In words that no terminal takes for its own, and no pickle is read."""
    monkeypatch.setattr(torch, "load", None)
    spoil(copy)
    if not message:
        assert load_model(copy, device="cpu").n_layers == 3
        return
    with pytest.raises(LayerwiseError, match=message) as raised:
        load_model(copy, device="cpu")
    assert not any(map(is_unseen, str(raised.value)))


def test_folder_dtype_and_revision_refused(tiny: Path, tmp_path: Path) -> None:
    for place in (tmp_path / "none", tiny / "config.json"):
        with pytest.raises(LayerwiseError, match="a checkpoint is a folder, this is none; check"):
            open_folder(place)
    (tmp_path / "adapter_config.json").touch()  # all that peft saves, but for its weights
    with pytest.raises(LayerwiseError, match=r"found an adapter \(adapter_config.json\); merge it"):
        open_folder(tmp_path)
    with pytest.raises(LayerwiseError, match=r"dtype must be one of .*found 'int4'"):
        load_model(tiny, "int4")
    with pytest.raises(LayerwiseError, match="is a local folder and has no revision, found 'v1'"):
        load_model(tiny, revision="v1")


def test_links_and_shards_are_followed(tiny: Path, copy: Path, tmp_path: Path) -> None:
    """The hub's own cache is made of links."""
    in_shards("a.safetensors")(copy)
    (copy / "a.safetensors").rename(tmp_path / "elsewhere")
    (copy / "a.safetensors").symlink_to(tmp_path / "elsewhere")
    loaded, whole = load_model(copy), load_model(tiny)
    for one, two in zip(loaded.model.parameters(), whole.model.parameters(), strict=True):
        assert torch.equal(one, two)


def test_code_of_the_checkpoint_is_never_run(copy: Path) -> None:
    """An unknown architecture with code of its own is refused, a known one needs none of it."""
    remote = 'from pathlib import Path; Path(__file__).with_name("ran").touch()'
    (copy / "theirs.py").write_text(remote)
    says(auto_map={"AutoConfig": "theirs.A", "AutoModelForCausalLM": "theirs.B"})(copy)
    assert load_model(copy, device="cpu").family == "gpt_neox"
    says(model_type="theirs")(copy)
    with pytest.raises(LayerwiseError, match=r"code of its own .*theirs\.B.* is ever run"):
        load_model(copy, device="cpu")
    assert not (copy / "ran").exists()


def test_bos_is_told_from_a_word() -> None:
    """A tokenizer that adds something else at the end does not add a BOS."""

    def tokenizer(text: str, add_special_tokens: bool = True) -> SimpleNamespace:
        return SimpleNamespace(input_ids=[7, 0] if add_special_tokens else [7])

    tokenizer.bos_token_id, tokenizer.init_kwargs = 0, {}
    assert not replace(twin_checkpoint("gpt_neox"), tokenizer=tokenizer).declaration.adds_bos


# --- devices ------------------------------------------------------------------------------------


def test_too_little_memory(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte less than parameters and buffers take."""
    model = load_model(tiny, device="cpu").model
    stored = sum(one.nbytes for one in (*model.parameters(), *model.buffers()))
    monkeypatch.setattr(module, "free_bytes", lambda device: stored // 2 + 100)
    load_model(tiny, "bfloat16", "cpu")
    monkeypatch.setattr(module, "free_bytes", lambda device: stored - 1)
    with pytest.raises(LayerwiseError, match=r"float32 needs 0.\d+ MiB on cpu, .* are there; us"):
        load_model(tiny, device="cpu")


def test_random_weights_beside_a_model_take_its_memory_once_more(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked for before the model is loaded, and before each draw."""
    checkpoint = load_model(tiny, device="cpu")
    model = checkpoint.model
    stored = sum(one.nbytes for one in (*model.parameters(), *model.buffers()))
    files = module.open_checkpoint(tiny)
    monkeypatch.setattr(module, "free_bytes", lambda device: 2 * stored - 1)
    module.check_loading(files, "float32", "cpu")
    with pytest.raises(LayerwiseError, match="draw beside it needs"):
        module.check_loading(files, "float32", "cpu", draws_beside=True)
    module.with_random_weights(checkpoint, 0)
    monkeypatch.setattr(module, "free_bytes", lambda device: stored - 1)
    with pytest.raises(LayerwiseError, match="a draw of random weights beside"):
        module.with_random_weights(checkpoint, 0)


def test_devices_refused(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    require_accelerator("cpu")
    for device in (None, "auto", "cuda", "cuda:1"):
        with pytest.raises(LayerwiseError, match="need a CUDA device and none was found"):
            require_accelerator(device)
    with pytest.raises(LayerwiseError, match=r"^cuda and auto need .* none was found; take cpu"):
        load_model(tiny, device="cuda")
    place = {"RANK": "0", "LOCAL_RANK": "0", "MASTER_ADDR": "here", "MASTER_PORT": "1"}
    for name, value in {**place, "WORLD_SIZE": "4"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(LayerwiseError, match=r"'auto' .* needs one process, found 4"):
        load_model(tiny, device="auto")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    require_accelerator(None)
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert default_device() == "cuda:3"


# --- the registry and the hub -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "wanted", "there"),
    [("n_layers", 4, 3), ("kv_heads", 2, 4), ("adds_bos", True, False)],
)
def test_declared_shape_refused(key: str, wanted: object, there: object) -> None:
    shape = registered().shape.model_copy(update={key: wanted})
    with pytest.raises(LayerwiseError, match=f"declared {key} {wanted}, .* has {there}; correct"):
        check_declared(
            registered(shape=shape), twin_checkpoint("gpt_neox").model.config, adds_bos=False
        )


def test_registered_refused() -> None:
    with pytest.raises(LayerwiseError, match=r"declared family gpt2, .* has gpt_neox"):
        check_declared(registered(family="gpt2"), twin_checkpoint("gpt_neox").model.config)
    with pytest.raises(LayerwiseError, match="no revision is recorded for org/small-gpt-neox"):
        load_registered(registered(revision=None), "float32")


@pytest.fixture
def hub_cache(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache filled by commit: blobs, a snapshot of links, no refs/main; and no network."""
    home = tmp_path / "hub" / "models--org--tiny"
    keep(Path(shutil.copytree(tiny, home / "built")), home, COMMIT)
    (home / "refs" / "main").unlink()
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    return tmp_path / "hub"


def test_hub_offline_by_commit(hub_cache: Path, tiny: Path) -> None:
    loaded = load_model("org/tiny", "float32", "cpu", revision=COMMIT)
    assert (loaded.name, loaded.display, loaded.revision) == ("org/tiny", "tiny", COMMIT)
    local = load_model(tiny, device="cpu")
    for one, two in zip(loaded.model.parameters(), local.model.parameters(), strict=True):
        assert torch.equal(one, two)
    with pytest.raises(LayerwiseError, match="org/tiny at main is not in the local cache, and HF"):
        load_model("org/tiny", device="cpu")


def weights_blob(hub_cache: Path) -> Path:
    snapshot = hub_cache / "models--org--tiny" / "snapshots" / COMMIT
    return (snapshot / WEIGHTS).resolve()


def test_bytes_in_the_cache_are_compared_whoever_fetched_them(
    hub_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after a kill in the comparison: until it has ended they are not called whole."""
    blob = weights_blob(hub_cache)
    content = bytearray(blob.read_bytes())
    content[-1] ^= 1
    blob.write_bytes(content)

    def kill(file: Path) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setitem(hub._HASHES, "sha256", kill)
        with pytest.raises(KeyboardInterrupt):
            look_up("org/tiny", COMMIT)
    with pytest.raises(LayerwiseError, match="wrong bytes arrived, their sha256 is not"):
        look_up("org/tiny", COMMIT)
    assert not blob.exists()


def test_what_was_compared_is_not_read_again_until_it_is_exchanged(
    hub_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []
    hash_of = hub._HASHES["sha256"]
    monkeypatch.setitem(
        hub._HASHES, "sha256", lambda file: compared.append(file.name) or hash_of(file)
    )
    assert not look_up("org/tiny", COMMIT).absent
    n_files = len(compared)
    assert n_files > 2
    look_up("org/tiny", COMMIT)
    assert len(compared) == n_files
    blob = weights_blob(hub_cache)
    os.utime(blob, ns=(1, 1))  # by another program, say
    look_up("org/tiny", COMMIT)
    assert blob.name in compared[n_files:]


def test_a_file_outside_its_folder_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = SimpleNamespace(
        gated=False, siblings=[SimpleNamespace(rfilename="tokenizer/../../x.json", size=1)]
    )
    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", lambda *_, **__: listed)
    with pytest.raises(LayerwiseError, match="files of a model stay in its folder"):
        hub._ask("org/tiny", COMMIT)


def test_a_control_is_the_model_before_training(hub_cache: Path) -> None:
    """Its shape, dtype and tokenizer; weights that are drawn, by number the same each time."""
    model = registered(hub="org/tiny", revision=COMMIT)
    trained, *controls = (
        load_registered(model, "float16", device=device, draw=draw)
        for device, draw in (("cpu", None), ("cpu", 0), ("auto", 0), ("cpu", 1))
    )
    matrices = [
        Weights.from_checkpoint(one).matrix(1, "W_O", "correct") for one in (trained, *controls)
    ]
    assert matrices[0].shape == matrices[1].shape
    assert not np.isclose(matrices[0], matrices[1]).any(axis=1).all()
    assert np.array_equal(matrices[1], matrices[2])
    assert not np.isclose(matrices[1], matrices[3]).any(axis=1).all()
    assert controls[0].head.weight.shape == trained.head.weight.shape
    for control in controls:
        assert (control.display, control.has_random_weights) == ("Small", True)
        assert control.model.dtype == torch.float16
        assert control.tokenizer("a text").input_ids == trained.tokenizer("a text").input_ids


ABSENT = "^there is no folder org/name here, .* is not in the local cache, and HF_HUB_OFFLINE"


NAME = r"^\.\./x: there is no such folder here; check the path"


@pytest.mark.parametrize(
    ("name", "revision", "message"),
    [
        ("../x", COMMIT, NAME),
        ("org/name", "refs/pr/7", ABSENT),
        ("org/name", COMMIT, ABSENT),
    ],
)
def test_what_is_neither_a_folder_nor_in_the_cache_is_refused(
    hub_cache: Path, name: str, revision: str, message: str
) -> None:
    for ask in (look_up, lambda *of: look_up_registered(registered(hub=of[0], revision=of[1]))):
        with pytest.raises(LayerwiseError, match=message):
            ask(name, revision)


@pytest.mark.parametrize("place", ["here.gguf", "gone.gguf", "folder", "org/gone.gguf"])
def test_a_gguf_file_leads_to_the_way_that_works(
    hub_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Whether it is there or not, or a folder holds nothing else."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for file in ("here.gguf", "folder/model.Q4.gguf"):
        (tmp_path / file).write_bytes(b"GGUF")
    with pytest.raises(LayerwiseError, match="gguf_file=name") as caught:
        open_checkpoint(place)
    assert ("there is no such file" in str(caught.value)) == ("gone" in place)


@pytest.mark.parametrize("name", ["/no/such/folder", "out/such/folder", "./such", "a b"])
def test_a_wrong_folder_is_told_without_words_of_a_library(hub_cache: Path, name: str) -> None:
    with pytest.raises(LayerwiseError) as caught:
        open_checkpoint(name)
    assert str(caught.value).startswith(f"{name}: there is no such folder here")
    assert "epo" not in str(caught.value)  # of a repository, which the reader never named
