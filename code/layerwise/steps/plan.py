"""What `analyze` would compute, with memory, disk and time; torch is not imported for it.

Time: 2 * parameters * tokens over the matrix rate that `needs` assumes of the device, and the
weights read at 1 GB/s. Singular values of matrices of n rows take 1.8e-10 n^3 seconds each
(benchmarks/README.md).
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import tokenizers

from layerwise.errors import LayerwiseError
from layerwise.extraction import needs
from layerwise.extraction.checkpoint_folder import stored_tensors
from layerwise.extraction.families import MATRICES
from layerwise.extraction.hub import whole
from layerwise.extraction.hub_answers import explained
from layerwise.files import read_json
from layerwise.measures.values import sampled_layers
from layerwise.steps.analyze import checked

SVD = 1.8e-10  # seconds for one row cubed
SIZE, BLOCKS = ("hidden_size", "n_embd", "d_model"), ("num_hidden_layers", "n_layer", "num_layers")


def plan(model: str, pairs: str, prompts: str | None, asked: dict[str, Any]) -> str:
    """Check everything that can be checked, and say what is to come; `asked` are `Choices`.

    Raises:
        LayerwiseError: as for `analyze`; for a hub id whose weights, and so its size, are not here.
    """
    statement_pairs, texts, chosen = checked(model, pairs, prompts, asked)
    dtype, device = chosen["dtype"] or "float32", chosen["device"] or "cpu"
    folder, at = Path(model), chosen["revision"]
    name = folder.resolve().name if folder.exists() else model
    if not folder.exists():
        with explained(model, at or "main"):
            cached = whole(model, at)
        if cached is None:
            raise LayerwiseError(
                f"{model}{f' at {at}' if at else ''}: a dry run reads the headers of weights in a "
                f"folder, or in the hub's cache; download it first with `hf download {model}`"
            )
        folder = cached
    config = read_json(folder / "config.json")
    size, n_layers = (_first(config, names) for names in (SIZE, BLOCKS))
    parameters = float(sum(math.prod(one.shape) for one in stored_tensors(folder)))
    of_pairs, of_prompts = (_tokens(folder, of) for of in (statement_pairs.statements, texts))
    rate = needs.tflops(device) * 1e12
    run = needs.seconds_of(parameters, of_pairs + of_prompts, dtype, rate)
    svd = len(MATRICES) * n_layers * SVD * size**3
    states = needs.kept_bytes(len(statement_pairs.statements), of_prompts, size, n_layers, dtype)
    free = psutil.virtual_memory().available
    sampled = ", ".join(map(str, sampled_layers(n_layers, layers=chosen["layers"])))
    lines = {
        "model": f"{name}: {config['model_type']}, {n_layers} blocks, hidden size "
        f"{size}, {parameters / 1e6:,.1f} million parameters, {dtype} on {device}",
        "pairs": f"{len(statement_pairs)} in {len(statement_pairs.categories)} categories, "
        f"{of_pairs:,} tokens",
        "prompts": f"{len(texts)}, {of_prompts:,} tokens",
        "layers": sampled,
        "memory": f"{needs.spelled(int(needs.bytes_of(parameters, size, dtype)))}, free here "
        f"{needs.spelled(free)}",
        "disk": f"{needs.spelled(states)} of hidden states in {chosen['out']}",
        "time": f"forward passes about {_spelled(run)} at {rate / 1e9:,.0f} GFLOP/s, "
        f"singular values {_spelled(svd)}; start, statistics and page come on top",
    }
    said = [f"{name:<8} {text}" for name, text in lines.items()]
    return "\n".join(
        [*said, "dry run: everything that can be checked is right, nothing was computed"]
    )


def _first(config: dict[str, Any], names: Sequence[str]) -> int:
    return int(next((config[name] for name in names if name in config), 0))


def _tokens(folder: Path, texts: Sequence[str]) -> int:
    """Exact where there is a tokenizer.json, else four characters each."""
    if not (folder / "tokenizer.json").is_file():
        return sum(-(-len(text) // 4) for text in texts)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    return sum(len(one.ids) for one in tokenizer.encode_batch(list(texts)))


def _spelled(seconds: float) -> str:
    return f"{max(1, round(seconds))} s" if seconds < 100 else f"{seconds / 60:.0f} min"
