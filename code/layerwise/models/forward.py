"""The forward pass, watched: every layer as it is computed, its pooling and the token NLL."""

import contextlib
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from jaxtyping import Float, Float32, Int64

from layerwise.errors import LayerwiseError
from layerwise.models.load import Checkpoint
from layerwise.models.passes import HEAD_ROWS
from layerwise.models.store import BEFORE_NORM, Layer

_WIDER = {"float16": "bfloat16 or float32", "bfloat16": "float32"}
See = Callable[[Layer, torch.Tensor], None]


@dataclass(frozen=True)
class Passed:
    """What a pass gives beside its layers.

    Attributes:
        hidden: the last hidden states, after the final norm.
        logits: those of the whole forward, if that was run.
        reported: transformers' own hidden states, if they were asked for.
    """

    hidden: Float[torch.Tensor, "batch token hidden"]
    logits: Float[torch.Tensor, "batch token word"] | None = None
    reported: tuple[torch.Tensor, ...] | None = None


def forward(
    checkpoint: Checkpoint,
    tokens: Int64[torch.Tensor, "batch token"],
    see: See,
    *,
    reports: bool = False,
) -> Passed:
    """Run a model once, nothing padded; `see(layer, hidden)` gets every layer as it is computed.

    Layer 0 is what enters block 0, layer l the output of block l-1, `before_norm` the output of
    the last block; the last hidden state, after the final norm, comes as layer n. The base model is
    run where the probe found that the output embeddings give the model's logits, else the whole.

    Args:
        reports: run the whole, and have transformers report hidden states too.

    Raises:
        LayerwiseError: where something in the whole model exchanges the tokens.
    """
    model, (base, *_) = checkpoint.model, checkpoint.towers
    passes = checkpoint.passes
    runs_whole = reports or passes is None or passes.logits == "model"
    handles = _watch_layers(checkpoint.blocks, see)
    last: list[Any] = []
    for tower in checkpoint.towers if runs_whole else ():
        handles.append(_watch_tokens(tower, tokens))
        handles.append(tower.register_forward_hook(lambda *seen: last.append(seen[2])))
    reporting = {"output_hidden_states": True} if reports else {}
    with removing(handles):
        out = (model if runs_whole else base)(
            input_ids=tokens,
            attention_mask=torch.ones_like(tokens),
            use_cache=False,
            **reporting,
        )
    hidden = (last[-1] if runs_whole else out).last_hidden_state
    see(checkpoint.n_layers, hidden)
    return Passed(
        hidden, out.logits if runs_whole else None, out.hidden_states if reports else None
    )


def _watch_layers(blocks: Sequence[torch.nn.Module], see: See) -> list[Any]:
    """Show every layer but the last, which comes after the final norm; the handles end it."""
    layers: list[Layer] = [*range(1, len(blocks)), BEFORE_NORM]
    handles = [on_input(blocks[0], partial(see, 0))]
    for block, layer in zip(blocks, layers, strict=True):
        handles.append(on_output(block, partial(see, layer)))
    return handles


def _watch_tokens(tower: torch.nn.Module, tokens: torch.Tensor) -> Any:
    """Refuse other tokens inside a model than the whole was given; the handle ends it."""

    def compare(_: Any, args: Any, kwargs: Any) -> None:
        ids = kwargs.get("input_ids", args[0] if args else None)
        if ids is not None and not torch.equal(ids.to(tokens.device), tokens):
            raise LayerwiseError(
                "a model must run the tokens that it is given, a hook or another `forward` on the "
                "model itself exchanges some; take it off, or give the model the texts that it "
                "makes of them"
            )

    return tower.register_forward_pre_hook(compare, with_kwargs=True)


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


class UnsoundTexts(LayerwiseError):
    """States of some texts are not finite, or all zero.

    Attributes:
        numbers: of these texts, by kind, `statements` or `prompts`.
    """

    def __init__(self, message: object, numbers: Mapping[str, Sequence[int]]) -> None:
        super().__init__(message)
        self.numbers = numbers


