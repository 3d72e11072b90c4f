"""Time the extraction against the notebooks' way and a plain loop, all in one run on one machine.

    python benchmarks/extraction.py [--quick] [--pairs FILE] [--cpu-time]

Random weights in the shape of Pythia-160M, float32, CPU. Notebook 000 runs one statement at a
time, once per layer it reads (9) and once for the loss: 20 passes per pair. Notebooks 001 and
002 read all layers from one pass: 4 passes per pair. Both are timed on a sample of pairs and
scaled by the number of pairs; the extraction is timed whole, files and all, and so is a loop of
plain transformers over the same batches. Prints medians, ratios and the fraction of the rate of a
matrix product measured in between. On a machine that others use too, OMP_NUM_THREADS=1 with
--cpu-time is the steadier comparison: seconds of one core, not of the clock on the wall.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
import torch
import transformers

from layerwise.models.batches import plan_batches
from layerwise.models.hidden_states import extract
from layerwise.models.load import Checkpoint, attention_kernel
from layerwise.models.store import HiddenStates, open_states
from layerwise.papers.fetching.texts import read_pairs

LAYERS_READ = 9  # notebook 000: layers 0, 4, ..., 32
N_PAIRS = 230
VOCABULARY = 50304
# hidden size, blocks, heads, rows of the embedding
SHAPES = {
    "pythia-70m": (512, 6, 8, VOCABULARY),
    "pythia-160m": (768, 12, 12, VOCABULARY),
    "pythia-6p9b": (4096, 32, 32, 50432),
    "pythia-12b": (5120, 36, 40, 50688),
    "tiny": (64, 3, 4, 512),
}
TOKENS_PER_BATCH = 2048  # of ours and of the tools that batch
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
clock = "wall"  # which of them; --cpu-time takes the other


def random_weights(
    shape: str, device: str = "cpu", dtype: torch.dtype = torch.float32
) -> Checkpoint:
    """A GPT-NeoX of one of `SHAPES` with random weights, made where they are used."""
    hidden, n_blocks, n_heads, vocabulary = SHAPES[shape]
    config = transformers.GPTNeoXConfig(
        hidden_size=hidden,
        num_hidden_layers=n_blocks,
        num_attention_heads=n_heads,
        intermediate_size=4 * hidden,
        vocab_size=vocabulary,
        bos_token_id=0,
        eos_token_id=0,
    )
    torch.manual_seed(0)
    with torch.device(device):
        network = transformers.AutoModelForCausalLM.from_config(
            config, dtype=dtype, attn_implementation="eager"
        )
    return checkpoint_of(network, shape)


def checkpoint_of(network: Any, shape: str) -> Checkpoint:
    """A checkpoint whose tokenizer makes one token of every word w0, w1, ..."""
    words = {f"w{number}": number for number in range(network.config.vocab_size)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="w0"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return Checkpoint(
        model=network.eval(),
        tokenizer=transformers.PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, bos_token="w0", unk_token="w0"
        ),
        name=f"random-{shape}",
        display=f"random weights in the shape of {shape}",
        revision="seed 0",
        dtype=str(network.dtype).removeprefix("torch."),
        kernel=network.config._attn_implementation,
    )


def synthetic(n_pairs: int, vocabulary: int = VOCABULARY) -> list[str]:
    """Statements of 8 to 16 words, A sides first."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(8, 17, 2 * n_pairs)
    return [" ".join(f"w{w}" for w in rng.integers(1, vocabulary, n)) for n in lengths]


def naive_pooled(checkpoint: Checkpoint, text: str, layer: int) -> np.ndarray:
    """One pass for one layer of one statement."""
    inputs = checkpoint.tokenizer(text, return_tensors="pt").to(checkpoint.model.device)
    with torch.no_grad():
        out = checkpoint.model(
            input_ids=inputs.input_ids,
            attention_mask=inputs.attention_mask,
            output_hidden_states=True,
        )
    return out.hidden_states[layer][0, 1:].mean(dim=0).float().cpu().numpy()


