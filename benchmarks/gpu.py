"""Time the extraction of large shapes on a GPU, and measure what batching does to half precision.

    python benchmarks/gpu.py [--out gpu.json]

Random weights in float16, built on the device: 460 statements, all layers and the NLL in one
pass, files and all. The floor is the larger of two times: all multiply-adds at the rate of a
matrix product measured here, and all weights read once at the rate of a copy measured here. The
notebooks' loops (20 and 4 passes per pair) run on a sample of pairs on the same device. The same
weights in float16 and bfloat16 give the noise of batching: what differs from statements run one
by one. `--device cpu --quick` tries all of it at a tiny shape; its numbers mean nothing.
"""

import argparse
import dataclasses
import itertools
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from extraction import SHAPES, loops, needed_flop, random_weights, read_texts, synthetic, timed
from layerwise.files import write_json
from layerwise.measures.uniformity import mean_pairwise_cosine_by_group
from layerwise.models.checkpoint import open_folder
from layerwise.models.devices import require_accelerator
from layerwise.models.hidden_states import extract
from layerwise.models.load import Checkpoint, load
from layerwise.models.partial import require_room
from layerwise.models.provenance import describe_environment
from layerwise.models.store import BEFORE_NORM

HALF = ("float16", "bfloat16")


def finished(device: str) -> None:
    """Wait until the device has done what it was given."""
    if device != "cpu":
        torch.cuda.synchronize()


def best_seconds(call: Callable[[], object], device: str, repeats: int) -> float:
    """Fastest of several calls, after one to warm up."""

    def whole() -> None:
        call()
        finished(device)

    whole()
    return min(timed(whole) for _ in range(repeats))


def floor_seconds(checkpoint: Checkpoint, texts: list[str], repeats: int) -> dict[str, float]:
    """The two limits, from rates measured on this device in the dtype of the weights."""
    device, hidden = str(checkpoint.model.device), checkpoint.hidden_size
    dtype = checkpoint.model.dtype
    a = torch.randn(2048, hidden, device=device, dtype=dtype)
    b = torch.randn(hidden, 4 * hidden, device=device, dtype=dtype)
    flop_rate = 2 * a.numel() * b.shape[1] / best_seconds(lambda: a @ b, device, repeats)
    source = torch.empty(2**30 if device != "cpu" else 2**24, device=device, dtype=torch.uint8)
    target = torch.empty_like(source)
    seconds = best_seconds(lambda: target.copy_(source), device, repeats)
    copy_rate = 2 * source.numel() / seconds  # bytes read and bytes written
    weights = sum(w.numel() * w.element_size() for w in checkpoint.model.parameters())
    flop = needed_flop(checkpoint, texts)
    return {
        "matrix_tflops": flop_rate / 1e12,
        "copy_gb_per_s": copy_rate / 1e9,
        "weight_gb": weights / 1e9,
        "tflop": flop / 1e12,
        "flop_seconds": flop / flop_rate,
        "weight_seconds": weights / copy_rate,
        "floor_seconds": max(flop / flop_rate, weights / copy_rate),
    }


def extraction_seconds(checkpoint: Checkpoint, texts: list[str], out: Path, repeats: int) -> float:
    """Fastest whole extraction, tokenizing and files included."""
    fresh = itertools.count()

    def whole() -> None:
        folder = out / f"run-{next(fresh)}"
        extract(checkpoint, texts, (), folder)
        shutil.rmtree(folder)

    return best_seconds(whole, str(checkpoint.model.device), repeats)


def with_load(checkpoint: Checkpoint, texts: list[str], out: Path) -> float:
    """Seconds from a folder on the disk to a finished extraction; the page cache is emptied."""
    device, folder = str(checkpoint.model.device), out / "checkpoint"
    checkpoint.model.save_pretrained(folder)
    checkpoint.tokenizer.save_pretrained(folder)
    checkpoint.model.to("meta")  # its place on the device is needed
    if device != "cpu":
        torch.cuda.empty_cache()
    for file in folder.glob("*.safetensors"):
        with file.open("rb") as handle:
            os.fsync(handle.fileno())
            os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def whole() -> None:
        loaded = load(open_folder(folder), "float16", device)
        extract(loaded, texts, (), out / "loaded")

    seconds = timed(whole)
    shutil.rmtree(folder)
    return seconds


