"""What running a model takes, estimated from its declaration alone.

Memory of a dtype, in bytes (b: bytes per number of it, P: parameters, h: hidden size):

    P b                      weights
    + 2048 tokens * 16 h b   a batch inside a block: attention and a gated MLP, in and out
    + 256 rows * 256,000 * 4 logits of the rows scored at once, for the largest vocabulary

Time, in seconds (r: matrix rate; each dtype loads the weights once, at 1 GB/s):

    2 P tokens / r + bytes of weights / 1e9

with 460 statements of 12 tokens where Papers 1 or 2 ran the model in the dtype, and 25 prompts of
16 tokens for every study of Paper 3. Downloading, and the singular values of Paper 3's weight
studies (minutes on a CPU), come on top.
"""

from __future__ import annotations

from layerwise.errors import LayerwiseError
from layerwise.inputs.models import NF4, Model

BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}
BATCH_TOKENS = 2048
NUMBERS_PER_TOKEN = 16  # of hidden size, in the widest block
LOGITS = 256 * 256_000
STATEMENT_TOKENS = 460 * 12
PROMPT_TOKENS = 25 * 16
DISK_RATE = 1e9  # bytes a second
TFLOPS = 50.0  # assumed where nobody says: half precision of a data-centre GPU, far from its peak


def dtypes_of(model: Model) -> dict[str, list[str]]:
    """The studies of a model by the dtype that it is loaded in, that of extraction first.

    Where 4-bit weights were published, the unpacked float16 is measured.
    """
    found: dict[str, list[str]] = {model.dtype: []}
    for study, dtype in model.studies.items():
        found.setdefault(NF4.rpartition("/")[2] if dtype == NF4 else dtype, []).append(study)
    return {dtype: studies for dtype, studies in found.items() if studies}


def memory(model: Model, dtype: str) -> float:
    """Bytes that a forward pass in a dtype needs, by the formula above."""
    activations = BATCH_TOKENS * NUMBERS_PER_TOKEN * model.shape.hidden_size * BYTES[dtype]
    return weight_bytes(model, dtype) + activations + LOGITS * BYTES["float32"]


def weight_bytes(model: Model, dtype: str) -> float:
    """Bytes of the weights in a dtype.

    Raises:
        LayerwiseError: for a model whose number of parameters is not declared.
    """
    if model.parameters is None:
        raise LayerwiseError(f"{model.slug} declares no parameters; only models of the hub do")
    return model.parameters * 1e9 * BYTES[dtype]


def seconds(model: Model, tflops: float = TFLOPS) -> float:
    """Time of everything that is run on a model, by the formula above.

    Raises:
        LayerwiseError: for a rate that is not positive.
    """
    if not tflops > 0:
        raise LayerwiseError(f"a matrix rate must be a positive number of TFLOP/s, found {tflops}")
    total = 0.0
    for dtype, studies in dtypes_of(model).items():
        statements = any(study.startswith(("p1_", "p2_")) for study in studies)
        prompts = sum(not study.startswith(("p1_", "p2_")) for study in studies)
        tokens = STATEMENT_TOKENS * statements + PROMPT_TOKENS * prompts
        size = weight_bytes(model, dtype)
        total += 2 * size / BYTES[dtype] * tokens / (tflops * 1e12) + size / DISK_RATE
    return total