def naive_nll(checkpoint: Checkpoint, text: str) -> float:
    """One more pass for the loss."""
    ids = checkpoint.tokenizer(text, return_tensors="pt").input_ids.to(checkpoint.model.device)
    with torch.no_grad():
        return float(checkpoint.model(input_ids=ids, labels=ids).loss)


def seconds_per_pair(checkpoint: Checkpoint, texts: list[str], passes: int) -> float:
    """Seconds for `passes` hidden-state passes and one loss pass per side of a pair."""

    def whole() -> None:
        for text in texts:
            for layer in range(passes):
                naive_pooled(checkpoint, text, min(layer, checkpoint.n_layers))
            naive_nll(checkpoint, text)

    return timed(whole) / (len(texts) / 2)


def timed(call: Callable[[], object]) -> float:
    """Seconds of one call."""
    start = CLOCKS[clock]()
    call()
    return CLOCKS[clock]() - start


def gemm_rate(checkpoint: Checkpoint) -> float:
    """Multiply-add rate of one MLP matrix on a full batch, 2 x 2048 x 768 x 3072 flop per call."""
    layer = checkpoint.blocks[0].mlp.dense_h_to_4h
    states = torch.randn(TOKENS_PER_BATCH, 768)
    with torch.inference_mode():
        fastest = min(timed(lambda: layer(states)) for _ in range(20))
    return 2 * states.shape[0] * layer.weight.numel() / fastest


def needed_flop(checkpoint: Checkpoint, texts: list[str]) -> float:
    """Multiply-adds of all matrices: blocks for every token, head for every predicted one."""
    tokens = [len(ids) for ids in checkpoint.tokenizer(texts).input_ids]
    matrices = sum(
        module.weight.numel()
        for block in checkpoint.blocks
        for module in block.modules()
        if isinstance(module, torch.nn.Linear)
    )
    head = checkpoint.head.weight.numel()
    return 2.0 * (matrices * sum(tokens) + head * (sum(tokens) - len(tokens)))


def disagreement(checkpoint: Checkpoint, texts: list[str], states: HiddenStates) -> None:
    """Print the largest differences from one-by-one passes, over every tenth statement."""
    some = range(0, len(texts), 10)
    gaps = [
        np.abs(states.pooled(layer)[number] - naive_pooled(checkpoint, texts[number], layer)).max()
        for number in some
        for layer in (0, 4, 8, 12)
    ]
    nll = [abs(states.nll[number] - naive_nll(checkpoint, texts[number])) for number in some]
    print(f"largest difference: pooled states {max(gaps):.1e}, NLL {max(nll):.1e} nats")


def plain_batches(checkpoint: Checkpoint, texts: list[str]) -> None:
    """Pooled hidden states and NLL of every statement, a batch of one length at a time."""
    ids = checkpoint.tokenizer(texts).input_ids
    with attention_kernel(checkpoint.model, "sdpa"), torch.inference_mode():
        for batch in plan_batches("statements", list(map(len, ids)), TOKENS_PER_BATCH):
            tokens = torch.tensor([ids[number] for number in batch.members])
            out = checkpoint.model(input_ids=tokens, output_hidden_states=True)
            for hidden in out.hidden_states:
                hidden[:, 1:].mean(dim=1).float().numpy()
            logits = out.logits[:, :-1].float().transpose(1, 2)
            losses = torch.nn.functional.cross_entropy(logits, tokens[:, 1:], reduction="none")
            losses.mean(dim=1).numpy()


