"""Checks of what only measuring needs: a GPU, upstream's data, the models, room for them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml

from layerwise.doctor import FULL, Check, Finding, room, some
from layerwise.errors import LayerwiseError, TryAgainError, without_password

# Oldest driver for torch's wheels, by the version of CUDA that they bring, and the way to them.
DRIVERS = {13: 580, 12: 525}
BUILDS = {13: "`make setup TORCH=cuda`", 12: "`make setup TORCH=cuda12`"}


def gpu(root: Path) -> Finding:
    """Whether torch sees the device of params.yaml; if not, what stands in the way."""
    import torch

    from layerwise.extraction.load import require_accelerator
    from layerwise.extraction.provenance import smi

    device = yaml.safe_load((root / "params.yaml").read_text("utf-8"))["measure"]["device"]
    driver, names = smi()
    seen = f"{', '.join(names)}, driver {driver}" if names else "nvidia-smi finds none"
    cuda = torch.version.cuda
    try:
        require_accelerator(device)
        return Finding(f"{device}, as params.yaml asks ({seen}, torch built for CUDA {cuda})")
    except LayerwiseError as error:
        found = f"{error} ({seen}, torch built for CUDA {cuda})"
    release = int(driver.partition(".")[0] or 0)
    newest = next((major for major, least in DRIVERS.items() if release >= least), None)
    if not names:
        fix = "measure where there is a GPU of 40 GB; nothing else needs one"
    elif newest is None:
        fix = f"update the driver to {DRIVERS[13]} or newer ({DRIVERS[12]} for TORCH=cuda12)"
    elif cuda is None:
        fix = BUILDS[newest]
    elif release < DRIVERS[int(cuda.partition(".")[0])]:
        fix = f"update the driver, or {BUILDS[newest]}"
    else:
        fix = "look at CUDA_VISIBLE_DEVICES, and in a container at `--gpus all`"
    return Finding(found, fix, (FULL,))


def data(root: Path) -> Finding:
    """Upstream's pairs and prompts: here, or to be had where the pipeline fetches them."""
    from layerwise.inputs import mirrors, upstream

    try:
        upstream.verify_data(root / "data")
        return Finding("the pinned pairs and prompts are in data/")
    except LayerwiseError:
        place = os.environ.get(mirrors.MIRROR_VARIABLE) or upstream.ADDRESS
    pin = upstream.read_registry().pins[upstream.DATASET]
    mirror = mirrors.open_mirror(place)
    mirrors.in_time(lambda: mirrors.read(mirror, upstream.DATASET, pin, retries=0))
    return Finding(
        f"not in data/, but at {without_password(place)}, where the pipeline fetches them"
    )


def _wanted(root: Path) -> list[Any]:
    from layerwise.inputs.models import read_models

    return [model for model in read_models(root / "models.yaml").values() if not model.skipped]


def models(root: Path) -> Finding:
    """The models that the cache has, or the hub at their commits, for this user; and their form."""
    from layerwise.extraction import hub

    wanted = _wanted(root)
    pickled, reasons = [], {}
    for model in wanted:
        try:
            if hub.is_pickled(hub.look_up(model)):
                pickled.append(model.slug)
        except TryAgainError as error:
            return Finding(str(error), "fill the cache where there is a network", (FULL,))
        except LayerwiseError as error:
            reasons[model.slug] = str(error)
    found = f"{len(wanted) - len(reasons)} of {len(wanted)} can be had"
    if pickled:
        found += f"; {some(pickled)} as pickles, made into safetensors once"
    if not reasons:
        return Finding(found)
    fix = f"{next(iter(reasons.values()))}; or give it a `skip` in models.yaml"
    none_left = len(reasons) == len(wanted)
    return Finding(f"{found}; not {some(list(reasons))}", fix, (FULL,) if none_left else ())


def memory(root: Path) -> Finding:
    """The largest GPU, or else the machine's memory, against every model in its widest dtype."""
    import psutil
    import torch

    from layerwise.extraction import needs

    gpus = map(torch.cuda.get_device_properties, range(torch.cuda.device_count()))
    there = max((one.total_memory for one in gpus), default=psutil.virtual_memory().total)
    needed = {m.slug: max(needs.memory(m, dtype) for dtype in m.dtypes) for m in _wanted(root)}
    large = [slug for slug, size in needed.items() if size > there]
    found = f"{there / 1e9:.1f} GB"
    if large:
        fix = "take a larger machine, or give them a `skip` in models.yaml"
        return Finding(f"{found}, too little for {some(large)}", fix)
    return Finding(f"{found}, enough for every model")


def disk_of_hub(root: Path) -> Finding:
    """Room for what is not in the cache yet: by the hub's list of files, else by estimate."""
    from huggingface_hub import constants

    from layerwise.extraction import hub, needs

    absent = [m for m in _wanted(root) if hub.cached(m.hub, m.revision) != "yes"]
    needed = {model.slug: needs.weight_bytes(model, model.dtype) for model in absent}
    for model in absent:
        try:
            needed[model.slug] = float(hub.disk_bytes(hub.look_up(model)))
        except TryAgainError:
            break  # nor will it tell of the others
        except LayerwiseError:
            continue
    fix = "make room, or set HF_HOME to a folder on another disk"
    return room(Path(constants.HF_HUB_CACHE), sum(needed.values()), fix, ())


CHECKS: dict[str, Check] = {
    "GPU": gpu,
    "upstream's data": data,
    "models": models,
    "memory of models": memory,
    "disk of the hub": disk_of_hub,
}
