"""How long `analyze` will take here, part by part, before anything runs.

The passes are 2 * parameters * tokens at `PASSES` of the rate of a matrix product, which on a CPU
is measured on the spot. The density near a statement compares every pair with every other, at
`NEIGHBOURS` of that rate: 4 * pairs squared * hidden size, twice for a layer (with the first token
and without) and once before the final norm. All else was measured once, at `MEASURED_AT`
(benchmarks/README.md), and takes as much longer as a core here is slower. Spectra are computed
beside the statistics. It is the time of a machine that does nothing else.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from layerwise.models import needs
from layerwise.models.registry import BYTES
from layerwise.workers import MOST, usable_cores

SIDE, ROUNDS = 1024, 20  # of the measured product: 40 GFLOP, a fraction of a second
PASSES = 0.65  # of the rate of a matrix product: README says 0.60 to 0.80
NEIGHBOURS = 0.45  # of it: in float64, and the nearest are picked
HALF = 1.5  # a CPU without matrix units takes so much longer in 16 bits
# Seconds of one core that multiplies float32 matrices at this rate.
MEASURED_AT = 125e9  # FLOP/s
START = 4.5  # the interpreter, imports, checks, the loaded model but for its weights
EIGENVALUES = 1.8e-10  # of a matrix, for a row cubed
PAIRS = 0.5, 0.001  # resamples and bins: once, and for every pair and layer
FIGURES = 5.5
HEADS, KEYS = (
    ("num_attention_heads", "n_head", "num_heads"),
    ("num_key_value_heads", "num_kv_heads"),
)


@dataclass(frozen=True)
class Duration:
    """Seconds on the clock of every part, and how they overlap."""

    start: float
    passes: float
    singular_values: float  # by other processes, while the statistics run
    statistics: float
    figures: float
    cores: int

    @property
    def whole(self) -> float:
        """From the command to the page."""
        both = self.singular_values * min(self.cores, MOST) + self.statistics
        beside = max(self.statistics, self.singular_values, both / self.cores)
        return self.start + self.passes + beside + self.figures

    def __str__(self) -> str:
        parts = {"start": self.start, "forward passes": self.passes,
                 "singular values": self.singular_values, "statistics": self.statistics,
                 "figures": self.figures}  # fmt: skip
        said = ", ".join(f"{name} {spelled(seconds)}" for name, seconds in parts.items())
        return f"about {spelled(self.whole)}: {said}"


def duration(
    config: Mapping[str, Any],
    parameters: float,
    tokens: int,
    *,
    size: int,
    n_layers: int,
    pairs: int,
    sampled: int,
    dtype: str = "float32",
    device: str = "cpu",
    singular: bool = True,
    rate: float | None = None,
) -> Duration:
    """The estimate for a model of so many parameters, and texts of so many tokens.

    Args:
        config: of the checkpoint, for its heads.
        size, n_layers: hidden size and blocks.
        pairs, sampled: how many there are, and of how many layers they are measured.
        singular: whether there are spectra of the weights.
        rate: FLOP/s of a float32 matrix product here; None: measured now.
    """
    cores = usable_cores()
    rate = matrix_rate() if rate is None else rate
    slower = MEASURED_AT * cores / rate
    of_passes = rate * PASSES / (1 if dtype == "float32" else HALF)
    if device != "cpu":
        of_passes = needs.tflops(device) * 1e12
    heads = next((config[name] for name in HEADS if config.get(name)), 1)
    keys = next((config[name] for name in KEYS if config.get(name)), heads)
    rows = (size, size, size * keys // heads, size * keys // heads)  # W_Q, W_O, W_K, W_V
    eigenvalues = n_layers * EIGENVALUES * sum(n**3 for n in rows) * singular
    once, each = PAIRS
    compared = (2 * sampled + 1) * 4 * pairs**2 * size
    workers = min(cores, MOST)
    return Duration(
        start=START * slower + parameters * BYTES[dtype] / needs.DISK_RATE,
        passes=2 * parameters * tokens / of_passes,
        singular_values=eigenvalues * slower / workers,
        statistics=(once + each * pairs * sampled) * slower + compared / (NEIGHBOURS * rate),
        figures=FIGURES * slower / workers,
        cores=cores,
    )


def matrix_rate() -> float:
    """FLOP/s of a float32 matrix product on all cores, at its best."""
    a = np.ones((SIDE, SIDE), np.float32)
    a @ a  # threads start
    seconds = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        a @ a
        seconds.append(time.perf_counter() - begun)
    return float(2 * SIDE**3 / min(seconds))


def spelled(seconds: float) -> str:
    """Seconds, or minutes where there are many."""
    return f"{max(1, round(seconds))} s" if seconds < 100 else f"{seconds / 60:.0f} min"
