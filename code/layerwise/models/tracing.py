"""One text through one model, everything kept: states, attention maps, inputs and outputs of parts.

The pass and its layers are `forward`'s; hooks add the attention maps (eager attention returns them)
and the inputs and outputs of each block's attention and MLP.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch

from layerwise.errors import LayerwiseError
from layerwise.measures.traces import ModuleStates, Trace
from layerwise.models.families import FAMILIES
from layerwise.models.forward import forward, on_input, on_output, removing, require_sound
from layerwise.models.load import Checkpoint, attention_kernel
from layerwise.models.store import BEFORE_NORM, Layer
from layerwise.models.token_ids import Ids, tokenize

# Rows of a float32 map sum to 1 but for rounding; 16-bit entries are off by up to 2^-8 each.
_ROW_SUM = {"float32": 1e-4, "float16": 1e-2, "bfloat16": 3e-2}


def trace(
    checkpoint: Checkpoint,
    text: str,
    *,
    attention: bool = False,
    modules: bool = False,
    autocast: bool = False,
) -> Trace:
    """Run one text, alone and unpadded, special tokens as the tokenizer adds them.

    Attention maps come from eager attention only, which can overflow in half precision where the
    fused kernel of an unwatched pass does not. The papers' notebooks ran both, one where they asked
    for maps, the other elsewhere, and so does this function. NaN in a map is a finding of Paper 3:
    such maps are returned, and so are the states that follow from them. All other numbers are
    finite.

    Args:
        attention: keep the attention map of every block.
        modules: keep inputs and outputs of every block's attention and MLP.
        autocast: compute under torch's bfloat16 autocast, whatever the model's dtype.

    Raises:
        LayerwiseError: for a text without tokens, states or logits that are not finite or zero,
            or maps that are missing or no softmax.
    """
    (ids,) = tokenize(checkpoint.declaration, "prompts", [text])
    watched = _Watched(checkpoint)
    with _computing(checkpoint, attention=attention, autocast=autocast):
        traced = watched.trace(ids, attention=attention, modules=modules)
    dtype = "bfloat16" if autocast else checkpoint.dtype
    if attention:
        _check_maps(checkpoint, watched.maps, dtype)
    _check_finite(checkpoint, text, dtype, watched.states, traced.logits, watched.maps)
    return traced


@dataclass(frozen=True)
class _Watched:
    """What a watched pass showed: states by layer, attention maps, inputs and outputs of parts."""

    checkpoint: Checkpoint
    states: dict[Layer, np.ndarray] = field(default_factory=dict)
    maps: dict[int, np.ndarray] = field(default_factory=dict)
    parts: dict[int, dict[str, np.ndarray]] = field(default_factory=dict)

    def trace(self, ids: Ids, *, attention: bool, modules: bool) -> Trace:
        """Run the model on the ids of a text, and return all that was seen."""
        model, states = self.checkpoint.model, self.states
        tokens = torch.from_numpy(ids).long()[None].to(model.device)
        handles = self._watch_maps() if attention else []
        handles += self._watch_parts() if modules else []
        with removing(handles):
            passed = forward(self.checkpoint, tokens, self._keep_state)
        # of all tokens at once, as the model does: 16-bit kernels depend on the number of rows
        scored = self.checkpoint.head(passed.hidden) if passed.logits is None else passed.logits
        # rows of the table: Gemma's embedding module multiplies them by sqrt(hidden) by itself
        table = model.get_input_embeddings().weight
        return Trace(
            dtype=self.checkpoint.dtype,
            tokens=ids.astype(np.int64),
            embedding=_array(table[tokens[0].to(table.device)]),
            states=tuple(states[layer] for layer in range(self.checkpoint.n_layers + 1)),
            before_norm=states[BEFORE_NORM],
            logits=_array(scored[0, -1]),
            attention=tuple(self.maps[block] for block in sorted(self.maps)),
            modules=tuple(ModuleStates(**self.parts[block]) for block in sorted(self.parts)),
        )

    def _keep_state(self, layer: Layer, hidden: torch.Tensor) -> None:
        self.states[layer] = _array(hidden[0])

    def _keep_part(self, block: int, name: str, value: torch.Tensor) -> None:
        self.parts.setdefault(block, {})[name] = _array(value.reshape(-1, value.shape[-1]))

    def _keep_map(self, block: int, module: Any, args: Any, out: Any) -> None:
        if isinstance(out, tuple) and len(out) > 1 and out[1] is not None:
            self.maps[block] = _array(out[1][0])

    def _watch_maps(self) -> list[Any]:
        path = FAMILIES[self.checkpoint.family].parts["attention_input"]
        return [
            block.get_submodule(path).register_forward_hook(partial(self._keep_map, number))
            for number, block in enumerate(self.checkpoint.blocks)
        ]

    def _watch_parts(self) -> list[Any]:
        return [
            (on_input if name.endswith("_input") else on_output)(
                block.get_submodule(path), partial(self._keep_part, number, name)
            )
            for number, block in enumerate(self.checkpoint.blocks)
            for name, path in FAMILIES[self.checkpoint.family].parts.items()
        ]


@contextlib.contextmanager
def _computing(checkpoint: Checkpoint, *, attention: bool, autocast: bool) -> Iterator[None]:
    """Inside the block the model computes with the kernel that its numbers need, as published."""
    kernel = "eager" if attention else checkpoint.kernel
    place = checkpoint.model.device.type
    with (
        torch.inference_mode(),
        attention_kernel(checkpoint.model, kernel),
        torch.autocast(place, dtype=torch.bfloat16) if autocast else contextlib.nullcontext(),
    ):
        yield


def _array(tensor: torch.Tensor) -> np.ndarray:
    """Return a copy: some blocks add to a module's output in place after it was seen."""
    copied: np.ndarray = tensor.to("cpu", torch.float32, copy=True).numpy()
    return copied


def _check_maps(checkpoint: Checkpoint, maps: dict[int, np.ndarray], dtype: str) -> None:
    if len(maps) != checkpoint.n_layers:
        raise LayerwiseError(
            f"{checkpoint.name}: every block must return its attention map, {len(maps)} of "
            f"{checkpoint.n_layers} did; the architecture needs eager attention that gives them"
        )
    for block, weights in maps.items():
        sums = weights.sum(axis=-1)
        off = float(np.abs(sums[~np.isnan(sums)] - 1).max(initial=0.0))
        if off > _ROW_SUM[dtype]:
            raise LayerwiseError(
                f"{checkpoint.name}: rows of attention must sum to 1, block {block} is off by "
                f"{off:.3g}; dropout may be on, or what the block returns is no softmax"
            )


def _check_finite(
    checkpoint: Checkpoint,
    text: str,
    dtype: str,
    seen: dict[Layer, np.ndarray],
    logits: np.ndarray,
    maps: dict[int, np.ndarray],
) -> None:
    broken = [block for block, weights in maps.items() if not np.isfinite(weights).all()]
    last = min(broken, default=checkpoint.n_layers)  # layers behind a broken map follow from it
    checked = {
        f"states at layer {layer}": values
        for layer, values in seen.items()
        if not broken or (layer != BEFORE_NORM and layer <= last)
    }
    for place, values in {**checked, **({} if broken else {"logits": logits})}.items():
        require_sound(checkpoint, place, float(np.abs(values).max()), text, dtype)
