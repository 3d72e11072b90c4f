"""Our passes held against the model's own forward, before the first statement is measured.

What can make a number wrong lies between a model's own forward and what is taken from it: which
modules are its blocks, where its final norm is, what its head does to logits, and each shortcut of
ours (another attention kernel, the head on portions of tokens, batches of texts). Whatever the
cause, the two then differ on a few tokens; so they are compared, and no list of causes is kept.

The model's own forward is a plain call, of a few rows and of texts of the run (the longest, a usual
shorter and a usual longer one), before any kernel is set or hook put on it.

- *Wiring* is compared in the same kernel, dtype and shape: equal to the bit, or within what
  repeating the model's own call moves. Logits that differ are taken from the whole forward instead.
- *Shortcuts* may differ by rounding: in float32 by 1e-4 of a state's norm and 1e-3 nats. One that
  differs by more is left out for this model. In 16 bits another kernel is never tried: what it
  rounds otherwise can move a trained model by nats.
- *Neighbours*: a text is the same beside others, in the shape of the run's widest batch too.
- *Causality*: with other tokens from one on, states and logits before it are the same: from any
  one in rows, and from the middle of the longest text. Without it a token's NLL is one of a token
  that the model has seen.

The tokens are those of the run's own statements, none of them special, and of these texts: windows,
chunks and stretched rotary angles begin where short texts never come. Other calls run before and
after the longest, so a model that keeps something of it is seen.
"""

import contextlib
import copy
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import torch

from layerwise.errors import LayerwiseError, reword_errors
from layerwise.models.batches import Batch, widest_batch
from layerwise.models.fitting import Room, run_in_parts
from layerwise.models.forward import forward, mean_nll, mean_token_nll, removing
from layerwise.models.load import Checkpoint, attention_kernel, in_own_way
from layerwise.models.needs import BATCH_TOKENS
from layerwise.models.other_ways import IDS, as_embedding_model
from layerwise.models.passes import ROWS, TOKENS, Passes, lengths_beside
from layerwise.models.store import BEFORE_NORM, Layer
from layerwise.models.token_ids import Ids

KEPT = 16  # last tokens of a text, and last ones before its middle, at every layer
QUICKEST = "eager"  # of short statements in float32, on any device
# How far a shortcut may move a state, as a share of its norm, and a text's mean NLL, in nats: in 16
# bits by sixteen rounding errors of the dtype.
STATES = {"float32": 1e-4, "float16": 2**-7, "bfloat16": 2**-4}
NATS = {"float32": 1e-3, "float16": 2**-6, "bfloat16": 2**-3}
# How far logits may move with the shape of a product: one rounding.
ROUNDING = {"float32": 1e-5, "float16": 2**-10, "bfloat16": 2**-7}
_RECORDERS = "_output_capturing_hooks_installed"  # transformers' mark on a model that reports


def probe(
    checkpoint: Checkpoint,
    ids: Mapping[str, Sequence[Ids]],
    *,
    fixed_kernel: bool = False,
    tokens_per_batch: int = BATCH_TOKENS,
) -> Passes:
    """Return the passes through a model that give what its own forward gives.

    The model is afterwards as it was: hooks, buffers, config, kernel, training flags and the state
    of random generators.

    Args:
        ids: of the texts of the run, by kind.
        fixed_kernel: whether the quick kernel is part of the method: where it differs the model is
            refused, and not run by its own.
        tokens_per_batch: upper limit of tokens in a batch of the run.

    Raises:
        LayerwiseError: for a model whose blocks are not run once each and in order, whose states
            are not those that transformers reports, that differs from itself, that is not causal,
            or whose forward computes in another dtype than it has: with the place where it begins,
            and both numbers.
    """
    model = checkpoint.model
    with (
        _as_it_was(model),
        in_own_way(model),
        torch.inference_mode(),
        reword_errors(checkpoint.name, *_FAILED),
    ):
        return _Probe(checkpoint, ids, fixed_kernel, tokens_per_batch).run()


_FAILED = (
    "its own forward does not run the texts",
    "check config and weights, or shorten the longest text",
)


@dataclass(frozen=True)
class _Seen:
    """One call: of tokens at some places every state and the logits; the NLL of every text."""

    places: Sequence[int]
    states: Mapping[Layer, torch.Tensor]
    logits: torch.Tensor | None = None
    nll: torch.Tensor | None = None
    reported: tuple[torch.Tensor, ...] | None = None


