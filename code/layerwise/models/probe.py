"""Our passes held against the model's own forward, before the first statement is measured.

What can make a number wrong lies between a model's own forward and what is taken from it: which
modules are its blocks, where its final norm is, what its head does to logits, and each shortcut of
ours (another attention kernel, the head on portions of tokens, batches of texts). Whatever the
cause, the two then differ on a few tokens; so they are compared, and no list of causes is kept.

- *Wiring* is compared in the same kernel, dtype and shape: equal to the bit, or within what
  repeating the model's own call moves. Logits that differ are taken from the whole forward instead.
- *Shortcuts* may differ by rounding: in float32 by 1e-4 of a state's norm and 1e-3 nats. One that
  differs by more is left out for this model. In 16 bits another kernel is never tried: what it
  rounds otherwise can move a trained model by nats.
- *Causality*: with another last token, the states before it are the same. Without it a token's NLL
  is one of a token that the model has seen.

The tokens are those of the run's own statements, none of them special, and of its longest text:
windows, chunks and stretched rotary angles begin where short texts never come. Other calls run
before and after that text, so a model that keeps something of it is seen.
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

from layerwise.errors import LayerwiseError
from layerwise.models.checkpoint_config import reword_errors
from layerwise.models.forward import forward, mean_token_nll
from layerwise.models.load import Checkpoint, attention_kernel
from layerwise.models.other_ways import IDS, as_embedding_model
from layerwise.models.passes import ROWS, TOKENS, Passes
from layerwise.models.store import BEFORE_NORM, Layer
from layerwise.models.token_ids import Ids

KEPT = 16  # last tokens of the longest text, at every layer
QUICKEST = "eager"  # of short statements in float32, on any device
# How far a shortcut may move a state, as a share of its norm, and a text's mean NLL, in nats: in 16
# bits by sixteen rounding errors of the dtype.
STATES = {"float32": 1e-4, "float16": 2**-7, "bfloat16": 2**-4}
NATS = {"float32": 1e-3, "float16": 2**-6, "bfloat16": 2**-3}
_RECORDERS = "_output_capturing_hooks_installed"  # transformers' mark on a model that reports


def probe(
    checkpoint: Checkpoint, ids: Mapping[str, Sequence[Ids]], *, fixed_kernel: bool = False
) -> Passes:
    """Return the passes through a model that give what its own forward gives.

    The model is afterwards as it was: hooks, buffers, config, kernel, training flags and the state
    of random generators.

    Args:
        ids: of the texts of the run, by kind.
        fixed_kernel: whether the quick kernel is part of the method: where it differs the model is
            refused, and not run by its own.

    Raises:
        LayerwiseError: for a model whose blocks are not run once each and in order, whose states
            are not those that transformers reports, that differs from itself, or that is not
            causal: with the place where it begins, and both numbers.
    """
    model = checkpoint.model
    with (
        _as_it_was(model),
        attention_kernel(model, checkpoint.kernel),
        torch.inference_mode(),
        reword_errors(checkpoint.name, *_FAILED),
    ):
        tokens = _tokens(checkpoint, ids)
        return _Probe(checkpoint, *tokens, fixed_kernel=fixed_kernel).run()


_FAILED = (
    "its own forward does not run the texts",
    "check config and weights, or shorten the longest text",
)


@dataclass(frozen=True)
class _Seen:
    """One call: every state, and the NLL of every text."""

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
    """The comparisons, on `rows` of equal length and on the `longest` text."""

    checkpoint: Checkpoint
    rows: torch.Tensor
    exchanged: torch.Tensor
    longest: torch.Tensor
    fixed_kernel: bool

    def run(self) -> Passes:
        """Return the passes.

        The longest text comes between short ones, which must be the same before and after it.
        """
        own = Passes(self.checkpoint.kernel, "model")
        model = self.checkpoint.model
        reference = self._call(own, self.rows, reports=not _is_hooked(model))
        self._check_blocks(reference)
        passes = replace(own, before_norm=self._has_final_norm(reference))
        if not _is_touched(model):
            from_head = replace(passes, logits="head")
            again = self._call(from_head, self.rows)
            if self._are_equal(own, reference, again):
                passes = from_head
        if passes.logits == "model":  # and whether it differs from itself
            again = self._call(passes, self.rows)
            self._require_same(reference, again)
        of_longest = self._call(passes, self.longest)
        passes, exchanged = self._choose_kernel(passes, reference, of_longest)
        passes = self._choose_batches(passes, reference, exchanged)
        return replace(passes, probed=self.rows.numel() + self.longest.numel())

    # --- what is compared -----------------------------------------------------------------------

    def _are_equal(self, own: Passes, reference: _Seen, other: _Seen) -> bool:
        """Return whether a call gives the reference to the bit, or as nearly as its own repeated.

        On a CPU the same call gives the same bits; a GPU may add in another order.
        """
        if self._differ(reference, other, exactly=True) is None:
            return True
        repeated = self._call(own, self.rows)
        is_steady = self._differ(reference, repeated, exactly=True) is None
        return not is_steady and self._differ(reference, other) is None

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
        if (found := self._reported_difference(reference, reference.reported)) is not None:
            raise LayerwiseError(
                f"{self.checkpoint.name}: the states of its blocks must be the hidden states that "
                f"transformers reports, they differ at {found}; {_GIVE_STATES}"
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
        found = [
            self._first_difference(dict(zip(layers, reported, strict=True)), reference.states, 0.0)
            for layers in (inputs, outputs)
        ]
        return found[0] and found[1] and found[0]

    def _has_final_norm(self, reference: _Seen) -> bool:
        last, before = (
            reference.states[layer] for layer in (self.checkpoint.n_layers, BEFORE_NORM)
        )
        return not torch.equal(last, before)

    def _require_same(self, reference: _Seen, again: _Seen) -> None:
        """Refuse a model whose own call, repeated, gives something else."""
        found = self._differ(reference, again)
        if found is not None:
            raise LayerwiseError(
                f"{self.checkpoint.name}: a model gives the same for the same text, this one "
                f"differs from itself at {found}; switch off what draws at random (dropout) or "
                "keeps something of earlier texts"
            )

    def _choose_kernel(
        self, passes: Passes, reference: _Seen, of_longest: _Seen
    ) -> tuple[Passes, _Seen]:
        """Return the passes with the quick kernel if it gives the same, and the exchanged rows.

        What the exchange leaves alone shows the kernel too, so the rows themselves are run in it
        only to tell which of both made a difference.
        """
        if not self._may_be_quick(passes):
            return passes, self._call(passes, self.exchanged)
        quick = replace(passes, kernel=QUICKEST)
        exchanged = self._call(quick, self.exchanged)
        found = self._differ(of_longest, self._call(quick, self.longest))
        if found is None and any(self._differences(reference, exchanged)):
            found = self._differ(reference, self._call(quick, self.rows))
        if found is None:
            return quick, exchanged
        said = f"{QUICKEST} attention differs from {passes.kernel} at {found}"
        if self.fixed_kernel:
            raise LayerwiseError(
                f"{self.checkpoint.name}: {said}, and the published numbers are of {QUICKEST}; "
                "leave the model out, or give it another dtype in the registry"
            )
        passes = replace(passes, left_out=(*passes.left_out, said))
        return passes, self._call(passes, self.exchanged)

    def _may_be_quick(self, passes: Passes) -> bool:
        checkpoint = self.checkpoint
        is_slower = passes.kernel != QUICKEST
        return is_slower and not checkpoint.in_memory and checkpoint.dtype == "float32"

    def _differences(
        self, reference: _Seen, exchanged: _Seen
    ) -> tuple[_Difference | None, _Difference | None]:
        """Return where exchanged rows differ though they should not.

        The last row is the same beside others; the first has another last token.
        """
        n_before = self.rows.shape[1] - 1
        earlier = (_before(_row(seen, 0), n_before) for seen in (reference, exchanged))
        return self._differ(_row(reference, -1), _row(exchanged, -1)), self._differ(*earlier)

    def _choose_batches(self, passes: Passes, reference: _Seen, exchanged: _Seen) -> Passes:
        """Return the passes one text at a time, where a text's neighbours change it."""
        neighbours, earlier = self._differences(reference, exchanged)
        single = self._call(passes, self.rows[-1:])
        found = neighbours or self._differ(_row(reference, -1), single)
        how = self.checkpoint.quantised
        if found is not None or how:
            self._require_same(reference, self._call(passes, self.rows))
            said = f"what {how} rounds may depend on all texts of a batch"
            if found is not None:
                said = f"a text differs from itself beside others at {found}"
            passes = replace(passes, alone=True, left_out=(*passes.left_out, said))
            firsts = (self._call(passes, rows[:1]) for rows in (self.rows, self.exchanged))
            _, earlier = self._differences(*firsts)
        if earlier is not None and how:
            raise LayerwiseError(
                f"{self.checkpoint.name}: the NLL of a token needs a model that does not see it, "
                f"what {how} rounds depends on it: with another last token earlier states differ "
                f"at {earlier}; quantise weights alone, or activations token by token "
                "(llm_int8_threshold=0 of bitsandbytes)"
            )
        if earlier is not None:
            raise LayerwiseError(
                f"{self.checkpoint.name}: the NLL of a token needs a model that does not see it, "
                f"this is an encoder: with another last token its earlier states differ at "
                f"{earlier}; take a causal language model (look at is_decoder, is_causal and "
                f"use_bidirectional_attention in its config); {as_embedding_model()}"
            )
        return passes

    # --- how ------------------------------------------------------------------------------------

    def _call(self, passes: Passes, tokens: torch.Tensor, *, reports: bool = False) -> _Seen:
        """Run tokens in one way; of the longest text the last tokens are kept."""
        checkpoint = replace(self.checkpoint, passes=passes)
        states: dict[Layer, torch.Tensor] = {}
        order: list[Layer] = []

        def see(layer: Layer, hidden: torch.Tensor) -> None:
            order.append(layer)
            if hidden.ndim != 3 or hidden.shape[:2] != tokens.shape:
                raise LayerwiseError(
                    f"{checkpoint.name}: states at layer {layer} must be (text, token, hidden), "
                    f"{tuple(tokens.shape)} tokens give {tuple(hidden.shape)}; {_GIVE_STATES}"
                )
            states[layer] = hidden[:, -KEPT:].clone()

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
            logits = passed.logits
            if logits is None and tokens.shape[1] <= TOKENS:  # as the model does: of all tokens
                logits = checkpoint.head(passed.hidden)
            nll = mean_token_nll(checkpoint, passed, tokens)
        if passed.reported is not None:
            reported = tuple(state[:, -KEPT:].clone() for state in passed.reported)
            return _Seen(states, logits, nll, reported)
        return _Seen(states, logits, nll)

    def _differ(self, own: _Seen, other: _Seen, *, exactly: bool = False) -> _Difference | None:
        """Return where two calls differ by more than rounding does, or at all."""
        dtype = self.checkpoint.dtype
        states, nats = (0.0, 0.0) if exactly else (STATES[dtype], NATS[dtype])
        found = self._first_difference(own.states, other.states, states)
        if found is None and own.nll is not None and other.nll is not None:
            found = _nll_difference(own, other, nats, exactly=exactly)
        return found

    def _first_difference(
        self,
        own: Mapping[Layer, torch.Tensor],
        other: Mapping[Layer, torch.Tensor],
        share: float,
    ) -> _Difference | None:
        """Return the first layer, text and token whose states differ by more than a share."""
        for layer, expected in own.items():
            found = other[layer].to(expected.device)
            if expected.shape == found.shape and torch.equal(expected, found):
                continue
            if expected.shape != found.shape:
                sizes = (float(expected.shape[-1]), float(found.shape[-1]))
                return _Difference(f"layer {layer}, whose widths are", *sizes)
            expected, found = _finite(expected), _finite(found)
            norms = expected.norm(dim=-1)
            apart = (expected - found).norm(dim=-1)
            beyond = apart > share * norms
            if beyond.any():
                text, token = divmod(int(beyond.flatten().int().argmax()), beyond.shape[1])
                pair = float(norms[text, token]), float(found[text, token].norm())
                return _Difference(
                    f"layer {layer}, token {token} of text {text}, by "
                    f"{float(apart[text, token]):.3g} of norms of",
                    *pair,
                )
        return None


