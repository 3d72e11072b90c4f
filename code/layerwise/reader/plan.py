"""What `analyze` would compute, with memory, disk and time: all of it but the passes.

The model is loaded as `analyze` loads it, by the same functions, without the numbers: torch is
imported, and no weight is read.
"""

from collections.abc import Sequence
from typing import Any

import psutil

from layerwise.errors import system_in_words
from layerwise.models import needs
from layerwise.reader.checked import Checked, check_each
from layerwise.reader.duration import duration
from layerwise.reader.request import requested
from layerwise.reader.several import request_each

RIGHT = "everything that can be checked is right"
TO_COME = "config, tokenizer and texts are right, the weights are checked once they are here"


@system_in_words()
def plan_each(models: Sequence[str], pairs: str, prompts: str | None, asked: dict[str, Any]) -> str:
    """Check everything of a request that can be checked, and say of each model what is to come.

    Of a model of the hub config and tokenizer are fetched, weights are not.

    Arguments:
        asked: `Choices`; of several models each has a folder of its own.

    Raises:
        LayerwiseError: as for `analyze`, but for what forward passes alone can show.
    """
    todo = (
        [(models[0], requested(models[0], pairs, prompts, asked))]
        if len(models) == 1
        else request_each(models, pairs, prompts, asked)
    )
    return "\n\n".join(map(plan, check_each(todo)))


def plan(one: Checked) -> str:
    """What is to come of a model."""
    said = [f"{name:<8} {text}" for name, text in to_come(one).items()]
    ending = TO_COME if one.download else RIGHT
    return "\n".join([*said, f"dry run: {ending}, nothing was computed"])


def to_come(one: Checked) -> dict[str, str]:
    """What will be computed, and what it takes."""
    request, loaded, tokens = one.request, one.loaded, one.tokens
    choices, pairs = request.choices, request.pairs
    dtype, device = request.loading["dtype"], request.loading["device"]
    size, n_layers = loaded.hidden_size, loaded.n_layers
    parameters = float(sum(of.numel() for of in loaded.model.parameters()))
    memory = int(needs.bytes_of(parameters, size, n_layers, dtype))
    takes = duration(
        loaded.model.config.to_dict(),
        parameters,
        sum(tokens.values()),
        size=size,
        n_layers=n_layers,
        pairs=len(pairs),
        sampled=len(one.sampled),
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
        "layers": ", ".join(map(str, one.sampled)),
        "memory": f"{needs.spelled(memory)}, free here "
        f"{needs.spelled(psutil.virtual_memory().available)}",
        "disk": f"{needs.spelled(one.written)} at most in {choices['out']}, of them "
        f"{needs.spelled(one.times * one.states)} of hidden states",
        "time": str(takes),
    }
    if one.times > 1:
        lines["again"] = (
            f"{one.replicates} replicates with rounding noise, {choices['control']} draws of "
            f"random weights: {one.times} times that time, without singular values for replicates"
        )
    if one.download:
        lines["fetch"] = f"{needs.spelled(one.download)} of weights from the hub"
    return lines


def _counted(n: int, given: int) -> str:
    return str(n) if n == given else f"{n} of {given}"
