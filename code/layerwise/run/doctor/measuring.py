"""Checks of what measuring needs: a device, upstream's data, the models, room for them."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from layerwise.errors import LayerwiseError, TryAgainError, UnreachedError
from layerwise.files import read_json
from layerwise.models.registry import Model
from layerwise.run.doctor import FULL, Check, Diagnosis, first_few, free
from layerwise.shapes import Measuring, read_choices

MODELS_ON_DISK = 2  # at least, where weights go when measured: one is fetched ahead


def gpu(root: Path) -> Diagnosis:
    """Return whether torch sees the device of params.yaml; if not, what stands in the way."""
    import torch

    from layerwise.models.devices import require_accelerator
    from layerwise.models.provenance import smi

    device = read_choices(root / "params.yaml", "measure")["device"]
    driver, names = smi()
    seen = f"{', '.join(names)}, driver {driver}" if names else "nvidia-smi finds none"
    cuda = torch.version.cuda
    try:
        require_accelerator(device)
        return Diagnosis(f"{device}, as params.yaml asks ({seen}, torch built for CUDA {cuda})")
    except LayerwiseError as error:
        finding = f"{error} ({seen}, torch built for CUDA {cuda})"
    fix = (
        "take the build that fits the driver, `make setup TORCH=cuda` from 580 on, cuda12 from "
        "525; look at CUDA_VISIBLE_DEVICES, and in a container at `--gpus all`"
        if names
        else "measure where there is a GPU of 40 GB, or with `device: cpu` in params.yaml"
    )
    return Diagnosis(finding, fix, (FULL,))


def models(root: Path) -> Diagnosis:
    """Say how many models will be measured, what that takes, and why the others will not be."""
    from layerwise.models import needs
    from layerwise.models.passing import DROP
    from layerwise.models.registry import read_models

    registry = read_models(root / "models.yaml")
    chosen = read_choices(root / "params.yaml", "measure")
    memory = _free_memory(chosen["device"])
    left_out = {slug: why for slug, model in registry.items() if (why := _why_not(model, memory))}
    candidates = [model for slug, model in registry.items() if slug not in left_out]
    weights, errors = _ask_hub(candidates, _texts(root / "data"))
    left_out |= {slug: str(error) for slug, error in errors.items()}
    run = [model for model in candidates if model.slug in weights]
    minutes = sum(needs.seconds_as_chosen(model, chosen) for model in run) / 60
    states = max((needs.bytes_of_states(model, chosen) for model in run), default=0) / 1e9
    disk = _disk(run, weights, chosen, root / "results" / "scratch")
    in_part = {
        model.slug: f"in {dtype} more than the {memory / 1e9:.1f} GB of memory that are free"
        for model in run
        for dtype in model.dtypes
        if needs.memory(model, dtype) > memory
    }
    notes = _notes(registry, {"not": left_out, "only in part": in_part})
    finding = (
        f"{len(run)} of {len(registry)} can be measured on {chosen['device']}: about "
        f"{minutes:.0f} min (singular values and the download apart); {disk.said}; up to "
        f"{states:.1f} GB of hidden states at a time in results/{notes}"
    )
    is_mendable = any(not registry[slug].skipped for slug in left_out)
    fix = "mend what is said of them, or give them a `skip` in models.yaml" if is_mendable else ""
    if disk.lacks_room:
        fix = "make room, or set HF_HOME to a folder on another disk"
        if not disk.drops:
            fix += f", or {DROP}=1, and what is fetched is removed once it is measured"
    silent = [str(error) for error in errors.values() if isinstance(error, TryAgainError)]
    if silent and not run:
        finding, fix = silent[0], "ask again later, or fill the cache where there is a network"
    return Diagnosis(finding, fix, (FULL,) if disk.lacks_room or not run else ())


class _Disk(NamedTuple):
    """GB on the disk of the hub's cache: to fetch, at a time, free, and of states beside them."""

    cache: Path
    drops: bool  # weights, once they are measured
    download: float
    peak: float
    room: float
    beside: float

    @property
    def said(self) -> str:
        at_a_time = f", at most {self.peak:.1f} GB at a time" if self.drops else ""
        return (
            f"{self.download:.1f} GB to fetch{at_a_time}, {self.room:.1f} GB free for {self.cache}"
        )

    @property
    def lacks_room(self) -> bool:
        return self.peak > 0 and self.peak + self.beside > self.room