def _nll_difference(own: _Seen, other: _Seen, nats: float, *, exactly: bool) -> _Difference | None:
    assert own.nll is not None
    assert other.nll is not None
    if exactly:
        assert own.logits is not None
        assert other.logits is not None
        one, two = _finite(own.logits).flatten(), _finite(other.logits).flatten()
        apart = (one - two.to(one.device)).abs()
        place = int(apart.argmax())
        return (
            _Difference("the logits", float(one[place]), float(two[place])) if apart.any() else None
        )
    one, two = _finite(own.nll), _finite(other.nll).to(own.nll.device)
    beyond = (one - two).abs() > nats
    if not beyond.any():
        return None
    text = int(beyond.int().argmax())
    return _Difference(f"the mean NLL of text {text}, in nats", float(one[text]), float(two[text]))


def _finite(numbers: torch.Tensor) -> torch.Tensor:
    """Return numbers in float32; what overflowed is refused by the run, which names the text."""
    return torch.nan_to_num(numbers.float(), nan=0.0, posinf=0.0, neginf=0.0)


def _row(seen: _Seen, row: int) -> _Seen:
    """Return the call of one of its texts."""
    one = slice(row, row + 1 or None)
    states = {layer: state[one] for layer, state in seen.states.items()}
    nll = None if seen.nll is None else seen.nll[one]
    return _Seen(states, nll=nll)


