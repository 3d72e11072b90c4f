"""The forward pass, watched: every layer as it is computed, its pooling and the token NLL."""

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import torch
from jaxtyping import Float, Float32, Int64

from layerwise.errors import LayerwiseError
from layerwise.models.load import Checkpoint
from layerwise.models.store import BEFORE_NORM, Layer

HEAD_ROWS = 256  # predicted tokens whose logits exist at once
_WIDER = {"float16": "bfloat16 or float32", "bfloat16": "float32"}
See = Callable[[Layer, torch.Tensor], None]


def forward(
    checkpoint: Checkpoint, tokens: Int64[torch.Tensor, "batch token"], see: See
) -> Float[torch.Tensor, "batch token hidden"]:
    """Run the base model once; `see(layer, hidden)` gets every layer as it is computed.

    Layer 0 is what enters block 0, layer l the output of block l-1, `before_norm` the output of
    the last block; the last hidden state, after the final norm, comes as layer n and is returned.
    """
    first, *_ = blocks = checkpoint.blocks
    layers: list[Layer] = [*range(1, len(blocks)), BEFORE_NORM]
    handles = [on_input(first, partial(see, 0))]
    for block, layer in zip(blocks, layers, strict=True):
        handles.append(on_output(block, partial(see, layer)))
    with removing(handles):
        hidden = checkpoint.last_hidden(tokens)
    see(checkpoint.n_layers, hidden)
    return hidden


def on_input(module: torch.nn.Module, see: Callable[[torch.Tensor], None]) -> Any:
    """Show every hidden state that enters a module; the handle takes the hook off."""
    return module.register_forward_pre_hook(
        lambda _, args, kwargs: see(args[0] if args else kwargs["hidden_states"]), with_kwargs=True
    )


def on_output(module: torch.nn.Module, see: Callable[[torch.Tensor], None]) -> Any:
    """Show every hidden state that leaves a module; the handle takes the hook off."""
    return module.register_forward_hook(
        lambda _, args, out: see(out if torch.is_tensor(out) else out[0])
    )


@contextlib.contextmanager
def removing(handles: Iterable[Any]) -> Iterator[None]:
    """After the block, whatever happens in it, these hooks are gone."""
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def pool(
    hidden: Float[torch.Tensor, "batch token hidden"],
) -> Float[torch.Tensor, "batch pooling hidden"]:
    """Return the poolings of `store.POOLINGS`, in the dtype of the model; at least two tokens."""
    pooled = (hidden[:, 1:].mean(dim=1), hidden.mean(dim=1), hidden[:, -1], hidden[:, 0])
    return torch.stack(pooled, dim=1)


def require_sound(checkpoint: Checkpoint, what: str, size: float, text: str, dtype: str) -> None:
    """Refuse states of a text in a dtype whose size is not finite, or zero.

    Args:
        size: of the states: a norm, a largest magnitude.
        text: what the error calls the text.

    Raises:
        LayerwiseError: saying what and where, with the dtype to try.
    """
    if math.isfinite(size) and size != 0:
        return
    is_zero = size == 0
    advice = [] if is_zero or dtype not in _WIDER else [f"try dtype {_WIDER[dtype]}"]
    if len(set(getattr(checkpoint.model, "hf_device_map", {}).values())) > 1:
        advice.append("the model is spread over several devices, try one instead of device 'auto'")
    raise LayerwiseError(
        f"{checkpoint.name}: {what} are {'all zero' if is_zero else 'not finite'} for {text} in "
        f"{dtype}; {'; '.join(advice) or 'check the weights'}"
    )


def mean_token_nll(
    checkpoint: Checkpoint,
    hidden: Float[torch.Tensor, "batch token hidden"],
    tokens: Int64[torch.Tensor, "batch token"],
) -> Float32[torch.Tensor, " batch"]:
    """Return the mean NLL of tokens 1..T-1 of every statement, in nats: the model's own loss."""
    n_texts = max(1, HEAD_ROWS // (tokens.shape[1] - 1))
    portions = zip(hidden[:, :-1].split(n_texts), tokens[:, 1:].split(n_texts), strict=True)
    nlls = []
    for states, wanted in portions:
        logits = checkpoint.logits(states)
        for predicted, ids in zip(logits, wanted.to(logits.device), strict=True):
            nlls.append(torch.nn.functional.cross_entropy(predicted.float(), ids))
    return torch.stack(nlls)
