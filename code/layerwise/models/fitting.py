"""A batch that does not fit into memory: fewer of its texts go through the model at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import torch

from layerwise.errors import LayerwiseError
from layerwise.models.batches import Batch
from layerwise.models.devices import free_bytes
from layerwise.models.load import Checkpoint
from layerwise.models.needs import spell_bytes
from layerwise.progress import say

T = TypeVar("T")
_SAID_BY_TORCH = (
    "can't allocate memory",  # a CPU
    "not enough memory",
    "CUDA error: out of memory",
    "ALLOC_FAILED",  # cuBLAS, cuDNN
)


@dataclass
class Room:
    """Tokens that went through the model at a time since memory last ran out."""

    tokens: int | None = None  # None: it never did

    def texts(self, batch: Batch) -> int:
        """Return how many texts of a batch to take at a time."""
        whole = len(batch.members)
        return whole if self.tokens is None else min(whole, max(1, self.tokens // batch.length))


def run_in_parts(
    checkpoint: Checkpoint, batch: Batch, room: Room, run: Callable[[Batch], T]
) -> tuple[int, list[T]]:
    """Run a batch whole, or in parts that fit: how many texts at a time, and what each part gave.

    When memory runs out the number is halved and the whole batch starts anew, so that all its
    texts go through the model in parts of one size. Later batches keep to what fitted.

    Raises:
        LayerwiseError: if one text alone does not fit: what it needs and what is there.
    """
    while True:
        size = room.texts(batch)
        results = _if_it_fits(batch, size, run)
        if results is not None:
            return size, results
        device = checkpoint.model.device
        if device.type == "cuda":
            torch.cuda.empty_cache()
        if size == 1:
            raise LayerwiseError(
                f"out of memory: one of the {batch.kind} of {batch.length} tokens does not fit "
                f"beside the weights, {spell_bytes(free_bytes(device))} are free on {device}; use "
                "a 16-bit dtype, device 'auto', a shorter text, or a larger machine"
            )
        fewer = (size + 1) // 2
        room.tokens = fewer * batch.length
        say(
            f"out of memory with {size} {batch.kind} of {batch.length} tokens at a time: going "
            f"on with {fewer}; the index records which batches were made smaller"
        )


def _if_it_fits(batch: Batch, size: int, run: Callable[[Batch], T]) -> list[T] | None:
    """Run the parts; on the way out of here the tensors of a failed one are let go."""
    try:
        return [run(part) for part in batch.parts(size)]
    except (MemoryError, RuntimeError) as error:  # torch's own is a RuntimeError
        if not is_out_of_memory(error):
            raise
        return None


def is_out_of_memory(error: Exception) -> bool:
    """Return whether an error is one of torch's for memory that ran out."""
    known = isinstance(error, torch.OutOfMemoryError | MemoryError)
    return known or any(said in str(error) for said in _SAID_BY_TORCH)
