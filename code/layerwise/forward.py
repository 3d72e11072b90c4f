"""The forward pass, watched: every layer as it is computed, its pooling and the token NLL."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from jaxtyping import Float, Float32, Int64

from layerwise.store import BEFORE_NORM, Layer
from layerwise.weights import Checkpoint

HEAD_ROWS = 256  # predicted tokens whose logits exist at once: memory, and cache on a CPU
See = Callable[[Layer, torch.Tensor], None]


def forward(
    checkpoint: Checkpoint, tokens: Int64[torch.Tensor, "batch token"], see: See
) -> Float[torch.Tensor, "batch token hidden"]:
    """One pass through the base model; `see(layer, hidden)` gets every layer as it is computed.

    Layer 0 is what enters block 0, layer l the output of block l-1, `before_norm` the output of
    the last block; the last hidden state, after the final norm, comes as layer n and is returned.
    """
    with _watch(checkpoint, see):
        hidden = checkpoint.base(
            input_ids=tokens, attention_mask=torch.ones_like(tokens), use_cache=False
        ).last_hidden_state
    see(checkpoint.n_layers, hidden)
    return hidden


@contextlib.contextmanager
def _watch(checkpoint: Checkpoint, see: See) -> Iterator[None]:
    blocks = checkpoint.blocks

    def enter(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        see(0, args[0] if args else kwargs["hidden_states"])

    def leave(layer: Layer) -> Callable[[Any, Any, Any], None]:
        return lambda module, args, out: see(layer, out if torch.is_tensor(out) else out[0])

    layers: list[Layer] = [*range(1, len(blocks)), BEFORE_NORM]
    handles = [blocks[0].register_forward_pre_hook(enter, with_kwargs=True)]
    for block, layer in zip(blocks, layers, strict=True):
        handles.append(block.register_forward_hook(leave(layer)))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def pool(
    hidden: Float[torch.Tensor, "batch token hidden"],
) -> Float[torch.Tensor, "pooling batch hidden"]:
    """The poolings of `store.POOLINGS`, in the dtype of the model; at least two tokens."""
    return torch.stack((hidden[:, 1:].mean(dim=1), hidden.mean(dim=1), hidden[:, -1], hidden[:, 0]))


def token_norms(
    hidden: Float[torch.Tensor, "batch token hidden"],
) -> Float32[torch.Tensor, "norm batch"]:
    """The norms of `store.NORMS`, computed in float32."""
    norms = hidden.float().norm(dim=-1)
    return torch.stack((norms[:, -1], norms.mean(dim=1), norms.norm(dim=1)))


def mean_token_nll(
    checkpoint: Checkpoint,
    hidden: Float[torch.Tensor, "batch token hidden"],
    tokens: Int64[torch.Tensor, "batch token"],
) -> Float32[torch.Tensor, " batch"]:
    """Mean NLL of tokens 1..T-1 of every statement, nats: the model's own loss, one by one."""
    rows = max(1, HEAD_ROWS // (tokens.shape[1] - 1))
    cap = getattr(checkpoint.model.config, "final_logit_softcapping", None)  # Gemma 2
    nll = []
    for some, wanted in zip(hidden[:, :-1].split(rows), tokens[:, 1:].split(rows), strict=True):
        logits = checkpoint.head(some)
        if cap is not None:
            logits = torch.tanh(logits / cap) * cap
        for one, ids in zip(logits, wanted.to(logits.device), strict=True):
            nll.append(torch.nn.functional.cross_entropy(one.float(), ids))
    return torch.stack(nll)
