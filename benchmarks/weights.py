"""Measure the analysis of weights: spectral norms against the naive way, and memory.

    python benchmarks/weights.py [--quick] [--folder DIR] [--blocks N]

Spectral norms and effective ranks are timed beside a full singular value decomposition of the same
matrices in the same run. For the memory a checkpoint of Pythia-6.9B's shape (float16, one shard a
block, 13 GB) is written to a temporary folder (`--folder`: where), analysed in a process of its
own, and removed: every projection of it is read, the spectral norms of the first
`--blocks` blocks are computed. `--quick` takes smaller matrices and a 0.4 GB checkpoint.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

from layerwise.measures.spectral import frobenius_norm, spectral_norm, spectrum
from layerwise.models.projections import Weights
from layerwise.papers.shared.names.matrices import MATRICES

LIMIT_GB = 3.0
REAL = {"n_layers": 32, "hidden_size": 4096, "n_heads": 32, "vocab_size": 50432}
SMALL = {"n_layers": 8, "hidden_size": 1024, "n_heads": 8, "vocab_size": 50432}


def best_seconds(call: Callable[[], float], repeats: int) -> tuple[float, float]:
    """Answer and fewest seconds of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        answer = call()
        times.append(time.perf_counter() - start)
    return answer, min(times)


def naive_norm(matrix: np.ndarray) -> float:
    return float(np.linalg.svd(matrix.astype(np.float64), compute_uv=False)[0])


def naive_rank(matrix: np.ndarray) -> float:
    values = np.linalg.svd(matrix.astype(np.float64), compute_uv=False)
    shares = values / (values.sum() + 1e-10)
    return float(np.exp(-np.sum(shares * np.log(shares + 1e-10))))


def compare_norms(sizes: list[int]) -> None:
    print(f"{'square matrix':<16}{'measure':<18}{'naive':>9}{'ours':>9}{'ratio':>7}   difference")
    for n in sizes:
        matrix = np.random.default_rng(0).standard_normal((n, n), dtype=np.float32)
        for name, ours, naive in (
            ("spectral norm", spectral_norm, naive_norm),
            ("effective rank", lambda m: spectrum(m).effective_rank, naive_rank),
        ):
            expected, slow = best_seconds(lambda f=naive, m=matrix: f(m), 2)
            found, fast = best_seconds(lambda f=ours, m=matrix: f(m), 3)
            print(
                f"{n:<16}{name:<18}{slow:>7.2f} s{fast:>7.2f} s{slow / fast:>7.1f}"
                f"   {abs(found / expected - 1):.0e}"
            )


def write_checkpoint(folder: Path, shape: dict[str, int]) -> float:
    """A GPT-NeoX checkpoint with random weights, a shard per block; gigabytes written."""
    hidden, vocabulary, generator = shape["hidden_size"], shape["vocab_size"], torch.Generator()

    def random(*size: int) -> torch.Tensor:
        return (torch.randn(size, generator=generator) * 0.02).half()

    sizes = {"attention.query_key_value": (3 * hidden, hidden), "attention.dense": (hidden, hidden)}
    sizes |= {"mlp.dense_h_to_4h": (4 * hidden, hidden), "mlp.dense_4h_to_h": (hidden, 4 * hidden)}
    block = {name: random(*size) for name, size in sizes.items()}
    tokens = random(vocabulary, hidden)
    shards = [{"gpt_neox.embed_in.weight": tokens}, {"embed_out.weight": tokens}]
    shards += [
        {f"gpt_neox.layers.{layer}.{name}.weight": value for name, value in block.items()}
        for layer in range(shape["n_layers"])
    ]
    places = {}
    for number, shard in enumerate(shards):
        file = f"model-{number:05d}.safetensors"
        save_file(shard, folder / file)
        places |= dict.fromkeys(shard, file)
    index = {"metadata": {}, "weight_map": places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    config = {
        "model_type": "gpt_neox",
        "hidden_size": hidden,
        "num_hidden_layers": shape["n_layers"],
        "num_attention_heads": shape["n_heads"],
        "intermediate_size": 4 * hidden,
        "vocab_size": vocabulary,
    }
    (folder / "config.json").write_text(json.dumps(config))
    return sum(path.stat().st_size for path in folder.glob("*.safetensors")) / 1e9


def peak_gb() -> float:
    """Most memory this program ever held, on Linux; `getrusage` counts the parent's before exec."""
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmHWM:\s*(\d+) kB", status)[0]) * 1024 / 1e9


def analyse(folder: Path, blocks: int) -> None:
    """Read every matrix; peak memory of this process, and seconds, as one line of JSON."""
    before = peak_gb()
    weights, reading, norms = Weights.open(folder), 0.0, 0.0
    for block in range(weights.n_layers):
        for name in MATRICES:
            start = time.perf_counter()
            matrix = weights.matrix(block, name, "correct")
            frobenius_norm(matrix)
            middle = time.perf_counter()
            if block < blocks:
                spectral_norm(matrix)
            reading += middle - start
            norms += time.perf_counter() - middle
    found = {
        "start_gb": before,
        "peak_gb": peak_gb(),
        "read_s": reading,
        "norm_s": norms / (blocks * len(MATRICES)),
    }
    print(json.dumps(found))


def measure_memory(shape: dict[str, int], where: Path | None, blocks: int) -> bool:
    """Write, analyse and remove a checkpoint; True if the peak is under the limit."""
    folder = Path(tempfile.mkdtemp(prefix="layerwise-weights-", dir=where))
    try:
        size = write_checkpoint(folder, shape)
        command = [sys.executable, __file__, "--analyse", str(folder), "--blocks", str(blocks)]
        answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = json.loads(answer.splitlines()[-1])
    finally:
        shutil.rmtree(folder)
    print(
        f"\ncheckpoint of {size:.1f} GB, {shape['n_layers']} blocks, hidden {shape['hidden_size']}"
    )
    print(
        f"  peak memory {found['peak_gb']:.2f} GB, of it {found['start_gb']:.2f} GB the libraries"
    )
    print(f"  all projections read, with Frobenius norms: {found['read_s']:.0f} s")
    print(f"  spectral norm of a projection: {found['norm_s']:.2f} s")
    print(f"  limit {LIMIT_GB} GB: {'kept' if found['peak_gb'] < LIMIT_GB else 'BROKEN'}")
    return bool(found["peak_gb"] < LIMIT_GB)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller matrices and checkpoint")
    parser.add_argument("--folder", type=Path, help="where to write the checkpoint for a while")
    parser.add_argument("--blocks", type=int, default=2, help="blocks whose norms are computed")
    parser.add_argument("--analyse", type=Path, help=argparse.SUPPRESS)  # the process of its own
    args = parser.parse_args()
    if args.analyse:
        analyse(args.analyse, args.blocks)
        return 0
    compare_norms([256, 512] if args.quick else [768, 1024, 2048])
    kept = measure_memory(SMALL if args.quick else REAL, args.folder, args.blocks)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
