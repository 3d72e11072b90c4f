"""Do replicates with rounding noise foretell what 16 bits, and another kernel, do to a statistic?

python benchmarks/noise.py CHECKPOINT [--replicates 5] [--dtypes float16,bfloat16] [--limit N]

The papers' analyses of one checkpoint (weights in float32, the papers' pairs and prompts): in
float32; in 16 bits; in replicates of 16 bits with noise; and in 16 bits twice more, with other
kernels. Products are added in float32 and rounded once, as a GPU does it (and a CPU without
units for 16 bits does in a tenth of the time); the other matrix kernel splits every sum in two,
each rounded. With s the root mean square of the replicates about the 16-bit run, differences are
held against t(0.975, k) s, the ledger's band of runs that share kernels:

    rounding   16 bits from float32
    kernel     two runs in 16 bits, by another matrix kernel
    machine    the same, with another attention and batch too

Printed are, for every kind of number, the share of differences inside this width, inside sqrt(2)
times it (that of runs that share no rounding) and 1/sqrt(2) of it (of runs that share three
quarters of its variance), and the median of the width over the difference; of numbers that are
normal, and whose spread is s, this is 3.8. Numbers that are equal in all runs, as columns that
stand in several places are, count once; those that nothing moves are left out.
"""

import contextlib
import functools
import inspect
import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any
from unittest import mock

import numpy as np
import torch
import typer
from scipy.special import stdtrit

import layerwise
from layerwise.models import hidden_states
from layerwise.models.load import Checkpoint, load_model
from layerwise.models.passes import Passes
from layerwise.papers.across.analyses import analyse_reader
from layerwise.papers.experiments.reader import Measured
from layerwise.papers.fetching.upstream import PUBLISHED
from layerwise.papers.shared.published import read_published
from layerwise.reader import measurement
from layerwise.reader.measurement import Measurement
from layerwise.reader.prepared import prepare
from layerwise.reader.request import Choices, request_of
from layerwise.shapes import choices_of
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, SEED, Draws
from layerwise.statistics.noise import COVERED

LEFT_OUT = ("sensitivity", "spectral")  # choices of the others; matrices carry no noise
# The kind of a number, by words in the last name of its place; the first that fits.
KINDS = {
    "p": ("p_value", "p_mean", "p_holm"),
    "interval": ("ci_", "95ci", "low", "high", "includes"),
    "preference": ("pref",),
    "asymmetry": ("asymmetry", "category_uas", "uniformity"),
    "correlation": ("correlation", "r", "r_mean", "r_std", "r_without_first", "phase2_r"),
    "eigenvalue": ("spectra",),
}
FACTORS = (math.sqrt(2), 1, math.sqrt(0.5))  # by which the width is taken
Run = dict[str, float]  # the numbers of one run, by their place


def kind_of(place: str) -> str:
    """The kind of a number by its place; what has no kind of its own goes by its file."""
    file, *names = place.strip("/").split("/")
    name = next((name for name in reversed(names) if not name.isdecimal()), file)
    for kind, words in KINDS.items():
        if any(word == name or (len(word) > 1 and word in name) for word in words):
            return kind
    return f"other of {file}"


def numbers(node: Any, place: str = "") -> Iterator[tuple[str, float]]:
    """Every number of a document, p-values as their logarithm."""
    if isinstance(node, dict):
        for name, part in node.items():
            yield from numbers(part, f"{place}/{name}")
    elif isinstance(node, list):
        for row, part in enumerate(node):
            yield from numbers(part, f"{place}/{row}")
    elif isinstance(node, int | float) and not isinstance(node, bool):
        is_p = kind_of(place) == "p" and node > 0
        yield place, math.log(node) if is_p else float(node)


@contextlib.contextmanager
def with_products(checkpoint: Checkpoint, parts: int) -> Iterator[None]:
    """Inside the block every linear map adds each of so many parts of its sums in float32."""

    def multiply(module: torch.nn.Linear, states: torch.Tensor) -> torch.Tensor:
        cuts = zip(states.chunk(parts, dim=-1), module.weight.chunk(parts, dim=-1), strict=True)
        sums = [torch.nn.functional.linear(x.float(), w.float()).to(states.dtype) for x, w in cuts]
        total = sum(part.float() for part in sums)
        return (total if module.bias is None else total + module.bias.float()).to(states.dtype)

    linear = [part for part in checkpoint.model.modules() if isinstance(part, torch.nn.Linear)]
    for part in linear:
        part.forward = functools.partial(multiply, part)
    try:
        yield
    finally:
        for part in linear:
            del part.forward