@dataclass(frozen=True)
class _Difference:
    """The first place where two calls differ by more than they may."""

    place: str
    own: float
    other: float

    def __str__(self) -> str:
        return f"{self.place} ({self.own:.6g} and {self.other:.6g})"


@dataclass
class _Probe:
    """The comparisons, on `rows` of equal length, on the `longest` text and some `beside` it."""

    checkpoint: Checkpoint
    ids: Mapping[str, Sequence[Ids]]
    fixed_kernel: bool
    tokens_per_batch: int

    def __post_init__(self) -> None:
        self.rows, self.exchanged, self.cuts = _rows(self.checkpoint, self.ids)
        texts = [text for kind in self.ids.values() for text in kind]
        lengths = list(map(len, texts))
        wanted = [*lengths_beside(lengths, self.rows.shape[1]), max(lengths)]
        *self.beside, self.longest = (
            _tensor(self.checkpoint, texts[lengths.index(length)][None]) for length in wanted
        )

    def run(self) -> Passes:
        """Return the passes.

        The longest text comes between short ones, which must be the same before and after it.
        """
        plain = self._plain(self.rows)
        texts = [(text, self._plain(text)) for text in (*self.beside, self.longest)]
        model, own = self.checkpoint.model, Passes(self.checkpoint.kernel, "model")
        with self._refused_autocast():
            reference = self._call(own, self.rows, reports=not _is_hooked(model))
        self._check_blocks(reference)
        self._require_same(plain, reference, self.rows)
        passes = replace(own, logits="head", before_norm=self._has_final_norm(reference))
        of_longest = None
        is_plain = not _is_touched(model) and self._head_sees_one_token(reference)
        if is_plain and self._is_own(passes, reference, self.rows):
            for text, plain_of_text in texts:
                if (of_longest := self._is_own(passes, plain_of_text, text)) is None:
                    break
        if of_longest is None:
            passes = replace(passes, logits="model")
            self._require_same(reference, self._call(passes, self.rows), self.rows)
            for text, plain_of_text in texts:
                of_longest = self._call(passes, text)
                self._require_same(plain_of_text, of_longest, text)
        assert of_longest is not None  # the last of the texts
        passes, of_longest = self._choose_kernel(passes, reference, of_longest)
        passes = self._choose_batches(passes, reference)
        self._require_causal(passes, of_longest)
        probed = (self.rows, *self.beside, self.longest)
        return replace(passes, probed=sum(tokens.numel() for tokens in probed))

    # --- what is compared -----------------------------------------------------------------------

    def _is_own(self, passes: Passes, own: _Seen, tokens: torch.Tensor) -> _Seen | None:
        """Return the call if it is the model's own to the bit, or as nearly as that repeated.

        On a CPU the same call gives the same bits; a GPU may add in another order.
        """
        seen = self._call(passes, tokens)
        if self._differ(own, seen, exactly=True) is None:
            return seen
        repeated = self._call(replace(passes, logits="model"), tokens)
        is_steady = self._differ(own, repeated, exactly=True) is None
        return seen if not is_steady and self._differ(own, seen) is None else None

    def _check_blocks(self, reference: _Seen) -> None:
        """Refuse states that are not those which transformers reports of the same call."""
        n_layers = self.checkpoint.n_layers
        if reference.reported is None:
            return
        if len(reference.reported) != n_layers + 1:
            raise LayerwiseError(
                f"{self.checkpoint.name}: a model with {n_layers} blocks reports {n_layers + 1} "
                f"hidden states, this one {len(reference.reported)}; "
                f"{_GIVE_STATES}"
            )
        if (difference := self._reported_difference(reference, reference.reported)) is not None:
            raise LayerwiseError(
                f"{self.checkpoint.name}: the states of its blocks must be the hidden states that "
                f"transformers reports, they differ at {difference}; {_GIVE_STATES}"
            )

    def _reported_difference(
        self, reference: _Seen, reported: Sequence[torch.Tensor]
    ) -> _Difference | None:
        """Return where reported states are not those of layers 0 to n.

        Some state-space models report the output of every block and not what enters the first: the
        outputs then, and the last state.
        """
        n_layers = self.checkpoint.n_layers
        inputs: list[Layer] = [*range(n_layers), n_layers]
        outputs: list[Layer] = [*range(1, n_layers), BEFORE_NORM, n_layers]
        differences = [
            _first_difference(
                reference.places,
                dict(zip(layers, reported, strict=True)),
                reference.states,
                0.0,
            )
            for layers in (inputs, outputs)
        ]
        return differences[0] and differences[1] and differences[0]

    def _has_final_norm(self, reference: _Seen) -> bool:
        last, before = (
            reference.states[layer] for layer in (self.checkpoint.n_layers, BEFORE_NORM)
        )
        return not torch.equal(last, before)

    def _head_sees_one_token(self, reference: _Seen) -> bool:
        """Return whether the head gives a token the same logits, whichever others are there."""
        head, hidden = self.checkpoint.head, reference.states[self.checkpoint.n_layers]
        whole, part = {None: head(hidden)[:, :-1]}, {None: head(hidden[:, :-1])}
        share = ROUNDING[self.checkpoint.dtype]
        return _first_difference(reference.places, whole, part, share) is None

    def _require_same(self, own: _Seen, again: _Seen, tokens: torch.Tensor) -> None:
        """Refuse a model whose own call, repeated, gives something else: where it begins."""
        if (difference := self._differ(own, again)) is None:
            return
        once_more = self._call(Passes(self.checkpoint.kernel, "model"), tokens)
        difference = self._differ(again, once_more) or difference
        raise LayerwiseError(
            f"{self.checkpoint.name}: a model gives the same for the same text, this one differs "
            f"from itself at {difference}, in a text of {tokens.shape[1]} tokens; switch off what "
            "draws at random (dropout) or keeps something of earlier texts"
        )

    @contextlib.contextmanager
    def _refused_autocast(self) -> Iterator[None]:
        """Inside the block refuse a module that runs in an autocast to another dtype.

        The caller's own is out of force here: this is one that a forward switches on.
        """
        dtype = self.checkpoint.dtype
        kinds = {"cpu", *(weight.device.type for weight in self.checkpoint.model.parameters())}

        def look(module: torch.nn.Module, _: Any) -> None:
            for kind in kinds - {"meta"}:
                used = str(torch.get_autocast_dtype(kind)).removeprefix("torch.")
                if torch.is_autocast_enabled(kind) and used != dtype:
                    raise LayerwiseError(
                        f"{self.checkpoint.name}: a model computes in the dtype of its weights, "
                        f"{dtype}, which is recorded; the forward of this one computes in {used} "
                        f"({type(module).__name__} runs in an autocast); take it off, after "
                        "Accelerate's prepare with accelerator.unwrap_model(model, "
                        "keep_fp32_wrapper=False), or load the model in that dtype"
                    )

        with removing([torch.nn.modules.module.register_module_forward_pre_hook(look)]):
            yield

    def _choose_kernel(
        self, passes: Passes, reference: _Seen, of_longest: _Seen
    ) -> tuple[Passes, _Seen]:
        """Return the passes with the quick kernel if it gives the same, and the longest text."""
        if not self._may_be_quick(passes):
            return passes, of_longest
        quick = replace(passes, kernel=QUICKEST)
        quick_of_longest = self._call(quick, self.longest)
        difference = self._differ(of_longest, quick_of_longest)
        difference = difference or self._differ(reference, self._call(quick, self.rows))
        if difference is None:
            return quick, quick_of_longest
        said = f"{QUICKEST} attention differs from {passes.kernel} at {difference}"
        if self.fixed_kernel:
            raise LayerwiseError(
                f"{self.checkpoint.name}: {said}, and the published numbers are of {QUICKEST}; "
                "leave the model out, or give it another dtype in the registry"
            )
        return replace(passes, left_out=(*passes.left_out, said)), of_longest

    def _may_be_quick(self, passes: Passes) -> bool:
        checkpoint = self.checkpoint
        is_slower = passes.kernel != QUICKEST
        return is_slower and not checkpoint.in_memory and checkpoint.dtype == "float32"

    def _choose_batches(self, passes: Passes, reference: _Seen) -> Passes:
        """Return the passes one text at a time, where a text's neighbours change it.

        The last row stands beside other rows, then alone; a text of the widest batch in it and
        alone.
        """
        last = _row(reference, -1)
        difference = self._differ(last, _row(self._call(passes, self.exchanged), -1))
        difference = difference or self._differ(last, self._call(passes, self.rows[-1:]))
        difference = difference or self._widest_difference(passes)
        how = self.checkpoint.quantised
        if difference is None and not how:
            return passes
        self._require_same(reference, self._call(passes, self.rows), self.rows)
        said = f"what {how} rounds may depend on all texts of a batch"
        if difference is not None:
            said = f"a text differs from itself beside others at {difference}"
        return replace(passes, alone=True, left_out=(*passes.left_out, said))

    def _widest_difference(self, passes: Passes) -> _Difference | None:
        """Return where a text differs from itself in the batch of the run with the most texts."""
        lengths = {kind: list(map(len, texts)) for kind, texts in self.ids.items()}
        widest = widest_batch(lengths, passes.tokens_per_batch(self.tokens_per_batch))

        def run(part: Batch) -> _Seen:
            texts = np.stack([self.ids[part.kind][number] for number in part.members])
            return self._call(passes, _tensor(self.checkpoint, texts), only_last=True)

        _, beside = run_in_parts(self.checkpoint, widest, Room(), run)
        single = run(replace(widest, members=widest.members[-1:]))
        return self._differ(single, beside[-1])

    def _require_causal(self, passes: Passes, of_longest: _Seen) -> None:
        """Refuse a model in which other tokens from one on change states or logits before it."""
        if passes.alone:
            first, *others = (self._call(passes, row[None]) for row in self.cuts)
        else:
            seen = self._call(passes, self.cuts)
            first, *others = (_row(seen, number) for number in range(len(self.cuts)))
        calls = [
            (_before(first, n_before), _before(other, n_before), n_before)
            for n_before, other in enumerate(others, start=1)
        ]
        if (length := self.longest.shape[1]) > self.rows.shape[1]:
            middle = _middle(length)
            exchanged = _others(self.longest.cpu().numpy(), self.rows.cpu().numpy())
            exchanged[:, :middle] = self.longest[:, :middle].cpu().numpy()
            other = self._call(passes, _tensor(self.checkpoint, exchanged))
            before, other = (_before(seen, middle, self.longest) for seen in (of_longest, other))
            calls.append((before, other, middle))
        share = STATES[self.checkpoint.dtype]
        for own, other, n_before in calls:
            difference = self._differ(own, other) or _logits_difference(own, other, share)
            if difference is None:
                continue
            because, fix = (
                "this is an encoder",
                (
                    "take a causal language model (look at is_decoder, is_causal and "
                    f"use_bidirectional_attention in its config); {as_embedding_model()}"
                ),
            )
            if how := self.checkpoint.quantised:
                because, fix = (
                    f"what {how} rounds depends on it",
                    (
                        "quantise weights alone, or activations token by token "
                        "(llm_int8_threshold=0 of bitsandbytes)"
                    ),
                )
            raise LayerwiseError(
                f"{self.checkpoint.name}: the NLL of a token needs a model that does not see it, "
                f"{because}: with other tokens from token {n_before} on its earlier states differ "
                f"at {difference}; {fix}"
            )

    # --- how ------------------------------------------------------------------------------------

    def _plain(self, tokens: torch.Tensor) -> _Seen:
        """Call the model with what its tokenizer gives, in the kernel that it came with."""
        inputs = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
        out = self.checkpoint.model(**inputs, use_cache=False)
        logits = out.logits if hasattr(out, "logits") else out[0]
        nll = mean_nll(logits[:, :-1], tokens[:, 1:])
        places = _places(tokens.shape[1])
        return _Seen(places, {}, logits[:, places], nll)

    def _call(
        self,
        passes: Passes,
        tokens: torch.Tensor,
        *,
        reports: bool = False,
        only_last: bool = False,
    ) -> _Seen:
        """Run tokens in one way; kept are all texts, or the last one alone."""
        checkpoint = replace(self.checkpoint, passes=passes)
        states: dict[Layer, torch.Tensor] = {}
        order: list[Layer] = []
        places = _places(tokens.shape[1])
        kept = slice(-1, None) if only_last else slice(None), places

        def see(layer: Layer, hidden: torch.Tensor) -> None:
            order.append(layer)
            if hidden.ndim != 3 or hidden.shape[:2] != tokens.shape:
                raise LayerwiseError(
                    f"{checkpoint.name}: states at layer {layer} must be (text, token, hidden), "
                    f"{tuple(tokens.shape)} tokens give {tuple(hidden.shape)}; {_GIVE_STATES}"
                )
            states[layer] = hidden[kept]  # a copy, as a list of places gives it

        with attention_kernel(checkpoint.model, passes.kernel):
            passed = forward(checkpoint, tokens, see, reports=reports)
            n_layers = checkpoint.n_layers
            expected: list[Layer] = [*range(n_layers), BEFORE_NORM, n_layers]
            if order != expected:
                raise LayerwiseError(
                    f"{checkpoint.name}: every block must run once and in order, the states of a "
                    f"pass came as {', '.join(map(str, order))}; put a copy (copy.deepcopy) where "
                    f"a block stands twice; or {_GIVE_STATES}"
                )
            nll = mean_token_nll(checkpoint, passed, tokens)
            if only_last:
                return _Seen(places, states, nll=nll[-1:])
            # of all tokens, as the model does
            logits = checkpoint.head(passed.hidden) if passed.logits is None else passed.logits
        reported = passed.reported and tuple(state[kept] for state in passed.reported)
        return _Seen(places, states, logits[kept], nll, reported)

    def _differ(self, own: _Seen, other: _Seen, *, exactly: bool = False) -> _Difference | None:
        """Return where two calls differ by more than rounding does, or at all.

        Logits are compared where wiring is: exactly, or with those of a plain call. The NLL is
        taken from portions of tokens, whose logits are rounded otherwise.
        """
        dtype = self.checkpoint.dtype
        share = 0.0 if exactly else STATES[dtype]
        difference = _first_difference(own.places, own.states, other.states, share)
        if difference is None and (exactly or not own.states):
            difference = _logits_difference(own, other, share)
        if difference is None and own.nll is not None and other.nll is not None:
            difference = _nll_difference(own.nll, other.nll, NATS[dtype])
        return difference


