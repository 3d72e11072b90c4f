"""Slices of attention projections, against what the modules themselves multiply."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch.overrides import TorchFunctionMode

from layerwise.errors import LayerwiseError
from layerwise.models import projections
from layerwise.models.families import FAMILIES, heads_of
from layerwise.models.load import attention_kernel
from layerwise.models.projections import Weights
from layerwise.papers.shared.names import MATRICES, SLICINGS
from tiny_checkpoints import TWIN_FAMILIES, twin_checkpoint, twin_folder

SCALED_QUERIES = ("opt", "opt-350m")  # before, not after, they meet the keys


class Products(TorchFunctionMode):
    """Notes the factors of every product query x key and attention x value, one token each."""

    def __init__(self, head_size: int):
        super().__init__()
        self.head_size, self.queries, self.keys, self.values = head_size, [], [], []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        left, right = {
            "matmul": lambda: args,
            "__matmul__": lambda: args,
            "bmm": lambda: args,
            "baddbmm": lambda: (kwargs["batch1"], kwargs["batch2"]),
        }.get(func.__name__, lambda: (None, None))()
        if left is not None and left.ndim == right.ndim >= 3:
            if (*left.shape[-2:], right.shape[-1]) == (1, self.head_size, 1):
                self.queries.append(left.reshape(-1, self.head_size))
                self.keys.append(right.reshape(-1, self.head_size))
            elif (*left.shape[-2:], right.shape[-1]) == (1, 1, self.head_size):
                self.values.append(right.reshape(-1, self.head_size))
        return func(*args, **kwargs)


@pytest.fixture(params=TWIN_FAMILIES)
def family(request):
    return request.param


@pytest.fixture
def weights(family):
    return Weights.open(twin_folder(family))


def run_single_tokens(family):
    """Per block: inputs of the attention, its factors per head, its output; one token per text.

    A lone token stands at position 0, where rotary embeddings turn nothing.
    """
    checkpoint = twin_checkpoint(family)
    seen, outputs = [], []

    def note(module, args, kwargs, output):
        seen.append(args[0] if args else kwargs["hidden_states"])
        outputs.append(output[0] - args[1] if family == "bloom" else output[0])  # it adds its input

    path = FAMILIES[checkpoint.family].attention
    hooks = [
        block.get_submodule(path).register_forward_hook(note, with_kwargs=True)
        for block in checkpoint.blocks
    ]
    try:
        with (
            torch.no_grad(),
            attention_kernel(checkpoint.model, "eager"),
            Products(Weights.open(twin_folder(family)).head_size) as products,
        ):
            checkpoint.model(torch.arange(3, 17)[:, None])
    finally:
        for hook in hooks:
            hook.remove()
    return checkpoint, seen, products, outputs


def centred(rows) -> np.ndarray:
    """Rows less their mean over texts: whatever the bias was, it is gone."""
    rows = np.asarray(rows, dtype=float)
    return rows - rows.mean(axis=0)


def every_head(rows: np.ndarray, n_heads: int) -> np.ndarray:
    """Heads of keys or values, each as often as query heads share it."""
    return np.repeat(rows, n_heads // rows.shape[1], axis=1)


def test_correct_slices_are_what_the_module_multiplies(family, weights):
    checkpoint, seen, products, outputs = run_single_tokens(family)
    assert len(seen) == len(products.queries) == len(products.values) == weights.n_layers
    n_heads, size = weights.n_heads, weights.head_size
    for block, layer in enumerate(checkpoint.blocks):
        x = seen[block][:, 0].double().numpy()
        made = {
            name: (x @ weights.matrix(block, name, "correct").T).reshape(len(x), -1, size)
            for name in ("W_Q", "W_K", "W_V")
        }
        if family in ("apertus", "gemma3_text", "qwen3"):  # normed head by head before they meet
            for name, norm in (("W_Q", "q_norm"), ("W_K", "k_norm")):
                normed = getattr(layer.self_attn, norm)(torch.tensor(made[name]).float())
                made[name] = normed.detach().numpy()
        factors = {"W_Q": products.queries, "W_K": products.keys, "W_V": products.values}
        for name, factor in factors.items():
            used = every_head(factor[block].reshape(len(x), -1, size).numpy(), n_heads)
            scale = size**-0.5 if family in SCALED_QUERIES and name == "W_Q" else 1.0
            found = every_head(made[name] * scale, n_heads)
            np.testing.assert_allclose(centred(found), centred(used), atol=2e-6)
        values = products.values[block].reshape(len(x), -1, size).double().numpy()
        values = every_head(values, n_heads).reshape(len(x), -1)
        put_out = outputs[block].reshape(len(x), -1).numpy()
        w_o = weights.matrix(block, "W_O", "correct")
        np.testing.assert_allclose(centred(values @ w_o.T), centred(put_out), atol=5e-6)


def test_legacy_thirds_against_plain_slices(family, weights):
    """As the notebooks cut: thirds of rows, of columns for GPT-2; elsewhere what is stored."""
    stored = load_file(twin_folder(family) / "model.safetensors")
    d = weights.n_heads * weights.head_size
    for block in range(weights.n_layers):
        keys = sorted(key for key in stored if f".{block}." in key and key.endswith("weight"))
        names = ("query_key_value", "c_attn", "qkv_proj")
        fused = [key for key in keys if any(name in key for name in names)]
        found = [weights.matrix(block, name, "legacy") for name in ("W_Q", "W_K", "W_V")]
        if not fused:
            names = ("q_proj", "k_proj", "v_proj")
            expected = [stored[k].numpy() for n in names for k in keys if f"{n}." in k]
        elif family == "gpt2":
            expected = [stored[fused[0]].numpy()[:, i * d : (i + 1) * d].T for i in range(3)]
        elif family in ("falcon", "phi3"):
            shared = weights.kv_heads * weights.head_size
            expected = np.split(stored[fused[0]].numpy(), [d, d + shared])
        else:
            expected = [stored[fused[0]].numpy()[i * d : (i + 1) * d] for i in range(3)]
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
        output = weights.matrix(block, "W_O", "legacy")
        np.testing.assert_array_equal(output, weights.matrix(block, "W_O", "correct"))


def test_however_it_is_stored(family, weights, tmp_path, monkeypatch):
    """In half precision, in shards, by older names without a prefix; and a few rows at a time."""
    stored = load_file(twin_folder(family) / "model.safetensors")
    bases = ("model.", "transformer.", "gpt_neox.")
    files = {"a.safetensors": {}, "b.safetensors": {}}
    for number, (key, tensor) in enumerate(stored.items()):
        bare = next((key.removeprefix(base) for base in bases if key.startswith(base)), key)
        files["ab"[number % 2] + ".safetensors"][bare] = tensor.bfloat16()
    for name, tensors in files.items():
        save_file(tensors, tmp_path / name)
    index = {key: name for name, tensors in files.items() for key in tensors}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    shutil.copy(twin_folder(family) / "config.json", tmp_path)

    def read(of):
        return [of.matrix(1, name, slicing) for name in MATRICES for slicing in SLICINGS]

    rounded = read(Weights.open(twin_folder(family), "bfloat16"))
    monkeypatch.setattr(projections, "ROWS_AT_ONCE", 3)
    for one, other, exact in zip(read(Weights.open(tmp_path)), rounded, read(weights), strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(one, torch.tensor(exact).bfloat16().float().numpy())
        assert not np.array_equal(one, exact)


def altered(folder: Path, family: str = "gpt_neox", **config) -> Path:
    shutil.copytree(twin_folder(family), folder, dirs_exist_ok=True)
    found = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**found, **config}))
    return folder


def test_weights_refused(tmp_path):
    for change in ({"new_decoder_architecture": True}, {"multi_query": False}):
        with pytest.raises(LayerwiseError, match="falcon is known with one head of keys"):
            Weights.open(altered(tmp_path / "b", "falcon", **change))
    for change, block, message in (
        ({"hidden_size": 32}, 0, r"shape \[48, 16\], config.json asks for 96 rows"),
        ({"num_hidden_layers": 4}, 3, r"no tensor layers.3.attention.query_key_value.wei"),
    ):
        with pytest.raises(LayerwiseError, match=message):
            Weights.open(altered(tmp_path, **change)).matrix(block, "W_V", "legacy")


def test_heads_of_the_real_configurations():
    """Values of the published configurations that a default would get wrong."""

    def heads(family, **changes):
        found = heads_of(transformers.AutoConfig.for_model(family, **changes))
        return found.kv_heads, found.head_size

    assert heads("falcon") == (1, 64)
    assert heads("gemma") == (16, 256)
    assert heads("gemma2", num_attention_heads=16, num_key_value_heads=8) == (8, 256)
    assert heads("gpt2") == (12, 64)
    assert heads("llama", num_key_value_heads=8) == (8, 128)
