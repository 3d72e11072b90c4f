"""Looks at what the full reproduction takes: upstream's data, the models, the hub and its cache."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from layerwise.doctor.look import reach
from layerwise.errors import LayerwiseError

N_STATEMENTS = 460  # 230 pairs


def data_problem(folder: Path) -> str | None:
    """What is amiss with the fetched pairs and prompts."""
    from layerwise.inputs import upstream

    try:
        upstream.verify_data(folder)
    except LayerwiseError as error:
        return str(error).partition(";")[0]
    return None


def source_of_data() -> tuple[str | None, str | None]:
    """The mirror that is named, and why it, or upstream, cannot be reached."""
    from layerwise.inputs import mirrors, upstream

    mirror = os.environ.get(mirrors.MIRROR_VARIABLE) or None
    try:
        source = mirrors.open_mirror(mirror or upstream.ADDRESS, retries=0)
    except LayerwiseError as error:
        return mirror, str(error)
    if isinstance(source, mirrors.FolderMirror):
        return mirror, None
    return mirror, reach(source.address + upstream.DATASET)


def refusals(models: Iterable[Any]) -> dict[str, str]:
    """By slug, what the hub says of the models that it does not give to this user."""
    from layerwise.extraction.hub import require_hub

    refused = {}
    for model in models:
        try:
            require_hub([model])
        except LayerwiseError as error:
            refused[model.slug] = str(error)
    return refused


def models(root: Path) -> tuple[list[Any], int]:
    """The models that the full reproduction measures, and how many it skips."""
    from layerwise.inputs.models import read_models

    registry = read_models(root / "models.yaml")
    wanted = [model for model in registry.values() if not model.skipped]
    return wanted, len(registry) - len(wanted)


def states_bytes(wanted: Iterable[Any]) -> int:
    """Hidden states of every extraction of these models, 460 statements and 25 prompts each."""
    from layerwise.extraction import needs
    from layerwise.extraction.plan import Plan

    total = 0
    for model, extraction in ((m, e) for m in wanted for e in m.extractions.values()):
        width = model.shape.hidden_size
        dtype = "float16" if extraction.dtype == "float16" else "float32"
        prompts = (0, needs.PROMPT_TOKENS)
        plan = Plan(model.shape.n_layers, width, width, dtype, N_STATEMENTS, prompts, ())
        total += plan.total_bytes
    return total


def weights(wanted: Iterable[Any]) -> dict[str, float]:
    """By slug, bytes of the weights in the dtype of extraction."""
    from layerwise.extraction import needs

    return {model.slug: needs.weight_bytes(model, model.dtype) for model in wanted}


def needs_of(wanted: Iterable[Any]) -> dict[str, float]:
    """By slug, bytes that the model needs in the widest dtype of its studies."""
    from layerwise.extraction import needs

    return {
        model.slug: max(needs.memory(model, dtype) for dtype in model.dtypes) for model in wanted
    }


def not_cached(wanted: Iterable[Any]) -> list[Any]:
    """The models that are not whole in the hub's local cache."""
    from layerwise.steps.list_models import cached

    return [model for model in wanted if cached(model) != "yes"]


def hub_settings() -> tuple[bool, str, bool, Path]:
    """Offline or not, the hub's address, whether a token is there, and the cache."""
    import huggingface_hub
    from huggingface_hub import constants

    token = huggingface_hub.get_token() is not None
    return constants.HF_HUB_OFFLINE, constants.ENDPOINT, token, Path(constants.HF_HUB_CACHE)