def _first_difference(
    places: Sequence[int],
    own: Mapping[Any, torch.Tensor],
    other: Mapping[Any, torch.Tensor],
    share: float,
) -> _Difference | None:
    """Return the first layer (None: logits), text and token where they are further apart."""
    for layer, expected in own.items():
        actual = other[layer].to(expected.device)
        what = "the logits" if layer is None else f"layer {layer}"
        if expected.shape == actual.shape and torch.equal(expected, actual):
            continue
        if expected.shape != actual.shape:
            sizes = (float(expected.shape[-1]), float(actual.shape[-1]))
            return _Difference(f"{what}, whose widths are", *sizes)
        expected, actual = _finite(expected), _finite(actual)
        norms = expected.norm(dim=-1)
        apart = (expected - actual).norm(dim=-1)
        beyond = apart > share * norms
        if beyond.any():
            text, token = divmod(int(beyond.flatten().int().argmax()), beyond.shape[1])
            pair = float(norms[text, token]), float(actual[text, token].norm())
            return _Difference(
                f"{what}, token {places[token]} of text {text}, by "
                f"{float(apart[text, token]):.3g} of norms of",
                *pair,
            )
    return None


def _logits_difference(own: _Seen, other: _Seen, share: float) -> _Difference | None:
    assert own.logits is not None
    assert other.logits is not None
    return _first_difference(own.places, {None: own.logits}, {None: other.logits}, share)


