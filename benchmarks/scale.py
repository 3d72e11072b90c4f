"""Measure how memory and time grow: extraction to 46,000 statements, `analyze` to 100,000 pairs.

    python benchmarks/scale.py [--quick]

Every size runs in a process of its own, one after the other, and reports its peak memory. The
model is random, in the shape of Pythia-70M, the smallest of the registry; its states go to disk
(3.2 GB for 46,000 statements). `analyze` runs to the end, on a twin of that model (32 dimensions).
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZES = (460, 4_600, 46_000)
PAIRS = (1_000, 10_000, 100_000)
MODELS = Path(__file__).parent.parent / "models.yaml"
WORDS = 4_000


def extract(n: int, folder: Path) -> None:
    """Extract n statements with random weights of the smallest model's shape, Pythia-70M."""
    from extraction import random_weights, synthetic
    from layerwise.extraction.hidden_states import extract

    extract(random_weights("pythia-70m"), synthetic(n // 2, WORDS), (), folder / "out")


def analyze(n: int, folder: Path) -> None:
    """All that `layerwise analyze` does with n pairs, 1,000 prompts and a tiny random model."""
    import layerwise
    from extraction import synthetic
    from layerwise.extraction.twins import build_twin
    from layerwise.inputs.models import find_model, read_models

    texts = synthetic(n, WORDS)
    model = build_twin(find_model(read_models(MODELS), "pythia-70m"), texts[:1000], folder / "twin")
    categories = {
        name: {"pairs": list(zip(texts[k:n:6], texts[n + k :: 6], strict=True))}
        for k, name in enumerate("uvwxyz")
    }
    start = time.process_time()
    layerwise.analyze(str(model), categories, texts[:1000], out=folder / "out")
    print(f"{time.process_time() - start:.0f} s of processor time")


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
        {"extract": extract, "analyze": analyze}[what](int(n), Path(folder))
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
    print("analyze, 1,000 prompts, 32 dimensions, 3 sampled layers:")
    for n in PAIRS[:-1] if arguments.quick else PAIRS:
        with tempfile.TemporaryDirectory() as folder:
            peak, seconds = alone("analyze", n, Path(folder))
        print(f"  {n:7,} pairs: peak {peak:7.1f} MiB, {seconds:7.1f} s")


if __name__ == "__main__":
    main()
