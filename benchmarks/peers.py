"""Other tools on the same checkpoint and token ids, each in its best setting, for extraction.py.

Runs in an environment of its own, made from a hash-checked lock:

    python -m venv .venv-peers
    .venv-peers/bin/pip install --no-deps --require-hashes -r benchmarks/peers.lock

`models.py` starts `peers.py CHECKPOINT WORK` there, writes the name of a peer to its standard
input whenever that peer's turn has come, and reads one line of JSON: seconds, or the error. The
answers are in WORK/<peer>.npz: NLL per statement (nats) and, but for the harness, which computes
none, the hidden states of every block, mean over positions 1..T-1.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

Batches = list[torch.Tensor]  # (statement, token): one length each, nothing padded
Answers = tuple[
    list[torch.Tensor], list[torch.Tensor]
]  # NLL, pooled states (layer, statement, ...)
HARNESS_BATCH = 32


def load(path: str) -> Any:
    """Eager attention is the faster one for short statements."""
    return transformers.AutoModelForCausalLM.from_pretrained(
        path, dtype=torch.float32, attn_implementation="eager"
    ).eval()


def mean_nll(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Per statement, nats."""
    flat = torch.nn.functional.cross_entropy(
        logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), reduction="none"
    )
    return flat.view(len(tokens), -1).mean(dim=1)


def plain_transformers(path: str) -> Callable[[Batches], Answers]:
    """`output_hidden_states` in batches of one length."""
    model = load(path)

    def run(batches: Batches) -> Answers:
        nll, states = [], []
        for tokens in batches:
            out = model(tokens, output_hidden_states=True, use_cache=False)
            nll.append(mean_nll(out.logits, tokens))
            states.append(torch.stack([one[:, 1:].mean(dim=1) for one in out.hidden_states[1:-1]]))
        return nll, states

    return run


def lm_evaluation_harness(path: str) -> Callable[[Batches], Answers]:
    """Log-likelihoods only, batches of 32 as it sorts and pads them."""
    from lm_eval.models.huggingface import HFLM

    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    harness = HFLM(pretrained=load(path), tokenizer=tokenizer, batch_size=HARNESS_BATCH)

    def run(batches: Batches) -> Answers:
        rows = [row.tolist() for tokens in batches for row in tokens]
        requests = [(None, row[:1], row[1:]) for row in rows]
        found = harness._loglikelihood_tokens(requests, disable_tqdm=True)
        return [torch.tensor([-f[0] / (len(r) - 1) for f, r in zip(found, rows, strict=True)])], []

    return run


def nnsight_trace(path: str) -> Callable[[Batches], Answers]:
    """One trace per batch of one length, pooled inside the trace."""
    import nnsight

    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    model = nnsight.LanguageModel(load(path), tokenizer=tokenizer)
    blocks = list(model.gpt_neox.layers)[:-1]

    def run(batches: Batches) -> Answers:
        nll, states = [], []
        for tokens in batches:
            with model.trace({"input_ids": tokens}):
                pooled = nnsight.save([block.output[:, 1:].mean(dim=1) for block in blocks])
                logits = model.output.logits.save()
            nll.append(mean_nll(logits, tokens))
            states.append(torch.stack(list(pooled)))
        return nll, states

    return run


def transformer_lens_cache(path: str) -> Callable[[Batches], Answers]:
    """Its bridge to transformers, batches of one length, the residual stream pooled in hooks."""
    from transformer_lens.model_bridge import TransformerBridge

    network = load(path)
    model = TransformerBridge.boot_transformers(
        path,
        hf_model=network,
        tokenizer=transformers.AutoTokenizer.from_pretrained(path),
        device="cpu",
        dtype=torch.float32,
    )
    names = [f"blocks.{n}.hook_resid_post" for n in range(network.config.num_hidden_layers - 1)]

    def run(batches: Batches) -> Answers:
        nll, states = [], []
        for tokens in batches:
            pooled: list[torch.Tensor] = []

            def keep(states: torch.Tensor, hook: Any, to: list[torch.Tensor] = pooled) -> None:
                to.append(states[:, 1:].mean(dim=1))

            logits = model.run_with_hooks(tokens, fwd_hooks=[(name, keep) for name in names])
            nll.append(mean_nll(logits, tokens))
            states.append(torch.stack(pooled))
        return nll, states

    return run


PEERS = {
    "transformers": plain_transformers,
    "lm-evaluation-harness": lm_evaluation_harness,
    "nnsight": nnsight_trace,
    "TransformerLens": transformer_lens_cache,
}


def one_turn(run: Callable[[Batches], Answers], batches: Batches, file: Path) -> dict[str, float]:
    """Seconds of one run over all batches, by both clocks; the answers are saved afterwards."""
    with torch.inference_mode():
        wall, cpu = time.perf_counter(), time.process_time()
        nll, states = run(batches)
        took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    arrays = {"nll": torch.cat(nll).numpy()}
    if states:
        arrays["states"] = torch.cat(states, dim=1).numpy()
    np.savez(file, **arrays)
    return took


def main() -> None:
    """Answer one request per line until standard input ends."""
    if len(sys.argv) != 3:
        print("peers.py: started by extraction.py, nothing to measure alone")
        return
    path, work = sys.argv[1], Path(sys.argv[2])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the tools print goes to standard error
    batches = [torch.tensor(rows) for rows in json.loads((work / "batches.json").read_text())]
    ready: dict[str, Callable[[Batches], Answers]] = {}
    for line in sys.stdin:
        name = line.strip()
        reply: dict[str, object] = {"peer": name}
        try:
            if name not in ready:
                ready[name] = PEERS[name](path)
                with torch.inference_mode():
                    ready[name](batches[:1])
            reply |= one_turn(ready[name], batches, work / f"{name}.npz")
        except Exception as error:  # a peer that does not work is reported, not dropped
            reply["error"] = f"{type(error).__name__}: {error}".splitlines()[0]
        print(json.dumps(reply), file=answers, flush=True)


if __name__ == "__main__":
    main()
