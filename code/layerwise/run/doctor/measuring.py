"""Checks of what measuring needs: a device, upstream's data, the models, room for them."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError, TryAgainError, UnreachedError
from layerwise.files import read_json
from layerwise.models.registry import Model
from layerwise.run.doctor import FULL, KEY, Check, Finding, free
from layerwise.run.doctor.time_left import seconds_of_model
from layerwise.shapes import read_choices

DRIVERS = "580 or newer, or 525 with a torch for CUDA 12 (`make setup TORCH=cuda12`)"


def gpu(root: Path) -> Finding:
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
        return Finding(f"{device}, as params.yaml asks ({seen}, torch built for CUDA {cuda})")
    except LayerwiseError as error:
        found = f"{error} ({seen}, torch built for CUDA {cuda})"
    if not names:
        fix = (
            "measure where there is a GPU of 40 GB; or on many cores and 40 GB of memory, with "
            "`device: cpu` in params.yaml (then ask again, for the time that it takes)"
        )
    elif cuda is None:
        fix = f"`make setup TORCH=cuda`; its driver is {DRIVERS}"
    else:
        fix = (
            f"have a driver of {DRIVERS}; look at CUDA_VISIBLE_DEVICES, and in a container at "
            "`--gpus all`"
        )
    return Finding(found, fix, (FULL,))


def models(root: Path) -> Finding:
    """Say what will be measured and what will not, a row per model, and what all of it takes."""
    from huggingface_hub import constants

    from layerwise.models.devices import free_bytes, require_accelerator
    from layerwise.models.registry import read_models

    registry = read_models(root / "models.yaml")
    chosen = read_choices(root / "params.yaml", "measure")
    device = chosen["device"]
    try:
        require_accelerator(device)
        there = float(free_bytes(device))
    except LayerwiseError:  # of which another check speaks
        there = math.inf
    texts = _texts(root / "data")
    asked = _ask_hub((model for model in registry.values() if not _why_not(model, there)), texts)
    rows = [_row(model, there, asked, chosen) for model in registry.values()]
    run = [row for row in rows if row["runs"] == "yes"]
    minutes, download = (sum(row[key] for row in run) for key in ("minutes", "GB to fetch"))
    states = [_bytes_of_states(registry[row[KEY]], chosen) / 1e9 for row in run]
    cache = Path(constants.HF_HUB_CACHE)
    room = free(cache) / 1e9
    found = (
        f"{len(run)} of {len(rows)} can be measured on {device}: about {minutes:.0f} min "
        f"(singular values and the download apart); {download:.1f} GB to fetch, {room:.1f} GB free "
        f"for {cache}; up to {max(states, default=0):.1f} GB of hidden states at a time in results/"
    )
    refused = [row for row in rows if row not in run and not registry[row[KEY]].skipped]
    fix = f"{refused[0]['why not']}; or give it a `skip` in models.yaml" if refused else ""
    if download > room:
        fix = "make room, or set HF_HOME to a folder on another disk"
    silent = [str(error) for error in asked.values() if isinstance(error, TryAgainError)]
    if silent and not run:
        found, fix = silent[0], "ask again later, or fill the cache where there is a network"
    stops = download > room or not run
    return Finding(found, fix, (FULL,) if stops else (), tuple(rows))


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


def _bytes_of_states(model: Model, chosen: Mapping[str, Any]) -> int:
    """Return the bytes of hidden states that wait on disk until all of a model is measured.

    They are made of the model as it is, with noise, and of random weights.
    """
    from layerwise.models import needs

    sizes = (model.shape.hidden_size, model.shape.n_layers)
    once = sum(
        needs.kept_bytes(needs.STATEMENTS, needs.PROMPT_TOKENS, *sizes, extraction.dtype)
        for extraction in model.extractions.values()
    )
    return once * (1 + int(chosen["replicates"]) + int(chosen["control"]))


def _ask_hub(
    models: Iterable[Model], texts: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, int] | LayerwiseError]:
    """Return by slug the files of a model's weights, or why there are none.

    Without a way to the hub only the cache is asked.
    """
    from layerwise.models import hub

    answers: dict[str, dict[str, int] | LayerwiseError] = {}
    unreached: UnreachedError | None = None
    for model in models:
        if unreached and hub.cached_folder(model.hub, model.revision) is None:
            answers[model.slug] = unreached  # it would wait for the network once more
            continue
        try:
            answers[model.slug] = hub.look_up(model, texts)
        except LayerwiseError as error:
            answers[model.slug] = error
            unreached = error if isinstance(error, UnreachedError) else unreached
    return answers


def _why_not(model: Model, there: float) -> str:
    """Return why a model is not measured, whatever the hub says."""
    from layerwise.models import needs

    sizes = [needs.memory(model, dtype) for dtype in model.dtypes]
    if not model.skipped and sizes and min(sizes) > there:
        return f"it needs {min(sizes) / 1e9:.1f} GB, {there / 1e9:.1f} GB are free"
    return model.skipped or ""


def _row(
    model: Model,
    there: float,
    asked: dict[str, dict[str, int] | LayerwiseError],
    chosen: Mapping[str, Any],
) -> dict[str, Any]:
    from layerwise.models import hub, needs

    sizes = {dtype: needs.memory(model, dtype) for dtype in model.dtypes}
    notes = [f"too large in {dtype}" for dtype, size in sizes.items() if size > there]
    why, answer, download = _why_not(model, there), asked.get(model.slug), 0
    if isinstance(answer, dict):
        notes += ["pickles, converted once"] if hub.is_pickled(answer) else []
        if hub.cached_folder(model.hub, model.revision) is None:
            download = hub.disk_bytes(answer)
    elif isinstance(answer, UnreachedError):  # which is said once, above
        why = "could not be asked: the hub cannot be reached"
    elif answer is not None:
        silent = isinstance(answer, TryAgainError)
        why = f"could not be asked: {answer}" if silent else str(answer)
    return {
        KEY: model.slug,
        "model": model.display,
        "runs": "no" if why else "yes",
        "GB of memory": round(max(sizes.values(), default=0) / 1e9, 1),
        "GB to fetch": round(download / 1e9, 1),
        "minutes": round(seconds_of_model(model, chosen) / 60, 1),
        "why not": why or "; ".join(notes),
    }


CHECKS: dict[str, Check] = {
    "GPU": Check(gpu, (FULL,)),
    "models": Check(models, (FULL,)),
}
