"""What `analyze` would compute, with memory, disk and time: all of it but the passes.

The model is loaded as `analyze` loads it, by the same functions, without the numbers: torch is
imported, and no weight is read.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import psutil

from layerwise.extraction import needs
from layerwise.inputs.models import BYTES
from layerwise.measures.values import sampled_layers
from layerwise.places.folders import STATES
from layerwise.reader.duration import duration
from layerwise.reader.request import Request, requested
from layerwise.reader.several import check_each

RIGHT = "everything that can be checked is right"
TO_COME = "config, tokenizer and texts are right, the weights are checked once they are here"


def plan(model: str, request: Request) -> str:
    """Check everything of a request that can be checked, and say what is to come.

    Of a model of the hub config and tokenizer are fetched, weights are not.

    Raises:
        LayerwiseError: as for `analyze`, but for what forward passes alone can show.
    """
    from layerwise.extraction.load import load_shapes
    from layerwise.extraction.token_ids import check_texts

    with request.blamed():
        loaded, download = load_shapes(model, **request.loading)
        ids = check_texts(loaded.declaration, request.texts, request.template)
    tokens = {kind: sum(map(len, of)) for kind, of in ids.items()}
    lines = to_come(request, loaded, tokens)
    if download:
        lines["fetch"] = f"{needs.spelled(download)} of weights from the hub"
    said = [f"{name:<8} {text}" for name, text in lines.items()]
    ending = TO_COME if download else RIGHT
    return "\n".join([*said, f"dry run: {ending}, nothing was computed"])


def plan_each(models: Sequence[str], pairs: str, prompts: str | None, asked: dict[str, Any]) -> str:
    """The same of every model; `asked` are `Choices`. Of several each has a folder of its own."""
    if len(models) == 1:
        return plan(models[0], requested(models[0], pairs, prompts, asked))
    todo = check_each(models, pairs, prompts, asked)
    return "\n\n".join(plan(model, request) for model, request in todo)


def to_come(request: Request, loaded: Any, tokens: Mapping[str, int]) -> dict[str, str]:
    """What will be computed, and what it takes.

    Arguments:
        loaded: the checkpoint, without its weights.
        tokens: of the statements, and of the prompts.
    """
    choices, pairs = request.choices, request.pairs
    dtype, device = request.loading["dtype"], request.loading["device"]
    size, n_layers = loaded.hidden_size, loaded.n_layers
    sampled = sampled_layers(n_layers, layers=choices["layers"])
    parameters = float(sum(one.numel() for one in loaded.model.parameters()))
    memory = int(needs.bytes_of(parameters, size, n_layers, dtype))
    from layerwise.extraction.partial import partial_of, require_room

    states = needs.kept_bytes(len(pairs.statements), tokens["prompts"], size, n_layers, dtype)
    if choices["out"] is not None:
        place = choices["out"] / STATES
        there = [*place.glob("*"), *partial_of(place).glob("*")]  # of a run before
        require_room(place, states - sum(file.stat().st_size for file in there))
    takes = duration(
        loaded.model.config.to_dict(),
        parameters,
        sum(tokens.values()),
        size=size,
        n_layers=n_layers,
        pairs=len(pairs),
        sampled=len(sampled),
        dtype=dtype,
        device=device,
        singular="spectral" not in choices["without"],
    )
    lines = {
        "model": f"{loaded.name}: {loaded.family}, {n_layers} blocks, hidden size {size}, "
        f"{parameters / 1e6:,.1f} million parameters, {dtype} on {device}",
        "pairs": f"{_counted(len(pairs), request.n_given)} in {len(pairs.categories)} categories, "
        f"{tokens['statements']:,} tokens"
        + (" in the model's chat template" if choices["chat_template"] else ""),
        "prompts": f"{len(request.prompts)}, {tokens['prompts']:,} tokens",
        "layers": ", ".join(map(str, sampled)),
        "memory": f"{needs.spelled(memory)}, free here "
        f"{needs.spelled(psutil.virtual_memory().available)}",
        "disk": f"{needs.spelled(states)} of hidden states in {choices['out']}",
        "time": str(takes),
    }
    noisy = choices["replicates"] if BYTES[dtype] == 2 else 0
    if noisy or choices["control"]:
        lines["again"] = (
            f"{noisy} replicates with rounding noise, {choices['control']} draws of random "
            f"weights: {1 + noisy + choices['control']} times that time and disk, without singular "
            "values for replicates"
        )
    return lines


def _counted(n: int, given: int) -> str:
    return str(n) if n == given else f"{n} of {given}"
