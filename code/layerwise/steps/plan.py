"""What `analyze` would compute, with memory, disk and time: all of it but the passes.

The model is loaded as `analyze` loads it, by the same functions, without the numbers: torch is
imported, and no weight is read.
"""

from typing import Any

import psutil

from layerwise.extraction import needs
from layerwise.inputs.models import BYTES
from layerwise.measures.values import sampled_layers
from layerwise.steps.analyze import blamed, checked, how
from layerwise.steps.duration import duration

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
    sampled = sampled_layers(loaded.n_layers, layers=chosen["layers"])
    parameters = float(sum(one.numel() for one in loaded.model.parameters()))
    takes = duration(
        loaded.model.config.to_dict(), parameters, sum(tokens.values()), size=size,
        n_layers=loaded.n_layers, points=len(statement_pairs) * len(sampled), dtype=dtype,
        device=device, singular="spectral" not in chosen["without"],
    )  # fmt: skip
    kept = (tokens["prompts"], size, loaded.n_layers, dtype)
    states = needs.kept_bytes(len(statement_pairs.statements), *kept)
    free = psutil.virtual_memory().available
    lines = {
        "model": f"{loaded.name}: {loaded.family}, {loaded.n_layers} blocks, hidden size "
        f"{size}, {parameters / 1e6:,.1f} million parameters, {dtype} on {device}",
        "pairs": f"{len(statement_pairs)} in {len(statement_pairs.categories)} categories, "
        f"{tokens['statements']:,} tokens",
        "prompts": f"{len(texts)}, {tokens['prompts']:,} tokens",
        "layers": ", ".join(map(str, sampled)),
        "memory": f"{needs.spelled(int(needs.bytes_of(parameters, size, dtype)))}, free here "
        f"{needs.spelled(free)}",
        "disk": f"{needs.spelled(states)} of hidden states in {chosen['out']}",
        "time": str(takes),
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
