"""Linear layers on a CPU in float32 with weights packed once for oneDNN.

`F.linear` reorders the weight matrix in every call; for batches of short statements that costs
up to a third of the forward pass. The packed operator is private to torch, so `plain` stays the
named default wherever it is missing, and the index of every extraction records the choice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Literal

import torch
from jaxtyping import Float
from transformers.pytorch_utils import Conv1D

from layerwise.errors import LayerwiseError

Linears = Literal["packed", "plain"]
MAX_PACKED_BYTES = 4 * 2**30  # packing doubles the memory of the weights
ROWS_STEP = 32  # oneDNN keeps code for every number of rows it has seen: let it see few
ROWS_HINT = 2048  # tokens per batch the layout is chosen for; any other number works too


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
    try:
        for module in model.modules():
            if isinstance(module, torch.nn.Linear | Conv1D):
                module.forward = _packed_forward(module)  # type: ignore[method-assign]
                replaced.append(module)
        yield
    finally:
        for module in replaced:
            del module.forward  # the class's own forward shows again


def _packed_forward(
    module: torch.nn.Linear | Conv1D,
) -> Callable[[Float[torch.Tensor, "*rows inputs"]], Float[torch.Tensor, "*rows outputs"]]:
    weight = module.weight.detach()
    if isinstance(module, Conv1D):  # GPT-2 stores inputs x outputs
        weight = weight.t().contiguous()
    packed = torch.ops.mkldnn._reorder_linear_weight(weight, ROWS_HINT)
    bias = None if module.bias is None else module.bias.detach()

    def forward(
        states: Float[torch.Tensor, "*rows inputs"],
    ) -> Float[torch.Tensor, "*rows outputs"]:
        rows = states.reshape(-1, states.shape[-1])
        padding = -len(rows) % ROWS_STEP
        if padding:
            rows = torch.nn.functional.pad(rows, (0, 0, 0, padding))
        out = torch.ops.mkldnn._linear_pointwise(rows, packed, bias, "none", [], "")
        return out[: len(rows) - padding].reshape(*states.shape[:-1], -1)

    return forward


def _has_operator() -> bool:
    return hasattr(torch.ops.mkldnn, "_linear_pointwise") and hasattr(
        torch.ops.mkldnn, "_reorder_linear_weight"
    )
