"""The dry run of `analyze`: what it would compute, with memory, disk and time.

Config, tokenizer, texts and the headers of the weights are checked by the functions of `analyze`;
the model itself, with which every stored tensor is compared, is not built: that takes torch.

The passes take 2 * parameters * tokens operations at `PASSES` of the rate of a matrix product,
which on a CPU is measured on the spot. The density near a statement compares every pair with every
other, at `NEIGHBOURS` of that rate: 4 * pairs squared * hidden size, twice for a layer (with the
first token and without) and once before the final norm. All else was measured once, at
`MEASURED_AT` (benchmarks/README.md), and takes as much longer as a core here is slower. It is the
time of a machine that does nothing else.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import psutil

from layerwise.errors import system_in_words
from layerwise.models import needs
from layerwise.models.registry import BYTES
from layerwise.reader.prepared import Prepared, prepare_each
from layerwise.reader.request import requests_of
from layerwise.workers import MOST, usable_cores

RIGHT = "config, tokenizer, texts and headers of the weights are right"
TO_COME = "config, tokenizer and texts are right, the weights are checked once they are here"

SIDE, ROUNDS = 1024, 5  # of the measured product: 10 GFLOP, a fraction of a second
PASSES = 0.65  # of the rate of a matrix product: README says 0.60 to 0.80
NEIGHBOURS = 0.45  # of it: in float64, and the nearest are picked
HALF = 1.5  # a CPU without matrix units takes so much longer in 16 bits
# Seconds of one core that multiplies float32 matrices at this rate.
MEASURED_AT = 125e9  # FLOP/s
START = 4.5  # the interpreter, imports, checks, the loaded model but for its weights
EIGENVALUES = 1.8e-10  # of a matrix, for a row cubed
PAIRS = 0.5, 0.001  # resamples and bins: once, and for every pair and layer
FIGURES = 5.5


@dataclass(frozen=True)
class Seconds:
    """The time of a run on the clock.

    Attributes:
        passes: the forward passes of the model, once.
        weights: the singular values of its weights, once.
        statistics: everything that is computed from the states, once.
        rest: start, figures and page.
        again: how often passes and statistics are taken in all.
        controls: how often singular values are.
    """

    passes: float
    weights: float
    statistics: float
    rest: float
    again: int = 1
    controls: int = 1

    @property
    def whole(self) -> float:
        """From the command to the page."""
        repeated = self.again * (self.passes + self.statistics)
        return repeated + self.controls * self.weights + self.rest

    def __str__(self) -> str:
        return f"about {spelled(self.whole)}, {spelled(self.again * self.passes)} of them passes"


def estimate_seconds(prepared: Prepared, rate: float | None = None) -> Seconds:
    """Return how long a run will take here.

    Arguments:
        rate: FLOP/s of a float32 matrix product here; None: measured now.
    """
    request, outline = prepared.request, prepared.outline
    sizes = outline.sizes
    cores = usable_cores()
    workers = min(cores, MOST)
    rate = matrix_rate() if rate is None else rate
    slower = MEASURED_AT * cores / rate
    of_passes = rate * PASSES / (1 if outline.dtype == "float32" else HALF)
    if outline.device != "cpu":
        of_passes = needs.tflops(outline.device) * 1e12
    parameters, n_pairs = outline.n_parameters, len(request.pairs)
    eigenvalues = 0.0
    if "spectral" not in request.choices["without"]:
        # of W_Q and W_O, and of W_K and W_V, which are narrower where heads share them
        cubes = 2 * sizes.hidden_size**3 + 2 * sizes.key_size**3
        eigenvalues = sizes.n_layers * EIGENVALUES * cubes
    once, for_each = PAIRS
    compared = (2 * len(prepared.sampled) + 1) * 4 * n_pairs**2 * sizes.hidden_size
    resampled = (once + for_each * n_pairs * len(prepared.sampled)) * slower
    return Seconds(
        passes=2 * parameters * sum(prepared.tokens.values()) / of_passes,
        weights=eigenvalues * slower / workers,
        statistics=resampled + compared / (NEIGHBOURS * rate),
        rest=(START + FIGURES / workers) * slower
        + parameters * BYTES[outline.dtype] / needs.DISK_RATE,
        again=prepared.times,
        controls=1 + request.choices["control"],
    )


def matrix_rate() -> float:
    """Return the FLOP/s of a float32 matrix product on all cores, at its best."""
    a = np.ones((SIDE, SIDE), np.float32)
    a @ a  # threads start
    seconds = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        a @ a
        seconds.append(time.perf_counter() - begun)
    return float(2 * SIDE**3 / min(seconds))


def spelled(seconds: float) -> str:
    """Return seconds, or minutes where there are many."""
    return f"{max(1, round(seconds))} s" if seconds < 100 else f"{seconds / 60:.0f} min"


@system_in_words()
def plan_each(models: Sequence[str], pairs: str, prompts: str | None, asked: dict[str, Any]) -> str:
    """Check everything of a request that can be checked, and say what is to come of each model.

    Config and tokenizer of a model on the hub are fetched, weights are not.

    Arguments:
        asked: `Choices`; with several models, each gets a folder of its own.

    Raises:
        LayerwiseError: as for `analyze`, but for what forward passes alone can show.
    """
    given = models[0] if len(models) == 1 else models
    return "\n\n".join(map(plan, prepare_each(requests_of(given, pairs, prompts, asked))))


def plan(prepared: Prepared) -> str:
    """Return what is to come of a model, a line for each part."""
    lines = [f"{name:<8} {text}" for name, text in describe(prepared).items()]
    ending = TO_COME if prepared.outline.download else RIGHT
    return "\n".join([*lines, f"dry run: {ending}, nothing was computed"])


def describe(prepared: Prepared) -> dict[str, str]:
    """Return what will be computed, and what it takes."""
    request, outline, tokens = prepared.request, prepared.outline, prepared.tokens
    choices, pairs = request.choices, request.pairs
    size, n_layers = outline.sizes.hidden_size, outline.sizes.n_layers
    memory = int(needs.bytes_of(outline.n_parameters, size, n_layers, outline.dtype))
    n_pairs = str(len(pairs))
    if len(pairs) < request.n_given:
        n_pairs = f"{n_pairs} of {request.n_given}"
    lines = {
        "model": f"{outline.declaration.name}: {outline.sizes.family}, {n_layers} blocks, hidden "
        f"size {size}, {outline.n_parameters / 1e6:,.1f} million parameters, {outline.dtype} on "
        f"{outline.device}",
        "pairs": f"{n_pairs} in {len(pairs.categories)} categories, "
        f"{tokens['statements']:,} tokens"
        + (" in the model's chat template" if choices["chat_template"] else ""),
        "prompts": f"{len(request.prompts)}, {tokens['prompts']:,} tokens",
        "layers": ", ".join(map(str, prepared.sampled)),
        "memory": f"{needs.spell_bytes(memory)}, free here "
        f"{needs.spell_bytes(psutil.virtual_memory().available)}",
        "disk": f"{needs.spell_bytes(prepared.written)} at most in {choices['out']}, "
        f"{needs.spell_bytes(prepared.times * prepared.states)} of them hidden states",
        "time": str(estimate_seconds(prepared)),
    }
    if prepared.times > 1:
        lines["again"] = (
            f"{prepared.replicates} replicates with rounding noise, {choices['control']} draws of "
            "random weights, in disk and time"
        )
    if outline.download:
        lines["fetch"] = f"{needs.spell_bytes(outline.download)} of weights from the hub"
    return lines