def noise(checkpoint: Checkpoint, texts: list[str], out: Path) -> dict[str, Any]:
    """Batches against one statement at a time: per layer, and the NLL in nats.

    States relative to the root mean square of the layer, the largest 1 - cosine of a statement
    with itself, the change of the mean pairwise cosine of side A minus that of side B.
    """
    half = len(texts) // 2
    together = extract(checkpoint, texts, (), out / "together")
    alone = extract(checkpoint, texts, (), out / "alone", tokens_per_batch=1)
    rows = []
    for layer in (*range(checkpoint.n_layers + 1), BEFORE_NORM):
        a, b = together.pooled(layer), alone.pooled(layer)
        lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
        cosine = np.sum(a.astype(float) * b, axis=1) / lengths
        sides = np.arange(len(a)) // half
        asymmetry = [
            -np.diff(mean_pairwise_cosine_by_group(one, sides, 2)).item() for one in (a, b)
        ]
        rows.append(
            {
                "layer": layer,
                "states": float(np.abs(a - b).max() / np.sqrt(np.mean(np.square(b, dtype=float)))),
                "one_minus_cosine": float(1 - cosine.min()),
                "asymmetry": abs(asymmetry[0] - asymmetry[1]),
            }
        )
    found = {"layers": rows, "nll": float(np.abs(together.nll - alone.nll).max())}
    for states in (together, alone):
        shutil.rmtree(states.folder)
    return found


def measure(shape: str, texts: list[str], device: str, quick: bool) -> dict[str, Any]:
    """Everything for one shape."""
    repeats, sampled = (1, 1) if quick else (5, 4)
    checkpoint = random_weights(shape, device, torch.float16)
    if device != "cpu":
        torch.cuda.reset_peak_memory_stats()
    found: dict[str, Any] = {"shape": shape, "statements": len(texts)}
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch)
        weights = sum(weight.nbytes for weight in checkpoint.model.parameters())
        require_room(out, weights, "the weights, which `with_load` writes,")
        found["seconds"] = extraction_seconds(checkpoint, texts, out, repeats)
        if device != "cpu":
            found["peak_gb"] = torch.cuda.max_memory_allocated() / 1e9
        found |= floor_seconds(checkpoint, texts, 3 if quick else 20)
        found["fraction_of_floor"] = found["floor_seconds"] / found["seconds"]
        many, few = loops(checkpoint, texts, sampled)
        found["ratio_20_passes"] = many / found["seconds"]
        found["ratio_4_passes"] = few / found["seconds"]
        found["noise"] = {"float16": noise(checkpoint, texts, out)}
        found["seconds_with_load"] = with_load(checkpoint, texts, out)
        wider = random_weights(shape, device, torch.float16).model.to(torch.bfloat16)
        checkpoint = dataclasses.replace(checkpoint, model=wider, dtype="bfloat16")
        found["noise"]["bfloat16"] = noise(checkpoint, texts, out)
    return found


def describe(found: dict[str, Any]) -> None:
    """Print one shape."""
    print(f"{found['shape']}, float16, {found['statements']} statements")
    print(f"  extraction          {found['seconds']:9.3f} s")
    print(f"  with load from disk {found['seconds_with_load']:9.3f} s")
    if "peak_gb" in found:
        print(
            f"  peak memory         {found['peak_gb']:9.1f} GB (weights {found['weight_gb']:.1f})"
        )
    print(
        f"  floor               {found['floor_seconds']:9.3f} s "
        f"({found['matrix_tflops']:.1f} TFLOP/s, {found['copy_gb_per_s']:.0f} GB/s): "
        f"{found['fraction_of_floor']:.0%} reached"
    )
    print(f"  20 passes per pair  {found['ratio_20_passes']:9.1f} times as long")
    print(f"  4 passes per pair   {found['ratio_4_passes']:9.1f} times as long")
    for dtype in HALF:
        rows = found["noise"][dtype]["layers"]
        worst = {key: max(row[key] for row in rows) for key in rows[0] if key != "layer"}
        print(
            f"  batching in {dtype}: states {worst['states']:.1e} of their size, 1 - cosine "
            f"{worst['one_minus_cosine']:.1e}, asymmetry {worst['asymmetry']:.1e}, "
            f"NLL {found['noise'][dtype]['nll']:.1e} nats"
        )


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", help="cuda, cuda:N, or cpu with --quick")
    parser.add_argument("--quick", action="store_true", help="a tiny shape: tries the program")
    parser.add_argument("--out", type=Path, default=Path("gpu.json"), help="result file")
    arguments = parser.parse_args()
    if arguments.device == "cpu" and not arguments.quick:
        parser.error("large shapes need a GPU; --device cpu goes with --quick")
    if arguments.device != "cpu" and not torch.cuda.is_available():
        parser.error("no CUDA device was found; try the program with --device cpu --quick")
    require_accelerator(arguments.device)  # exact arithmetic from the first product on
    pairs = Path("data") / "dataset.json"
    given = pairs if pairs.is_file() and not arguments.quick else None
    texts = synthetic(6, SHAPES["tiny"][3]) if arguments.quick else read_texts(given)
    found: dict[str, Any] = {
        "environment": describe_environment() | {"device": arguments.device},
        "texts": str(given or "synthetic"),
        "shapes": [],
    }
    for shape in ["tiny"] if arguments.quick else ["pythia-6p9b", "pythia-12b"]:
        found["shapes"].append(measure(shape, texts, arguments.device, arguments.quick))
        describe(found["shapes"][-1])
        write_json(arguments.out, found)
        if arguments.device != "cpu":
            torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
