"""Time the extraction against the notebooks' way, both in one run on one machine.

    python benchmarks/extraction.py [--quick] [--pairs FILE]

Random weights in the shape of Pythia-160M, float32, CPU. Notebook 000 runs one statement at a
time, once per layer it reads (9) and once for the loss: 20 passes per pair. Notebooks 001 and
002 read all layers from one pass: 4 passes per pair. Both are timed on a sample of pairs and
scaled by the number of pairs; the extraction is timed whole, files and all. Prints medians.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import tokenizers
import torch
import transformers

from layerwise.hidden_states import extract
from layerwise.packed import packed_linears
from layerwise.pairs import read_pairs
from layerwise.store import HiddenStates, open_states
from layerwise.weights import Checkpoint

LAYERS_READ = 9  # notebook 000: layers 0, 4, ..., 32
N_PAIRS = 230
VOCABULARY = 50304


def pythia_160m() -> Checkpoint:
    """Random weights, and a tokenizer that makes one token of every word."""
    config = transformers.GPTNeoXConfig(
        hidden_size=768,
        num_hidden_layers=12,
        num_attention_heads=12,
        intermediate_size=3072,
        vocab_size=VOCABULARY,
        bos_token_id=0,
        eos_token_id=0,
    )
    torch.manual_seed(0)
    network = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    words = {f"w{number}": number for number in range(VOCABULARY)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="w0"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return Checkpoint(
        model=network.eval(),
        tokenizer=transformers.PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, bos_token="w0", unk_token="w0"
        ),
        name="random-pythia-160m",
        display="random weights, Pythia-160M shape",
        revision="seed 0",
        dtype="float32",
        family="gpt_neox",
        n_layers=12,
        hidden_size=768,
    )


def synthetic(n_pairs: int) -> list[str]:
    """Statements of 8 to 16 words, A sides first."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(8, 17, 2 * n_pairs)
    return [" ".join(f"w{w}" for w in rng.integers(1, VOCABULARY, n)) for n in lengths]


def naive_pooled(checkpoint: Checkpoint, text: str, layer: int) -> np.ndarray:
    """One pass for one layer of one statement."""
    inputs = checkpoint.tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        out = checkpoint.model(
            input_ids=inputs.input_ids,
            attention_mask=inputs.attention_mask,
            output_hidden_states=True,
        )
    return out.hidden_states[layer][0, 1:].mean(dim=0).numpy().astype(np.float32)


def naive_nll(checkpoint: Checkpoint, text: str) -> float:
    """One more pass for the loss."""
    ids = checkpoint.tokenizer(text, return_tensors="pt").input_ids
    with torch.no_grad():
        return float(checkpoint.model(input_ids=ids, labels=ids).loss)


def seconds_per_pair(checkpoint: Checkpoint, texts: list[str], passes: int) -> float:
    """Seconds for `passes` hidden-state passes and one loss pass per side of a pair."""
    start = time.perf_counter()
    for text in texts:
        for layer in range(passes):
            naive_pooled(checkpoint, text, min(layer, checkpoint.n_layers))
        naive_nll(checkpoint, text)
    return (time.perf_counter() - start) / (len(texts) / 2)


@contextlib.contextmanager
def attention(checkpoint: Checkpoint, kind: str):
    """The notebooks take transformers' default (SDPA), the extraction eager attention."""
    checkpoint.model.set_attn_implementation(kind)
    yield
    checkpoint.model.set_attn_implementation("eager")


def timed(call: Callable[[], object]) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def run_extraction(checkpoint: Checkpoint, texts: list[str], folder: Path) -> HiddenStates:
    """The whole extraction, setting up and writing included."""
    return extract(checkpoint, texts, (), folder)


def gemm_rate(checkpoint: Checkpoint, linears: str) -> float:
    """Multiply-add rate of one MLP matrix on a full batch, 2 x 2048 x 768 x 3072 flop per call."""
    layer = checkpoint.blocks[0].mlp.dense_h_to_4h
    states = torch.randn(2048, 768)
    with packed_linears(layer, linears), torch.inference_mode():
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats and sampled pairs")
    parser.add_argument("--pairs", type=Path, help="statement pairs; default: synthetic ones")
    arguments = parser.parse_args()
    checkpoint = pythia_160m()
    if arguments.pairs:
        words = [f"w{number}" for number in range(1, VOCABULARY)]
        pairs = read_pairs(arguments.pairs)
        # the random tokenizer knows no English: keep the statements' lengths in words
        texts = [" ".join(words[: 1 + len(text.split())]) for text in pairs.statements]
    else:
        texts = synthetic(N_PAIRS)
    n_pairs = len(texts) // 2
    repeats, sampled = (2, 2) if arguments.quick else (5, 4)
    print(f"{torch.get_num_threads()} threads, {n_pairs} pairs, {repeats} repeats")
    ours: list[float] = []
    many: list[float] = []
    few: list[float] = []
    rates: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        run_extraction(checkpoint, texts[:8], out / "warm-up")
        for repeat in range(repeats):  # the sides take turns: a slow minute hits both
            spread = np.linspace(0, len(texts) - 1, 2 * sampled).astype(int)
            sample = [texts[i] for i in spread]
            with attention(checkpoint, "sdpa"):
                many.append(n_pairs * seconds_per_pair(checkpoint, sample, LAYERS_READ))
                few.append(n_pairs * seconds_per_pair(checkpoint, sample, 1))
            ours.append(timed(lambda: run_extraction(checkpoint, texts, out / "all")))
            states = open_states(out / "all")
            linears = states.index["linears"]
            if repeat == 0:
                disagreement(checkpoint, texts, states)
            rates.append(needed_flop(checkpoint, texts) / ours[-1] / gemm_rate(checkpoint, linears))
            shutil.rmtree(states.folder)
        print(f"linear layers: {linears}")
        median = statistics.median(ours)
        print(f"extraction:                      {median:8.1f} s ({min(ours):.1f}-{max(ours):.1f})")
        for name, times in (("20 passes per pair", many), ("4 passes per pair", few)):
            ratio = statistics.median(t / o for t, o in zip(times, ours, strict=True))
            print(f"{name + ' (scaled):':32} {statistics.median(times):8.1f} s, {ratio:.1f} times")
        print(f"fraction of the GEMM rate:       {statistics.median(rates):8.2f}")
        print("growth (statements: milliseconds each):")
        for factor in (1, 2, 4):
            grown = texts[: len(texts) * factor // 4]
            place = out / f"{len(grown)}"
            seconds = timed(lambda some=grown, to=place: run_extraction(checkpoint, some, to))
            print(f"  {len(grown):6}: {1e3 * seconds / len(grown):.1f}")


if __name__ == "__main__":
    main()
