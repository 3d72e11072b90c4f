"""The tensors of a checkpoint are all of the declared model, and nothing else is stored."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
import transformers
import yaml

from layerwise.errors import LayerwiseError
from layerwise.models.checkpoint_folder import Stored, is_leftover, stored_tensors
from layerwise.models.checkpoint_weights import check_tensors
from layerwise.models.load import load_model
from tiny_checkpoints import TWIN_FAMILIES, twin_folder

HERE = Path(__file__).parents[1]
NAMES = yaml.safe_load((HERE / "real_tensors.yaml").read_text())
CONFIGS = yaml.safe_load((HERE / "real_configs.yaml").read_text())
REGISTERED = [config for config in CONFIGS["models"] if "slug" in config]
N_BLOCKS = 2  # which stand for all: the names of every block are alike
WEIGHTS = "model.safetensors"


def declared(config: dict[str, Any]) -> Any:
    """The model of a public configuration, two blocks of it, as shapes."""
    document = CONFIGS["of"].get(config.get("as"), {}) | config
    said = {k: v for k, v in document.items() if k not in ("as", "slug", "auto_map", "model_type")}
    for key in ("num_hidden_layers", "n_layer", "num_layers"):
        said |= {key: N_BLOCKS} if key in said else {}
    if "attention_types" in said:
        said["attention_types"] = [[["global", "local"], 1]]
    built = transformers.AutoConfig.for_model(document["model_type"], **said)
    with torch.device("meta"):
        return transformers.AutoModelForCausalLM.from_config(built)


def names_of(layout: dict[str, Any], *, leftovers: bool) -> Iterator[str]:
    inside = layout["block"] + (layout.get("leftovers", []) if leftovers else [])
    blocks = [f"{layout['prefix']}.{block}.{name}" for block in range(N_BLOCKS) for name in inside]
    for name in (*layout["outside"], *blocks):
        if name.endswith("+"):
            yield from (f"{name[:-1]}.weight", f"{name[:-1]}.bias")
        else:
            yield name


def stored(model: Any, name: str) -> Stored:
    """A tensor of the declared shape; a buffer that the model has not is a mask."""
    declared, base = model.state_dict(), f"{model.base_model_prefix}."
    places = (name, base + name, name.removeprefix(base), name.replace("embed_out", "lm_head"))
    place = next((place for place in places if place in declared), None)
    shape = (1, 1, 9, 9) if place is None else tuple(declared[place].shape)
    return Stored(Path(WEIGHTS), name, shape)


@pytest.mark.parametrize("config", REGISTERED, ids=lambda config: config["slug"])
def test_the_names_of_published_checkpoints_pass(config: dict[str, Any]) -> None:
    """With the buffers of older files and without them."""
    model = declared(config)
    layout = NAMES.get(config["slug"]) or NAMES[model.config.model_type]
    plain, older = (
        [stored(model, name) for name in names_of(layout, leftovers=leftovers)]
        for leftovers in (False, True)
    )
    check_tensors(Path(), model, plain)
    assert [tensor for tensor in older if not is_leftover(tensor)] == plain
    with pytest.raises(LayerwiseError, match="hold no weight for it"):
        check_tensors(Path(), model, plain[:-1])


@pytest.mark.parametrize("family", TWIN_FAMILIES)
def test_a_tensor_more_or_twice_is_refused(family: str) -> None:
    """Any tensor, in the same file or in another shard, with the prefix or without it."""
    config = transformers.AutoConfig.from_pretrained(twin_folder(family))
    tensors = stored_tensors(twin_folder(family))
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(config)
    check_tensors(Path(), model, tensors)
    prefix = f"{model.base_model_prefix}."
    for tensor in random.Random(family).sample(tensors, 8):
        module = tensor.key.rpartition(".")[0]
        more = [
            tensor._replace(file=Path("b.safetensors")),
            *(tensor._replace(key=f"{module}.{end}") for end in ("lora_A", "weight_scale", "x")),
        ]
        if tensor.key.startswith(prefix):
            more.append(tensor._replace(key=tensor.key.removeprefix(prefix)))
        for extra in more:
            with pytest.raises(LayerwiseError, match=r"has no place in it|twice"):
                check_tensors(Path(), model, [*tensors, extra])


def test_buffers_of_older_checkpoints_pass(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(twin_folder("gpt_neox"), tmp_path / "older"))
    tensors = safetensors.torch.load_file(folder / WEIGHTS)
    attention = "gpt_neox.layers.0.attention"
    tensors[f"{attention}.bias"] = torch.ones(1, 1, 9, 9)
    tensors[f"{attention}.rotary_emb.inv_freq"] = torch.ones(2)
    safetensors.torch.save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})
    load_model(folder, device="cpu")


def test_a_bias_is_a_mask_by_its_axes_alone() -> None:
    assert is_leftover(Stored(Path(WEIGHTS), "h.0.attn.bias", (1, 1, 9, 9)))
    assert not is_leftover(Stored(Path(WEIGHTS), "h.0.attn.bias", (768,)))
