"""What running a model takes, estimated from its declaration alone.

Memory of a dtype, in bytes (b: bytes per number of it, P: parameters, h: hidden size, L: blocks):

    P b                         weights
    + 2048 tokens * 28 h b      a batch inside a block (Apertus' MLP is 5 h wide)
    + 256 statements * 4 poolings * (L + 2) h b   what the batch leaves at every layer
    + 256 rows * 256,000 * 4    logits of the rows scored at once, for the largest vocabulary

`benchmarks/memory.py` adds up what is alive at true shapes: 23.7 + 0.6 GB for Pythia-12B in
float16, 32.2 + 1.6 GB for Apertus-8B in float32, and 141.1 + 1.8 GB for Llama-3.1-70B in float16,
which this exceeds by no more than 3 %.

Replicates with rounding noise keep a copy of 16-bit weights on the host (P b, beside a GPU's), if
the files hold them wider. Moving them takes 84 MB on the device, less than a pass does.

Time, in seconds (r: matrix rate; each dtype loads the weights once, at 1 GB/s):

    2 P tokens / r + bytes of weights / 1e9

with 460 statements of 12 tokens for every extraction in the dtype, and 25 prompts of 16 tokens for
every experiment of Paper 3. Every draw of random weights takes all of this again, every replicate
with rounding noise the passes of the 16-bit dtypes. On a CPU float16 has a rate of its own: few
cores have units for it. Downloading, and the singular values of Paper
3's weights (minutes on a CPU), come on top.
"""

import math
import resource

import psutil

from layerwise.errors import LayerwiseError
from layerwise.models.registry import BYTES, Model
from layerwise.models.store import POOLINGS

BATCH_TOKENS = 2048
BATCH_STATEMENTS = BATCH_TOKENS // 8  # of a batch of short ones
NUMBERS_PER_TOKEN = 28  # of hidden size, inside a block, at most
LOGITS = 256 * 256_000
STATEMENTS = 460
PROMPT_TOKENS = 25 * 16
ADDRESSES = 2**31  # torch, transformers and a tiny model end well with 1.6e9, and abort with 1.2e9
DISK_RATE = 1e9  # bytes a second
TFLOPS = 50.0  # assumed where nobody says: half precision of a data-centre GPU, far from its peak
CORE_TFLOPS = 0.05  # of a core of a CPU, in float32: half of what one reached in a matrix product
CPU_FLOAT16 = 0.3  # of that rate: 0.014 TFLOP/s were reached by a core on prompts of Pythia-70M


def memory(model: Model, dtype: str) -> float:
    """Bytes that a forward pass in a dtype needs, by the formula above."""
    shape, parameters = model.shape, model.parameters * 1e9
    return bytes_of(parameters, shape.hidden_size, shape.n_layers, dtype)


def bytes_of(parameters: float, hidden_size: int, n_layers: int, dtype: str) -> float:
    """The same, of a model that no registry declares."""
    pooled = BATCH_STATEMENTS * len(POOLINGS) * (n_layers + 2)
    states = (BATCH_TOKENS * NUMBERS_PER_TOKEN + pooled) * hidden_size
    return (parameters + states) * BYTES[dtype] + LOGITS * BYTES["float32"]


def seconds_of(parameters: float, tokens: int, dtype: str, rate: float) -> float:
    """Time of loading a model once and running it on so many tokens, by the formula above."""
    return 2 * parameters * tokens / rate + parameters * BYTES[dtype] / DISK_RATE


def seconds(
    model: Model,
    tflops: float = TFLOPS,
    *,
    replicates: int = 0,
    control: int = 0,
    float16: float = 1.0,
) -> float:
    """The same of everything that is run on a model of the registry; TFLOP/s are positive.

    Arguments:
        replicates: passes with rounding noise, of what runs in 16 bits.
        control: draws of random weights.
        float16: its rate, as a part of `tflops`.
    """
    if not 0 < tflops < math.inf:
        raise LayerwiseError(
            f"a matrix rate must be a positive, finite number of TFLOP/s, found {tflops}; give one"
        )
    total = 0.0
    for dtype, experiments in model.dtypes.items():
        statements = sum(extraction.dtype == dtype for extraction in model.extractions.values())
        prompts = sum(name in model.experiments for name in experiments)
        tokens = STATEMENTS * 12 * statements + PROMPT_TOKENS * prompts
        again = replicates if BYTES[dtype] == 2 else 0
        rate = tflops * 1e12 * (float16 if dtype == "float16" else 1.0)
        passes = 2 * model.parameters * 1e9 * tokens / rate
        total += (1 + control) * seconds_of(model.parameters * 1e9, tokens, dtype, rate)
        total += again * passes
    return total


def seconds_on(device: str, model: Model, *, replicates: int, control: int) -> float:
    """The same at the rates assumed of a device of params.yaml."""
    float16 = CPU_FLOAT16 if device == "cpu" else 1.0
    return seconds(model, tflops(device), replicates=replicates, control=control, float16=float16)


def tflops(device: str) -> float:
    """The matrix rate assumed of a device of params.yaml."""
    cores = psutil.cpu_count(logical=False) or 1
    return CORE_TFLOPS * cores if device == "cpu" else TFLOPS


def require_address_space() -> None:
    """Refuse a shell whose programs may take too few addresses: libraries abort without a word."""
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most != resource.RLIM_INFINITY and most < ADDRESSES:
        raise LayerwiseError(
            f"a model needs {spell_bytes(ADDRESSES)} of addresses or more, this shell allows "
            f"{spell_bytes(most)} (`ulimit -v`, or the scheduler's limit of virtual memory); "
            "raise it"
        )


def free_memory() -> float:
    """Bytes that a program may take now."""
    return float(psutil.virtual_memory().available)


def states_bytes(model: Model) -> float:
    """Bytes of the hidden states that wait on disk until all of a model is measured."""
    sizes = (model.shape.hidden_size, model.shape.n_layers)
    dtypes = [extraction.dtype for extraction in model.extractions.values()]
    return sum(kept_bytes(STATEMENTS, PROMPT_TOKENS, *sizes, dtype) for dtype in dtypes)


def kept_bytes(
    statements: int, prompt_tokens: int, hidden_size: int, n_layers: int, dtype: str
) -> int:
    """Bytes of the hidden states that one extraction keeps."""
    rows = len(POOLINGS) * statements + prompt_tokens
    width = 2 if dtype == "float16" else 4  # others are kept as float32
    return rows * hidden_size * (n_layers + 2) * width


def spell_bytes(n_bytes: int) -> str:
    """An amount of memory or disk as a reader wants it."""
    gib = n_bytes / 2**30
    return f"{gib:.2f} GiB" if gib >= 0.01 else f"{n_bytes / 2**20:.3f} MiB"