def _disk(
    run: Sequence[Model], weights: Mapping[str, Mapping[str, int]], chosen: Measuring, scratch: Path
) -> _Disk:
    """Return what weights that are not cached yet, and hidden states, ask of the disk."""
    from huggingface_hub import constants

    from layerwise.models import hub
    from layerwise.models.passing import drops_weights

    missing = [model for model in run if hub.cached_folder(model.hub, model.revision) is None]
    sizes = [hub.disk_bytes(weights[model.slug]) / 1e9 for model in missing]
    # of weights that go when they are measured, those that are there at once
    drops = drops_weights()
    at_once = sorted(sizes)[-MODELS_ON_DISK:] if drops else sizes
    beside = max((hub.states_beside(model, chosen, scratch) for model in run), default=0)
    cache = Path(constants.HF_HUB_CACHE)
    return _Disk(cache, drops, sum(sizes), sum(at_once), free(cache) / 1e9, beside / 1e9)


def _notes(registry: Mapping[str, Model], reasons: Mapping[str, Mapping[str, str]]) -> str:
    """Name the models that are not measured, or only in part, each with the reason."""
    from layerwise.engine.measured import group_by_reason

    return "".join(
        f"; {measured} {first_few([registry[slug].display for slug in slugs])}: {why}"
        for measured, why_not in reasons.items()
        for why, slugs in group_by_reason(why_not).items()
    )


def _free_memory(device: str) -> float:
    """Return the free bytes of the device; without one, of which another check speaks, infinity."""
    from layerwise.models.devices import free_bytes, require_accelerator

    try:
        require_accelerator(device)
        return float(free_bytes(device))
    except LayerwiseError:
        return math.inf


def _why_not(model: Model, memory: float) -> str:
    """Return why a model is not measured, whatever the hub says; empty: nothing stands against."""
    from layerwise.models import needs

    sizes = [needs.memory(model, dtype) for dtype in model.dtypes]
    if not model.skipped and sizes and min(sizes) > memory:
        return f"it takes more than the {memory / 1e9:.1f} GB of memory that are free"
    return model.skipped or ""


def _texts(folder: Path) -> dict[str, Sequence[str]]:
    """Return upstream's statements and prompts, by kind, once they are fetched."""
    from layerwise.papers.fetching import upstream
    from layerwise.papers.fetching.texts import read_pairs

    try:
        upstream.verify_data(folder)
    except LayerwiseError:  # they are not fetched yet
        return {}
    sets = read_json(folder / upstream.PROMPTS)
    prompts = [text for study in sets.values() for text in _strings(study["prompts"])]
    return {"statements": read_pairs(folder / upstream.DATASET).statements, "prompts": prompts}


def _strings(node: Any) -> Iterator[str]:
    """Yield all texts in a set of prompts, a list of them or an object that names them."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict | list):
        for part in node.values() if isinstance(node, dict) else node:
            yield from _strings(part)


def _ask_hub(
    models: Iterable[Model], texts: Mapping[str, Sequence[str]]
) -> tuple[dict[str, dict[str, int]], dict[str, LayerwiseError]]:
    """Return the files of the models' weights by slug, and why there are none of the others.

    Without a way to the hub only the cache is asked.
    """
    from layerwise.models import hub

    weights: dict[str, dict[str, int]] = {}
    errors: dict[str, LayerwiseError] = {}
    unreached: UnreachedError | None = None
    for model in models:
        if unreached and hub.cached_folder(model.hub, model.revision) is None:
            errors[model.slug] = unreached  # it would wait for the network once more
            continue
        try:
            weights[model.slug] = dict(hub.look_up_registered(model, texts).weights)
        except LayerwiseError as error:
            errors[model.slug] = error
            unreached = error if isinstance(error, UnreachedError) else unreached
    return weights, errors


CHECKS: dict[str, Check] = {
    "GPU": Check(gpu, (FULL,)),
    "models": Check(models, (FULL,)),
}
