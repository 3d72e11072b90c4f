"""What `analyze` would compute, with memory, disk and time: all of it but the passes.

The model is loaded as `analyze` loads it, by the same functions, without the numbers: torch is
imported, and no weight is read.

Time: 2 * parameters * tokens over the matrix rate that `needs` assumes of the device, and the
weights read at 1 GB/s. Singular values of matrices of n rows take 1.8e-10 n^3 seconds each
(benchmarks/README.md).
"""

from typing import Any

import psutil

from layerwise.extraction import needs
from layerwise.inputs.models import BYTES
from layerwise.measures.values import sampled_layers
from layerwise.places.matrices import MATRICES
from layerwise.steps.analyze import blamed, checked, how

SVD = 1.8e-10  # seconds for one row cubed
RIGHT = "everything that can be checked is right"
TO_COME = "config, tokenizer and texts are right, the weights are checked once they are here"


def plan(model: str, pairs: str, prompts: str | None, asked: dict[str, Any]) -> str:
    """Check everything that can be checked, and say what is to come; `asked` are `Choices`.

    Of a model of the hub config and tokenizer are fetched, weights are not.

    Raises:
        LayerwiseError: as for `analyze`, but for what forward passes alone can show.
    """
    statement_pairs, texts, chosen = checked(model, pairs, prompts, asked)
    from layerwise.extraction.load import load_shapes
    from layerwise.extraction.token_ids import tokenize

    given = how(chosen, statement_pairs, texts)
    with blamed(statement_pairs, prompts):
        loaded, download = load_shapes(model, **given)
    tokens = {
        kind: sum(map(len, tokenize(loaded.declaration, kind, of)))
        for kind, of in given["texts"].items()
    }
    dtype, device, size = given["dtype"], given["device"], loaded.hidden_size
    sampled = ", ".join(map(str, sampled_layers(loaded.n_layers, layers=chosen["layers"])))
    parameters = float(sum(one.numel() for one in loaded.model.parameters()))
    rate = needs.tflops(device) * 1e12
    run = needs.seconds_of(parameters, sum(tokens.values()), dtype, rate)
    svd = len(MATRICES) * loaded.n_layers * SVD * size**3
    kept = (tokens["prompts"], size, loaded.n_layers, dtype)
    states = needs.kept_bytes(len(statement_pairs.statements), *kept)
    free = psutil.virtual_memory().available
    lines = {
        "model": f"{loaded.name}: {loaded.family}, {loaded.n_layers} blocks, hidden size "
        f"{size}, {parameters / 1e6:,.1f} million parameters, {dtype} on {device}",
        "pairs": f"{len(statement_pairs)} in {len(statement_pairs.categories)} categories, "
        f"{tokens['statements']:,} tokens",
        "prompts": f"{len(texts)}, {tokens['prompts']:,} tokens",
        "layers": sampled,
        "memory": f"{needs.spelled(int(needs.bytes_of(parameters, size, dtype)))}, free here "
        f"{needs.spelled(free)}",
        "disk": f"{needs.spelled(states)} of hidden states in {chosen['out']}",
        "time": f"forward passes about {_spelled(run)} at {rate / 1e9:,.0f} GFLOP/s, "
        f"singular values {_spelled(svd)}; start, statistics and page come on top",
    }
    noisy = chosen["replicates"] if BYTES[dtype] == 2 else 0
    if noisy or chosen["control"]:
        lines["again"] = (
            f"{noisy} replicates with rounding noise, {chosen['control']} draws of random weights: "
            f"{1 + noisy + chosen['control']} times that time and disk, without singular values "
            "for replicates"
        )
    if download:
        lines["fetch"] = f"{needs.spelled(download)} of weights from the hub"
    said = [f"{name:<8} {text}" for name, text in lines.items()]
    ending = TO_COME if download else RIGHT
    return "\n".join([*said, f"dry run: {ending}, nothing was computed"])


def _spelled(seconds: float) -> str:
    return f"{max(1, round(seconds))} s" if seconds < 100 else f"{seconds / 60:.0f} min"
