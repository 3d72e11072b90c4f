"""Do replicates with rounding noise foretell what 16 bits do to every statistic?

python benchmarks/noise.py CHECKPOINT [--replicates 5] [--dtypes float16,bfloat16]

The papers' analyses of one checkpoint (weights in float32, the papers' pairs and prompts), in
float32, in 16 bits, and in replicates of 16 bits with noise. Of every number of every result file:
d is what 16 bits moved it by, s the root mean square of the replicates about the 16-bit run.
Printed are the share of numbers with d below t(0.975, k) s, and the median of that over d. Nothing
is fitted. Two runs in 16 bits differ by sqrt(2) times as much as one from float32, which is the
band of the ledger.
"""

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy.special import stdtrit

from layerwise.measuring.of_own_model import Measured, Measuring
from layerwise.models.load import load_model
from layerwise.papers.across.analyses import of_reader
from layerwise.papers.fetching.texts import read_pairs, read_prompts
from layerwise.papers.fetching.upstream import PUBLISHED
from layerwise.papers.shared.published import read_published
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, SEED, Draws
from layerwise.statistics.noise import COVERED

LEFT_OUT = ("sensitivity", "spectral")  # choices of the others; matrices carry no noise


def numbers(node: Any, key: str = "") -> Iterator[tuple[str, float]]:
    """Every number of a document, p-values as their logarithm."""
    if isinstance(node, dict):
        for name, one in node.items():
            yield from numbers(one, f"{key}/{name}")
    elif isinstance(node, list):
        for place, one in enumerate(node):
            yield from numbers(one, f"{key}/{place}")
    elif isinstance(node, int | float) and not isinstance(node, bool):
        is_p = "p_value" in key or key.endswith("/p")
        yield key, math.log(node) if is_p and node > 0 else float(node)


def of_files(documents: dict[str, Any]) -> dict[str, float]:
    kept = {name: one for name, one in documents.items() if name not in LEFT_OUT}
    return dict(numbers(kept))


def main(
    checkpoint: Path,
    replicates: Annotated[int, typer.Option()] = 5,
    dtypes: Annotated[str, typer.Option()] = "float16,bfloat16",
) -> None:
    """Print a table: a row per dtype and result file."""
    draws = Draws(N_RESAMPLES, LEVEL, SEED)
    texts = read_pairs("papers"), read_prompts("papers")
    published = read_published(PUBLISHED)
    measuring = Measuring(*texts, "papers", None, draws, published, ["spectral"])

    def of_model(found: Measured) -> dict[str, float]:
        return of_files(of_reader(found.numbers, draws))

    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)

        def measured(dtype: str) -> tuple[Any, dict[str, float]]:
            loaded = load_model(checkpoint, dtype, "cpu")
            return loaded, of_model(measuring.of(loaded, base / dtype / "hidden_states"))

        _, exact = measured("float32")
        print("dtype     file                numbers  covered  by sqrt(2)  width / d")
        for dtype in dtypes.split(","):
            loaded, rounded = measured(dtype)
            folder_of_states = base / dtype / "hidden_states"
            noisy = measuring.replicates(loaded, replicates, folder_of_states)
            tell(dtype, exact, rounded, list(map(of_model, noisy)))


def tell(
    dtype: str, exact: dict[str, float], rounded: dict[str, float], again: list[dict[str, float]]
) -> None:
    """The rows of one dtype; numbers that neither rounding nor noise moves are left out."""
    rows = []
    for key in exact.keys() & rounded.keys():
        moved = abs(exact[key] - rounded[key])
        spread = math.sqrt(np.mean([(one.get(key, math.nan) - rounded[key]) ** 2 for one in again]))
        if moved or spread:
            rows.append((key.split("/")[1], moved, spread))
    width = stdtrit(len(again), (1 + COVERED) / 2)
    for file in ("all", *sorted({name for name, _, _ in rows})):
        found = np.array([of[1:] for of in rows if file in ("all", of[0])])
        d, band = found[:, 0], width * found[:, 1]
        ratio = np.median(band / np.maximum(d, 1e-300))
        shares = (np.mean(d <= band), np.mean(d <= band * math.sqrt(2)))
        print(f"{dtype:9} {file:20}{len(d):7}  {shares[0]:7.1%}  {shares[1]:10.1%}  {ratio:9.2f}")


if __name__ == "__main__":
    typer.run(main)