def _before(seen: _Seen, n_tokens: int) -> _Seen:
    """Return the states of the first tokens alone."""
    return _Seen({layer: state[:, :n_tokens] for layer, state in seen.states.items()})


_GIVE_STATES = (
    f"choose the states that are meant, with {IDS}, and give them to `layerwise.pool` and "
    "`layerwise.measure`"
)


def _tokens(
    checkpoint: Checkpoint, ids: Mapping[str, Sequence[Ids]]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return rows of a run's own tokens, the same with exchanged neighbours, and the longest text.

    The rows are cut from the statements, one behind the other, without special tokens.
    """
    special = set(checkpoint.tokenizer.all_special_ids)
    statements = ids["statements"]
    plain = (token for text in statements for token in text.tolist() if token not in special)
    taken = list(islice(plain, ROWS * TOKENS)) or [0]
    length = min(TOKENS, max(2, len(taken) // ROWS))
    cut = np.resize(np.array(taken), ROWS * length).reshape(ROWS, length)
    exchanged = cut.copy()
    exchanged[0, -1] = next((token for token in taken if token != cut[0, -1]), taken[0] + 1)
    exchanged[1] = cut[1][::-1]
    texts = [text for kind in ids.values() for text in kind]
    longest = max(texts, key=len)
    device = checkpoint.model.device

    def tensor(tokens: Any) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(tokens)).long().to(device)

    return tensor(cut), tensor(exchanged), tensor(longest[None])


# --- the model as it was -------------------------------------------------------------------------


def _is_hooked(model: Any) -> bool:
    """Return whether any part of a model bears a hook or a `forward` that was put on it."""
    return any(map(_bears_something, model.modules()))


def _is_touched(model: Any) -> bool:
    """Return whether the whole model does: then only its own call says what it gives."""
    return _bears_something(model)


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
