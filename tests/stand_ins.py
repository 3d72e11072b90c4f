"""Twins that stand for the registry's models: what experiments measure of them, and plain passes.

The reference is written as the notebooks were: transformers' model, hooks on its modules, torch.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from layerwise.engine.experiment import Fragments, Subject
from layerwise.models import tracing
from layerwise.models.load import Checkpoint, load_model
from layerwise.models.projections import Weights
from layerwise.models.registry import read_models
from layerwise.papers.experiments.table import measure_experiment
from tiny_checkpoints import PROMPTS, PUBLISHED, REPOSITORY, twin_folder

MODELS = read_models(REPOSITORY / "models.yaml")
DEPTHS = {"pythia-70m": 2, "pythia-1p4b": 12, "pythia-12b": 4}  # the others have three blocks
SEEDS = {"pythia-410m": 1, "pythia-1p4b": 2}


def family_of(slug: str) -> str:
    """What the twins of `tiny_checkpoints` call its architecture."""
    return slug if slug == "opt-350m" else MODELS[slug].family


def stand_in(slug: str) -> Path:
    """The folder of its twin."""
    return twin_folder(family_of(slug), DEPTHS.get(slug, 3), SEEDS.get(slug, 0))


_loaded = cache(load_model)


def checkpoint(slug: str, dtype: str = "float32") -> Checkpoint:
    """The twin, loaded once per dtype."""
    return _loaded(stand_in(slug), dtype, "cpu")


@cache
def subject(slug: str, dtype: str = "float32") -> Subject:
    """What an experiment looks at."""
    loaded = checkpoint(slug, dtype)
    trace = partial(tracing.trace, loaded)
    return Subject(MODELS[slug], trace, Weights.from_checkpoint(loaded), PROMPTS, PUBLISHED)


@cache
def _found(experiment: str, slug: str, dtype: str) -> Fragments:
    return measure_experiment(experiment, subject(slug, dtype))


def found(experiment: str, slug: str, dtype: str = "float32") -> Fragments:
    """What an experiment gives of the model."""
    return _found(experiment, slug, dtype)


def theirs(experiment: str, slug: str, dtype: str = "float32") -> dict[str, Any]:
    """What of it stands in the published file, by the last two names of its place."""
    ((_, cells),) = (
        of for of in found(experiment, slug, dtype).items() if not of[0].startswith("beyond/")
    )
    return {"/".join(place.rsplit("/", 2)[1:]): value for place, value in cells.items()}


@cache
def of_texts(measure: Any, slug: str, dtype: str, texts: str) -> dict[str, Any]:
    """What a measure gives of a set of texts."""
    return measure(subject(slug, dtype), PROMPTS[texts]["prompts"])


@cache
def passed(slug: str, dtype: str, text: str, *, maps: bool = False) -> Any:
    """One pass of transformers: hidden states, and (by the kernel that has them) attention maps."""
    loaded = checkpoint(slug, dtype)
    kernel = "sdpa" if loaded.model._supports_sdpa and not maps else "eager"
    loaded.model.set_attn_implementation(kernel)
    try:
        with torch.no_grad():
            return loaded.model(
                torch.tensor([loaded.tokenizer(text).input_ids]),
                output_attentions=maps,
                output_hidden_states=True,
            )
    finally:
        loaded.model.set_attn_implementation("eager")


@contextmanager
def seen(modules: dict[Any, Any]) -> Iterator[dict[Any, torch.Tensor]]:
    """What the modules put out in the passes inside the block: [token, width]."""
    values: dict[Any, torch.Tensor] = {}

    def save(name: Any) -> Callable[..., None]:
        def after(module: Any, args: Any, out: Any) -> None:
            value = out[0] if isinstance(out, tuple) else out
            values[name] = value.detach().reshape(-1, value.shape[-1]).clone()

        return after

    with ExitStack() as stack:
        for name, module in modules.items():
            stack.callback(module.register_forward_hook(save(name)).remove)
        yield values


def blocks_of(slug: str, dtype: str, text: str) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Every block's output by a hook, and the logits of the last token."""
    blocks = dict(enumerate(checkpoint(slug, dtype).blocks))
    with seen(blocks) as outputs:
        logits = passed.__wrapped__(slug, dtype, text).logits[0, -1]
    return [outputs[number] for number in blocks], logits


@cache
def w_v(slug: str, dtype: str, block: int, slicing: str) -> np.ndarray:
    """W_V as the notebooks cut it, or as the modules use it."""
    model = checkpoint(slug, dtype).model
    own = {k: v.double().numpy() for k, v in model.state_dict().items() if f".{block}." in k}

    def named(end: str) -> np.ndarray:
        (matrix,) = (v for k, v in own.items() if k.endswith(end))
        return matrix

    family = family_of(slug)
    if family in ("gpt_neox", "bloom"):
        fused = named("query_key_value.weight")
        width = len(fused) // 3
        if slicing == "legacy":
            return fused[2 * width :]
        heads = model.config.num_attention_heads
        return fused.reshape(heads, 3, width // heads, width)[:, 2].reshape(width, width)
    if family == "gpt2":
        fused = named("c_attn.weight")
        return fused[:, 2 * len(fused) :].T
    return named("v_proj.weight")
