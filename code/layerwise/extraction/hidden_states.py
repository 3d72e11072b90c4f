"""One forward pass per statement: pooled hidden states, norms and token NLL, streamed to disk."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeVar

import accelerate
import numpy as np
import torch
from accelerate.utils import broadcast_object_list
from jaxtyping import Bool, Float, Float32

from layerwise.errors import LayerwiseError
from layerwise.extraction.batches import Batch, plan_batches
from layerwise.extraction.forward import forward, mean_token_nll, pool, token_norms
from layerwise.extraction.load import Checkpoint, attention_kernel
from layerwise.extraction.memory import Room, run_in_parts
from layerwise.extraction.packed import Linears, choose_linears, packed_linears
from layerwise.extraction.partial import Partial
from layerwise.extraction.provenance import describe, states_kernel
from layerwise.extraction.store import (
    Arrays,
    HiddenStates,
    Layer,
    digest_of_texts,
    layer_file,
    open_states,
)
from layerwise.extraction.templates import NONE, render
from layerwise.extraction.token_ids import TokenIds, tokenize
from layerwise.progress import track

LAYOUT = 2  # raise when the same inputs would give other bytes
T = TypeVar("T")


def extract(
    checkpoint: Checkpoint,
    statements: Sequence[str],
    prompts: Sequence[str],
    folder: Path,
    *,
    template: str = NONE,
    tokens_per_batch: int = 2048,
    linears: Linears | None = None,
    progress: bool = True,
) -> HiddenStates:
    """Run every statement and prompt through the model once and store what `store` describes.

    Pooling is the papers' (Paper 1, notebooks 000-003): the mean over positions 1..T-1 in the
    model's dtype, the first token dropped whatever it is; the mean over all tokens, the last and
    the first token are stored beside it. NLL is the mean over the T-1 predicted tokens, nats.
    Work goes on in `<folder>.partial`; a second call resumes it, and returns a finished
    extraction of the same inputs at once. Under a launcher every process takes whole batches.
    A batch that does not fit into memory is run in smaller parts, which `smaller_batches` of the
    index records: {number of the batch: texts at a time}.

    Args:
        template: what every statement is put into before it is tokenised (see `templates`).
        tokens_per_batch: upper limit of tokens in a batch; part of the method in half precision.
        linears: `packed` or `plain` linear layers, None for `choose_linears`.
        progress: show how far it is, as `progress` does.

    Raises:
        LayerwiseError: for a statement of one token or a text longer than the model's context
            (before anything runs), non-finite or all-zero states, a text that does not fit into
            memory, a disk that is full or cannot be written, or another run on the same folder.
    """
    if not statements or tokens_per_batch < 1:
        raise LayerwiseError(
            "an extraction needs at least one statement and one token per batch, found "
            f"{len(statements)} and {tokens_per_batch}"
        )
    texts = {"statements": statements, "prompts": prompts}
    rendered = statements
    if template != NONE:
        rendered = [render(checkpoint.tokenizer, text, template) for text in statements]
    ids = {
        "statements": _tokenize(checkpoint, "statements", rendered),
        "prompts": _tokenize(checkpoint, "prompts", prompts),
    }
    chosen = choose_linears(checkpoint.model, linears)
    index = _index(checkpoint, texts, ids, tokens_per_batch, chosen, template)
    partial = _partial(checkpoint, ids, folder, index)
    processes = _Processes.of(checkpoint)
    with contextlib.ExitStack() as stack:

        def begin() -> set[int] | None:
            with partial.disk_errors_explained():
                return partial.begin(stack)

        done = processes.first_decides(begin)  # the first process keeps the lock
        if done is None:
            return open_states(folder)
        todo = [number for number in range(len(partial.batches)) if number not in done]
        mine = todo[processes.rank :: processes.count]
        shown = progress and processes.rank == 0
        with (
            contextlib.closing(_counted(checkpoint, partial, mine, shown)) as numbers,
            partial.disk_errors_explained(),
            packed_linears(checkpoint.model, chosen),
            attention_kernel(checkpoint.model, index["attention"]),
        ):
            _run_all(checkpoint, partial, numbers, texts, ids)
        processes.wait()
        if processes.rank == 0:
            with partial.disk_errors_explained():
                partial.publish(index)
        processes.wait()
    return open_states(folder)


@dataclass(frozen=True)
class _Processes:
    """This process among those that a launcher started."""

    rank: int
    count: int
    wait: Callable[[], None]

    @classmethod
    def of(cls, checkpoint: Checkpoint) -> _Processes:
        if int(os.environ.get("WORLD_SIZE", "1")) == 1:
            return cls(0, 1, lambda: None)
        state = accelerate.PartialState(cpu=checkpoint.model.device.type == "cpu")
        return cls(state.process_index, state.num_processes, state.wait_for_everyone)

    def first_decides(self, decide: Callable[[], T]) -> T:
        """What the first process finds, or the error it meets, in every process."""
        if self.count == 1:
            return decide()
        found: list[Any] = [None, None]
        if self.rank == 0:
            try:
                found = [decide(), None]
            except LayerwiseError as error:
                found = [None, error]
        value, refusal = broadcast_object_list(found)
        if refusal is not None:
            raise refusal
        return value


def _tokenize(checkpoint: Checkpoint, kind: str, texts: Sequence[str]) -> TokenIds:
    return tokenize(
        checkpoint.name,
        checkpoint.tokenizer,
        kind,
        texts,
        n_positions=getattr(checkpoint.model.config, "max_position_embeddings", None),
        n_embeddings=checkpoint.model.get_input_embeddings().weight.shape[0],
    )


def _index(
    checkpoint: Checkpoint,
    texts: dict[str, Sequence[str]],
    ids: dict[str, TokenIds],
    tokens_per_batch: int,
    linears: Linears,
    template: str,
) -> dict[str, Any]:
    """What index.json holds; the fingerprint covers everything that can change a number."""
    index = {
        "layout": LAYOUT,
        **describe(checkpoint),
        "attention": states_kernel(checkpoint),
        "display": checkpoint.display,
        "family": checkpoint.family,
        "n_layers": checkpoint.n_layers,
        "hidden_size": checkpoint.hidden_size,
        "n_statements": len(texts["statements"]),
        "statements_sha256": digest_of_texts(texts["statements"]),
        "n_prompts": len(texts["prompts"]),
        "prompts_sha256": digest_of_texts(texts["prompts"]),
        "prompt_lengths": ids["prompts"].lengths,
        "token_ids_sha256": [ids[kind].digest() for kind in ids],
        "adds_bos": checkpoint.adds_bos,
        "tokens_per_batch": tokens_per_batch,
        "linears": linears,
        "template": template,
    }
    everything = json.dumps(index, sort_keys=True)
    return {**index, "fingerprint": hashlib.sha256(everything.encode()).hexdigest()}


def _partial(
    checkpoint: Checkpoint, ids: dict[str, TokenIds], folder: Path, index: dict[str, Any]
) -> Partial:
    starts = (0, *accumulate(ids["prompts"].lengths))
    arrays = Arrays(
        n_layers=checkpoint.n_layers,
        hidden_size=checkpoint.hidden_size,
        final_size=checkpoint.head.weight.shape[1],
        dtype="float16" if checkpoint.dtype == "float16" else "float32",
        n_statements=len(ids["statements"].ends),
        n_tokens=starts[-1],
    )
    limit = index["tokens_per_batch"]
    batches = [b for kind in ids for b in plan_batches(kind, ids[kind].lengths, limit)]
    return Partial(folder, index["fingerprint"], arrays, starts[:-1], tuple(batches))


def _counted(
    checkpoint: Checkpoint, partial: Partial, numbers: Sequence[int], shown: bool
) -> Generator[int, None, None]:
    """The batches, counted in tokens: short statements come first, long prompts last."""
    batches = {number: partial.batches[number] for number in numbers}
    sizes = {number: len(batch.members) * batch.length for number, batch in batches.items()}
    total, size = sum(sizes.values()), sizes.__getitem__
    return track(numbers, checkpoint.display, "tokens", total, size=size, shown=shown)


def _run_all(
    checkpoint: Checkpoint,
    partial: Partial,
    numbers: Iterable[int],
    texts: dict[str, Sequence[str]],
    ids: dict[str, TokenIds],
) -> None:
    room, layers = Room(), partial.arrays.layers
    for number in numbers:
        batch = partial.batches[number]

        def run(part: Batch) -> dict[str, np.ndarray]:
            return _run(checkpoint, layers, part, texts[part.kind], ids[part.kind])

        at_a_time, parts = run_in_parts(checkpoint, batch, room, run)
        if len(parts) > 1:
            parts = [{name: np.concatenate([part[name] for part in parts]) for name in parts[0]}]
        partial.save(number, at_a_time, parts[0])


def _run(
    checkpoint: Checkpoint,
    layers: Sequence[Layer],
    batch: Batch,
    texts: Sequence[str],
    ids: TokenIds,
) -> dict[str, np.ndarray]:
    """One forward pass: a row per text of every array, by the file that it goes to.

    What is pooled stays on its device until the pass is over: a GPU need not wait for each layer.
    """
    kept: dict[Layer, Any] = {}
    norms: dict[Layer, torch.Tensor] = {}

    def see(layer: Layer, hidden: Float[torch.Tensor, "batch token hidden"]) -> None:
        norms[layer] = token_norms(hidden)
        # a copy: some blocks add to what they gave in place
        kept[layer] = _to_numpy(hidden.clone()) if batch.kind == "prompts" else pool(hidden)

    tokens = torch.from_numpy(ids.rows(batch.members, batch.length))
    with torch.inference_mode():
        hidden = forward(checkpoint, tokens.to(checkpoint.model.device), see)
        for layer in layers:
            _check_states(checkpoint, batch, texts, layer, norms[layer][:, -1])
        if batch.kind == "prompts":
            return {f"tokens/{layer_file(layer)}": kept[layer] for layer in layers}
        nll = mean_token_nll(checkpoint, hidden, tokens)
        _require(checkpoint, batch, texts, ~torch.isfinite(nll), "token NLL is not finite")
    states = {f"states/{layer_file(layer)}": _to_numpy(kept[layer]) for layer in layers}
    stacked = torch.stack([norms[layer].cpu() for layer in layers], dim=1)
    return {**states, "norms.npy": _to_numpy(stacked), "nll.npy": _to_numpy(nll.double())}


def _check_states(
    checkpoint: Checkpoint,
    batch: Batch,
    texts: Sequence[str],
    layer: Layer,
    frobenius: Float32[torch.Tensor, " batch"],
) -> None:
    bad = ~(torch.isfinite(frobenius) & (frobenius != 0)).cpu()
    what = "all zero" if bad.any() and frobenius.cpu()[bad][0] == 0 else "not finite"
    _require(checkpoint, batch, texts, bad, f"hidden states at layer {layer} are {what}")


def _require(
    checkpoint: Checkpoint,
    batch: Batch,
    texts: Sequence[str],
    bad: Bool[torch.Tensor, " batch"],
    what: str,
) -> None:
    if not bad.any():
        return
    number = batch.members[int(bad.nonzero()[0])]
    raise LayerwiseError(
        f"{checkpoint.name}: {what} for {batch.kind[:-1]} {number} ({texts[number]!r:.80}) in "
        f"{checkpoint.dtype}; {_advice(checkpoint, what)}"
    )


def _advice(checkpoint: Checkpoint, what: str) -> str:
    advice = {"float16": "try dtype bfloat16 or float32", "bfloat16": "try dtype float32"}
    other = "" if "zero" in what else advice.get(checkpoint.dtype, "")
    if len(set(getattr(checkpoint.model, "hf_device_map", {}).values())) > 1:
        spread = "the model is spread over several devices, try one instead of device 'auto'"
        return f"{other}; {spread}" if other else spread
    return other or "check the weights"


def _to_numpy(states: torch.Tensor) -> Any:
    """On the CPU; numpy has no bfloat16, float32 holds it exactly."""
    return (states.float() if states.dtype == torch.bfloat16 else states).cpu().numpy()