@dataclass
class Unsound:
    """Texts with states that are not finite, or all zero, and where each of them is so first.

    Attributes:
        texts: by kind, statements or prompts.
        places: by kind and number of a text: what is not sound, and whether it is all zero.
    """

    texts: Mapping[str, Sequence[str]]
    places: dict[tuple[str, int], tuple[str, bool]] = field(default_factory=dict)

    def add(
        self, what: str, kind: str, numbers: Sequence[int], sizes: Float[torch.Tensor, " text"]
    ) -> None:
        """Note the texts whose size (a norm, a largest magnitude) is not finite, or zero."""
        for number, size in zip(numbers, sizes.tolist(), strict=True):
            if not is_sound(size):
                self.places.setdefault((kind, number), (what, size == 0))

    def error(self, checkpoint: Checkpoint) -> UnsoundTexts:
        """Return the one error that names all of them; there is at least one."""
        numbers_at = defaultdict[tuple[str, str, bool], list[int]](list)
        for (kind, number), (what, is_zero) in sorted(self.places.items()):
            numbers_at[kind, what, is_zero].append(number)
        problems = []
        for (kind, what, is_zero), numbers in numbers_at.items():
            text = f"{self.texts[kind][numbers[0]]!r:.80}"
            named = f"{kind[:-1]} {numbers[0]} ({text})"
            if len(numbers) > 1:
                named = f"{kind} {', '.join(map(str, numbers))} (the first is {text})"
            problems.append(f"{_problem(what, is_zero)} for {named}")
        all_zero = all(is_zero for _, is_zero in self.places.values())
        said = _refusal(checkpoint, ", ".join(problems), all_zero, checkpoint.dtype)
        by_kind = {
            kind: sorted(number for of_kind, number in self.places if of_kind == kind)
            for kind in self.texts
        }
        return UnsoundTexts(said, by_kind)


def is_sound(size: float) -> bool:
    """Return whether states of this size (a norm, a largest magnitude) can be used."""
    return math.isfinite(size) and size != 0


def require_sound(checkpoint: Checkpoint, what: str, size: float, text: str, dtype: str) -> None:
    """Refuse states of a text in a dtype whose size is not sound.

    Raises:
        LayerwiseError: saying what and where, with the dtype to try.
    """
    if not is_sound(size):
        problem = f"{_problem(what, size == 0)} for {text!r:.60}"
        raise _refusal(checkpoint, problem, size == 0, dtype)


def _problem(what: str, is_zero: bool) -> str:
    return f"{what} are {'all zero' if is_zero else 'not finite'}"


def _refusal(checkpoint: Checkpoint, problem: str, is_zero: bool, dtype: str) -> LayerwiseError:
    advice = [] if is_zero or dtype not in _WIDER else [f"try dtype {_WIDER[dtype]}"]
    if len(set(getattr(checkpoint.model, "hf_device_map", {}).values())) > 1:
        advice.append("the model is spread over several devices, try one instead of device 'auto'")
    return LayerwiseError(
        f"{checkpoint.name}: {problem} in {dtype}; {'; '.join(advice) or 'check the weights'}"
    )


def mean_token_nll(
    checkpoint: Checkpoint,
    passed: Passed,
    tokens: Int64[torch.Tensor, "batch token"],
) -> Float32[torch.Tensor, " batch"]:
    """Return the mean NLL of tokens 1..T-1 of every statement, in nats: the model's own loss."""
    if passed.logits is not None:
        return mean_nll(passed.logits[:, :-1], tokens[:, 1:])
    n_texts = max(1, HEAD_ROWS // (tokens.shape[1] - 1))
    portions = zip(passed.hidden[:, :-1].split(n_texts), tokens[:, 1:].split(n_texts), strict=True)
    return torch.cat([mean_nll(checkpoint.head(states), wanted) for states, wanted in portions])


def mean_nll(
    logits: Float[torch.Tensor, "batch token word"], wanted: Int64[torch.Tensor, "batch token"]
) -> Float32[torch.Tensor, " batch"]:
    """Return the mean NLL of wanted tokens by their own logits, of every text, in nats."""
    texts = zip(logits, wanted.to(logits.device), strict=True)
    return torch.stack([torch.nn.functional.cross_entropy(row.float(), ids) for row, ids in texts])