def loops(checkpoint: Checkpoint, texts: list[str], n_sampled: int) -> tuple[float, float]:
    """Seconds of both notebooks' ways for all pairs, from a sample of them."""
    spread = np.linspace(0, len(texts) - 1, 2 * n_sampled).astype(int)
    sample, n_pairs = [texts[i] for i in spread], len(texts) // 2
    with attention_kernel(checkpoint.model, "sdpa"):  # the default of transformers
        many = n_pairs * seconds_per_pair(checkpoint, sample, LAYERS_READ)
        few = n_pairs * seconds_per_pair(checkpoint, sample, 1)
    return many, few


def report(ours: list[float], others: dict[str, list[float]]) -> None:
    """Medians, the fastest run, and the median of the ratios of each round."""
    median = statistics.median(ours)
    print(f"{'extraction':34}{median:8.1f} s, fastest {min(ours):.1f}, slowest {max(ours):.1f}")
    for name, times in others.items():
        ratios = [time / mine for time, mine in zip(times, ours, strict=True)]
        print(
            f"{name:34}{statistics.median(times):8.1f} s, {statistics.median(ratios):.2f} times "
            f"({min(ratios):.2f} to {max(ratios):.2f})"
        )


def growth(checkpoint: Checkpoint, texts: list[str], out: Path) -> None:
    """Time per statement against their number."""
    print("growth (statements: milliseconds each):")
    for factor in (1, 2, 4):
        grown = texts[: len(texts) * factor // 4]
        place = out / f"{len(grown)}"
        seconds = timed(lambda some=grown, to=place: extract(checkpoint, some, (), to))
        print(f"  {len(grown):6}: {1e3 * seconds / len(grown):.1f}")


def read_texts(pairs: Path | None) -> list[str]:
    """Synthetic statements, or words as many as a file's statements have."""
    if pairs is None:
        return synthetic(N_PAIRS)
    words = [f"w{number}" for number in range(1, VOCABULARY)]
    # the random tokenizer knows no English: keep the statements' lengths in words
    return [" ".join(words[: 1 + len(text.split())]) for text in read_pairs(pairs).statements]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats and sampled pairs")
    parser.add_argument("--pairs", type=Path, help="statement pairs; default: synthetic ones")
    parser.add_argument("--cpu-time", action="store_true", help="processor time, not wall time")
    arguments = parser.parse_args()
    global clock
    clock = "cpu" if arguments.cpu_time else "wall"
    checkpoint, texts = random_weights("pythia-160m"), read_texts(arguments.pairs)
    repeats, sampled = (2, 2) if arguments.quick else (5, 4)
    threads, n_pairs = torch.get_num_threads(), len(texts) // 2
    print(f"{threads} threads, {n_pairs} pairs, {repeats} rounds, {clock} time", flush=True)
    ours: list[float] = []
    looped: list[tuple[float, float]] = []
    batched: list[float] = []
    rates: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        extract(checkpoint, texts[:8], (), out / "warm-up")
        for number in range(repeats):  # the sides take turns: a slow minute hits all
            looped.append(loops(checkpoint, texts, sampled))
            ours.append(timed(lambda: extract(checkpoint, texts, (), out / "all")))
            rates.append(gemm_rate(checkpoint))
            batched.append(timed(lambda: plain_batches(checkpoint, texts)))
            states = open_states(out / "all")
            if number == 0:
                disagreement(checkpoint, texts, states)
            shutil.rmtree(states.folder)
        many, few = map(list, zip(*looped, strict=True))
        loop_times = {"20 passes per pair (scaled)": many, "4 passes per pair (scaled)": few}
        report(ours, {**loop_times, "plain transformers, batches": batched})
        needed = needed_flop(checkpoint, texts)
        parts = [needed / t / r for t, r in zip(ours, rates, strict=True)]
        print(
            f"matrix product: {statistics.median(rates) / 1e9:.0f} GFLOP/s; the extraction reaches "
            f"{statistics.median(parts):.2f} of it ({min(parts):.2f} to {max(parts):.2f})"
        )
        growth(checkpoint, texts, out)


if __name__ == "__main__":
    main()
