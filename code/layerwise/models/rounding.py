"""Noise of the size of rounding, put where a 16-bit pass rounds: what that does to a number.

A pass in 16 bits rounds what every module gives, what every block adds up, what is pooled, and the
weights where the file holds them wider. A rounding error is uniform over the distance to the
neighbouring numbers, so its variance is a twelfth of that distance squared. In a replicate each of
these numbers moves to one of its two neighbours with probability 1/12: the same variance, in the
same arithmetic. It is a stochastic arithmetic in the manner of Sohier et al. (2021), with the model
as a black box. The spread of a statistic over replicates is how far another kernel, batch or GPU
may move it.
"""

import zlib
from typing import Any

import torch

_ROUNDED = {"float16": torch.float16, "bfloat16": torch.bfloat16}
MOVED = 1 / 12  # variance of a rounding error, in squared steps between neighbours


def rounds(dtype: str) -> bool:
    """Return whether what is measured in a dtype carries noise that has to be measured."""
    return dtype in _ROUNDED


class Rounding:
    """The noise of one replicate: drawn for every pass, from the seed and the pass's tokens."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.generators: dict[torch.device, torch.Generator] = {}
        self.of_pass = seed

    def begin(self, _module: Any, args: Any, kwargs: Any) -> None:
        """Begin the noise of a pass: a hook before the base model's forward."""
        tokens = kwargs.get("input_ids", args[0] if args else None)
        assert tokens is not None
        self.of_pass = zlib.crc32(f"{self.seed} {tokens.tolist()}".encode())
        self.generators.clear()

    def __call__(self, states: torch.Tensor) -> torch.Tensor:
        """Return the states, each number moved by its own rounding; float32 stays."""
        if states.dtype not in _ROUNDED.values():
            return states
        device = states.device
        if device not in self.generators:
            self.generators[device] = torch.Generator(device).manual_seed(self.of_pass)
        generator = self.generators[device]
        drawn = torch.rand(states.shape, generator=generator, device=device, dtype=torch.float32)
        return move_by_rounding(states, drawn)

    def after(self, _module: Any, _args: Any, out: Any) -> Any:
        """Return a module's output, or every part of it, with noise: a forward hook."""
        if isinstance(out, tuple):
            return tuple(self(part) if torch.is_tensor(part) else part for part in out)
        return self(out) if torch.is_tensor(out) else out


def move_by_rounding(numbers: torch.Tensor, drawn: torch.Tensor) -> torch.Tensor:
    """Return each number, or a neighbour with probability 1/12; `drawn` is uniform in [0, 1).

    Half of these steps go away from zero and half towards it. Zero stays (a sum that is exact), as
    does what has no finite neighbour.
    """
    away, towards = drawn < MOVED / 2, drawn >= 1 - MOVED / 2
    steps = away.to(torch.int16) - towards.to(torch.int16)
    neighbours = (numbers.view(torch.int16) + steps).view(numbers.dtype)
    movable = (numbers != 0) & torch.isfinite(numbers) & torch.isfinite(neighbours)
    return torch.where(movable, neighbours, numbers)
