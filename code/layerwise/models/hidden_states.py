"""One forward pass per statement: pooled hidden states and token NLL, streamed to disk."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import accelerate
import numpy as np
import torch
from accelerate.utils import broadcast_object_list
from jaxtyping import Float

from layerwise.errors import LayerwiseError, reword_errors
from layerwise.files import n_processes
from layerwise.models.batches import Batch, plan_batches
from layerwise.models.chat_templates import OwnTemplate
from layerwise.models.fitting import Room, run_in_parts
from layerwise.models.forward import Unsound, forward, mean_token_nll, pool
from layerwise.models.load import Checkpoint, attention_kernel
from layerwise.models.needs import BATCH_TOKENS, kept_bytes
from layerwise.models.partial import Partial
from layerwise.models.passes import Passes
from layerwise.models.probe import probe
from layerwise.models.provenance import describe
from layerwise.models.store import (
    POOLINGS,
    HiddenStates,
    Index,
    Layer,
    digest_of_texts,
    open_states,
)
from layerwise.models.token_ids import SAME_IDS, Ids, Wrapping, check_texts, digests_of_ids
from layerwise.progress import meter

LAYOUT = 5  # raise when the same inputs would give other bytes
T = TypeVar("T")


def extract(
    checkpoint: Checkpoint,
    statements: Sequence[str],
    prompts: Sequence[str],
    folder: Path,
    *,
    template: Wrapping = "none",
    tokens_per_batch: int = BATCH_TOKENS,
    seconds: float | None = None,
    token_ids_sha256: Sequence[str] | None = None,
) -> HiddenStates:
    """Run every statement and prompt through the model once and store what `store` describes.

    Pooling is the papers' (Paper 1, notebooks 000-003): the mean over positions 1..T-1 in the
    model's dtype, the first token dropped whatever it is; the mean over all tokens, the last and
    the first token are stored beside it. NLL is the mean over the T-1 predicted tokens, nats.
    Work goes on in `<folder>.partial`; a second call resumes it, and returns a finished
    extraction of the same inputs at once. A model in memory is always run anew: no digest covers
    its hooks. Under a launcher every process takes whole batches. A batch that does not fit into
    memory is run in smaller parts, which `smaller_batches` of the index records: {number of the
    batch: texts at a time}.

    Args:
        template: what every statement is put into before it is tokenised (see `render`).
        tokens_per_batch: upper limit of tokens in a batch; part of the method in half precision.
        seconds: how long all passes are expected to take; the time left begins with it.
        token_ids_sha256: of the ids that the checkpoint was probed with; None: of whatever ids.

    Raises:
        LayerwiseError: before anything runs, for a text that is too short or too long or has other
            ids than before, too little room on the disk, or another run on the same folder; then
            for one text that does not fit into memory.
        UnsoundTexts: naming them all, for texts with states that are not finite or all zero.
    """
    if not statements or tokens_per_batch < 1:
        raise LayerwiseError(
            "an extraction needs at least one statement and one token per batch, found "
            f"{len(statements)} and {tokens_per_batch}"
        )
    texts = {"statements": statements, "prompts": prompts}
    ids = check_texts(checkpoint.declaration, texts, template)
    if token_ids_sha256 not in (None, digests_of_ids(ids)):
        raise LayerwiseError(f"{checkpoint.name}: {SAME_IDS}; load it anew")
    passes = checkpoint.passes or probe_in_all(checkpoint, ids, tokens_per_batch=tokens_per_batch)
    checkpoint = replace(checkpoint, passes=passes)
    limit = passes.tokens_per_batch(tokens_per_batch)
    index = _index_of(checkpoint, passes, texts, ids, template, limit)
    partial = _partial(checkpoint, ids, folder, index, limit)
    processes = _Processes.join(checkpoint)
    with contextlib.ExitStack() as stack:
        # the first process keeps the lock
        done = processes.first_decides(lambda: partial.begin(stack))
        if done is None:
            return open_states(folder)
        todo = [number for number in range(len(partial.batches)) if number not in done]
        with attention_kernel(checkpoint.model, passes.kernel):
            mine = todo[processes.rank :: processes.count]
            _run_all(checkpoint, partial, mine, texts, ids, seconds)
        processes.wait()
        if processes.rank == 0:
            partial.publish(index)
        processes.wait()
    return open_states(folder)


def _index_of(
    checkpoint: Checkpoint,
    passes: Passes,
    texts: Mapping[str, Sequence[str]],
    ids: Mapping[str, Sequence[Ids]],
    template: Wrapping,
    tokens_per_batch: int,
) -> Index:
    """Return what states are stored with: the model, how it is run, and the texts it is given."""
    index: Index = {
        "layout": LAYOUT,
        **describe(checkpoint),
        "attention": passes.kernel,
        "display": checkpoint.display,
        "family": checkpoint.family,
        "n_layers": checkpoint.n_layers,
        "hidden_size": checkpoint.hidden_size,
        "n_statements": len(texts["statements"]),
        "statements_sha256": digest_of_texts(texts["statements"]),
        "n_prompts": len(texts["prompts"]),
        "prompts_sha256": digest_of_texts(texts["prompts"]),
        "prompt_lengths": list(map(len, ids["prompts"])),
        "token_ids_sha256": digests_of_ids(ids),
        "adds_bos": checkpoint.declaration.adds_bos,
        "around": list(checkpoint.declaration.around),
        "tokens_per_batch": tokens_per_batch,
        "template": "own" if isinstance(template, OwnTemplate) else template,
    }
    if isinstance(template, OwnTemplate):
        index["template_options"] = dict(template.options)
    if checkpoint.rounding is not None:
        index["noise_seed"] = checkpoint.rounding.seed
    return index


@dataclass(frozen=True)
class _Processes:
    """This process among those that a launcher started."""

    rank: int
    count: int
    wait: Callable[[], None]

    @classmethod
    def join(cls, checkpoint: Checkpoint) -> _Processes:
        if n_processes() == 1:
            return cls(0, 1, lambda: None)
        where = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
        with reword_errors(
            where, "the processes do not find each other", "start them with one launcher"
        ):
            state = accelerate.PartialState(cpu=checkpoint.model.device.type == "cpu")
        return cls(state.process_index, state.num_processes, state.wait_for_everyone)

    def first_decides(self, decide: Callable[[], T]) -> T:
        """Return what the first process decides, or the error it meets, in every process."""
        if self.count == 1:
            return decide()
        outcome: list[Any] = [None, None]
        if self.rank == 0:
            try:
                outcome = [decide(), None]
            except (LayerwiseError, OSError) as error:
                outcome = [None, error]
        value, refusal = broadcast_object_list(outcome)
        if refusal is not None:
            raise refusal
        return value


def probe_in_all(
    checkpoint: Checkpoint,
    ids: Mapping[str, Sequence[Ids]],
    *,
    fixed_kernel: bool = False,
    tokens_per_batch: int = BATCH_TOKENS,
) -> Passes:
    """Return how to run a checkpoint; the first of several processes finds out for all.

    Arguments and errors are those of `probe`.
    """
    return _Processes.join(checkpoint).first_decides(
        lambda: probe(checkpoint, ids, fixed_kernel=fixed_kernel, tokens_per_batch=tokens_per_batch)
    )


def wait_for_all(checkpoint: Checkpoint) -> None:
    """Wait until every process of a launcher has come here; one alone goes on at once."""
    _Processes.join(checkpoint).wait()


def _partial(
    checkpoint: Checkpoint, ids: dict[str, list[Ids]], folder: Path, index: Index, limit: int
) -> Partial:
    lengths = {kind: list(map(len, texts)) for kind, texts in ids.items()}
    batches = [batch for kind, n in lengths.items() for batch in plan_batches(kind, n, limit)]
    fingerprint = hashlib.sha256(json.dumps(index, sort_keys=True).encode()).hexdigest()
    sizes = (checkpoint.hidden_size, checkpoint.n_layers, checkpoint.dtype)
    n_bytes = kept_bytes(len(ids["statements"]), sum(lengths["prompts"]), *sizes)
    return Partial(folder, fingerprint, batches, n_bytes, resumes=not checkpoint.in_memory)


def _run_all(
    checkpoint: Checkpoint,
    partial: Partial,
    numbers: Sequence[int],
    texts: dict[str, Sequence[str]],
    ids: dict[str, list[Ids]],
    seconds: float | None,
) -> None:
    """Run and keep batches, counted in tokens: short statements come first, long prompts last.

    After a text whose states are not sound, the others are run to name all such texts at once.
    """
    unsound = Unsound(texts)

    def run(part: Batch) -> dict[str, np.ndarray]:
        return _run(checkpoint, part, ids[part.kind], unsound)

    sizes, room = [len(batch.members) * batch.length for batch in partial.batches], Room()
    total = sum(sizes[number] for number in numbers)
    mine = None if seconds is None else seconds * total / sum(sizes)
    label = ", random weights" if checkpoint.has_random_weights else ""
    with meter(f"{checkpoint.display}{label}", "tokens", total, mine) as advance:
        for number in numbers:
            at_a_time, parts = run_in_parts(checkpoint, partial.batches[number], room, run)
            rows = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
            if not unsound.places:
                partial.save(number, at_a_time, rows)
            advance(sizes[number])
    if unsound.places:
        raise unsound.error(checkpoint)


def _run(
    checkpoint: Checkpoint, batch: Batch, ids: Sequence[Ids], unsound: Unsound
) -> dict[str, np.ndarray]:
    """Return a row per text of every array, by its name in `store`, of one forward pass.

    Texts whose states are not sound are added to `unsound`. What is pooled stays on its device
    until the pass is over: a GPU need not wait for each layer.
    """
    kept: dict[Layer, Any] = {}
    norms: dict[Layer, torch.Tensor] = {}

    def pooled_by(hidden: torch.Tensor) -> torch.Tensor:
        pooled = pool(hidden)
        return pooled if checkpoint.rounding is None else checkpoint.rounding(pooled)

    def see(layer: Layer, hidden: Float[torch.Tensor, "batch token hidden"]) -> None:
        norms[layer] = hidden.float().norm(dim=-1).norm(dim=1)
        # a copy: some blocks add to what they gave in place
        kept[layer] = _to_numpy(hidden.clone()) if batch.kind == "prompts" else pooled_by(hidden)

    tokens = torch.from_numpy(np.stack([ids[number] for number in batch.members])).long()
    with torch.inference_mode():
        passed = forward(checkpoint, tokens.to(checkpoint.model.device), see)
        for layer, sizes in _on_host(norms).items():
            unsound.add(f"hidden states at layer {layer}", batch.kind, batch.members, sizes)
        if batch.kind == "prompts":
            return {f"tokens/{layer}": states for layer, states in kept.items()}
        nll = mean_token_nll(checkpoint, passed, tokens)
        unsound.add("token NLLs", batch.kind, batch.members, nll + 1)  # 0 is one
    rows = {"nll": _to_numpy(nll.double())}
    for layer, states in _on_host(kept).items():
        pooled = _to_numpy(states)
        rows |= {f"{name}/{layer}": pooled[:, n] for n, name in enumerate(POOLINGS)}
    return rows


def _on_host(tensors: Mapping[Layer, torch.Tensor]) -> Mapping[Layer, torch.Tensor]:
    """Return tensors of one shape on the host, by one copy from each device."""
    by_device: dict[torch.device, list[Layer]] = {}
    for layer, tensor in tensors.items():
        by_device.setdefault(tensor.device, []).append(layer)
    copied: dict[Layer, torch.Tensor] = {}
    for device, layers in by_device.items():
        if device.type == "cpu":
            copied |= {layer: tensors[layer] for layer in layers}
        else:
            stacked = torch.stack([tensors[layer] for layer in layers]).cpu()
            copied |= dict(zip(layers, stacked, strict=True))
    return {layer: copied[layer] for layer in tensors}


def _to_numpy(states: torch.Tensor) -> Any:
    """Return an array on the CPU; numpy has no bfloat16, float32 holds it exactly."""
    return (states.float() if states.dtype == torch.bfloat16 else states).cpu().numpy()
