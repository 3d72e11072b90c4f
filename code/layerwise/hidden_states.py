"""One forward pass per statement: pooled hidden states, norms and token NLL, streamed to disk."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import accelerate
import torch
import transformers
from jaxtyping import Bool, Float, Float32
from tqdm import tqdm

from layerwise.errors import LayerwiseError, TextError
from layerwise.files import publish_folder, read_json, write_json
from layerwise.forward import forward, mean_token_nll, pool, token_norms
from layerwise.packed import Linears, choose_linears, packed_linears
from layerwise.shards import Batch, Plan, Shard, finished_batches, plan_batches, prepare
from layerwise.store import HiddenStates, Layer, digest_of_texts, open_states
from layerwise.weights import Checkpoint

TEXTS_AT_ONCE = 256  # the tokenizer keeps much more than ids of what it takes at once
LAYOUT = 1  # raise when the same inputs would give other bytes


def extract(
    checkpoint: Checkpoint,
    statements: Sequence[str],
    prompts: Sequence[str],
    folder: Path,
    *,
    tokens_per_batch: int = 2048,
    linears: Linears | None = None,
    progress: bool | None = None,
) -> HiddenStates:
    """Run every statement and prompt through the model once and store what `store` describes.

    Pooling is the papers' (Paper 1, notebooks 000-003): the mean over positions 1..T-1 in the
    model's dtype, the first token dropped whatever it is; the mean over all tokens, the last and
    the first token are stored beside it. NLL is the mean over the T-1 predicted tokens, nats.
    Work goes on in `<folder>.partial`; a second call resumes it, and returns a finished
    extraction of the same inputs at once. Under a launcher every process takes whole batches.

    Args:
        tokens_per_batch: upper limit of tokens in a batch; part of the method in half precision.
        linears: `packed` or `plain` linear layers, None for `choose_linears`.
        progress: show a progress bar; None shows it on a terminal only.

    Raises:
        LayerwiseError: for a statement of one token or a text longer than the model's context
            (before anything runs), non-finite or all-zero states, or too little memory.
    """
    if not statements or tokens_per_batch < 1:
        raise LayerwiseError(
            "an extraction needs at least one statement and one token per batch, found "
            f"{len(statements)} and {tokens_per_batch}"
        )
    texts = {"statements": list(statements), "prompts": list(prompts)}
    ids = {kind: _tokenize(checkpoint, kind, texts[kind]) for kind in texts}
    chosen = choose_linears(checkpoint.model, linears)
    index = _index(checkpoint, texts, ids, tokens_per_batch, chosen)
    if (folder / "index.json").is_file():
        found = read_json(folder / "index.json")
        if found.get("fingerprint") == index["fingerprint"]:
            return open_states(folder)
    plan = _plan(checkpoint, ids, tokens_per_batch)
    processes = _Processes.of(checkpoint)
    partial = folder.with_name(folder.name + ".partial")
    if processes.rank == 0:
        prepare(partial, index["fingerprint"])
    processes.wait()
    shards = sorted(partial.glob("rank_*"))
    done = {number for shard in shards for number in finished_batches(shard)}
    processes.wait()  # nobody writes before everybody has read
    todo = [number for number in range(len(plan.batches)) if number not in done]
    shard = Shard(partial / f"rank_{processes.rank:02d}", plan)
    try:
        with packed_linears(checkpoint.model, chosen):
            for number in tqdm(
                todo[processes.rank :: processes.count],
                desc=checkpoint.display,
                unit="batch",
                disable=processes.rank > 0 or (None if progress is None else not progress),
            ):
                batch = plan.batches[number]
                _run(checkpoint, batch, texts[batch.kind], ids[batch.kind], shard)
                shard.finish(number)
    finally:
        shard.close()  # an error or Ctrl-C keeps every whole batch
    processes.wait()
    if processes.rank == 0:
        _publish(partial, plan, index, folder)
    processes.wait()
    return open_states(folder)


def _publish(partial: Path, plan: Plan, index: dict[str, Any], folder: Path) -> None:
    """Merge all shards into the first, complete it, move it into place."""
    first, *others = sorted(partial.glob("rank_*"))
    shard = Shard(first, plan)
    for other in others:
        shard.absorb(other)
    shard.close()
    (first / "journal").unlink()
    write_json(first / "index.json", index)
    publish_folder(first, folder)
    shutil.rmtree(partial)


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


def _tokenize(checkpoint: Checkpoint, kind: str, texts: list[str]) -> list[list[int]]:
    """Token ids of every text, BOS where the tokenizer adds it; lengths are checked here."""
    ids = [
        list(map(int, one))
        for start in range(0, len(texts), TEXTS_AT_ONCE)
        for one in checkpoint.tokenizer(texts[start : start + TEXTS_AT_ONCE]).input_ids
    ]
    # statements need a token to predict; a prompt only needs one to look at
    fewest = 2 if kind == "statements" else 1
    most = getattr(checkpoint.model.config, "max_position_embeddings", None)
    rows = checkpoint.model.get_input_embeddings().weight.shape[0]
    for number, (text, tokens) in enumerate(zip(texts, ids, strict=True)):
        place = f"{kind[:-1]} {number} ({text!r:.80})"
        if len(tokens) < fewest:
            raise TextError(
                f"{place}: {kind} need at least {fewest} tokens, {checkpoint.name}'s tokenizer "
                f"makes {len(tokens)} of it; write a longer text or leave it out",
                kind,
                number,
            )
        if most is not None and len(tokens) > most:
            raise TextError(
                f"{place}: {checkpoint.name} takes at most {most} tokens, this text has "
                f"{len(tokens)}; shorten it",
                kind,
                number,
            )
        if max(tokens, default=0) >= rows:
            raise LayerwiseError(
                f"{place}: the tokenizer of {checkpoint.name} gives id {max(tokens)}, the model "
                f"has embeddings for ids below {rows}; use the tokenizer of this model"
            )
    return ids


def _index(
    checkpoint: Checkpoint,
    texts: dict[str, list[str]],
    ids: dict[str, list[list[int]]],
    tokens_per_batch: int,
    linears: Linears,
) -> dict[str, Any]:
    """What index.json holds; the fingerprint covers everything that can change a number."""
    index = {
        "layout": LAYOUT,
        "model": checkpoint.name,
        "display": checkpoint.display,
        "revision": checkpoint.revision,
        "family": checkpoint.family,
        "dtype": checkpoint.dtype,
        "device": checkpoint.model.device.type,
        "n_layers": checkpoint.n_layers,
        "hidden_size": checkpoint.hidden_size,
        "n_statements": len(texts["statements"]),
        "statements_sha256": digest_of_texts(texts["statements"]),
        "n_prompts": len(texts["prompts"]),
        "prompt_lengths": [len(tokens) for tokens in ids["prompts"]],
        "adds_bos": checkpoint.adds_bos,
        "tokens_per_batch": tokens_per_batch,
        "attention": "eager",
        "linears": linears,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    everything = json.dumps([index, texts, ids], sort_keys=True)
    return {**index, "fingerprint": hashlib.sha256(everything.encode()).hexdigest()}


def _plan(checkpoint: Checkpoint, ids: dict[str, list[list[int]]], tokens_per_batch: int) -> Plan:
    lengths = {kind: [len(tokens) for tokens in ids[kind]] for kind in ids}
    starts = [0]
    for length in lengths["prompts"]:
        starts.append(starts[-1] + length)
    return Plan(
        n_layers=checkpoint.n_layers,
        hidden_size=checkpoint.hidden_size,
        final_size=checkpoint.head.weight.shape[1],
        dtype="float16" if checkpoint.dtype == "float16" else "float32",
        n_statements=len(ids["statements"]),
        prompt_starts=tuple(starts),
        batches=plan_batches("statements", lengths["statements"], tokens_per_batch)
        + plan_batches("prompts", lengths["prompts"], tokens_per_batch),
    )


def _run(
    checkpoint: Checkpoint, batch: Batch, texts: list[str], ids: list[list[int]], shard: Shard
) -> None:
    """One forward pass of one batch, written to the shard layer by layer."""

    def see(layer: Layer, hidden: Float[torch.Tensor, "batch token hidden"]) -> None:
        norms = token_norms(hidden)
        _check_states(checkpoint, batch, texts, layer, norms[-1])
        if batch.kind == "prompts":
            shard.write_tokens(batch, layer, _to_numpy(hidden))
        else:
            shard.write_states(batch, layer, _to_numpy(pool(hidden)), norms.cpu().numpy())

    tokens = torch.tensor([ids[member] for member in batch.members])
    try:
        with torch.inference_mode():
            hidden = forward(checkpoint, tokens.to(checkpoint.model.device), see)
            if batch.kind == "statements":
                nll = mean_token_nll(checkpoint, hidden, tokens)
                _require(checkpoint, batch, texts, ~torch.isfinite(nll), "token NLL is not finite")
                shard.write_nll(batch, nll.double().cpu().numpy())
    except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and not _is_out_of_memory(error):
            raise
        raise LayerwiseError(
            f"out of memory on a batch of {len(batch.members)} {batch.kind} of {batch.length} "
            "tokens; lower tokens_per_batch, use a 16-bit dtype, or device 'auto'"
        ) from error


def _check_states(
    checkpoint: Checkpoint,
    batch: Batch,
    texts: list[str],
    layer: Layer,
    frobenius: Float32[torch.Tensor, " batch"],
) -> None:
    bad = ~torch.isfinite(frobenius) | (frobenius == 0)
    what = "all zero" if bad.any() and frobenius[bad][0] == 0 else "not finite"
    _require(checkpoint, batch, texts, bad, f"hidden states at layer {layer} are {what}")


def _require(
    checkpoint: Checkpoint,
    batch: Batch,
    texts: list[str],
    bad: Bool[torch.Tensor, " batch"],
    what: str,
) -> None:
    if not bad.any():
        return
    number = batch.members[int(bad.nonzero()[0])]
    other = {"float16": "bfloat16 or float32", "bfloat16": "float32"}.get(checkpoint.dtype)
    advice = f"try dtype {other}" if other else "check the weights"
    raise LayerwiseError(
        f"{checkpoint.name}: {what} for {batch.kind[:-1]} "
        f"{number} ({texts[number]!r:.80}) in {checkpoint.dtype}; {advice}, and one device "
        "instead of 'auto'"
    )


def _to_numpy(states: torch.Tensor) -> Any:
    """On the CPU; numpy has no bfloat16, float32 holds it exactly."""
    return (states.float() if states.dtype == torch.bfloat16 else states).cpu().numpy()


def _is_out_of_memory(error: RuntimeError) -> bool:
    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)