def _nll_difference(own: torch.Tensor, other: torch.Tensor, nats: float) -> _Difference | None:
    nll, other_nll = _finite(own), _finite(other).to(own.device)
    beyond = (nll - other_nll).abs() > nats
    if not beyond.any():
        return None
    text = int(beyond.int().argmax())
    return _Difference(
        f"the mean NLL of text {text}, in nats", float(nll[text]), float(other_nll[text])
    )


def _finite(numbers: torch.Tensor) -> torch.Tensor:
    """Return numbers in float32; what overflowed is refused by the run, which names the text."""
    return torch.nan_to_num(numbers.float(), nan=0.0, posinf=0.0, neginf=0.0)


def _row(seen: _Seen, row: int) -> _Seen:
    """Return the call of one of its texts."""
    only = slice(row, row + 1 or None)
    states = {layer: state[only] for layer, state in seen.states.items()}
    logits, nll = (None if part is None else part[only] for part in (seen.logits, seen.nll))
    return _Seen(seen.places, states, logits, nll)


def _before(seen: _Seen, n_tokens: int, tokens: torch.Tensor | None = None) -> _Seen:
    """Return states and logits of the first tokens alone; their own mean NLL, if they are given.

    The NLL of one token or two is not asked for: in 16 bits one rounding of a logit moves it.
    """
    places = [place for place in seen.places if place < n_tokens]
    states = {layer: state[:, : len(places)] for layer, state in seen.states.items()}
    assert seen.logits is not None
    logits = seen.logits[:, : len(places)]
    nll = None if tokens is None else mean_nll(logits[:, :-1], tokens[:, places[1:]])
    return _Seen(places, states, logits, nll)


