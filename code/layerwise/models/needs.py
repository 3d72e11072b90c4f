"""What running a model takes, estimated from its declaration alone.

Memory of a dtype, in bytes (b: bytes per number of it, P: parameters, h: hidden size, L: blocks):

    P b                         weights
    + 2048 tokens * 28 h b      a batch inside a block (Apertus' MLP is 5 h wide)
    + 256 statements * 4 poolings * (L + 2) h b   what the batch leaves at every layer
    + 256 rows * 256,000 * 4    logits of the rows scored at once, for the largest vocabulary

`benchmarks/memory.py` adds up what is alive at true shapes: 23.7 + 0.7 GB for Pythia-12B in
float16, 32.2 + 1.7 GB for Apertus-8B in float32, and 141.1 + 2.0 GB for Llama-3.1-70B in float16,
which this exceeds by no more than 3 %.

Replicates with rounding noise keep a copy of 16-bit weights on the host, if the files hold them
wider: P b on a CPU; beside a GPU up to twice that, since torch rounds each pinned tensor up to a
power of two (`pinned_bytes`). Moving them takes 84 MB on the device, less than a pass does.

Time, in seconds (r: matrix rate; each dtype loads the weights once, at 1 GB/s):

    2 P tokens / r + bytes of weights / 1e9

with 460 statements of 12 tokens for every extraction in the dtype, and 25 prompts of 16 tokens for
every experiment of Paper 3. Every draw of random weights takes the passes again and is built and
drawn in place of loading (0.3 s and two numbers a weight, which a CPU draws on one core), every
replicate with rounding noise takes the passes of the 16-bit dtypes. Downloading, and the singular
values of Paper 3's weights (minutes on a CPU), come on top.

The rate r is assumed, not measured: of a GPU 50 TFLOP/s, of a core 0.05, half of what one reached
in a matrix product. On a CPU float16 has a rate of its own: few cores have units for it.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

import psutil

from layerwise.errors import LayerwiseError
from layerwise.files import nearest_existing
from layerwise.models.registry import BYTES, Model
from layerwise.models.store import POOLINGS
from layerwise.shapes import Measuring
from layerwise.workers import usable_cores

PROCESS_BYTES = 150_000_000  # of a worker that has nothing to do
BATCH_TOKENS = 2048
BATCH_STATEMENTS = BATCH_TOKENS // 8  # of a batch of short ones
NUMBERS_PER_TOKEN = 28  # of hidden size, inside a block, at most
LOGITS = 256 * 256_000
# of the time of a model
PARTS = ("passes", "replicates", "random weights", "loading", "drawing random weights")
STATEMENTS = 460
PROMPT_TOKENS = 25 * 16
DISK_RATE = 1e9  # bytes a second
GPU_RATE = 50e12  # FLOP/s: half precision of a data-centre GPU, far from its peak
CORE_RATE = 0.05e12  # FLOP/s of a core of a CPU, in float32
BUILT = 0.3  # seconds of a core for the modules of a model and two tokens through it
CORE_DRAWS = 1e8  # numbers a second that a core draws, in each dtype; others do not help
GPU_DRAWS = 5e10  # of a GPU, assumed: less than what its memory takes
EIGENVALUES = 1.8e-10  # seconds of a core for the singular values of a matrix, for a row cubed
CPU_FLOAT16 = 0.3  # of that rate: 0.014 TFLOP/s were reached by a core on prompts of Pythia-70M


def memory(model: Model, dtype: str) -> float:
    """Return the bytes that a forward pass in a dtype needs, by the formula above."""
    shape, parameters = model.shape, model.parameters * 1e9
    return bytes_of(parameters, shape.hidden_size, shape.n_layers, dtype)


def bytes_of(parameters: float, hidden_size: int, n_layers: int, dtype: str) -> float:
    """Return the same of a model that no registry declares."""
    pooled = BATCH_STATEMENTS * len(POOLINGS) * (n_layers + 2)
    states = (BATCH_TOKENS * NUMBERS_PER_TOKEN + pooled) * hidden_size
    return (parameters + states) * BYTES[dtype] + LOGITS * BYTES["float32"]


def pinned_bytes(sizes: Iterable[int]) -> int:
    """Return what torch takes of the host for tensors of these bytes that a GPU reads directly."""
    return sum(1 << (size - 1).bit_length() for size in sizes if size)


def seconds(model: Model, device: str, *, replicates: int = 0, control: int = 0) -> float:
    """Return the time of everything that is run on a model of the registry.

    Arguments:
        device: of params.yaml.
        replicates: passes with rounding noise, of what runs in 16 bits.
        control: draws of random weights.
    """
    return sum(seconds_by_part(model, device, replicates=replicates, control=control).values())


def seconds_by_part(
    model: Model, device: str, *, replicates: int = 0, control: int = 0
) -> dict[str, float]:
    """Return the parts of `seconds`, by their names in PARTS."""
    parts = dict.fromkeys(PARTS, 0.0)
    parameters = model.parameters * 1e9
    for dtype, experiments in model.dtypes.items():
        statements = sum(extraction.dtype == dtype for extraction in model.extractions.values())
        prompts = sum(name in model.experiments for name in experiments)
        tokens = STATEMENTS * 12 * statements + PROMPT_TOKENS * prompts
        passes = seconds_of_passes(parameters, tokens, dtype, device)
        loading = seconds_of_loading(parameters, dtype)
        drawing = seconds_of_drawing(parameters, device)
        noisy = replicates * passes if BYTES[dtype] == 2 else 0.0
        spent = (passes, noisy, control * passes, loading, control * drawing)
        for part, seconds_spent in zip(PARTS, spent, strict=True):
            parts[part] += seconds_spent
    return parts


def seconds_as_chosen(model: Model, chosen: Measuring) -> float:
    """Return the same with device, replicates and controls of `measure` of params.yaml."""
    return seconds(model, chosen["device"], **model.repeats(chosen))


def seconds_of_passes(parameters: float, tokens: int, dtype: str, device: str) -> float:
    """Return the time of so many tokens through a model, by the formula above."""
    return 2 * parameters * tokens / assumed_rate(device, dtype)


def seconds_of_loading(parameters: float, dtype: str) -> float:
    """Return the time of reading a model's weights from a disk."""
    return parameters * BYTES[dtype] / DISK_RATE


