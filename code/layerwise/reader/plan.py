"""The dry run of `analyze`: what it would compute, with memory, disk and time.

Config, tokenizer, texts and the headers of the weights are checked by the functions of `analyze`;
the model itself, with which every stored tensor is compared, is not built: that takes torch.

Memory, passes and loading are those of `models.needs`. The density near a statement compares every
pair with every other: 4 * pairs squared * hidden size operations, twice for a layer (with the first
token and without) and once before the final norm. All else was measured once (benchmarks/README.md)
on a core like those that `needs` assumes. It is the time of a machine that does nothing else.
"""

from typing import Any

import psutil

from layerwise.errors import system_in_words
from layerwise.models import needs
from layerwise.reader.foreseen import first_statement, foresee_cautions
from layerwise.reader.prepared import Prepared, prepare_from_files, require_room_for
from layerwise.reader.request import request_of
from layerwise.workers import MOST, usable_cores

RIGHT = "config, tokenizer, texts and headers of the weights are right"
TO_COME = "config, tokenizer and texts are right, the weights are checked once they are here"
# Seconds of one core.
START = 4.5  # the interpreter, imports, checks, the loaded model but for its weights
EIGENVALUES = 1.8e-10  # of a matrix, for a row cubed
PAIRS = 0.5, 0.001  # resamples and bins: once, and for every pair and layer
FIGURES = 5.5


def seconds_of_passes(prepared: Prepared) -> float:
    """Return how long the passes of the model will take, once."""
    outline = prepared.outline
    tokens = sum(prepared.tokens.values())
    return needs.seconds_of_passes(outline.n_parameters, tokens, outline.dtype, outline.device)


def estimate_seconds(prepared: Prepared) -> float:
    """Return how long a run will take here, from the command to the page."""
    request, outline, n_pairs = prepared.request, prepared.outline, len(prepared.request.pairs)
    sizes, workers = outline.sizes, min(usable_cores(), MOST)
    weights = 0.0
    if "spectral" not in request.choices["without"]:
        # of W_Q and W_O, and of W_K and W_V, which are narrower where heads share them
        cubes = 2 * sizes.hidden_size**3 + 2 * sizes.key_size**3
        weights = sizes.n_layers * EIGENVALUES * cubes / workers
    compared = (2 * len(prepared.sampled) + 1) * 4 * n_pairs**2 * sizes.hidden_size
    once, for_each = PAIRS
    statistics = once + for_each * n_pairs * len(prepared.sampled)
    statistics += compared / needs.assumed_rate("cpu")
    loading = needs.seconds_of_loading(outline.n_parameters, outline.dtype)
    repeated = prepared.times * (seconds_of_passes(prepared) + statistics)
    spectra = (1 + request.choices["control"]) * weights
    return repeated + spectra + START + FIGURES / workers + loading


@system_in_words()
def plan(model: str, pairs: Any, prompts: Any, asked: dict[str, Any]) -> str:
    """Check everything of a request that can be checked; say what is to come, a line a part.

    Config and tokenizer of a model on the hub are fetched, weights are not.

    Arguments:
        asked: `Choices`.

    Raises:
        LayerwiseError: as for `analyze`, but for what forward passes alone can show.
    """
    prepared = prepare_from_files(model, request_of(model, pairs, prompts, asked))
    require_room_for(prepared)
    lines = [f"{name:<8} {text}" for name, text in describe(prepared).items()]
    lines += [f"Warning: {caution}" for caution in foresee_cautions(prepared)]
    ending = TO_COME if prepared.outline.download else RIGHT
    return "\n".join([*lines, f"dry run: {ending}, nothing was computed"])


def describe(prepared: Prepared) -> dict[str, str]:
    """Return what will be computed, and what it takes."""
    request, outline, tokens = prepared.request, prepared.outline, prepared.tokens
    choices, pairs = request.choices, request.pairs
    size, n_layers = outline.sizes.hidden_size, outline.sizes.n_layers
    memory = int(needs.bytes_of(outline.n_parameters, size, n_layers, outline.dtype))
    text, ids = first_statement(prepared)
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
        "first": f'"{text}", as token ids {ids}',
        "layers": ", ".join(map(str, prepared.sampled)),
        "memory": f"{needs.spell_bytes(memory)}, free here "
        f"{needs.spell_bytes(psutil.virtual_memory().available)}",
        "disk": f"{needs.spell_bytes(prepared.written)} at most in {choices['out']}, "
        f"{needs.spell_bytes(prepared.times * prepared.states)} of them hidden states",
        "time": f"about {needs.spell_seconds(estimate_seconds(prepared))}, "
        f"{needs.spell_seconds(prepared.times * seconds_of_passes(prepared))} of them passes",
    }
    if prepared.times > 1:
        lines["again"] = (
            f"{prepared.replicates} replicates with rounding noise, {choices['control']} draws of "
            "random weights, in disk and time"
        )
    if outline.download:
        lines["fetch"] = f"{needs.spell_bytes(outline.download)} of weights from the hub"
    return lines
