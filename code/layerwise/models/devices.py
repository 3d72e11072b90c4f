"""Where a model is computed: the devices that there are, and the memory that is free on them."""

import gc
import os

import psutil
import torch

from layerwise.errors import LayerwiseError
from layerwise.files import from_environment, n_processes
from layerwise.models.kernels import require_exact


def default_device() -> str:
    """Return this process's own CUDA device if there is one, else `cpu`."""
    if not torch.cuda.is_available():
        return "cpu"
    return f"cuda:{from_environment('LOCAL_RANK', 0, 2**16) or 0}"


def choose_device(wanted: str | None) -> str:
    """Return the device that is asked for, once it is there; None asks for the default one.

    Raises:
        LayerwiseError: for `auto` under a launcher, or as for `require_accelerator`.
    """
    device = wanted or default_device()
    if device == "auto" and n_processes() > 1:
        raise LayerwiseError(
            "device 'auto' spreads one model over all GPUs and needs one process, found "
            f"{os.environ['WORLD_SIZE']}; start it without a launcher"
        )
    if device.startswith("cuda"):
        require_accelerator(device)
        device = default_device() if device == "cuda" else device  # every process has its own
    return device


def require_accelerator(device: str | None = None) -> None:
    """Refuse early a device that is not there; None is that of the papers' models, cuda."""
    wants_cuda = device is None or device == "auto" or device.startswith("cuda")
    if wants_cuda and not torch.cuda.is_available():
        raise LayerwiseError(
            "cuda and auto need a CUDA device and none was found; take cpu, or a machine with a GPU"
        )
    if wants_cuda:
        require_exact("cuda")


def free_bytes(device: str | torch.device) -> int:
    """Return the free memory of a device by its driver; of `auto`, of all GPUs and the machine."""
    gc.collect()  # what a model left behind, and torch keeps for later, is not free to others
    torch.cuda.empty_cache()  # does nothing where no GPU was used
    if str(device).startswith("cuda"):
        return int(torch.cuda.mem_get_info(device)[0])
    gpus = range(torch.cuda.device_count()) if device == "auto" else ()
    on_gpus = sum(int(torch.cuda.mem_get_info(gpu)[0]) for gpu in gpus)
    return on_gpus + int(psutil.virtual_memory().available)
