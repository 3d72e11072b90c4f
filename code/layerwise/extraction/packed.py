"""Linear layers on a CPU in float32 with weights packed once for oneDNN.

`F.linear` reorders the weight matrix in every call; for batches of short statements that costs
up to a third of the forward pass. The output embeddings are packed in tiles of the vocabulary, so
that a loss needs no tensor of all logits. Every linear layer of every family is reached:
`nn.Linear` and GPT-2's `Conv1D`. The packed operator is private to torch, so `plain` stays the
named default wherever it is missing, and the index of every extraction records the choice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Literal

import torch
from jaxtyping import Float
from transformers.pytorch_utils import Conv1D

from layerwise.errors import LayerwiseError

Linears = Literal["packed", "plain"]
MAX_PACKED_BYTES = 4 * 2**30  # packing doubles the memory of the weights
ROWS_STEP = 32  # oneDNN keeps code for every number of rows it has seen: let it see few
ROWS_HINT = 2048  # tokens per batch the layout is chosen for; any other number works too
TILE_WORDS = 2048  # rows of the output embeddings multiplied at once: their logits stay in cache
Rows = Float[torch.Tensor, "*rows inputs"]
Multiply = Callable[[Rows], Float[torch.Tensor, "*rows outputs"]]


def choose_linears(model: torch.nn.Module, wanted: Linears | None = None) -> Linears:
    """`wanted`, or `packed` where it works: CPU, float32, at most 4 GiB of weights.

    The rule looks at no clock and no free memory, so a machine always chooses alike.

    Raises:
        LayerwiseError: if `packed` is wanted where it does not work.
    """
    weights = list(model.parameters())
    on_cpu = all(weight.device.type == "cpu" for weight in weights)
    in_float32 = all(weight.dtype == torch.float32 for weight in weights)
    possible = on_cpu and in_float32 and torch.backends.mkldnn.is_available() and _has_operator()
    if wanted == "packed" and not possible:
        raise LayerwiseError(
            "packed linear layers need float32 weights on a CPU and a torch built with oneDNN; "
            f"found {weights[0].dtype} on {weights[0].device}; use linears='plain'"
        )
    if wanted is not None:
        return wanted
    size = sum(weight.numel() * weight.element_size() for weight in weights)
    return "packed" if possible and size <= MAX_PACKED_BYTES else "plain"


@contextlib.contextmanager
def packed_linears(model: torch.nn.Module, linears: Linears) -> Iterator[None]:
    """Inside the block, every linear layer of `model` multiplies with its packed weights."""
    if linears == "plain":
        yield
        return
    replaced: list[torch.nn.Module] = []
    find_head: Any = getattr(model, "get_output_embeddings", lambda: None)
    head = find_head()
    try:
        for module in model.modules():
            if not isinstance(module, torch.nn.Linear | Conv1D):
                continue
            replaced.append(module)
            if module is head:
                tiles = _pack_tiles(module)
                vars(module).update(packed_tiles=tiles, forward=_joined(tiles))
                continue
            weight = module.weight.detach()
            if isinstance(module, Conv1D):  # GPT-2 stores inputs x outputs
                weight = weight.t().contiguous()
            vars(module).update(forward=_pack(weight, module.bias))
        yield
    finally:
        for module in replaced:
            vars(module).pop("forward", None)  # the class's own forward shows again
            vars(module).pop("packed_tiles", None)


def packed_tiles(head: torch.nn.Module) -> tuple[Multiply, ...] | None:
    """The output embeddings cut along the vocabulary, in order; None where they are not packed.

    Every tile gives the logits of at most `TILE_WORDS` words.
    """
    return vars(head).get("packed_tiles")


def pad_rows(rows: Float[torch.Tensor, "row width"]) -> Float[torch.Tensor, "padded width"]:
    """Rows of zeros behind, up to a multiple of `ROWS_STEP`; no copy where none is missing."""
    missing = -len(rows) % ROWS_STEP
    return torch.nn.functional.pad(rows, (0, 0, 0, missing)) if missing else rows


def _pack_tiles(head: torch.nn.Linear) -> tuple[Multiply, ...]:
    weights = head.weight.detach().split(TILE_WORDS)
    biases = [None] * len(weights) if head.bias is None else head.bias.split(TILE_WORDS)
    return tuple(_pack(weight, bias) for weight, bias in zip(weights, biases, strict=True))


def _joined(tiles: tuple[Multiply, ...]) -> Multiply:
    return lambda states: torch.cat([tile(states) for tile in tiles], dim=-1)


def _pack(weight: Float[torch.Tensor, "outputs inputs"], bias: torch.Tensor | None) -> Multiply:
    packed = torch.ops.mkldnn._reorder_linear_weight(weight, ROWS_HINT)
    bias = None if bias is None else bias.detach()

    def forward(states: Rows) -> Float[torch.Tensor, "*rows outputs"]:
        rows = states.reshape(-1, states.shape[-1])
        out = torch.ops.mkldnn._linear_pointwise(pad_rows(rows), packed, bias, "none", [], "")
        return out[: len(rows)].reshape(*states.shape[:-1], -1)

    return forward


def _has_operator() -> bool:
    return hasattr(torch.ops.mkldnn, "_linear_pointwise") and hasattr(
        torch.ops.mkldnn, "_reorder_linear_weight"
    )
