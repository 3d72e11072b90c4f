"""Measure how memory and time grow: extraction to 46,000 statements, statistics to 100,000 pairs.

    python benchmarks/scale.py [--quick]

Every size runs in a process of its own, one after the other, and reports its peak memory. The
model is random, in the shape of Pythia-70M, the smallest of the registry; its states go to disk
(3.2 GB for 46,000 statements). The statistics have 64 hidden dimensions and one sampled layer.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SIZES = (460, 4_600, 46_000)
PAIRS = (10_000, 100_000)
WORDS = 4_000


def statements(n: int) -> list[str]:
    """Statements of 8 to 16 words."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(8, 17, n)
    return [" ".join(f"w{word}" for word in rng.integers(1, WORDS, length)) for length in lengths]


def extract(n: int, folder: Path) -> None:
    """Extract n statements with random weights of the smallest model's shape, Pythia-70M."""
    import tokenizers
    import transformers

    from layerwise.extraction.hidden_states import extract
    from layerwise.extraction.load import Checkpoint

    config = transformers.GPTNeoXConfig(
        hidden_size=512, num_hidden_layers=6, num_attention_heads=8, intermediate_size=2048,
        vocab_size=50304, bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    network = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    words = {f"w{number}": number for number in range(WORDS)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="w0"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    checkpoint = Checkpoint(
        model=network.eval(),
        tokenizer=transformers.PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, bos_token="w0", unk_token="w0"
        ),
        name="random",
        display="random weights",
        revision="none",
        dtype="float32",
        family="gpt_neox",
        n_layers=6,
        hidden_size=512,
        folder=folder,
    )
    extract(checkpoint, statements(n), (), folder / "out")


def random_states(n: int, folder: Path, hidden: int = 64) -> None:
    """A finished extraction of random states of n pairs, one block deep, written in blocks."""
    from safetensors.numpy import save_file

    from layerwise.extraction.store import BEFORE_NORM, POOLINGS, digest_of_texts

    rng = np.random.default_rng(0)
    folder.mkdir(parents=True)
    starts = range(0, 2 * n, 10_000)
    for number, start in enumerate(starts):
        members = np.arange(start, min(start + 10_000, 2 * n))
        batch = {"members": members, "nll": rng.gamma(4.0, size=len(members))}
        for name in (f"{of}/{layer}" for of in POOLINGS for layer in (0, 1, BEFORE_NORM)):
            batch[name] = (0.5 + rng.normal(size=(len(members), hidden))).astype(np.float16)
        save_file(batch, folder / f"statements_{number:05d}.safetensors")
    index = {"model": "random", "display": "random", "n_layers": 1, "hidden_size": hidden}
    index["n_batches"] = len(starts)
    index |= {"n_prompts": 0, "statements_sha256": digest_of_texts(pairs_of(n).statements)}
    (folder / "index.json").write_text(json.dumps(index))


def pairs_of(n: int):
    """n pairs in six categories."""
    from layerwise.inputs.pairs import StatementPairs

    sides = [tuple(f"{side} {number}" for number in range(n)) for side in "ab"]
    return StatementPairs(tuple("uvwxyz"), np.arange(n) % 6, *sides)


def measure(n: int, folder: Path) -> None:
    """Values of n pairs, then one interval of 10,000 resamples."""
    from layerwise.experiments.reduction import measure
    from layerwise.extraction.store import open_states
    from layerwise.statistics.bootstrap import correlation_interval

    states = open_states(folder / f"states-{n}")
    values = measure(states, pairs_of(n), layers=[1], n_permutations=20)
    start = time.perf_counter()
    correlation_interval(
        values.pair_metrics[0, 0], values.preferences, np.random.RandomState(42), 10_000
    )
    print(f"one interval of 10,000 resamples: {time.perf_counter() - start:.1f} s")


def alone(what: str, n: int, folder: Path) -> tuple[float, float]:
    """Run one size in its own process: peak memory in MiB, seconds."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, __file__, "--alone", what, str(n), str(folder)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    *said, peak = done.stdout.splitlines()
    print(*(f"  {line}" for line in said), sep="\n", end="\n" if said else "")
    return float(peak), time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the largest sizes")
    parser.add_argument("--alone", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone:
        what, n, folder = arguments.alone
        {"extract": extract, "measure": measure}[what](int(n), Path(folder))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        return
    print("extraction, Pythia-70M shape:")
    peaks = []
    for n in SIZES[:-1] if arguments.quick else SIZES:
        with tempfile.TemporaryDirectory() as folder:
            peak, seconds = alone("extract", n, Path(folder))
        peaks.append(peak)
        print(f"  {n:7,} statements: peak {peak:7.1f} MiB, {seconds:7.1f} s with the imports")
    print(f"  peak of the largest over the smallest: {peaks[-1] / peaks[0]:.3f}")
    print("statistics, 64 dimensions, one sampled layer, 20 binnings:")
    for n in tuple(n // 10 for n in PAIRS) if arguments.quick else PAIRS:
        with tempfile.TemporaryDirectory() as folder:
            random_states(n, Path(folder) / f"states-{n}")
            peak, seconds = alone("measure", n, Path(folder))
        print(f"  {n:7,} pairs: peak {peak:7.1f} MiB, {seconds:7.1f} s")


if __name__ == "__main__":
    main()
