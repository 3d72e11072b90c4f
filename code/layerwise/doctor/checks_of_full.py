"""Checks of what only the full reproduction needs: a GPU, upstream's data, the hub."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from layerwise.doctor import FULL, Check

# Oldest driver for torch's wheels, by the version of CUDA that they bring.
DRIVERS = {13: 580, 12: 525}
LEAVE_OUT = "give it a `skip` in models.yaml"


@dataclass(frozen=True)
class Gpus:
    """What nvidia-smi says: its driver, and the memory of every GPU in bytes."""

    driver: str
    names: tuple[str, ...]
    memory: tuple[int, ...]


def gpu(found: Gpus | None, cuda: str | None, available: bool) -> Check:
    """Driver, build of torch, and whether torch sees a device.

    Args:
        cuda: the version of CUDA that torch was built for; None: a CPU build, or no torch.
        available: `torch.cuda.is_available()`.
    """
    if found is None:
        fix = "run the full reproduction where there is a GPU of 40 GB; nothing else needs one"
        return Check("GPU", "nvidia-smi finds none", fix, (FULL,))
    seen = f"{', '.join(found.names)}, driver {found.driver}"
    release = int(found.driver.partition(".")[0])
    newest = next((major for major, least in DRIVERS.items() if release >= least), None)
    if newest is None:
        fix = f"update the driver to {DRIVERS[13]} or newer ({DRIVERS[12]} for TORCH=cuda12)"
        return Check("GPU", f"{seen}, too old for every build of torch", fix, (FULL,))
    build = {13: "make setup TORCH=cuda", 12: "make setup TORCH=cuda12"}[newest]
    if cuda is None:
        return Check("GPU", f"{seen}, but torch is built for the CPU", f"`{build}`", (FULL,))
    major = int(cuda.partition(".")[0])
    built = f"{seen}, torch built for CUDA {cuda}"
    if release < DRIVERS[major]:
        fix = f"update the driver, or `{build}`"
        return Check("GPU", f"{built}, which needs driver {DRIVERS[major]} or newer", fix, (FULL,))
    if not available:
        fix = "look at CUDA_VISIBLE_DEVICES, and in a container at `--gpus all`"
        return Check("GPU", f"{built}, but torch sees no device", fix, (FULL,))
    return Check("GPU", f"{built}, which needs driver {DRIVERS[major]} or newer")


def room_for_models(
    name: str, there: int | float, needed: Mapping[str, float], places: str = "there"
) -> Check:
    """Memory against what each model needs, in bytes."""
    widest = max(needed, key=lambda slug: needed[slug])
    found = f"{there / 1e9:.0f} GB {places}, {widest} needs {needed[widest] / 1e9:.0f} GB"
    large = sorted(slug for slug, size in needed.items() if size > there)
    if large:
        fix = f"take a larger machine, or give {', '.join(large)} a `skip` in models.yaml"
        return Check(name, found, fix, (FULL,))
    return Check(name, found)


def registry(n_models: int, skipped: int, unresolved: Sequence[str]) -> Check:
    """The models that are not skipped, and those of them without a recorded commit."""
    found = f"{n_models} to measure, {skipped} skipped by models.yaml"
    if unresolved:
        fix = f"write the commit of {', '.join(unresolved)} into models.yaml, or {LEAVE_OUT}"
        return Check("models", f"{found}, {len(unresolved)} without a commit", fix, (FULL,))
    return Check("models", found)


def data(problem: str | None, mirror: str | None, reached: str | None) -> Check:
    """Upstream's pairs and prompts, or where they can be had.

    Args:
        problem: what `upstream.verify_data` says; None: they are whole.
        mirror: the folder or address that stands in for upstream, if one is named.
        reached: why neither mirror nor upstream can be reached; None: it can.
    """
    name = "upstream's data"
    if problem is None:
        return Check(name, "the pinned pairs and prompts are in data/")
    place = mirror or "upstream"
    if reached is None:
        return Check(name, f"not in data/; {place} can be reached", "`layerwise fetch`")
    fix = "connect to the network, or name a folder or address in LAYERWISE_MIRROR"
    return Check(name, f"{problem}; {place} cannot be reached ({reached})", fix, (FULL,))


def hub(offline: bool, reached: str | None, cached: Sequence[str], absent: Sequence[str]) -> Check:
    """The weights: in the local cache, or to be had.

    Args:
        offline: HF_HUB_OFFLINE is set.
        reached: why the hub cannot be reached; None: it can.
        cached, absent: slugs of models that are whole in the cache, or not.
    """
    found = f"{len(cached)} of {len(cached) + len(absent)} models are in the cache"
    if not absent:
        return Check("hub", f"{found}; no network is needed for them")
    if offline:
        fix = "unset HF_HUB_OFFLINE, or fill the cache where there is a network"
        return Check("hub", f"{found}, HF_HUB_OFFLINE is set", fix, (FULL,))
    if reached is not None:
        fix = "connect to the network, or fill the cache where there is one"
        return Check("hub", f"{found}, the hub cannot be reached ({reached})", fix, (FULL,))
    return Check("hub", f"{found}, the hub gives the others")


def gates(absent: Sequence[str], token: bool, refused: Mapping[str, str] | None) -> Check:
    """Access to the gated models that are not in the cache.

    Args:
        absent: their slugs.
        token: a token of the hub is there.
        refused: by slug what the hub says; None: it was not asked.
    """
    name = "gated models"
    if not absent:
        return Check(name, "all that are measured are in the cache")
    named = ", ".join(absent)
    if not token:
        fix = "accept their licences, then `hf auth login` or HF_TOKEN; or a `skip` in models.yaml"
        return Check(name, f"no token for {named}", fix, (FULL,))
    if refused is None:
        fix = "ask again where the hub can be reached"
        return Check(name, f"a token; access to {named} is not known", fix)
    if refused:
        said = "; ".join(refused.values())
        fix = f"accept the licences, or give {', '.join(refused)} a `skip` in models.yaml"
        return Check(name, said, fix, (FULL,))
    return Check(name, f"access to {named}")
