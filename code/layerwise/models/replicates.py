"""A model whose passes carry one draw of rounding noise: what it is measured with, once more."""

import contextlib
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import safetensors
import torch

from layerwise.models.checkpoint_folder import weight_files
from layerwise.models.forward import taken_off
from layerwise.models.load import Checkpoint
from layerwise.models.rounding import Rounding, moved, rounds

# dtypes of files that a 16-bit dtype holds without rounding (but for the very small)
_HELD = {"float16": ("F16", "BF16"), "bfloat16": ("BF16",)}


@contextlib.contextmanager
def disturbed(checkpoint: Checkpoint, seed: int) -> Iterator[Checkpoint]:
    """Inside the block the model's passes carry one draw of rounding noise.

    The draw depends on the seed and on the tokens of a pass, not on what was run before: a run
    that was killed goes on with the same. Afterwards hooks are gone and weights are as they were.
    """
    noise, model = Rounding(seed), checkpoint.model
    handles = [model.base_model.register_forward_pre_hook(noise.begin, with_kwargs=True)]
    handles += [module.register_forward_hook(noise.after) for module in _rounding(checkpoint)]
    with contextlib.ExitStack() as stack:
        if _stored_wider(checkpoint):
            stack.enter_context(_disturbed_weights(model, seed))
        stack.enter_context(taken_off(handles))
        yield replace(checkpoint, rounding=noise)


def _rounding(checkpoint: Checkpoint) -> list[Any]:
    """The modules whose output is a rounded sum or product: all without parts, and the blocks."""
    simple = [
        module
        for module in checkpoint.model.modules()
        if not any(True for _ in module.children())
        and not isinstance(module, torch.nn.Embedding | torch.nn.Dropout | torch.nn.Identity)
    ]
    return [*simple, *checkpoint.blocks]


def _stored_wider(checkpoint: Checkpoint) -> bool:
    """Whether loading rounded the weights; of a model that no file holds nobody knows."""
    if checkpoint.folder is None:
        return False
    held = _HELD[checkpoint.dtype]
    for file in weight_files(checkpoint.folder):
        with safetensors.safe_open(file, framework="pt") as handle:
            if any(handle.get_slice(key).get_dtype() not in held for key in handle.keys()):  # noqa: SIM118
                return True
    return False


@contextlib.contextmanager
def _disturbed_weights(model: Any, seed: int) -> Iterator[None]:
    """Inside the block every weight is moved by its rounding; a copy waits on the host."""
    kept = []
    with torch.no_grad():
        for number, weight in enumerate(model.parameters()):
            if not rounds(str(weight.dtype).removeprefix("torch.")):
                continue
            kept.append((weight, weight.detach().cpu().clone()))
            generator = torch.Generator(weight.device).manual_seed(
                zlib.crc32(f"weight {number} {seed}".encode())
            )
            drawn = torch.rand(
                weight.shape, generator=generator, device=weight.device, dtype=torch.float32
            )
            weight.copy_(moved(weight, drawn))
    try:
        yield
    finally:
        with torch.no_grad():
            for weight, before in kept:
                weight.copy_(before)