@contextlib.contextmanager
def with_other_passes() -> Iterator[None]:
    """Inside the block attention is `eager` and batches have a quarter of the usual tokens."""
    smaller = functools.partial(measurement.extract, tokens_per_batch=512)
    with (
        mock.patch.object(measurement, "extract", smaller),
        mock.patch.object(hidden_states, "probe", return_value=Passes("eager")),
    ):
        yield


def main(
    checkpoint: Path,
    replicates: Annotated[int, typer.Option()] = 5,
    dtypes: Annotated[str, typer.Option()] = "float16,bfloat16",
    limit: Annotated[int | None, typer.Option(help="pairs of each category")] = None,
) -> None:
    """Print a table: a row per dtype, comparison and kind of number."""
    draws = Draws(N_RESAMPLES, LEVEL, SEED)
    published = read_published(PUBLISHED)
    parameters = inspect.signature(layerwise.analyze).parameters.values()
    defaults = choices_of(Choices, {parameter.name: parameter.default for parameter in parameters})
    asked = {"seed": SEED, "without": ["spectral"], "replicates": replicates, "limit": limit}
    request = request_of(checkpoint, "papers", "papers", defaults | asked)

    def measurement_of(loaded: Checkpoint) -> Measurement:
        return Measurement(prepare(loaded.outline, request), draws, published)

    def run_of(measured: Measured) -> Run:
        documents = analyse_reader(measured.numbers, draws)
        return dict(numbers({k: v for k, v in documents.items() if k not in LEFT_OUT}))

    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        loaded = load_model(checkpoint, "float32", "cpu")
        exact = run_of(measurement_of(loaded).measure(loaded, base / "exact/x"))
        print(
            "dtype     comparison kind                numbers    wider   inside narrower   width/d"
        )
        for dtype in dtypes.split(","):
            loaded = load_model(checkpoint, dtype, "cpu")
            measuring, place = measurement_of(loaded), base / dtype / "x"
            with with_products(loaded, 1):
                rounded = run_of(measuring.measure(loaded, place))
                again = list(map(run_of, measuring.measure_replicates(loaded, replicates, place)))
            with with_products(loaded, 2):
                kernel = run_of(measuring.measure(loaded, base / dtype / "kernel"))
                with with_other_passes():
                    machine = run_of(measuring.measure(loaded, base / dtype / "machine"))
            tell(f"{dtype:9} rounding  ", exact, rounded, again)
            tell(f"{dtype:9} kernel    ", kernel, rounded, again)
            tell(f"{dtype:9} machine   ", machine, rounded, again)


def tell(label: str, reference: Run, run: Run, again: list[Run]) -> None:
    """Print how a run differs from another, against the width that its replicates give."""
    differences: dict[tuple[float, ...], tuple[str, float, float]] = {}
    width = float(stdtrit(len(again), (1 + COVERED) / 2))
    for place in sorted(reference.keys() & run.keys()):
        noisy = [replicate.get(place, math.nan) for replicate in again]
        spread = math.sqrt(np.mean([(value - run[place]) ** 2 for value in noisy]))
        distance = abs(reference[place] - run[place])
        if distance or spread:
            column = (reference[place], run[place], *noisy)
            differences.setdefault(column, (kind_of(place), distance, width * spread))
    rows = list(differences.values())
    for kind in ("all", *sorted({kind for kind, _, _ in rows})):
        chosen = [row[1:] for row in rows if kind in ("all", row[0])]
        distance, widths = np.array(chosen).T
        inside = [np.mean(distance <= widths * factor) for factor in FACTORS]
        with np.errstate(divide="ignore"):
            ratio = np.median(widths / distance)  # no difference: infinite
        shares = "".join(f"{share:9.1%}" for share in inside)
        print(f"{label}{kind:20}{len(chosen):7}{shares}  {ratio:8.2f}", flush=True)


if __name__ == "__main__":
    typer.run(main)