def _middle(length: int) -> int:
    """Return the middle of a text: odd, so that chunks of an even length do not begin there."""
    return length // 2 | 1


def _places(length: int) -> list[int]:
    """Return the places of a text's tokens that are kept."""
    return sorted(
        {
            place
            for end in (_middle(length), length)
            for place in range(max(0, end - KEPT), min(end, length))
        }
    )


_GIVE_STATES = (
    f"choose the states that are meant, with {IDS}, and give them to `layerwise.pool` and "
    "`layerwise.measure`"
)


def _rows(
    checkpoint: Checkpoint, ids: Mapping[str, Sequence[Ids]]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return rows of a run's own tokens; the last beside others; the first with other ends.

    They are cut from the statements, one behind the other, without special tokens. Of the first
    row with other ends, row n has other tokens from token n on, row 0 none.
    """
    special = set(checkpoint.tokenizer.all_special_ids)
    statements = ids["statements"]
    plain = (token for text in statements for token in text.tolist() if token not in special)
    taken = list(islice(plain, ROWS * TOKENS)) or [0]
    length = min(TOKENS, max(2, len(taken) // ROWS))
    rows = np.resize(np.array(taken), ROWS * length).reshape(ROWS, length)
    others = _others(rows, taken)
    exchanged = np.concatenate([others[:-1], rows[-1:]])
    ends = [np.where(np.arange(length) < n, rows[0], others[0]) for n in range(1, length)]
    cuts = np.stack([rows[0], *ends])
    return _tensor(checkpoint, rows), _tensor(checkpoint, exchanged), _tensor(checkpoint, cuts)


def _others(tokens: Any, taken: Any) -> Any:
    """Return another of the taken tokens in place of each."""
    known = np.unique(taken)
    # of one alone its neighbour in the vocabulary, which has smaller ids whatever else it has
    known = known if len(known) > 1 else np.array([known[0], abs(known[0] - 1)])
    known.sort()
    return known[np.searchsorted(known, tokens) - 1]


def _tensor(checkpoint: Checkpoint, tokens: Any) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(tokens)).long().to(checkpoint.model.device)


# --- the model as it was -------------------------------------------------------------------------


def _is_hooked(model: Any) -> bool:
    """Return whether any part of a model bears a hook or a `forward` that was put on it."""
    return any(map(_bears_something, model.modules()))


def _is_touched(model: Any) -> bool:
    """Return whether the whole model, or its head, does: only its own call says what it gives."""
    return any(map(_bears_something, [model, *model.get_output_embeddings().modules()]))


def _bears_something(module: Any) -> bool:
    hooks = [*module._forward_hooks.values(), *module._forward_pre_hooks.values()]
    is_patched = "forward" in vars(module) and not hasattr(module, "_hf_hook")  # accelerate's
    return is_patched or any(not _is_recorder(hook) for hook in hooks)


def _is_recorder(hook: Any) -> bool:
    """Return whether a hook is one of those by which transformers reports hidden states."""
    return getattr(hook, "__module__", "") == "transformers.utils.output_capturing"


@contextlib.contextmanager
def _as_it_was(model: Any) -> Iterator[None]:
    """After the block hooks, buffers and random generators are as they were before it."""
    hooks = [
        (module, name, copy.copy(getattr(module, name)))
        for module in model.modules()
        for name in ("_forward_hooks", "_forward_hooks_with_kwargs", "_forward_hooks_always_called")
    ]
    marked = [module for module in model.modules() if hasattr(module, _RECORDERS)]
    buffers = [
        (module, name, buffer, None if buffer is None else buffer.clone())
        for module in model.modules()
        for name, buffer in module._buffers.items()
    ]
    gpus = [model.device] if model.device.type == "cuda" else []
    numpy_state, python_state = np.random.get_state(), random.getstate()
    try:
        with torch.random.fork_rng(devices=gpus):
            yield
    finally:
        random.setstate(python_state)
        np.random.set_state(numpy_state)
        for module, name, before in hooks:
            current = getattr(module, name)
            for key in current.keys() - before.keys():
                del current[key]
        for module in model.modules():
            if hasattr(module, _RECORDERS) and module not in marked:
                delattr(module, _RECORDERS)
        for module, name, buffer, content in buffers:
            module._buffers[name] = buffer
            if content is not None and not torch.equal(buffer, content):
                buffer.copy_(content)