def seconds_of_drawing(parameters: float, device: str) -> float:
    """Return the time of building a model and drawing its weights.

    Its parts draw what PyTorch begins with, then transformers what the architecture does.
    """
    return BUILT + 2 * parameters / (CORE_DRAWS if device == "cpu" else GPU_DRAWS)


def assumed_rate(device: str, dtype: str = "float32") -> float:
    """Return the FLOP/s that are assumed of a device."""
    if device != "cpu":
        return GPU_RATE
    cores = psutil.cpu_count(logical=False) or 1
    return CORE_RATE * cores * (CPU_FLOAT16 if dtype == "float16" else 1.0)


def seconds_of_spectra(n_layers: int, hidden_size: int, key_size: int) -> float:
    """Return a core's time for the singular values of W_Q, W_K, W_V and W_O of all blocks.

    Args:
        key_size: of W_K and W_V, which are narrower where heads share them.
    """
    return n_layers * EIGENVALUES * (2 * hidden_size**3 + 2 * key_size**3)


def processes_for_spectra(hidden_size: int) -> int:
    """Return how many processes may compute singular values of the attention's matrices.

    As many as the cores and the free memory allow. One holds a matrix in
    float32 as it comes and as it is read, its Gram matrix and a block of rows in float64
    (`measures.spectral`).
    """
    return processes_with((4 + 4 + 8 + 8) * hidden_size**2)


def processes_with(n_bytes: int) -> int:
    """Return for how many processes with so many bytes each there are cores and free memory."""
    room = int(psutil.virtual_memory().available // (PROCESS_BYTES + n_bytes))
    return max(1, min(usable_cores(), room))


def spell_seconds(seconds: float) -> str:
    """Return seconds, or minutes where there are many."""
    return f"{max(1, round(seconds))} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def kept_bytes(
    statements: int, prompt_tokens: int, hidden_size: int, n_layers: int, dtype: str
) -> int:
    """Return the bytes of the hidden states that one extraction keeps."""
    rows = len(POOLINGS) * statements + prompt_tokens
    width = 2 if dtype == "float16" else 4  # others are kept as float32
    return rows * hidden_size * (n_layers + 2) * width


def bytes_of_states(model: Model, chosen: Measuring) -> int:
    """Return the bytes of hidden states that wait on disk until all of a model is measured.

    They are made of the model as it is, with noise, and of random weights.
    """
    sizes = (model.shape.hidden_size, model.shape.n_layers)
    once = sum(
        kept_bytes(STATEMENTS, PROMPT_TOKENS, *sizes, extraction.dtype)
        for extraction in model.extractions.values()
    )
    again = model.repeats(chosen)
    return once * (1 + again["replicates"] + again["control"])


def require_room(place: Path, n_bytes: int, what: str = "the hidden states") -> None:
    """Refuse a folder on a disk that is too full for so many bytes more."""
    if n_bytes > (free := shutil.disk_usage(nearest_existing(place)).free):
        raise LayerwiseError(
            f"{place}: {what} need {spell_bytes(n_bytes)} more on this disk, "
            f"{spell_bytes(free)} are free; make room, or name a folder on another disk"
        )


def spell_bytes(n_bytes: int) -> str:
    """Return an amount of memory or disk as a reader wants it."""
    gib = n_bytes / 2**30
    return f"{gib:.2f} GiB" if gib >= 0.01 else f"{n_bytes / 2**20:.3f} MiB"
