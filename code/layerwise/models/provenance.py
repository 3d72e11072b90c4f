"""What a measurement rests on: model, device, kernels, versions, and the commit of this code."""

import contextlib
import functools
import re
import subprocess
from pathlib import Path
from typing import Any

import torch
import transformers

from layerwise.errors import LayerwiseError
from layerwise.files import read_json
from layerwise.home import find_home
from layerwise.models.kernels import settings
from layerwise.models.load import Checkpoint
from layerwise.models.registry import RANDOM
from layerwise.models.store import Setup, Versions

KERNEL_MODULE = Path("/proc/driver/nvidia/version")


def describe(checkpoint: Checkpoint) -> Setup:
    """Return what is recorded beside every number that is measured on a checkpoint.

    `attention` names the kernel of hidden states, of traces, and of traces with attention maps.
    What batches the hidden states came in stands in the index of their extraction.
    """
    model, passes = checkpoint.model, checkpoint.passes
    description: Setup = {
        "model": checkpoint.name,
        "revision": checkpoint.revision,
        "tokenizer_sha256": checkpoint.tokenizer_sha256,
        "dtype": checkpoint.dtype,
        "device": device_name(model),
        "attention": {
            "states": None if passes is None else passes.kernel,
            "traces": checkpoint.kernel,
            "maps": "eager",
        },
        "passes": None if passes is None else passes.record,
        "arithmetic": settings(model.device),
        "driver": driver() if "cuda" in {device.type for device in devices(model)} else None,
        **versions(),
    }
    if own_code := checkpoint.declaration.own_code:  # none of it was run
        description["own_code"] = list(own_code)
    if checkpoint.quantised:
        description["quantised"] = checkpoint.quantised
    if checkpoint.has_random_weights:
        description[RANDOM] = True
    return description


def device_name(model: torch.nn.Module) -> str:
    """Return the devices that hold a model by name; of a CPU the instructions that torch uses."""
    cpu = f"cpu ({torch.backends.cpu.get_cpu_capability()})"
    names = (
        torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
        for device in devices(model)
    )  # `meta`: what does not fit is kept elsewhere
    return " and ".join(dict.fromkeys(cpu if name == "cpu" else name for name in names))


def devices(model: torch.nn.Module) -> list[torch.device]:
    """The devices that hold a model's weights."""
    return list(dict.fromkeys(weight.device for weight in model.parameters()))


def driver() -> str:
    """Return the version of the GPUs' driver; empty without one.

    nvidia-smi, which may take long on a node of many GPUs, is asked only where the kernel's own
    file is missing: a run that was killed must find the same driver again to go on.
    """
    with contextlib.suppress(OSError):
        if version := re.search(r"Kernel Module.*?\s(\d+\.[\d.]+)", KERNEL_MODULE.read_text()):
            return version[1]
    return smi()[0]


@functools.cache
def smi() -> tuple[str, tuple[str, ...]]:
    """Return the driver, and name and memory of every GPU; empty without nvidia-smi.

    It is asked once: on a node of several GPUs that takes a second.
    """
    query = "--query-gpu=driver_version,name,memory.total"
    command = ["nvidia-smi", query, "--format=csv,noheader"]
    try:
        options: Any = {"capture_output": True, "check": True, "timeout": 20}
        done = subprocess.run(command, **options, encoding="utf-8", errors="replace")
    except (OSError, subprocess.SubprocessError):
        return "", ()
    rows = [line.partition(", ") for line in done.stdout.splitlines() if line]
    return (rows[0][0] if rows else ""), tuple(name for _, _, name in rows)


@functools.cache
def commit_of_code(root: Path | None = None) -> str | None:
    """Return the commit of this repository, ` changed` where its code is not that commit's.

    Of an unpacked archive it is the one that its record names; None: nobody knows, as where the
    package was installed without its repository.
    """
    root = root or find_home()
    git = ["git", "-C", str(root)]
    try:
        if (root / ".git").exists():
            # dvc.lock changes while measuring, and no number with it
            status = [*git, "status", "--porcelain", "--", "code"]
            options: Any = {"capture_output": True, "text": True, "check": True, "timeout": 20}
            commit = subprocess.run([*git, "rev-parse", "HEAD"], **options).stdout.strip()
            return f"{commit} changed" if subprocess.run(status, **options).stdout else commit
        record = read_json(root / "PROVENANCE.json")
        return str(record["commit"]) if record["name"] == "layerwise" else None
    except (OSError, subprocess.SubprocessError, LayerwiseError, LookupError, TypeError):
        return None


def versions() -> Versions:
    """Return the versions that a number can depend on; `cuda` is None for a CPU build of torch."""
    return {
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "transformers": transformers.__version__,
    }


def describe_environment() -> dict[str, object]:
    """Return the kinds of GPU and the versions that numbers can depend on."""
    gpus = {torch.cuda.get_device_name(gpu) for gpu in range(torch.cuda.device_count())}
    return {"gpus": sorted(gpus), **versions()}
