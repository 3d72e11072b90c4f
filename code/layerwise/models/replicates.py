"""A model whose passes carry one draw of rounding noise: what it is measured with, once more."""

import contextlib
import zlib
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import safetensors
import torch

from layerwise.errors import LayerwiseError
from layerwise.models.checkpoint_folder import weight_files
from layerwise.models.devices import free_bytes
from layerwise.models.forward import removing
from layerwise.models.load import Checkpoint
from layerwise.models.needs import pinned_bytes, spell_bytes
from layerwise.models.rounding import Rounding, move_by_rounding, rounds

# dtypes of files that a 16-bit dtype holds without rounding (but for the very small)
_HELD = {"float16": ("F16", "BF16"), "bfloat16": ("BF16",)}
# Weights that are moved at once: 20 bytes each for the draw, masks and steps, or 84 MB, less than
# the logits of a pass (`needs`), which are not there at that time.
_AT_ONCE = 2**22


class Replicates:
    """A model in 16 bits, and its weights as they were loaded, for any number of replicates.

    The weights are copied to the host once, if a replicate moves them at all.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint

    @contextlib.contextmanager
    def disturbed(self, seed: int) -> Iterator[Checkpoint]:
        """Inside the block the model's passes carry one draw of rounding noise.

        The draw depends on the seed and on the tokens of a pass, not on what was run before: a run
        that was killed goes on with the same. Afterwards, and when memory runs out on the way,
        hooks are gone and weights are as they were.
        """
        noise, model = Rounding(seed), self.checkpoint.model
        # before a caller's hook that puts embeddings in place of the tokens
        begin = model.base_model.register_forward_pre_hook
        handles = [begin(noise.begin, with_kwargs=True, prepend=True)]
        handles += _scale_hooks(model, seed)  # their product is rounded by the next
        for module in _rounding_modules(self.checkpoint):
            handles.append(module.register_forward_hook(noise.after))
        with contextlib.ExitStack() as stack:
            stack.enter_context(removing(handles))
            if self._originals:
                stack.callback(self._restore)
                self._move_weights(seed)
            yield replace(self.checkpoint, rounding=noise)

    @cached_property
    def _originals(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """The weights that loading rounded, each with its copy on the host; there may be none."""
        if not _stored_wider(self.checkpoint):
            return []
        weights = [
            weight
            for weight in self.checkpoint.model.parameters()
            if rounds(str(weight.dtype).removeprefix("torch."))
        ]
        n_bytes = pinned_bytes(weight.nbytes for weight in weights if weight.is_cuda)
        n_bytes += sum(int(weight.nbytes) for weight in weights if not weight.is_cuda)
        if n_bytes > (available := free_bytes("cpu")):
            raise LayerwiseError(
                f"a copy of the weights of {self.checkpoint.name}, which replicates move, needs "
                f"{spell_bytes(n_bytes)} on the host, {spell_bytes(available)} are there; take 0 "
                "replicates, or a larger machine"
            )
        return [(weight, _copy_to_host(weight)) for weight in weights]

    @torch.no_grad()
    def _move_weights(self, seed: int) -> None:
        """Move every weight by its rounding, in place, a bounded number of them at once."""
        for number, (weight, _) in enumerate(self._originals):
            generator = torch.Generator(weight.device).manual_seed(
                zlib.crc32(f"weight {number} {seed}".encode())
            )
            for part in weight.detach().view(-1).split(_AT_ONCE):
                drawn = torch.rand(
                    part.shape, generator=generator, device=part.device, dtype=torch.float32
                )
                part.copy_(move_by_rounding(part, drawn))

    @torch.no_grad()
    def _restore(self) -> None:
        for weight, original in self._originals:
            weight.copy_(original)


def _copy_to_host(weight: torch.Tensor) -> torch.Tensor:
    """Copy a weight into memory that a GPU reads directly, or that of the CPU."""
    pinned = weight.is_cuda
    host = torch.empty(weight.shape, dtype=weight.dtype, device="cpu", pin_memory=pinned)
    return host.copy_(weight.detach())


def _rounding_modules(checkpoint: Checkpoint) -> list[Any]:
    """Return the modules that round a sum or product: all without parts, and the blocks.

    A plain embedding only looks rows up; Gemma's multiplies them, which rounds.
    """
    simple = [
        module
        for module in checkpoint.model.modules()
        if not any(True for _ in module.children())
        and type(module) is not torch.nn.Embedding
        and not isinstance(module, torch.nn.Dropout | torch.nn.Identity)
    ]
    return [*simple, *checkpoint.blocks]


def _scale_hooks(model: Any, seed: int) -> list[Any]:
    """Return hooks that move the factor of scaled embeddings by its rounding, alike in all passes.

    In bfloat16 Gemma's sqrt(640) = 25.298 is 25.25: every embedding is off by the same share, which
    noise that is drawn number by number averages away.
    """
    handles = []
    for number, module in enumerate(model.modules()):
        exact = getattr(module, "scalar_embed_scale", None)
        if exact is None or not rounds(str(module.weight.dtype).removeprefix("torch.")):
            continue
        held = torch.tensor(exact, dtype=module.weight.dtype, device="cpu")
        if float(held) == exact:
            continue
        step = float((held.view(torch.int16) + 1).view(held.dtype)) - float(held)
        generator = torch.Generator().manual_seed(zlib.crc32(f"scale {number} {seed}".encode()))
        drawn = torch.rand((), generator=generator, device="cpu")
        moved_scale = float(held) + step * (float(drawn) - 0.5)

        # from the rows themselves: what the module gave is rounded, and a small factor is lost
        def scale(
            module: Any, args: Any, out: torch.Tensor, moved_scale: float = moved_scale
        ) -> Any:
            rows = torch.nn.functional.embedding(args[0], module.weight)
            return (rows.float() * moved_scale).to(out.dtype)

        # before the hooks of a caller, whose changes stay
        handles.append(module.register_forward_hook(scale, prepend=True))
    return handles


def _stored_wider(checkpoint: Checkpoint) -> bool:
    """Return whether loading rounded the weights; of a model that no file holds nobody knows."""
    if checkpoint.files is None:
        return False
    held = _HELD[checkpoint.dtype]
    for file in weight_files(checkpoint.files.folder):
        with safetensors.safe_open(file, framework="pt") as handle:
            if any(handle.get_slice(key).get_dtype() not in held for key in handle.keys()):  # noqa: SIM118
                return True
    return False
