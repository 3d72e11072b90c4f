"""Checks of what only measuring needs: a GPU, upstream's data, the models, the hub."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from layerwise.doctor import FULL, Check, Finding, look, room
from layerwise.errors import LayerwiseError

# Oldest driver for torch's wheels, by the version of CUDA that they bring, and the way to them.
DRIVERS = {13: 580, 12: 525}
BUILDS = {13: "`make setup TORCH=cuda`", 12: "`make setup TORCH=cuda12`"}
# Of Mistral-7B in float32: 34 layers, 4 kinds of states of 460 statements, tokens of 25 prompts.
STATES_BYTES = 34 * (4 * 460 + 25 * 16) * 4096 * 4


def gpu(root: Path) -> Finding:
    """Driver, build of torch, and whether torch sees a device."""
    found = look.gpus()
    if found is None:
        fix = "measure where there is a GPU of 40 GB; nothing else needs one"
        return Finding("nvidia-smi finds none", fix, (FULL,))
    seen = f"{', '.join(found.names)}, driver {found.driver}"
    release = int(found.driver.partition(".")[0])
    newest = next((major for major, least in DRIVERS.items() if release >= least), None)
    if newest is None:
        fix = f"update the driver to {DRIVERS[13]} or newer ({DRIVERS[12]} for TORCH=cuda12)"
        return Finding(f"{seen}, too old for every build of torch", fix, (FULL,))
    cuda, available = look.torch_build()
    if cuda is None:
        return Finding(f"{seen}, but torch is built for the CPU", BUILDS[newest], (FULL,))
    least = DRIVERS[int(cuda.partition(".")[0])]
    built = f"{seen}, torch built for CUDA {cuda}, which needs driver {least} or newer"
    if release < least:
        return Finding(built, f"update the driver, or {BUILDS[newest]}", (FULL,))
    if not available:
        fix = "look at CUDA_VISIBLE_DEVICES, and in a container at `--gpus all`"
        return Finding(f"{built}, but torch sees no device", fix, (FULL,))
    return Finding(built)


def data(root: Path) -> Finding:
    """Upstream's pairs and prompts, or where they can be had."""
    from layerwise.inputs import mirrors, upstream

    try:
        upstream.verify_data(root / "data")
        return Finding("the pinned pairs and prompts are in data/")
    except LayerwiseError as error:
        problem = str(error).partition(";")[0]
    mirror = os.environ.get(mirrors.MIRROR_VARIABLE)
    place = mirror or "upstream"
    try:
        source = mirrors.open_mirror(mirror or upstream.ADDRESS, retries=0)
        lost = None
        if isinstance(source, mirrors.AddressMirror):
            lost = look.reach(source.address + upstream.DATASET)
    except LayerwiseError as error:
        lost = str(error)
    if lost is None:
        return Finding(f"not in data/, but at {place}, where the pipeline fetches them")
    fix = "connect to the network, or name a folder or address in LAYERWISE_MIRROR"
    return Finding(f"{problem}; {place} cannot be reached ({lost})", fix, (FULL,))


def _models(root: Path) -> list[Any]:
    from layerwise.inputs.models import read_models

    return list(read_models(root / "models.yaml").values())


def _wanted(root: Path) -> list[Any]:
    return [model for model in _models(root) if not model.skipped]


def registry(root: Path) -> Finding:
    """The models that are measured, and those that are not."""
    unwanted = [model.slug for model in _models(root) if model.skipped]
    found = f"{len(_wanted(root))} to measure, {len(unwanted)} not"
    if not unwanted:
        return Finding(found)
    fix = "their claims stay `not measured`; `layerwise models` says why"
    return Finding(f"{found}: {', '.join(unwanted)}", fix)


def memory(root: Path) -> Finding | None:
    """The largest GPU, or else the machine's memory, against every model in its widest dtype."""
    import psutil

    from layerwise.extraction import needs

    needed = {m.slug: max(needs.memory(m, dtype) for dtype in m.dtypes) for m in _wanted(root)}
    if not needed:
        return None
    gpus = look.gpus()
    there = max(gpus.memory) if gpus and gpus.memory else psutil.virtual_memory().total
    large = [slug for slug, size in needed.items() if size > there]
    fix = f"take a larger machine, or give {', '.join(large)} a `skip` in models.yaml"
    return room(
        there, max(needed.values()), f"for {max(needed, key=needed.__getitem__)}", fix, (FULL,)
    )


def disk_of_states(root: Path) -> Finding:
    """Hidden states are scratch: there are those of one model at a time."""
    free, fix = look.free_bytes(root / "results"), "make room, or put it on another disk"
    return room(free, STATES_BYTES, "free in results/", fix, (FULL,))


def _not_cached(root: Path) -> list[Any]:
    from layerwise.extraction.hub import cached

    return [model for model in _wanted(root) if cached(model) != "yes"]


def hub(root: Path) -> Finding:
    """The weights: in the local cache, or to be had."""
    from huggingface_hub import constants

    n_models, absent = len(_wanted(root)), len(_not_cached(root))
    found = f"{n_models - absent} of {n_models} models are in the cache"
    if not absent:
        return Finding(f"{found}; no network is needed for them")
    if constants.HF_HUB_OFFLINE:
        fix = "unset HF_HUB_OFFLINE, or fill the cache where there is a network"
        return Finding(f"{found}, HF_HUB_OFFLINE is set", fix, (FULL,))
    if lost := look.reach(constants.ENDPOINT):
        fix = "connect to the network, or fill the cache where there is one"
        return Finding(f"{found}, the hub cannot be reached ({lost})", fix, (FULL,))
    return Finding(f"{found}, the hub gives the others")


def gates(root: Path) -> Finding:
    """Access to the gated models that are not in the cache."""
    import huggingface_hub
    from huggingface_hub import constants

    from layerwise.extraction.hub import require_hub

    absent = [model for model in _not_cached(root) if model.gated]
    if not absent:
        return Finding("all that are measured are in the cache")
    named = ", ".join(model.slug for model in absent)
    if huggingface_hub.get_token() is None:
        fix = "accept their licences, then `hf auth login` or HF_TOKEN; or a `skip` in models.yaml"
        return Finding(f"no token for {named}", fix, (FULL,))
    if constants.HF_HUB_OFFLINE or look.reach(constants.ENDPOINT):
        fix = "ask again where the hub can be reached"
        return Finding(f"a token; access to {named} is not known", fix)
    refused = {}
    for model in absent:
        try:
            require_hub([model])
        except LayerwiseError as error:
            refused[model.slug] = str(error)
    if refused:
        fix = f"accept the licences, or give {', '.join(refused)} a `skip` in models.yaml"
        return Finding("; ".join(refused.values()), fix, (FULL,))
    return Finding(f"access to {named}")


def disk_of_hub(root: Path) -> Finding:
    """Room for the weights that are not in the cache yet."""
    from huggingface_hub import constants

    from layerwise.extraction import needs

    cache = Path(constants.HF_HUB_CACHE)
    fix = "make room, or set HF_HOME to a folder on another disk"
    needed = sum(needs.weight_bytes(model, model.dtype) for model in _not_cached(root))
    return room(look.free_bytes(cache), needed, f"free in {cache}", fix, (FULL,))


CHECKS: dict[str, Check] = {
    "GPU": gpu,
    "upstream's data": data,
    "models": registry,
    "memory of models": memory,
    "disk of states": disk_of_states,
    "hub": hub,
    "gated models": gates,
    "disk of the hub": disk_of_hub,
}
