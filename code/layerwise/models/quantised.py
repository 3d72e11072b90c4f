"""Weights in fewer bits than a pass computes in, of a loaded model.

Such a model is measured as it runs, by its own modules. What one of them rounds may depend on all
that goes through it together, so that each text runs alone; and its matrices have no spectral norm.
"""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import torch

PACKED = "packed weights"
_PARTS = "__tensor_flatten__"  # of the class of a tensor: gives the names of those inside


def how_quantised(model: Any) -> str:
    """Return what quantised the weights of a loaded model; empty where they are plain numbers."""
    config = getattr(model.config, "quantization_config", None)
    if config is not None:
        document = config if isinstance(config, Mapping) else config.to_dict()
        method = document.get("quant_method", PACKED)
        return str(getattr(method, "value", method))
    return PACKED if any(map(is_packed, model.parameters())) else ""


def is_packed(weight: torch.Tensor) -> bool:
    """Return whether a parameter holds no plain numbers of 16 bits or more."""
    is_plain = type(weight) in (torch.Tensor, torch.nn.Parameter)
    return not is_plain or not weight.is_floating_point() or weight.element_size() < 2


def saved_state(model: Any) -> Iterator[tuple[str, object]]:
    """Yield what a loaded model would save, by name, and leave the model as it is.

    Saving spoils packed weights of bitsandbytes that a CPU has computed with (0.50: every pass is
    another one from then on), so a copy of the module is readable, one at a time. Tensors that say
    what they consist of are read as they are.
    """
    if not how_quantised(model):
        yield from model.state_dict().items()
        return
    for name, module in model.named_modules():
        may_spoil = any(
            is_packed(weight) and not hasattr(weight, _PARTS)
            for weight in module.parameters(recurse=False)
        )
        state: dict[str, object] = {}
        readable = copy.deepcopy(module) if may_spoil else module
        readable._save_to_state_dict(state, f"{name}." if name else "", keep_vars=False)
        yield from state.items()


def plain_parts(weight: torch.Tensor) -> Iterator[torch.Tensor]:
    """Yield the plain tensors that a tensor consists of: itself, but for a packed one."""
    if not hasattr(weight, _PARTS):
        yield weight
        return
    names, _ = getattr(weight, _PARTS)()
    for name in names:
        yield from plain_parts(getattr(weight, name))
