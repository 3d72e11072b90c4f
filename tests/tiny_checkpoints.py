"""Texts, tiny checkpoints and a launcher that several test modules share."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from safetensors.numpy import load_file, save_file

from layerwise.files import read_json
from layerwise.models.families import FAMILIES
from layerwise.models.load import Checkpoint, load_model
from layerwise.models.registry import Model, Shape
from layerwise.models.store import HiddenStates
from layerwise.models.twins import build_twin
from layerwise.papers.shared.published import read_published

TWIN_FAMILIES = (*FAMILIES, "opt-350m")
# Kinds of block that a family has and no registered model: what config.json sets.
VARIANTS = {
    "bloom-post": {"apply_residual_connection_post_layernorm": True},
    "stablelm-parallel": {"use_parallel_residual": True},
}
EVERY_KIND = (*TWIN_FAMILIES, *VARIANTS)
# two query heads to a head of keys
SHARED_KV = (
    *("llama", "mistral", "gemma2", "apertus", "phi3", "stablelm"),
    *("gemma3_text", "qwen2", "qwen3"),
)
WITH_BOS = ("opt", "llama", "mistral", "gemma", "gemma2", "gemma3_text", "apertus")
# heads whose widths do not add up to that of the residual stream
APART = ("gemma", "gemma2", "gemma3_text", "qwen3")
REPOSITORY = Path(__file__).parents[1]
PROMPTS = read_json(REPOSITORY / "code/layerwise/models/rehearsal/prompts.json")
EXAMPLE = {name: REPOSITORY / f"examples/{name}.json" for name in ("pairs", "prompts")}
PUBLISHED = read_published(REPOSITORY / "published")
# `--cpu` would start one process and say nothing; the name of this launcher is all it asks
TWO_PROCESSES = [
    "-m",
    "accelerate.commands.launch",
    "--multi_gpu",
    "--num_processes=2",
    "--num_machines=1",
    "--mixed_precision=no",
    "--dynamo_backend=no",
]
Loop = Callable[[Any, torch.Tensor], tuple[Sequence[torch.Tensor], torch.Tensor]]
_TWINS = TemporaryDirectory(prefix="layerwise-twins-")  # removed when the session ends
TEXTS = (
    "The river rises in the north",
    "Water boils at 100 degrees",
    "A quiet street",
    "Prices fell in the spring",
    "Two cats sat on the wall near the old mill",
    "Light travels fast",
    "Prices rose in the spring",
    "The bridge opened in 1932",
    "An owl",
    "She sold the shop",
    "He bought the shop",
)


def twinned_model(family: str = "gpt_neox", n_layers: int = 3) -> Model:
    """A model as the registry would declare it, small enough that its twin is tiny.

    `opt-350m` is that model: OPT with its norms behind, embeddings of another width, no last norm.
    """
    slug = family if family == "opt-350m" else f"small-{family}".replace("_", "-")
    family = family.partition("-")[0]
    shape = Shape(
        n_layers=n_layers,
        hidden_size=48 if family in APART else 32,
        n_heads=4,
        kv_heads={"falcon": 1, **dict.fromkeys(SHARED_KV, 2)}.get(family, 4),
        head_size=8,
        adds_bos=family in WITH_BOS,
    )
    return Model(
        slug=slug,
        display="Small",
        lab="Lab",
        family=family,
        parameters=0.1,
        hub=f"org/{slug}",
        revision="0" * 40,
        shape=shape,
        experiments={"sweep": "float32"},
    )


@cache
def twin_folder(family: str, n_layers: int = 3, seed: int = 0) -> Path:
    """The checkpoint of `twinned_model`'s twin, built once per session; do not write into it."""
    folder = build_twin(
        twinned_model(family, n_layers),
        TEXTS,
        Path(_TWINS.name) / f"{n_layers}-{seed}" / family,
        seed,
    )
    if family in VARIANTS:
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | VARIANTS[family]))
    if family == "stablelm-parallel":  # one norm for attention and MLP
        file = folder / "model.safetensors"
        tensors = load_file(file)
        one_norm = {key: tensor for key, tensor in tensors.items() if "post_attention" not in key}
        save_file(one_norm, file, {"format": "pt"})
    return folder


@cache
def twin_checkpoint(family: str, n_layers: int = 3, seed: int = 0) -> Checkpoint:
    """The loaded twin, in float32 on the CPU, shared by the whole session."""
    return load_model(twin_folder(family, n_layers, seed), device="cpu")


def built(family: str = "gpt_neox", dtype: str = "float32") -> Checkpoint:
    """The twin loaded anew: a test may spoil it."""
    return load_model(twin_folder(family), dtype, "cpu")


def plain_loop(model: Any, ids: torch.Tensor) -> tuple[Sequence[torch.Tensor], torch.Tensor]:
    """The hidden states of one text by layer, and its logits: transformers' own."""
    with torch.no_grad():
        out = model(input_ids=ids, output_hidden_states=True)
    return out.hidden_states, out.logits


def deviations(
    model: Any, tokenizer: Any, states: HiddenStates, loop: Loop = plain_loop
) -> tuple[float, float]:
    """How far states (as a share of their norm) and NLL lie from those of a plain loop."""
    of_states, of_nll = [0.0], [0.0]
    pooled = [torch.from_numpy(states.pooled(layer)) for layer in range(states.n_layers + 1)]
    for number, text in enumerate(TEXTS):
        ids = torch.tensor([tokenizer(text).input_ids])
        by_layer, logits = loop(model, ids)
        for rows, state in zip(pooled, by_layer, strict=True):
            expected = state[0, 1:].mean(dim=0).float()
            of_states.append(float((rows[number] - expected).norm() / expected.norm()))
        loss = torch.nn.functional.cross_entropy(logits[0, :-1].float(), ids[0, 1:])
        of_nll.append(abs(float(loss) - states.nll[number]))
    return max(of_states), max(of_nll)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its name there."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
